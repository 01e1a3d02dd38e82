"""What pages for people without an account share: no desk around them, and words in their language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from quaestor.instruments.records import Questionnaire
from quaestor.web.page import Pages


class StrangerPages(Pages):
    """Pages for whoever holds a link."""

    def plain(self, request: Request, template: str, context: Mapping[str, Any], status: int = 200) -> Response:
        survey: Questionnaire | None = context.get("survey")
        ours = Markup("") if survey is None or survey.language.startswith("en") else Markup(' lang="en"')
        return self.page(request, template, {"survey": None, "ours": ours, **context}, status)

    def refused(self, request: Request, status: int, title: str, words: str) -> Response:
        return self.plain(request, "survey_refused.html", {"title": title, "words": words, "back": ""}, status)

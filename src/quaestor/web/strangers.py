"""What pages for people without an account share: no desk around them, and words in their language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from quaestor.instruments.records import Questionnaire
from quaestor.study.surveys.speaking import accepted
from quaestor.web.page import Pages


class StrangerPages(Pages):
    """Pages for whoever holds a link."""

    def plain(self, request: Request, template: str, context: Mapping[str, Any], status: int = 200) -> Response:
        """A page in the language of its survey; where there is none, in one that the browser asks for."""
        survey: Questionnaire | None = context.get("survey")
        words = survey.words if survey else accepted(request.headers.get("accept-language", ""))
        return self.page(request, template, {"survey": survey, "words": words, **context}, status)

    def refused(
        self, request: Request, status: int, title: str, key: str, survey: Questionnaire | None = None
    ) -> Response:
        """Why there is no page, by the keys of what is said."""
        context = {"title": title, "key": key, "back": "", "survey": survey}
        return self.plain(request, "survey_refused.html", context, status)

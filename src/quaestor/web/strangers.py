"""What pages for people without an account share: no desk around them, words in their language, forms of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.templating import Jinja2Templates

from quaestor.instruments.records import Questionnaire
from quaestor.study.kept_open import KeptOpen
from quaestor.web.access import Cookie
from quaestor.web.page import Pages


class StrangerPages(Pages):
    """Pages for whoever holds a link."""

    def __init__(self, opened: KeptOpen, templates: Jinja2Templates, cookie: Cookie) -> None:
        super().__init__(opened, templates)
        self._cookie = cookie

    def plain(self, request: Request, template: str, context: Mapping[str, Any], status: int = 200) -> Response:
        survey: Questionnaire | None = context.get("survey")
        ours = Markup("") if survey is None or survey.language.startswith("en") else Markup(' lang="en"')
        return self.page(request, template, {"survey": None, "ours": ours, **context}, status)

    def form(self, request: Request, template: str, context: Mapping[str, Any], status: int = 200) -> Response:
        """A page with a form: the browser gets what its form must match."""
        answer = self.plain(request, template, context, status)
        if request.state.visitor is None:
            self._cookie.give(request, answer, request.state.token)
        return answer

    def refused(self, request: Request, status: int, title: str, words: str) -> Response:
        return self.plain(request, "survey_refused.html", {"title": title, "words": words, "back": ""}, status)

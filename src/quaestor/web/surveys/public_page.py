"""What pages for people without an account share: no desk around them, and words in their language."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from quaestor.base.errors import TemporarilyUnavailable
from quaestor.surveys.model.records import Questionnaire
from quaestor.surveys.model.wording.catalogue import browser_wording
from quaestor.web.page import Pages

Handler = Callable[[Request], Awaitable[Response]]


class PublicPages(Pages):
    """Pages for whoever holds a link."""

    def plain(self, request: Request, template: str, context: Mapping[str, Any], status: int = 200) -> Response:
        """A page in the language of its survey; where there is none, in one that the browser asks for."""
        survey: Questionnaire | None = context.get("survey")
        words = survey.words if survey else browser_wording(request.headers.get("accept-language", ""))
        return self.page(request, template, {"survey": survey, "words": words, **context}, status)

    def or_later(self, handler: Handler) -> Handler:
        """The same page; where what keeps the study cannot be read or is damaged, a request to come back later.

        What is wrong with it is for the lead, and no stranger is told where it lies.
        """

        async def answered(request: Request) -> Response:
            try:
                return await handler(request)
            except TemporarilyUnavailable:
                return self.refused(request, 503, "moment", "page-later")

        return answered

    def refused(
        self, request: Request, status: int, title: str, key: str, survey: Questionnaire | None = None
    ) -> Response:
        """Why there is no page, by the keys of what is said."""
        context = {"title": title, "key": key, "back": "", "survey": survey}
        return self.plain(request, "survey_refused.html", context, status)

"""Base class of pages for respondents: no desk navigation, texts in their language."""

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
    """Pages for people with a link and no account."""

    def plain(self, request: Request, template: str, context: Mapping[str, Any], status: int = 200) -> Response:
        """Renders a page in the language of its survey, else in one that the browser requests."""
        survey: Questionnaire | None = context.get("survey")
        words = survey.words if survey else browser_wording(request.headers.get("accept-language", ""))
        return self.page(request, template, {"survey": survey, "words": words, **context}, status)

    def or_later(self, handler: Handler) -> Handler:
        """The same page; where what keeps the study cannot be read or is damaged, a request to come back later.

        The error itself is only for the lead: it may contain file paths.
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
        """Renders an error page from the keys of its texts."""
        context = {"title": title, "key": key, "back": "", "survey": survey}
        return self.plain(request, "survey_refused.html", context, status)

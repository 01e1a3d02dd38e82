"""Base class of pages for respondents: no desk navigation, texts in their language."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from quaestor.base.errors import TemporarilyUnavailable
from quaestor.surveys.model.records import Questionnaire
from quaestor.surveys.model.wording.catalogue import browser_wording
from quaestor.surveys.respond import describe_link_values, read_link_values
from quaestor.web.page import Pages

LINK_FIELD = "v."
"""The beginning of the names of fields that pass on values of the link."""
Handler = Callable[[Request], Awaitable[Response]]


def passed_on(fields: Mapping[str, str]) -> dict[str, str]:
    """Returns the values of the link that a form passes on, by their names."""
    return {name.removeprefix(LINK_FIELD): value for name, value in fields.items() if name.startswith(LINK_FIELD)}


class PublicPages(Pages):
    """Pages for people with a link and no account."""

    def plain(self, request: Request, template: str, context: Mapping[str, Any], status: int = 200) -> Response:
        """Renders a page in the language of its survey, else in one that the browser requests."""
        survey: Questionnaire | None = context.get("survey")
        words = survey.words if survey else browser_wording(request.headers.get("accept-language", ""))
        return self.page(request, template, {"survey": survey, "words": words, **context}, status)

    def link_values(self, survey: Questionnaire | None, parameters: Mapping[str, str]) -> dict[str, Any]:
        """Returns the declared values of a link for a template: to show them, and to pass them on."""
        values = read_link_values(survey, parameters) if survey else {}
        return {
            "link_values": describe_link_values(survey, values) if survey else (),
            "passed_on": {name: answer["text"] for name, answer in values.items()},
        }

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

"""Consent pages of a participant: the agreement, the answer, and withdrawal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from quaestor.base.clock import Clock
from quaestor.base.errors import InputError, QuaestorError, SettingsError, StateError, TemporarilyUnavailable
from quaestor.base.names import parse_whole_number
from quaestor.interviews.participants.consent import ConsentRequest, answer_by_link, find_consent_request
from quaestor.interviews.withdrawal import withdraw_by_link
from quaestor.web.page import Pages
from quaestor.web.security.forms import read_fields
from quaestor.web.security.rate_limit import RateLimit
from quaestor.web.study_session import StudySession
from quaestor.web.surveys.public_page import Handler

MOST_TRIES = 30
"""Invalid links, and answers, allowed per minute from one address."""
_NO_LINK = (
    "This link does not work: the interview was withdrawn, a newer link was sent, or this one is "
    "incomplete. Please check that you copied the whole link, or ask the person who sent it."
)
_LATER = "This cannot be done right now, and nothing has changed. Please go back and try again later."


class ConsentPages(Pages):
    """Pages of participants, who are identified only by the code in the address."""

    def __init__(self, session: StudySession, templates: Jinja2Templates, clock: Clock) -> None:
        super().__init__(session, templates)
        self._pace = RateLimit(MOST_TRIES, timedelta(minutes=1), clock)

    def routes(self) -> Sequence[BaseRoute]:
        both = ["GET", "POST"]
        return [
            Route("/c/{code}", self._or_later(self.consent), methods=both, name="consent"),
            Route("/c/{code}/withdraw", self._or_later(self.withdraw), methods=both, name="consent-withdraw"),
        ]

    def _or_later(self, handler: Handler) -> Handler:
        """Wraps a page: if the interviews cannot be opened, asks to come back later without giving the reason."""

        async def answered(request: Request) -> Response:
            try:
                return await handler(request)
            except QuaestorError:
                return self._show_refusal(request, 503, "One moment", _LATER)

        return answered

    async def consent(self, request: Request) -> Response:
        """Shows the agreement with two buttons; once answered, the answer and how to change it."""
        code = request.path_params["code"]
        invitee = await self._find_request(request, code)
        if isinstance(invitee, Response):
            return invitee
        if request.method == "GET":
            again = bool(request.query_params.get("again"))
            return self.page(request, "consent.html", {"invitee": invitee, "code": code, "again": again})
        fields = await read_fields(request)
        what, version = fields.get("what", ""), parse_whole_number(fields.get("version", ""))
        refused = await self._try(request, lambda: answer_by_link(self.session.interviews, code, what, version))
        return refused or self.go(request, "consent", code=code)

    async def withdraw(self, request: Request) -> Response:
        """Asks for confirmation, then erases everything."""
        code = request.path_params["code"]
        invitee = await self._find_request(request, code)
        if isinstance(invitee, Response):
            return invitee
        if request.method == "GET":
            return self.page(request, "consent_withdraw.html", {"invitee": invitee, "code": code})
        refused = await self._try(request, lambda: withdraw_by_link(self.session.interviews, code))
        if refused is not None:
            return refused
        pending = await self.work(lambda: self.session.interviews.erasure_pending)
        return self.page(request, "consent_withdrawn.html", {"pending": pending})

    async def _find_request(self, request: Request, code: str) -> ConsentRequest | Response:
        """Finds the request of a link, or the error page if it cannot be answered now."""
        invitee = await self.work(lambda: find_consent_request(self.session.interviews_if_any, code))
        waiting = self._wait(request) if invitee is None or request.method == "POST" else None
        return waiting or invitee or self._show_refusal(request, 404, "Link not found", _NO_LINK)

    async def _try(self, request: Request, act: Callable[[], object]) -> Response | None:
        """Runs an action; returns an error page if it is refused."""
        try:
            await self.work(act)
        except InputError:
            return self._show_refusal(request, 404, "Link not found", _NO_LINK)
        except (TemporarilyUnavailable, SettingsError):
            return self._show_refusal(request, 503, "One moment", _LATER)
        except StateError as error:
            words = f"{str(error)[:1].upper()}{str(error)[1:]}."
            return self._show_refusal(request, 409, "Please read it again", words, back=True)
        return None

    def _show_refusal(self, request: Request, status: int, title: str, words: str, back: bool = False) -> Response:
        context = {"title": title, "words": words, "back": request.url.path if back else ""}
        return self.page(request, "consent_refused.html", context, status)

    def _wait(self, request: Request) -> Response | None:
        wait = self._pace.wait(request.client.host if request.client else "")
        if wait is None:
            return None
        words = "Too many links were tried from your network. Please wait a minute, then open yours again."
        answer = self._show_refusal(request, 429, "One moment", words)
        answer.headers["Retry-After"] = str(int(wait.total_seconds()) + 1)
        return answer

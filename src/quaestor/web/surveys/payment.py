"""Payment pages: counts and amounts for the lead, addresses for the payer only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from quaestor.base.errors import InputError, QuaestorError, StateError, TemporarilyUnavailable
from quaestor.base.names import NOT_IN_URL, parse_whole_number
from quaestor.people.roles import Permission
from quaestor.surveys.invitations import InvitationPage, accept_invitation, find_invitation
from quaestor.surveys.model.records import Questionnaire
from quaestor.surveys.model.wording.catalogue import refusal_in_words
from quaestor.surveys.payment import (
    Card,
    Payment,
    PaymentPage,
    export_cards,
    find_payment_page,
    list_cards,
    mark_paid,
    payments,
    release_claims,
    submit_claim,
)
from quaestor.surveys.recipients import find_opt_out, opt_out
from quaestor.surveys.respond import read_link_values
from quaestor.surveys.status import read_status
from quaestor.web.error_pages import refusal_status
from quaestor.web.page import Pages, require_visitor
from quaestor.web.security.access import Cookie
from quaestor.web.security.forms import read_fields, require_key
from quaestor.web.study_session import StudySession
from quaestor.web.surveys.public_page import PublicPages, passed_on

_SHOWN = 100


class PayPages(Pages):
    """Payment pages, without any answers."""

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/pay", self.pay, methods=["GET"], name="claims"),
            Route("/pay/{name}/acts", self.act, methods=["POST"], name="claims-act"),
            Route("/pay/{name}/cards.csv", self.file, methods=["POST"], name="claims-file"),
        ]

    async def pay(self, request: Request) -> Response:
        return await self._pay(request)

    async def _pay(self, request: Request, status: int = 200, **more: Any) -> Response:
        pays = require_visitor(request).can(Permission.PAY)
        overview = await self.work(lambda: self._list_payments(pays))
        return self.page(request, "claims.html", {"payments": overview, "pays": pays, "shown": _SHOWN, **more}, status)

    def _list_payments(self, pays: bool) -> list[tuple[Payment, list[Card], str]]:
        """Reads the claims; decrypts addresses for the payer only."""
        surveys = self.session.surveys_if_any
        if surveys is None:
            return []
        return [
            (payment, list_cards(surveys, payment.survey) if pays else [], read_status(surveys, payment.survey).status)
            for payment in payments(surveys)
        ]

    async def act(self, request: Request) -> Response:
        """Releases cards or marks them as paid."""
        fields, name = await read_fields(request), request.path_params["name"]
        try:
            await self.work(lambda: self._act(name, fields, require_visitor(request).name))
        except QuaestorError as error:
            return await self._show_refusal(request, name, error)
        return self.go(request, "claims")

    def _act(self, name: str, fields: Mapping[str, str], who: str) -> None:
        match fields.get("act", ""):
            case "release":
                most = fields.get("most", "").strip()
                if most and parse_whole_number(most) is None:
                    raise InputError(f"{most[:60]!r} is not a number of cards: enter digits, such as 20")
                release_claims(self.session.surveys, name, parse_whole_number(most), who)
            case "paid":
                seen = parse_whole_number(fields.get("count", ""))
                if seen is None:
                    raise InputError("the number of paid cards is missing: reload the page")
                mark_paid(self.session.surveys, name, seen)
            case unknown:
                raise InputError(f"there is no action {unknown!r} here: reload the page")

    async def file(self, request: Request) -> Response:
        """Exports addresses; each is in one file unless it is exported again."""
        fields, name = await read_fields(request), request.path_params["name"]
        try:
            text = await self.work(lambda: export_cards(self.session.surveys, name, fields.get("again") == "yes"))
        except QuaestorError as error:
            return await self._show_refusal(request, name, error)
        headers = {"Content-Disposition": 'attachment; filename="cards.csv"'}
        return Response(text, media_type="text/csv", headers=headers)

    async def _show_refusal(self, request: Request, name: str, error: QuaestorError) -> Response:
        return await self._pay(
            request, refusal_status(error), refused=f"{str(error)[:1].upper()}{str(error)[1:]}", about=name
        )


class ClaimPages(PublicPages):
    """Invitation and claim pages of respondents."""

    def __init__(self, session: StudySession, templates: Jinja2Templates, cookie: Cookie) -> None:
        super().__init__(session, templates)
        self._cookie = cookie

    def routes(self) -> Sequence[BaseRoute]:
        both = ["GET", "POST"]
        return [
            Route("/i/{token}", self.or_later(self.invitation), methods=both, name="invitation"),
            Route("/i/{token}/stop", self.or_later(self.stop_mails), methods=both, name="invitation-stop"),
            Route("/claim/{name}/{token}", self.or_later(self.claim), methods=both, name="claim"),
        ]

    def form(self, request: Request, template: str, context: Mapping[str, Any], status: int = 200) -> Response:
        """Renders a form and sets the cookie that its CSRF token is derived from."""
        answer = self.plain(request, template, context, status)
        if request.state.visitor is None:
            self._cookie.give(request, answer, request.state.token)
        return answer

    async def invitation(self, request: Request) -> Response:
        """Shows the survey's introduction and a button to start or continue."""
        token, language = request.path_params["token"], request.query_params.get("language", "")
        entrance = await self.work(lambda: self._invite(token, language))
        if entrance is None:
            return self.refused(request, 404, "no-invitation-title", "no-invitation")
        survey = entrance.access.questionnaire
        if request.method == "POST" and (entrance.used or entrance.begins):
            return await self._accept_invitation(request, token, survey)
        if entrance.used and not entrance.resumes:
            return self.plain(request, "invited_used.html", {"survey": survey}, 410)
        if not entrance.begins and not entrance.resumes:
            context = {"survey": survey, "entrance": entrance.access.status, "code": "", "name": entrance.access.survey}
            return self.plain(request, "survey_shut.html", context, 409 if survey is None else 410)
        kept = {} if survey is None or survey.anonymous or entrance.used else request.query_params
        values = self.link_values(survey, kept)
        values["has_mail"] = await self.work(lambda: self._is_stopped(token)) is False
        return self.form(request, "invited.html", {"survey": survey, "invite": entrance, **values})

    async def stop_mails(self, request: Request) -> Response:
        """Asks whether to stop the e-mails, then erases the address; programs that follow links change nothing."""
        token, language = request.path_params["token"], request.query_params.get("language", "")
        entrance, is_stopped = await self.work(lambda: (self._invite(token, language), self._is_stopped(token)))
        if entrance is None or is_stopped is None:
            return self.refused(request, 404, "no-invitation-title", "no-invitation")
        survey = entrance.access.questionnaire
        if request.method == "POST" and not is_stopped:
            await self.work(lambda: opt_out(self.session.surveys, token))
            is_stopped = True
        return self.form(request, "invited_stop.html", {"survey": survey, "stopped": is_stopped})

    def _is_stopped(self, token: str) -> bool | None:
        surveys = self.session.surveys_if_any
        return None if surveys is None else find_opt_out(surveys, token)

    def _invite(self, token: str, language: str) -> InvitationPage | None:
        surveys = self.session.surveys_if_any
        return None if surveys is None else find_invitation(surveys, token, language)

    async def _accept_invitation(self, request: Request, token: str, survey: Questionnaire | None) -> Response:
        fields = await read_fields(request)
        key, language = require_key(fields.get("key", "")), survey.language if survey else ""
        link_values = read_link_values(survey, passed_on(fields)) if survey else {}
        try:
            name, code = await self.work(
                lambda: accept_invitation(self.session.surveys, token, language, key, link_values)
            )
        except TemporarilyUnavailable:
            return self.refused(request, 503, "moment", "try-later", survey)
        except StateError:  # used or closed since the page was shown: the page says which
            return self.go(request, "invitation", token=token)
        return self.go(request, "answer", name=name, code=code)

    async def claim(self, request: Request) -> Response:
        """Asks for the address of the card; afterwards only confirms that it is known."""
        name, token = request.path_params["name"], request.path_params["token"]
        language = request.query_params.get("language", "")
        claiming = await self.work(lambda: self._find_payment(name, token, language))
        if claiming is None:
            return self.refused(request, 404, "no-claim-title", "no-claim")
        if request.method == "POST":
            return await self._submit_claim(request, claiming, token)
        template = "claim.html" if claiming.stage is None else "claim_taken.html"
        return self._claim_page(request, template, claiming)

    def _find_payment(self, name: str, token: str, language: str) -> PaymentPage | None:
        surveys = self.session.surveys_if_any
        odd = not name.isprintable() or set(name) & set(NOT_IN_URL)
        return None if surveys is None or odd else find_payment_page(surveys, name, token, language)

    async def _submit_claim(self, request: Request, claiming: PaymentPage, token: str) -> Response:
        fields = await read_fields(request)
        address, words = fields.get("address", ""), claiming.questionnaire.words
        if address.strip() != fields.get("again", "").strip():
            return self._claim_page(request, "claim.html", claiming, 422, words.say("not-the-same"), fields)
        try:
            await self.work(lambda: submit_claim(self.session.surveys, claiming.survey, token, address))
        except InputError as error:
            return self._claim_page(request, "claim.html", claiming, 422, refusal_in_words(error, words), fields)
        except TemporarilyUnavailable:
            return self._claim_page(request, "claim.html", claiming, 503, words.say("try-later"), fields)
        except StateError:  # sent from another window: the page says that an address exists
            pass
        return self.go(
            request, "claim", f"language={claiming.questionnaire.language}", name=claiming.survey, token=token
        )

    def _claim_page(
        self,
        request: Request,
        template: str,
        claiming: PaymentPage,
        status: int = 200,
        refused: str = "",
        typed: dict[str, str] | None = None,
    ) -> Response:
        context = {"survey": claiming.questionnaire, "claiming": claiming, "refused": refused, "typed": typed or {}}
        return self.form(request, template, context, status)

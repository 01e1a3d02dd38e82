"""Two links that respondents hold: the invitation that brings them to a survey, and the way to their pay at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from quaestor.base.errors import InputError, NotNow, StateError
from quaestor.base.names import NOT_IN_AN_ADDRESS
from quaestor.instruments.records import Questionnaire
from quaestor.study.kept_open import KeptOpen
from quaestor.study.surveys.claims import Claiming, claim, claiming
from quaestor.study.surveys.invitations import Invite, accept, invitation
from quaestor.study.surveys.speaking import told
from quaestor.web.access import Cookie
from quaestor.web.forms import checked_key, fields_of
from quaestor.web.strangers import StrangerPages


class ClaimPages(StrangerPages):
    """What a link in the hand of a respondent opens."""

    def __init__(self, opened: KeptOpen, templates: Jinja2Templates, cookie: Cookie) -> None:
        super().__init__(opened, templates)
        self._cookie = cookie

    def routes(self) -> Sequence[BaseRoute]:
        both = ["GET", "POST"]
        return [
            Route("/i/{token}", self.or_later(self.invitation), methods=both, name="invitation"),
            Route("/claim/{name}/{token}", self.or_later(self.claim), methods=both, name="claim"),
        ]

    def form(self, request: Request, template: str, context: Mapping[str, Any], status: int = 200) -> Response:
        """A page with a form: the browser gets what its form must match."""
        answer = self.plain(request, template, context, status)
        if request.state.visitor is None:
            self._cookie.give(request, answer, request.state.token)
        return answer

    async def invitation(self, request: Request) -> Response:
        """What the survey is about, and a button to begin or to go on."""
        token, language = request.path_params["token"], request.query_params.get("language", "")
        found = await self.work(lambda: self._invite(token, language))
        if found is None:
            return self.refused(request, 404, "no-invitation-title", "no-invitation")
        survey = found.door.questionnaire
        if request.method == "POST" and (found.used or found.begins):
            return await self._accepted(request, token, survey)
        if found.used and not found.resumes:
            return self.plain(request, "invited_used.html", {"survey": survey}, 410)
        if not found.begins and not found.resumes:
            context = {"survey": survey, "entrance": found.door.entrance, "code": "", "name": found.door.survey}
            return self.plain(request, "survey_shut.html", context, 409 if survey is None else 410)
        return self.form(request, "invited.html", {"survey": survey, "invite": found})

    def _invite(self, token: str, language: str) -> Invite | None:
        surveys = self.opened.surveys_if_any
        return None if surveys is None else invitation(surveys, token, language)

    async def _accepted(self, request: Request, token: str, survey: Questionnaire | None) -> Response:
        key, language = checked_key((await fields_of(request)).get("key", "")), survey.language if survey else ""
        try:
            name, code = await self.work(lambda: accept(self.opened.surveys, token, language, key))
        except NotNow:
            return self.refused(request, 503, "moment", "try-later", survey)
        except StateError:  # used, or the survey closed, between the page and the button: the page says which
            return self.go(request, "invitation", token=token)
        return self.go(request, "answer", name=name, code=code)

    async def claim(self, request: Request) -> Response:
        """Asks where the card is to be sent; once it is known, says so and nothing else."""
        name, token = request.path_params["name"], request.path_params["token"]
        language = request.query_params.get("language", "")
        found = await self.work(lambda: self._claiming(name, token, language))
        if found is None:
            return self.refused(request, 404, "no-claim-title", "no-claim")
        if request.method == "POST":
            return await self._claimed(request, found, token)
        template = "claim.html" if found.stage is None else "claim_taken.html"
        return self._claim_page(request, template, found)

    def _claiming(self, name: str, token: str, language: str) -> Claiming | None:
        surveys = self.opened.surveys_if_any
        odd = not name.isprintable() or set(name) & set(NOT_IN_AN_ADDRESS)
        return None if surveys is None or odd else claiming(surveys, name, token, language)

    async def _claimed(self, request: Request, found: Claiming, token: str) -> Response:
        fields = await fields_of(request)
        address, words = fields.get("address", ""), found.questionnaire.words
        if address.strip() != fields.get("again", "").strip():
            return self._claim_page(request, "claim.html", found, 422, words.say("not-the-same"), fields)
        try:
            await self.work(lambda: claim(self.opened.surveys, found.survey, token, address))
        except InputError as error:
            return self._claim_page(request, "claim.html", found, 422, told(error, words), fields)
        except NotNow:
            return self._claim_page(request, "claim.html", found, 503, words.say("try-later"), fields)
        except StateError:  # from another window: the page says that an address is there
            pass
        return self.go(request, "claim", f"language={found.questionnaire.language}", name=found.survey, token=token)

    def _claim_page(
        self,
        request: Request,
        template: str,
        found: Claiming,
        status: int = 200,
        refused: str = "",
        typed: dict[str, str] | None = None,
    ) -> Response:
        context = {"survey": found.questionnaire, "claiming": found, "refused": refused, "typed": typed or {}}
        return self.form(request, template, context, status)

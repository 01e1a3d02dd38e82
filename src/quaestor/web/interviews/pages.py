"""Interview pages: participants, consent, progress of interviews, and guides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.base.names import parse_whole_number
from quaestor.interviews.guide_versions import build_guide_sheet, list_guides
from quaestor.interviews.model.records import describe_participant
from quaestor.interviews.overview import build_interview_line, build_overview, build_person_line
from quaestor.interviews.participants.consent import (
    HOW,
    find_consent,
    list_consent_form_versions,
    make_link,
    put_consent_form_in_force,
    read_consent_form,
    read_consent_form_draft,
    record_consent,
    require_current_version,
)
from quaestor.interviews.participants.people import (
    Contact,
    add_participant,
    change_participant,
    hand_over_contact,
    parse_years,
    read_contact,
    require_participant,
    set_contact,
)
from quaestor.interviews.repository import Interviews, list_guide_files
from quaestor.interviews.withdrawal import withdraw
from quaestor.people.roles import Permission
from quaestor.web.error_pages import refusal_status
from quaestor.web.navigation import build_external_url, link_to
from quaestor.web.page import Pages, require_visitor
from quaestor.web.security.forms import read_fields, require_key

_NONE = "there are no participants yet: add one first"


class _InterviewName(Convertor[str]):
    """Path convertor that matches only names of interviews and participants, not other pages below the same path."""

    regex = "P[0-9]{1,9}(?:-[0-9]{1,9})?"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("interview", _InterviewName())


class InterviewPages(Pages):
    """Participants by pseudonym and their interviews; contact data is for the lead only."""

    def routes(self) -> Sequence[BaseRoute]:
        both = ["GET", "POST"]
        return [
            Route("/interviews", self.interviews, methods=["GET"], name="interviews"),
            Route("/interviews/participants", self.add, methods=["POST"], name="participant-add"),
            Route("/interviews/agreement", self.agreement, methods=["GET"], name="interview-agreement"),
            Route("/interviews/agreement/versions", self.in_force, methods=["POST"], name="agreement-act"),
            Route("/interviews/{name:interview}", self.interview, methods=["GET"], name="interview"),
            Route("/participants/{name:interview}", self.participant, methods=["GET"], name="participant"),
            Route("/participants/{name:interview}/acts", self.act, methods=["POST"], name="participant-act"),
            Route("/participants/{name:interview}/lead", self.lead_act, methods=["POST"], name="participant-lead"),
            Route("/participants/{name:interview}/contact", self.contact, methods=both, name="participant-contact"),
        ]

    # All participants

    async def interviews(self, request: Request) -> Response:
        return await self._interviews(request)

    async def _interviews(self, request: Request, status: int = 200, **more: Any) -> Response:
        leads = require_visitor(request).can(Permission.LEAD)
        overview = await self.work(lambda: build_overview(self.session.latest, self.session.interviews_if_any, leads))
        erasing = await self.pending_erasures()
        context = {"overview": overview, "erasing": erasing, "typed": {}, "leads": leads, **_shared(request), **more}
        context["declared"] = self.session.latest.settings.interviews.attributes
        return self.page(request, "interviews.html", context, status)

    async def add(self, request: Request) -> Response:
        """Adds a participant and opens their page."""
        fields, who = await read_fields(request), require_visitor(request).name
        key = require_key(fields.get("key", ""))

        def added() -> str:
            role, field = fields.get("role", ""), fields.get("field", "")
            years = parse_years(fields.get("years", ""))
            interviews = self.session.interviews
            more = _read_attributes(interviews, fields)
            return add_participant(interviews, role, years, field, who, key=key, attributes=more).pseudonym

        try:
            name = await self.work(added)
        except QuaestorError as error:
            return await self._interviews(request, refusal_status(error), refused=str(error), typed=fields)
        return self.go(request, "participant", name=name)

    # The agreement

    async def agreement(self, request: Request) -> Response:
        return await self._agreement(request)

    async def _agreement(self, request: Request, status: int = 200, **more: Any) -> Response:
        def read_context() -> dict[str, Any]:
            interviews = self.session.interviews_if_any
            if interviews is None:
                return {"agreement": read_consent_form_draft(self.session.latest), "versions": [], "begun": False}
            kept = list_consent_form_versions(interviews)
            return {"agreement": read_consent_form(interviews), "versions": kept, "begun": True}

        context = {
            **await self.work(read_context),
            "leads": require_visitor(request).can(Permission.LEAD),
            **_shared(request),
            **more,
        }
        return self.page(request, "interview_agreement.html", context, status)

    async def in_force(self, request: Request) -> Response:
        """Puts the current file into force as a new version of the agreement."""
        who = require_visitor(request).name
        try:
            await self.work(lambda: put_consent_form_in_force(self._open_interviews(), who))
        except QuaestorError as error:
            return await self._agreement(request, refusal_status(error), refused=str(error))
        return self.go(request, "interview-agreement")

    # One participant

    async def interview(self, request: Request) -> Response:
        name, leads = request.path_params["name"], require_visitor(request).can(Permission.LEAD)

        def read_context() -> dict[str, Any]:
            interviews = self._open_interviews()
            line = build_interview_line(interviews, name, leads)
            person = interviews.participant(line.interview.participant)
            return {"line": line, "guide": interviews.guide_of(line.interview), "about": describe_participant(person)}

        return self.page(request, "interview.html", {**await self.work(read_context), **_shared(request)})

    async def participant(self, request: Request) -> Response:
        return await self._participant(request)

    async def _participant(self, request: Request, status: int = 200, **more: Any) -> Response:
        name, leads = request.path_params["name"], require_visitor(request).can(Permission.LEAD)
        line = await self.work(
            lambda: build_person_line(require_participant(self._open_interviews(), name), name, leads)
        )
        context = {"person": line, "guides": tuple(list_guide_files(self.session.latest)), "how": HOW, "leads": leads}
        context["declared"] = self.session.latest.settings.interviews.attributes
        context["kept_contact"] = request.query_params.get("kept") == "contact"
        return self.page(
            request, "participant.html", {**context, "typed": {}, "link": "", **_shared(request), **more}, status
        )

    async def act(self, request: Request) -> Response:
        """Handles actions of interviewers: edit details, record consent, plan an interview."""
        name, who, fields = request.path_params["name"], require_visitor(request).name, await read_fields(request)
        return await self._run_action(request, fields, lambda: self._act(name, who, fields))

    def _act(self, name: str, who: str, fields: Mapping[str, str]) -> None:
        interviews = require_participant(self._open_interviews(), name)
        match fields.get("act", ""):
            case "change":
                years = parse_years(fields.get("years", ""))
                role, domain = fields.get("role", ""), fields.get("field", "")
                more = _read_attributes(interviews, fields)
                change_participant(interviews, name, role, "" if years is None else years, domain, who, more)
            case "consent":
                require_current_version(interviews, parse_whole_number(fields.get("version", "")))
                record_consent(interviews, name, fields.get("what", ""), fields.get("how", ""), who)
            case "plan":
                interviews.plan(name, fields.get("guide", ""), who, require_key(fields.get("key", "")))
            case "contact":
                contact = Contact("", *(fields.get(field, "") for field in ("email", "telephone", "more")))
                hand_over_contact(interviews, name, contact, who)
            case "cancel":
                interviews.cancel(fields.get("interview", ""), who)
            case unknown:
                raise InputError(f"there is no action {unknown[:60]!r} here: reload the page")

    async def lead_act(self, request: Request) -> Response:
        """Handles actions of the lead: create a link, which is shown once, and erase a participant."""
        name, who, fields = request.path_params["name"], require_visitor(request).name, await read_fields(request)
        match fields.get("act", ""):
            case "link":
                key = require_key(fields.get("key", ""))
                before = await self.work(lambda: find_consent(self._open_interviews(), name))
                try:
                    consent_link = await self.work(lambda: make_link(self._open_interviews(), name, who, key))
                except StateError as error:
                    return await self._participant(request, refusal_status(error), refused=str(error))
                link = build_external_url(request, str(request.url_for("consent", code=consent_link.code).path))
                return await self._participant(request, link=link, relinked=before.linked)
            case "withdraw" if fields.get("sure", "") == name:
                await self.work(lambda: withdraw(self._open_interviews(), name, who))
                return self.go(request, "interviews")
            case "withdraw":
                words = f"nothing was erased: type {name} to confirm"
                return await self._participant(request, 422, refused=words)
        raise InputError("there is no such action here: reload the page")

    async def contact(self, request: Request) -> Response:
        """Shows and saves the contact data of a participant."""
        name, who = request.path_params["name"], require_visitor(request).name
        known = await self.work(lambda: read_contact(self._open_interviews(), name, who))
        context: dict[str, Any] = {"name": name, "contact": known, **_shared(request)}
        if request.method == "GET":
            return self.page(request, "participant_contact.html", context)
        fields = await read_fields(request)
        typed = Contact(*(fields.get(field, "") for field in ("name", "email", "telephone", "more")))
        try:
            await self.work(lambda: set_contact(self._open_interviews(), name, typed, who))
        except QuaestorError as error:
            context |= {"contact": typed, "refused": str(error)}
            return self.page(request, "participant_contact.html", context, refusal_status(error))
        return self.go(request, "participant", name=name)

    async def _run_action(self, request: Request, fields: Mapping[str, str], act: Callable[[], None]) -> Response:
        try:
            await self.work(act)
        except QuaestorError as error:
            return await self._participant(request, refusal_status(error), refused=str(error), typed=fields)
        kept = "kept=contact" if fields.get("act") == "contact" else ""
        return self.go(request, "participant", kept, name=request.path_params["name"])

    def _open_interviews(self) -> Interviews:
        """Returns the interviews; raises StateError if there are no participants, without creating files."""
        interviews_if_any = self.session.interviews_if_any
        if interviews_if_any is None:
            raise StateError(_NONE)
        return interviews_if_any


def _read_attributes(interviews: Interviews, fields: Mapping[str, str]) -> dict[str, str]:
    """Returns the attributes that a form has, among those that study.toml declares."""
    declared = interviews.study.settings.interviews.attributes
    return {name: fields[f"attribute {name}"] for name in declared if f"attribute {name}" in fields}


def _shared(request: Request) -> dict[str, Any]:
    return {
        "link_to": lambda route, query=None, **path: link_to(request, route, query, **path),
        "typed_attributes": lambda fields: {name.removeprefix("attribute "): text for name, text in fields.items()},
    }


class GuidePages(Pages):
    """Guides as files and as used versions; they are edited outside the desk."""

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/interviews/guides", self.guides, methods=["GET"], name="guides"),
            Route("/interviews/guides/{name}", self.guide, methods=["GET"], name="guide"),
        ]

    async def guides(self, request: Request) -> Response:
        guides = await self.work(lambda: list_guides(self.session.latest, self.session.interviews_if_any))
        return self.page(request, "guides.html", {"guides": guides, **_shared(request)})

    async def guide(self, request: Request) -> Response:
        name, version = request.path_params["name"], _guide_version(request.query_params.get("version", ""))
        sheet = await self.work(
            lambda: build_guide_sheet(self.session.latest, self.session.interviews_if_any, name, version)
        )
        return self.page(request, "guide.html", {"sheet": sheet, **_shared(request)})


def _guide_version(text: str) -> int | None:
    if not text:
        return None
    whole_number = parse_whole_number(text)
    if whole_number is None:
        raise InputError(f"{text[:40]!r} is not a version of a guide: versions are 1, 2 and so on")
    return whole_number

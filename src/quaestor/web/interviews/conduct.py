"""The interviewer's desk: guide, clock, notes by script or form, and the protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from quaestor.base.errors import InputError, QuaestorError, StateError, TemporarilyUnavailable
from quaestor.base.names import parse_whole_number
from quaestor.coding.rating_files import WrongStudy
from quaestor.interviews.conduct.acts import LONGEST, OTHER, Stamp, StopForm, move_clock, record_act, submit_stop
from quaestor.interviews.conduct.desk_sheet import build_clock_json, build_desk_sheet, list_changes_since
from quaestor.interviews.conduct.protocol import build_protocol, format_protocol
from quaestor.interviews.model.records import format_clock
from quaestor.interviews.participants.consent import HOW, read_consent_form, record_consent, require_current_version
from quaestor.interviews.repository import Interviews
from quaestor.web.coding.disagreements import first_value
from quaestor.web.error_pages import refusal_status
from quaestor.web.page import Pages, require_visitor
from quaestor.web.security.forms import parse_fields, parse_json, require_key

_ONE = "/interviews/{name:interview}"
_LONGEST_BODY = 200_000
_LATER = "The desk cannot save right now. Your notes are not lost; the lead can see what is wrong."
Form = Mapping[str, Sequence[str]]


class ConductPages(Pages):
    """Pages of interviewers; the author is always the signed-in visitor, never a form field."""

    def routes(self) -> Sequence[BaseRoute]:
        desk = f"{_ONE}/conduct"
        return [
            Route(desk, self.desk, methods=["GET"], name="interview-conduct"),
            Route(f"{desk}/acts", self.act, methods=["POST"], name="interview-act"),
            Route(f"{desk}/since", self.since, methods=["GET"], name="interview-since"),
            Route(f"{_ONE}/protocol", self.protocol, methods=["GET"], name="interview-protocol"),
            Route(f"{_ONE}/protocol.md", self.markdown, methods=["GET"], name="interview-protocol-file"),
        ]

    async def desk(self, request: Request) -> Response:
        """Shows guide and clock once the participant has consented."""
        return await self._desk(request, parse_whole_number(request.query_params.get("stop", "")))

    async def _desk(self, request: Request, stop: int | None, status: int = 200, **more: Any) -> Response:
        name, who = request.path_params["name"], require_visitor(request).name
        sheet = await self.work(lambda: build_desk_sheet(self._open_interviews(), name, who))
        if not sheet.consent.accepted:
            agreement = await self.work(lambda: read_consent_form(self._open_interviews()))
            context = {"sheet": sheet, "agreement": agreement, "how": HOW, **more}
            return self.page(request, "interview_consent_first.html", context, status)
        here = sheet.at(stop)
        context = {
            "sheet": sheet,
            "here": here,
            "amended": sheet.note(request.query_params.get("amend", "")),
            "clock": build_clock_json(sheet.clock, sheet.moment),
            "clock_words": format_clock,
            "other": OTHER,
            "longest": LONGEST,
            "typed": "",
        }
        return self.page(request, "interview_conduct.html", {**context, **more}, status)

    async def act(self, request: Request) -> Response:
        """Saves notes, ticks, marks and clock: one act of a script, or a whole form."""
        if not request.headers.get("content-type", "").startswith("application/json"):
            return await self._form(request)
        act = _from_script(await request.body())
        name, who = request.path_params["name"], require_visitor(request).name
        if act.get("rater", "") not in ("", who):  # queued in a browser in which another person has signed in since
            return JSONResponse({"refused": "this was written by another person"}, status_code=409)
        stamp = Stamp(who, act["key"], act["when"], str(act.get("opened", "")))
        try:
            entry = await self.work(lambda: record_act(self._open_interviews(), name, stamp, act))
        except WrongStudy as error:
            return JSONResponse({"refused": str(error)}, status_code=409)
        except TemporarilyUnavailable:  # the act is valid and stays queued in the browser
            return JSONResponse({"later": _LATER}, status_code=503)
        except QuaestorError as error:
            gone = await self.work(lambda: self._is_gone(name))
            return JSONResponse({"refused": str(error)}, status_code=410 if gone else 422)
        return JSONResponse({"number": entry.number if entry else 0})

    async def _form(self, request: Request) -> Response:
        name, who, form = request.path_params["name"], require_visitor(request).name, parse_fields(await request.body())
        stamp, stop = Stamp(who, require_key(first_value(form, "key"))), parse_whole_number(first_value(form, "stop"))
        try:
            reached = await self.work(lambda: self._record_form(name, stamp, form))
        except QuaestorError as error:
            status = refusal_status(error)
            return await self._desk(request, stop, status, refused=str(error), typed=first_value(form, "note"))
        if first_value(form, "act") == "clock" and first_value(form, "what") == "end":
            return self.go(request, "interview-protocol", name=name)
        return self.go(request, "interview-conduct", f"stop={reached}" if reached is not None else "", name=name)

    def _record_form(self, name: str, stamp: Stamp, form: Form) -> int | None:
        interviews = self._open_interviews()
        match first_value(form, "act"):
            case "consent":
                participant = interviews.interview(name).participant
                require_current_version(interviews, parse_whole_number(first_value(form, "version")))
                record_consent(
                    interviews, participant, first_value(form, "what"), first_value(form, "how"), stamp.actor
                )
                return None
            case "clock":
                move_clock(interviews, name, stamp, first_value(form, "what"), first_value(form, "section"))
                return parse_whole_number(first_value(form, "stop"))
            case "step":
                return submit_stop(interviews, name, stamp, _step(form))
            case unknown:
                raise InputError(f"there is no action {unknown[:60]!r} here: reload the page")

    async def since(self, request: Request) -> Response:
        """Returns what others wrote after an entry, and the clock; polled every other second."""
        name, after = request.path_params["name"], parse_whole_number(request.query_params.get("after", "0"))
        if after is None:
            raise HTTPException(400)
        room = await self.work(self._open_interviews)
        try:
            return JSONResponse(await self.work(lambda: list_changes_since(room, name, after)))
        except TemporarilyUnavailable:
            return JSONResponse({"later": _LATER}, status_code=503)
        except (InputError, StateError) as error:
            return JSONResponse({"refused": str(error)}, status_code=410)

    async def protocol(self, request: Request) -> Response:
        """Shows the protocol: questions, notes, ticks and time by section, for reading and printing."""
        name = request.path_params["name"]
        interview_protocol = await self.work(lambda: build_protocol(self._open_interviews(), name))
        return self.page(
            request, "interview_protocol.html", {"protocol": interview_protocol, "clock_words": format_clock}
        )

    async def markdown(self, request: Request) -> Response:
        """Exports the protocol as Markdown."""
        name = request.path_params["name"]
        text = await self.work(lambda: format_protocol(build_protocol(self._open_interviews(), name)))
        attached = {"content-disposition": f'attachment; filename="protocol-{name}.md"'}
        return Response(text, media_type="text/markdown; charset=utf-8", headers=attached)

    def _is_gone(self, name: str) -> bool:
        """Whether the interview no longer exists, so that the browser must delete its copy."""
        return not self._open_interviews().file.read_head(name)

    def _open_interviews(self) -> Interviews:
        interviews_if_any = self.session.interviews_if_any
        if interviews_if_any is None:
            raise StateError("there are no participants yet: add one first")
        return interviews_if_any


def _step(form: Form) -> StopForm:
    """Reads the form of one stop; ignores items of other questions on the page."""
    stop = parse_whole_number(first_value(form, "stop"))
    if stop is None:
        raise InputError("the question is missing: reload the page")
    values, was = form.get(f"item.{stop}", ()), form.get(f"was.{stop}", ())
    return StopForm(
        stop,
        first_value(form, "do"),
        first_value(form, "note"),
        bool(first_value(form, "follow_up")),
        first_value(form, "amends"),
        frozenset(values),
        frozenset(was),
        first_value(form, f"other.{stop}"),
    )


def _from_script(body: bytes) -> dict[str, Any]:
    json = parse_json(body, _LONGEST_BODY)
    try:
        key, when = require_key(str(json["key"])), json.get("when")
        if not key:
            raise ValueError
        return {**json, "key": key, "when": None if when is None else float(when)}
    except (ValueError, KeyError, TypeError, OverflowError):
        raise HTTPException(400) from None

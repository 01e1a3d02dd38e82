"""The coding page of transcripts: passages by mouse, keyboard or form; each turn is acknowledged once on disk.

Also words that stood for themselves in a closed round, which the lead adopts as codes. A page has hundreds of
stretches; written here as HTML they cost half of what a template takes for them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from quaestor.base.errors import InputError, QuaestorError, TemporarilyUnavailable
from quaestor.base.names import parse_whole_number
from quaestor.coding.agreement_access import find_access
from quaestor.coding.code_proposals import propose_code
from quaestor.coding.model.code_proposals import NewCode
from quaestor.coding.model.state import State
from quaestor.coding.rating import codes_passages, require_passages
from quaestor.coding.rating_files import WrongStudy
from quaestor.coding.session import CodingSession
from quaestor.interviews.coding.acts import (
    PassageSubmission,
    ReadTurns,
    WordSelection,
    build_coding_act,
    build_reading_act,
    find_selection,
    is_different,
    list_passages_shown,
)
from quaestor.interviews.coding.code_agreement import PASSAGE, UNITS, find_agreement_by_code
from quaestor.interviews.coding.in_vivo import adopt, list_adoptable_codes, list_in_vivo_passages
from quaestor.interviews.coding.progress import count_round_progress
from quaestor.interviews.pages.coding_sheet import (
    CodedTurn,
    CodingSheet,
    Highlight,
    build_coding_sheet,
    find_next_transcript,
)
from quaestor.interviews.repository import Interviews
from quaestor.store.records import Act
from quaestor.study.session import PendingAct
from quaestor.web.coding.disagreements import first_value, slice_page
from quaestor.web.error_pages import is_unavailable, refusal_status
from quaestor.web.page import Pages, require_visitor
from quaestor.web.security.forms import parse_fields, parse_json, read_fields, require_key
from quaestor.web.study_session import StudySession

_LONGEST_BODY = 400_000
_LATER = "The desk cannot save right now. Your codes are not lost; the lead can see what is wrong."
Asked = PassageSubmission | ReadTurns


class CodingPages(Pages):
    """Coding pages; the rater is always the signed-in visitor, never a form field."""

    def __init__(self, session: StudySession, templates: Jinja2Templates) -> None:
        super().__init__(session, templates)
        templates.env.filters |= {
            "exactly": escape_exactly, "spoken": spoken, "margin": margin, "passages_json": passages_json
        }  # fmt: skip

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/rounds/{name}/code", self.transcripts, methods=["GET"], name="coding"),
            Route("/rounds/{name}/code/{interview}", self.transcript, methods=["GET"], name="coding-transcript"),
            Route("/rounds/{name}/code/{interview}/turns", self.give, methods=["POST"], name="coding-give"),
        ]

    def _interviews(self, name: str) -> Interviews:
        """The interviews, if the round codes them; viewing another round creates no files."""
        require_passages(self.session.desk.coding, name)
        return self.session.interviews

    async def transcripts(self, request: Request) -> Response:
        """Lists the transcripts of a round with the rater's progress."""
        name, who = request.path_params["name"], require_visitor(request).name
        coding = await self.work(lambda: self.session.desk.coding)
        if not await self.work(lambda: codes_passages(coding, name)):
            return self.go(request, "rate", name=name)
        progress = await self.work(lambda: count_round_progress(coding, self.session.interviews, name, who))
        return self.page(request, "coding.html", {"progress": progress})

    async def transcript(self, request: Request) -> Response:
        """Shows the requested page of a transcript, else the first with unread turns."""
        query = request.query_params
        return await self._page(
            request, parse_whole_number(query.get("page", "")), parse_whole_number(query.get("turn", ""))
        )

    async def _page(
        self,
        request: Request,
        page: int | None,
        turn: int | None,
        typed: Mapping[str, str] | None = None,
        refused: str = "",
        status: int = 200,
    ) -> Response:
        name, interview, who = (*self._place(request), require_visitor(request).name)

        def read_sheet() -> tuple[CodingSheet, str]:
            interviews = self._interviews(name)
            sheet = build_coding_sheet(interviews.coding, interviews, name, who, interview, page=page, turn=turn)
            return sheet, find_next_transcript(interviews.coding, interviews, sheet)

        sheet, following = await self.work(read_sheet)
        context = {
            "sheet": sheet,
            "following": following,
            "chosen": turn,
            "typed": defaultdict(str, typed or {}),
            "refused": refused,
        }
        return self.page(request, "coding_transcript.html", context, status)

    def _place(self, request: Request) -> tuple[str, str]:
        return request.path_params["name"], request.path_params["interview"]

    async def give(self, request: Request) -> Response:
        """Saves the passages of a turn, or turns read, by script or form."""
        by_script = request.headers.get("content-type", "").startswith("application/json")
        if not by_script:
            return await self._form(request)
        sent, rater = _from_script(await request.body(), request.path_params["interview"])
        if not await self.work(lambda: self.session.is_sent_by(rater, require_visitor(request).name)):
            return JSONResponse({"refused": f"this was coded by {rater!r}"}, status_code=409)
        try:
            acts = await self._record_acts(request, sent)
        except WrongStudy as error:
            return JSONResponse({"refused": str(error)}, status_code=409)
        except TemporarilyUnavailable:  # the act is valid and stays queued in the browser
            return JSONResponse({"later": _LATER}, status_code=503)
        except QuaestorError as error:
            return JSONResponse({"refused": str(error)}, status_code=422)
        answer = {"saved": True}
        if acts and isinstance(sent, PassageSubmission) and is_different(sent, acts[0]):
            answer["differs"] = True
        return JSONResponse(answer)

    async def _record_acts(self, request: Request, sent: Asked) -> Sequence[Act]:
        """Records acts and returns them once on disk; none if there was nothing to record."""
        name, who = request.path_params["name"], require_visitor(request).name

        def wanted() -> PendingAct[State]:
            interviews = self._interviews(name)
            if isinstance(sent, ReadTurns):
                pending = build_reading_act(interviews.coding, interviews, name, who, sent)
            else:
                pending = build_coding_act(interviews.coding, interviews, name, who, sent)
            interviews.coding.pending.add(pending)
            return pending

        waiting = await self.work(wanted)
        await self.session.interviews.coding.pending.wait(waiting, self.save)
        return waiting.result()

    async def _form(self, request: Request) -> Response:
        """Handles the form without scripts: adds or removes a passage or marks turns read, then returns to the turn."""
        form = parse_fields(await request.body())
        name, interview = self._place(request)
        turn, page = parse_whole_number(first_value(form, "turn")), parse_whole_number(first_value(form, "page"))
        try:
            if first_value(form, "propose"):
                await self.work(lambda: self._propose_code(request, form, turn))
                query = f"page={page or 1}&proposed=yes#propose"
                return self.go(request, "coding-transcript", query, name=name, interview=interview)
            sent = await self.work(lambda: self._parse_form(request, form))
            await self._record_acts(request, sent)
        except QuaestorError as error:
            typed = {field: values[0] for field, values in form.items()}
            status = 503 if is_unavailable(error) else 422
            return await self._page(request, page, turn, typed, str(error), status)
        if isinstance(sent, ReadTurns):
            return self.go(request, "coding-transcript", name=name, interview=interview)
        return self.go(
            request, "coding-transcript", f"page={page or 1}#turn-{sent.turn}", name=name, interview=interview
        )

    def _propose_code(self, request: Request, form: Mapping[str, Sequence[str]], turn: int | None) -> None:
        name, interview = self._place(request)
        if turn is None:
            raise HTTPException(400)
        interviews = self._interviews(name)
        new = NewCode(*(first_value(form, f"proposed.{field}") for field in ("name", "parent", "definition")))
        item, who, key = interviews.item(interview, turn), require_visitor(request).name, first_value(form, "key")
        propose_code(interviews.coding, name, who, item, new, key=require_key(key))

    def _parse_form(self, request: Request, form: Mapping[str, Sequence[str]]) -> Asked:
        name, interview = self._place(request)
        key = require_key(first_value(form, "key"))
        if first_value(form, "read"):
            first, _, last = first_value(form, "read").partition("-")
            return ReadTurns(interview, parse_whole_number(first) or 0, parse_whole_number(last) or 0, key)
        interviews = self._interviews(name)
        removed = first_value(form, "remove").split(":", 3)
        turn = parse_whole_number(removed[0] if len(removed) == 4 else first_value(form, "turn"))
        if turn is None:
            raise HTTPException(400)
        item, who, seen = (
            interviews.item(interview, turn),
            require_visitor(request).name,
            parse_whole_number(first_value(form, "seen")) or 0,
        )
        stretches = list_passages_shown(interviews.coding, interviews, name, who, item, seen)
        if len(removed) == 4:
            place = [parse_whole_number(removed[1]), parse_whole_number(removed[2]), removed[3]]
            stretches = [
                passage for passage in stretches if [passage["start"], passage["end"], passage.get("code", "")] != place
            ]
        elif not first_value(form, "nothing"):
            picked = WordSelection(
                turn,
                first_value(form, "words"),
                parse_whole_number(first_value(form, "from")),
                parse_whole_number(first_value(form, "to")),
            )
            start, end = find_selection(interviews, interview, picked, seen)
            stretches.append(_read_passage(form, start, end))
        return PassageSubmission(interview, turn, stretches, seen, key=key)


def _read_passage(form: Mapping[str, Sequence[str]], start: int, end: int) -> dict[str, Any]:
    code = first_value(form, "code")
    field_values = {
        name.removeprefix("field."): values[0] for name, values in form.items() if name.startswith("field.")
    }
    own = {
        name.removeprefix(f"{code}."): words
        for name, words in field_values.items()
        if name.startswith(f"{code}.") and words
    }
    return {"start": start, "end": end, "code": code, "memo": first_value(form, "memo"), "fields": own}


def _from_script(body: bytes, interview: str) -> tuple[Asked, str]:
    raw = parse_json(body, _LONGEST_BODY)
    try:
        key, opened, rater = require_key(str(raw["key"])), str(raw.get("opened", "")), str(raw.get("rater", ""))
        if "read" in raw:
            first, last = raw["read"]
            return ReadTurns(interview, int(first), int(last), key, opened), rater
        stretches = [dict(passage) for passage in raw["stretches"]]
        before = None if raw.get("before") is None else [dict(passage) for passage in raw["before"]]
        seen, seconds = int(raw.get("seen", 0)), float(raw.get("seconds", 0))
        coded_as = PassageSubmission(interview, int(raw["turn"]), stretches, seen, seconds, key, opened, before)
        return coded_as, rater
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise HTTPException(400) from None


LANES = 5
"""Number of distinguishable styles of overlapping passages; deeper ones use the last style."""


def escape_exactly(text: str) -> Markup:
    """Escapes text so that a browser keeps it exactly: it would merge CR LF and drop NUL characters."""
    return Markup(str(escape(text)).replace("\r", "&#13;").replace("\0", "\ufffd"))  # noqa: S704 - escaped


def spoken(turn: CodedTurn) -> Markup:
    """Renders a turn, split where passages begin or end, with nested marks."""
    if not turn.marks:
        return escape_exactly(turn.text)
    opened = [f'<mark class="lane-{choose_lane(mark)}" data-mark="{place}">' for place, mark in enumerate(turn.marks)]
    parts = []
    for piece in turn.pieces:
        inside = sorted(piece.inside, key=lambda place: turn.marks[place].lane)
        parts.append(
            f"{''.join([opened[place] for place in inside])}{escape_exactly(piece.words)}{'</mark>' * len(inside)}"
        )
    return Markup("".join(parts))  # noqa: S704 - every piece is escaped


def margin(turn: CodedTurn, is_open: bool) -> Markup:
    """Renders the codes of a turn with their details and, in an open round, remove buttons."""
    return Markup("".join(_format_code(turn, place, is_open) for place in range(len(turn.marks))))  # noqa: S704 - escaped


def _format_code(turn: CodedTurn, place: int, is_open: bool) -> str:
    mark = turn.marks[place]
    named = str(escape(mark.name))
    chip = f'<q dir="auto">{escape(mark.words)}</q> <span class="small">in vivo</span>' if mark.in_vivo else named
    details = [f"{name}: {words}" for name, words in mark.fields if words] + [mark.memo] * bool(mark.memo)
    more = (
        f'<span class="more">{"".join(f"<span>{escape(words)}</span>" for words in details)}</span>' if details else ""
    )
    remove = (
        f'<button form="act" class="quiet remove" name="remove" '
        f'value="{turn.number}:{mark.start}:{mark.end}:{escape(mark.code)}" '
        f'aria-label="Remove {named or "the words in vivo"}">×</button>'
    )
    return (
        f'<li class="lane-{choose_lane(mark)}" data-mark="{place}"><span class="chip">{chip}</span>'
        f"{more}{remove if is_open else ''}</li>"
    )


def choose_lane(mark: Highlight) -> int:
    return min(mark.lane, LANES - 1)


def passages_json(sheet: CodingSheet) -> Markup:
    """Formats the passages of a page as JSON for its script; escaped, so that it cannot end its element."""
    turns = (turn for answer in sheet.answers for turn in answer.turns if turn.marks)
    text = json.dumps(
        {turn.number: [_highlight_json(mark) for mark in turn.marks] for turn in turns}, separators=(",", ":")
    )
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026"))  # noqa: S704 - has no markup left


def _highlight_json(mark: Highlight) -> dict[str, Any]:
    fields = {name: words for name, words in mark.fields if words}
    more = {"code": mark.code, "memo": mark.memo, "fields": fields, "link": mark.link}
    return {"start": mark.start, "end": mark.end, **{name: value for name, value in more.items() if value}}


class CodedRoundPages(Pages):
    """A round on transcripts: its agreement on each code, and in-vivo codes, for the lead once it is closed."""

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/rounds/{name}/code-agreement", self.code_agreement, methods=["GET"], name="code-agreement"),
            Route("/rounds/{name}/in-vivo", self.in_vivo, methods=["GET", "POST"], name="in-vivo"),
        ]

    async def code_agreement(self, request: Request) -> Response:
        """Shows the agreement on each code; before the first view, the page of agreement asks."""
        name, who = request.path_params["name"], require_visitor(request).name
        unit = request.query_params.get("by", PASSAGE)
        interviews = await self.work(lambda: self._interviews(name))
        access = await self.work(lambda: _find_access(interviews.coding, name, who))
        if access != "now":
            return self.go(request, "agreement", name=name)
        result = await self.work(lambda: find_agreement_by_code(interviews, name, unit, who))
        return self.page(request, "code_agreement.html", {"result": result, "units": UNITS})

    def _interviews(self, name: str) -> Interviews:
        require_passages(self.session.desk.coding, name)
        return self.session.interviews

    async def in_vivo(self, request: Request) -> Response:
        """Lists in-vivo codes; a POST adopts one."""
        refused, status = "", 200
        if request.method == "POST":
            fields = await read_fields(request)
            try:
                await self.work(lambda: self._adopt(request, fields))
            except QuaestorError as error:
                refused, status = str(error), refusal_status(error)
            else:
                return self.go(request, "in-vivo", f"page={fields.get('page', '1')}", name=request.path_params["name"])
        return await self._list(request, refused, status)

    async def _list(self, request: Request, refused: str, status: int) -> Response:
        name, who = request.path_params["name"], require_visitor(request).name
        interviews = await self.work(lambda: self._interviews(name))
        in_vivo = await self.work(lambda: list_in_vivo_passages(interviews, name, who))
        rows, place = slice_page(request, in_vivo)
        codes = await self.work(lambda: list_adoptable_codes(interviews.coding, name))
        left = sum(not code.name for code in in_vivo)
        context = {"round": name, "rows": rows, "codes": codes, "left": left, "total": len(in_vivo), "refused": refused}
        return self.page(request, "in_vivo.html", {**context, **place}, status)

    def _adopt(self, request: Request, fields: dict[str, str]) -> None:
        name = request.path_params["name"]
        start, end = parse_whole_number(fields.get("start", "")), parse_whole_number(fields.get("end", ""))
        if start is None or end is None:
            raise HTTPException(400)
        new = fields.get("new", "").strip()
        code = NewCode(new, fields.get("code", "")) if new else fields.get("code", "")
        if not code and not fields.get("back"):
            raise InputError("no code was chosen: choose the code for these words, or name a new one")
        adopt(
            self._interviews(name).coding, name, fields.get("item", ""), start, end, code, require_visitor(request).name
        )


def _find_access(coding: CodingSession, name: str, who: str) -> str:
    with coding.locked_state() as state:
        return find_access(state, name, who, coding.lead).may

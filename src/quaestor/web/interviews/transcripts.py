"""Transcript pages: import from a file, read, and correct speakers and questions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.base.names import parse_whole_number
from quaestor.interviews.audio import AudioRecording, find_audio, read_audio
from quaestor.interviews.model.records import Voice, format_clock
from quaestor.interviews.repository import Interviews
from quaestor.interviews.transcript_sheet import (
    VOICE_WORDS,
    TranscriptSheet,
    build_transcript_sheet,
    find_page,
    read_omitted_text,
)
from quaestor.interviews.transcripts.corrections import match_again, set_question, set_speaker, set_voice
from quaestor.interviews.transcripts.import_file import (
    ENCODING_WORDS,
    AnotherTranscript,
    explain_import_refusal,
    import_bytes,
    record_occasion,
)
from quaestor.people.roles import Permission
from quaestor.web.error_pages import refusal_status
from quaestor.web.navigation import link_to
from quaestor.web.page import Pages, parse_page_number, require_visitor
from quaestor.web.security.access import Visitor
from quaestor.web.security.forms import SentFile, read_fields, read_upload

_ONE = "/interviews/{name:interview}/transcript"
_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")
_OUTSIDE = "-"
"""Sent for a turn that asks a question outside the guide."""
_ANOTHER = (
    "{name} already has a transcript from another file; nothing was changed. To replace it, choose the file again "
    "under “Another file” and tick that it takes the place of the one that is here"
)


class TranscriptPages(Pages):
    """Transcript pages of interviewers."""

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route(_ONE, self.transcript, methods=["GET", "POST"], name="interview-transcript"),
            Route(f"{_ONE}/file", self.file, methods=["POST"], name="interview-import"),
            Route("/interviews/{name:interview}/audio", self.audio, methods=["GET"], name="interview-audio"),
        ]

    async def transcript(self, request: Request) -> Response:
        """Shows a page of the transcript; a POST corrects it."""
        if request.method == "GET":
            return await self._show_sheet(request)
        name, who, fields = request.path_params["name"], require_visitor(request).name, await read_fields(request)
        try:
            turn = await self.work(lambda: _corrected(self._open_interviews(), name, who, fields))
        except QuaestorError as error:
            return await self._show_sheet(request, refusal_status(error), refused=str(error))
        if turn is None:
            return self.go(request, "interview-transcript", name=name)
        path = str(request.url_for("interview-transcript", name=name).path)
        return Response(status_code=303, headers={"location": f"{path}?page={find_page(turn)}#turn-{turn}"})

    async def file(self, request: Request) -> Response:
        """Imports an uploaded transcript."""
        name, who = request.path_params["name"], require_visitor(request).name
        sent = await read_upload(await request.body(), request.headers)
        chosen = sent.files.get("file", SentFile("", b""))
        encoding = sent.fields.get("encoding", "")
        speakers = [line.strip() for line in sent.fields.get("speakers", "").split("\n") if line.strip()]
        day, group = sent.fields.get("held"), sent.fields.get("group")
        replace, apart = (sent.fields.get(field, "") == "yes" for field in ("replace", "apart"))
        try:
            if not chosen.data:
                raise InputError("no file was sent: choose a transcript file")
            done = await self.work(
                lambda: import_bytes(
                    self._open_interviews(),
                    name,
                    chosen.data,
                    chosen.name,
                    who,
                    named=speakers,
                    replace=replace,
                    encoding=encoding,
                    apart=apart,
                    day=day,
                    group=group,
                )
            )
        except AnotherTranscript:
            return await self._show_sheet(request, 409, refused=_ANOTHER.format(name=name))
        except QuaestorError as error:
            return await self._show_sheet(request, refusal_status(error), refused=str(error))
        return self.go(request, "interview-transcript", "taken=yes" if done.new else "taken=known", name=name)

    async def audio(self, request: Request) -> Response:
        """Streams the recording of an interview, or the requested part of it, decrypted piece by piece."""
        name, who = request.path_params["name"], require_visitor(request).name
        recording = await self.work(lambda: find_audio(self._open_interviews(), name))
        if recording is None:
            raise HTTPException(404)
        size = recording.bytes
        headers = {"Accept-Ranges": "bytes", "Content-Disposition": "inline"}
        try:
            part = parse_range(request.headers.get("range", ""), size)
        except ValueError:
            return Response(status_code=416, headers={**headers, "Content-Range": f"bytes */{size}"})
        start, end = part or (0, size)
        headers["Content-Length"] = str(end - start)
        if part:
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
        status, media_type = 206 if part else 200, recording.media_type
        if request.method == "HEAD":
            return Response(status_code=status, headers=headers, media_type=media_type)
        pieces = await self.work(lambda: read_audio(self._open_interviews(), recording, start, end, who))
        return StreamingResponse(self.stream(pieces), status, headers, media_type)

    async def _show_sheet(self, request: Request, status: int = 200, **more: Any) -> Response:
        name, page = request.path_params["name"], parse_page_number(request)
        sheet = await self.work(lambda: self._sheet(name, page, require_visitor(request).name))
        turn = parse_whole_number(request.query_params.get("turn", ""))
        context = {
            "name": name,
            "sheet": sheet,
            "interview": await self.work(lambda: self._open_interviews().interview(name)),
            "today": await self.work(lambda: self._open_interviews().today()),
            "stays": await self.work(lambda: explain_import_refusal(self._open_interviews(), name))
            if sheet is None or page == 1
            else "",
            "omitted": await self.work(lambda: read_omitted_text(self._open_interviews(), name))
            if sheet and page == 1
            else None,
            "encodings": ENCODING_WORDS,
            "recording": await self.work(lambda: self._find_recording(name, require_visitor(request))),
            "correcting": turn,
            "import_outcome": request.query_params.get("taken", ""),
            "voices": {voice: VOICE_WORDS.get(voice, "Participant") for voice in Voice},
            "clock_words": format_clock,
            "page_of": find_page,
            "link_to": lambda route, query=None, **path: link_to(request, route, query, **path),
        }
        return self.page(request, "interview_transcript.html", {**context, **more}, status)

    def _find_recording(self, name: str, visitor: Visitor) -> AudioRecording | None:
        """Returns the recording for the lead, who alone reads the names of a transcript."""
        interviews = self._open_interviews()
        leads = visitor.can(Permission.LEAD) and visitor.name == interviews.coding.lead
        return find_audio(interviews, name) if leads else None

    def _sheet(self, name: str, page: int, who: str) -> TranscriptSheet | None:
        try:
            return build_transcript_sheet(self._open_interviews(), name, page, who)
        except InputError:
            if page == 1:
                raise
            raise HTTPException(404) from None

    def _open_interviews(self) -> Interviews:
        interviews_if_any = self.session.interviews_if_any
        if interviews_if_any is None:
            raise StateError("there are no participants yet: add one first")
        return interviews_if_any


def parse_range(header: str, size: int) -> tuple[int, int] | None:
    """Returns the start and end of the requested bytes; None for all. Raises ValueError if the file has none of them.

    Several ranges at once are not supported: the whole file is sent, as HTTP allows.
    """
    match = _RANGE.fullmatch(header.strip())
    if match is None or match[1] == match[2] == "":
        return None
    if not match[1]:
        start, end = max(size - int(match[2]), 0), size
    else:
        start, end = int(match[1]), min(int(match[2] or size) + 1, size)
    if start >= end:
        raise ValueError("no bytes in this range")
    return start, end


def _corrected(interviews: Interviews, name: str, who: str, fields: Mapping[str, str]) -> int | None:
    """Applies a correction; returns the turn concerned, if any."""
    match fields.get("act", ""):
        case "speaker":
            set_speaker(interviews, name, fields.get("speaker", ""), fields.get("voice", ""), who)
        case "occasion":
            record_occasion(interviews, name, fields.get("held"), fields.get("group"), who)
        case "again":
            match_again(interviews, name, who)
        case "turn":
            turn = parse_whole_number(fields.get("turn", ""))
            if turn is None:
                raise InputError("the turn is missing: reload the page")
            _correct_turn(interviews, name, who, turn, fields)
            return turn
        case unknown:
            raise InputError(f"there is no action {unknown[:60]!r} here: reload the page")
    return None


def _correct_turn(interviews: Interviews, name: str, who: str, turn: int, fields: Mapping[str, str]) -> None:
    """Records only changed values: unchanged proposals may still be replaced by better ones."""
    turns = interviews.transcript(name).turns
    if not 0 <= turn < len(turns):
        raise InputError(f"there is no turn {turn} in this transcript: reload the page")
    spoken_turn = turns[turn]
    if fields.get("voice", spoken_turn.voice) != spoken_turn.voice:
        set_voice(interviews, name, turn, fields["voice"], who)
    question = spoken_turn.question if spoken_turn.asks else ""
    if fields.get("question", question) != question:
        set_question(interviews, name, turn, fields["question"].removeprefix(_OUTSIDE), who)

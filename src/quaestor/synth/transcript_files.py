"""Writes interviews in the file formats of recording programs."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from xml.sax.saxutils import escape

from quaestor.interviews.model.records import Voice
from quaestor.synth.interviews import PlannedTurn, SyntheticInterview

_WORDS_A_SECOND, _PAUSE = 1.6, 4.0
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def time_turns(talk: SyntheticInterview) -> Iterator[tuple[PlannedTurn, float, list[float]]]:
    """Yields each turn with its start and the end of each sentence, at a natural speaking rate."""
    now = 2.0
    for turn in talk.turns:
        start, ends = now, []
        for sentence in turn.sentences:
            now += len(sentence.split()) / _WORDS_A_SECOND
            ends.append(round(now, 2))
        yield turn, round(start, 2), ends
        now += _PAUSE


def write_teams_webvtt(talk: SyntheticInterview) -> bytes:
    cues = [
        f"{index:08x}-0/{index}-0\n{_format_time(start)} --> {_format_time(end)}\n"
        f"<v {_format_speaker(talk, turn)}>{escape(words)}</v>"
        for index, (turn, words, start, end) in enumerate(_cues(talk))
    ]
    return ("WEBVTT\n\n" + "\n\n".join(cues) + "\n").encode()


def write_zoom_webvtt(talk: SyntheticInterview) -> bytes:
    cues = [
        f"{place}\r\n{_format_time(start)} --> {_format_time(end)}\r\n{_format_speaker(talk, turn)}: {escape(words)}"
        for place, (turn, words, start, end) in enumerate(_cues(talk), start=1)
    ]
    return ("WEBVTT\r\n\r\n" + "\r\n\r\n".join(cues) + "\r\n").encode()


def write_subrip(talk: SyntheticInterview) -> bytes:
    cues = [
        f"{place}\n{_format_time(start, ',')} --> {_format_time(end, ',')}\n{_format_role(turn)}: {words}\n"
        for place, (turn, words, start, end) in enumerate(_cues(talk), start=1)
    ]
    return "\n".join(cues).encode()


def write_word_document(talk: SyntheticInterview) -> bytes:
    paragraphs = [
        f"<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>{escape(_format_speaker(talk, turn))}</w:t></w:r>"
        f'<w:r><w:t xml:space="preserve">   {_format_short_time(start)}</w:t><w:br/>'
        f'<w:t xml:space="preserve">{escape(turn.text)}</w:t></w:r></w:p>'
        for turn, start, _ in time_turns(talk)
    ]
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_TYPES}"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{_MAIN}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="r1" Type="{_DOCUMENT}" '
        'Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{"".join(paragraphs)}</w:body></w:document>',
    }
    bytes_io = io.BytesIO()
    with zipfile.ZipFile(bytes_io, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name, _LONG_AGO), head + text, zipfile.ZIP_DEFLATED)
    return bytes_io.getvalue()


def write_timed_text(talk: SyntheticInterview) -> bytes:
    return "".join(
        f"[{_format_time(start)[:8]}] {_format_role(turn)}: {turn.text}\n" for turn, start, _ in time_turns(talk)
    ).encode()


def write_markdown(talk: SyntheticInterview) -> bytes:
    return "\n\n".join(f"**{_format_role(turn)}:** {turn.text}" for turn in talk.turns).encode() + b"\n"


FORMATS: dict[str, tuple[str, Callable[[SyntheticInterview], bytes]]] = {
    "Teams": (".vtt", write_teams_webvtt),
    "Zoom": (".vtt", write_zoom_webvtt),
    "SubRip": (".srt", write_subrip),
    "Word": (".docx", write_word_document),
    "text": (".txt", write_timed_text),
    "Markdown": (".md", write_markdown),
}
"""The file ending and the writer of each format."""


def _cues(talk: SyntheticInterview) -> Iterator[tuple[PlannedTurn, str, float, float]]:
    """Yields one cue per sentence."""
    for turn, begin, ends in time_turns(talk):
        for words, start, end in zip(turn.sentences, (begin, *ends), ends, strict=False):
            yield turn, words, start, end


def _format_speaker(talk: SyntheticInterview, turn: PlannedTurn) -> str:
    """The name of the speaker, as in programs with user accounts."""
    return talk.interviewer if turn.voice is Voice.INTERVIEWER else talk.plan.name


def _format_role(turn: PlannedTurn) -> str:
    """The role of the speaker, as in a typed transcript."""
    return "Interviewer" if turn.voice is Voice.INTERVIEWER else "Participant"


def _format_time(seconds: float, mark: str = ".") -> str:
    whole, thousandths = divmod(round(seconds * 1000), 1000)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}{mark}{thousandths:03d}"


def _format_short_time(seconds: float) -> str:
    whole = int(seconds)
    hours = f"{whole // 3600}:{whole // 60 % 60:02d}" if whole >= 3600 else f"{whole // 60}"
    return f"{hours}:{whole % 60:02d}"

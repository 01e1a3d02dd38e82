"""Conversations written as recording programs write them; nothing here knows how they are read."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from xml.sax.saxutils import escape

Said = tuple[str, str]
"""Who, and the words."""
_WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_EQUATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_SECONDS = 4


def clock(seconds: float, mark: str = ".") -> str:
    whole, thousandths = int(seconds), round(seconds % 1 * 1000)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}{mark}{thousandths:03d}"


def short_clock(seconds: float) -> str:
    whole = int(seconds)
    return (
        f"{whole // 60}:{whole % 60:02d}"
        if whole < 3600
        else f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    )


def times(place: int, mark: str = ".") -> str:
    return f"{clock(place * _SECONDS, mark)} --> {clock(place * _SECONDS + 3.5, mark)}"


def teams_webvtt(talk: Sequence[Said]) -> bytes:
    cues = [
        f"f0c1-{place}/{place}-0\n{times(place)}\n<v {escape(who)}>{escape(words)}</v>"
        for place, (who, words) in enumerate(talk)
    ]
    return ("WEBVTT\n\n" + "\n\n".join(cues) + "\n").encode()


def zoom_webvtt(talk: Sequence[Said]) -> bytes:
    cues = [f"{place + 1}\r\n{times(place)}\r\n{who}: {escape(words)}" for place, (who, words) in enumerate(talk)]
    return ("WEBVTT\r\n\r\n" + "\r\n\r\n".join(cues) + "\r\n").encode()


def subrip(talk: Sequence[Said]) -> bytes:
    cues = [f"{place + 1}\n{times(place, ',')}\n{who}: {words}\n" for place, (who, words) in enumerate(talk)]
    return "\n".join(cues).encode()


def text(talk: Sequence[Said]) -> bytes:
    return "\n\n".join(f"{who}: {words}" for who, words in talk).encode("utf-16")


def timed_text(talk: Sequence[Said]) -> bytes:
    lines = [f"[{clock(place * _SECONDS)[:8]}] {who}: {words}" for place, (who, words) in enumerate(talk)]
    return ("\ufeff" + "\r\n".join(lines)).encode()


def markdown(talk: Sequence[Said]) -> bytes:
    return "\n\n".join(f"**{who}:** {words}" for who, words in talk).encode()


def headed_text(talk: Sequence[Said]) -> bytes:
    """As Otter and others write: a line with the name and the time, then the words."""
    return "\n\n".join(
        f"{who}  {short_clock(place * _SECONDS)}\n{words}" for place, (who, words) in enumerate(talk)
    ).encode()


def teams_document(talk: Sequence[Said]) -> bytes:
    """A paragraph a turn: the name, the time, a line break, the words."""
    paragraphs = [
        f"<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>{escape(who)}</w:t></w:r>"
        f'<w:r><w:t xml:space="preserve">   {short_clock(place * _SECONDS)}</w:t><w:br/>'
        f'<w:t xml:space="preserve">{escape(words)}</w:t></w:r></w:p>'
        for place, (who, words) in enumerate(talk)
    ]
    return document("".join(paragraphs))


def table_document(talk: Sequence[Said]) -> bytes:
    """A table with a row a turn."""
    rows = [("Time", "Speaker", "Text")]
    rows += [(clock(place * _SECONDS)[:8], who, words) for place, (who, words) in enumerate(talk)]
    return document(table(*rows))


def run(words: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{escape(words)}</w:t></w:r>'.replace("\t", "</w:t><w:tab/><w:t>")


def paragraph(words: str) -> str:
    return f"<w:p>{run(words)}</w:p>"


def table(*rows: tuple[str, ...]) -> str:
    made = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in made)}</w:tbl>"


def document(
    body: str, before: str = "", part: str = "word/document.xml", beside: Mapping[str, str] | None = None
) -> bytes:
    """A Word document with what it needs to be one."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        kinds = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
        types = "http://schemas.openxmlformats.org/package/2006/content-types"
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{types}"><Override PartName="/{part}" ContentType="{kinds}"/></Types>',
        )
        spaces = f'xmlns:w="{_WORDS}" xmlns:m="{_EQUATIONS}"'
        whole = f'<?xml version="1.0"?>{before}<w:document {spaces}><w:body>{body}</w:body></w:document>'
        archive.writestr(part, whole)
        kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
        relations = "http://schemas.openxmlformats.org/package/2006/relationships"
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{relations}"><Relationship Id="r1" Type="{kind}" Target="{part}"/></Relationships>',
        )
        for name, notes in (beside or {}).items():
            archive.writestr(name, f"<w:notes {spaces}>{notes}</w:notes>")
    return made.getvalue()


WRITERS: dict[str, Callable[[Sequence[Said]], bytes]] = {
    "teams-webvtt": teams_webvtt,
    "zoom-webvtt": zoom_webvtt,
    "subrip": subrip,
    "text": text,
    "timed-text": timed_text,
    "markdown": markdown,
    "headed-text": headed_text,
    "teams-document": teams_document,
    "table-document": table_document,
}

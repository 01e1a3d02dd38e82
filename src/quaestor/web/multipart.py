"""A form with a file in it: `multipart/form-data` as browsers send it (RFC 7578), whole and in memory."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from starlette.datastructures import Headers

LONGEST_WITH_A_FILE = 21_000_000
"""Bytes of such a form: the largest transcript, and what stands around it."""
_MOST_PARTS = 50
_LONGEST_FIELD = 10_000
_LONGEST_HEADERS = 4_000
_BOUNDARY = re.compile(r'boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))', re.IGNORECASE)
_NAMED = re.compile(r'[;\s]name="([^"]*)"')
_FILED = re.compile(r'[;\s]filename="([^"]*)"')


@dataclass(frozen=True)
class SentFile:
    """A file that somebody chose; its name is theirs and leads nowhere."""

    name: str
    data: bytes


@dataclass(frozen=True)
class SentParts:
    """What a form sent: fields with one value each, and files by the names of their fields."""

    fields: dict[str, str] = field(default_factory=dict)
    files: dict[str, SentFile] = field(default_factory=dict)


def is_multipart(headers: Headers) -> bool:
    return headers.get("content-type", "").partition(";")[0].strip().lower() == "multipart/form-data"


def parts_in(body: bytes, headers: Headers) -> SentParts:
    """The parts of a form; nothing where it cannot be read. A field that comes twice keeps its first value."""
    found = _BOUNDARY.search(headers.get("content-type", ""))
    if found is None:
        return SentParts()
    mark = b"--" + (found[1] or found[2]).encode("latin-1", "replace")
    pieces = (b"\r\n" + body).split(b"\r\n" + mark, _MOST_PARTS + 1)
    if len(pieces) < 3 or len(pieces) > _MOST_PARTS + 1 or not pieces[-1].startswith(b"--"):
        return SentParts()
    sent = SentParts()
    for piece in pieces[1:-1]:
        head, parted, content = piece.partition(b"\r\n\r\n")
        if not parted or len(head) > _LONGEST_HEADERS:
            return SentParts()
        _take(sent, head.decode("utf-8", "replace"), content)
    return sent


def _take(sent: SentParts, head: str, content: bytes) -> None:
    disposition = next((line for line in head.split("\r\n") if line.lower().startswith("content-disposition:")), "")
    named, filed = _NAMED.search(disposition), _FILED.search(disposition)
    if named is None:
        return
    if filed is not None:
        name = unquote(filed[1]).replace("\\", "/").rpartition("/")[2][:200]
        sent.files.setdefault(named[1], SentFile(name, content))
    elif len(content) <= _LONGEST_FIELD:
        sent.fields.setdefault(named[1], content.decode("utf-8", "replace"))

"""Reads submitted forms, checks their origin, and validates redirect targets."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive

LONGEST = 1_000_000
"""Largest request body without a file, in bytes."""
LONGEST_WITH_A_FILE = 21_000_000
"""Largest form with a file, in bytes: the largest transcript plus the multipart overhead."""
_MOST_FIELDS = 1_000
_MOST_PARTS, _MOST_FILES, _LONGEST_PART = 40, 10, 10_000
_LONGEST_KEY = 200
IMPORTED = ("import/", "published/")
"""Prefixes of the keys of imported acts."""


class TooLong(Exception):
    """A form that is longer than any page of the desk sends."""


async def read_whole(receive: Receive, most: int = LONGEST) -> bytes:
    """Reads the body of a request; raises TooLong beyond a limit."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise TooLong
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Returns a receive function that replays a body that was already read."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


def is_form(headers: Headers) -> bool:
    return headers.get("content-type", "").partition(";")[0].strip().lower() == "application/x-www-form-urlencoded"


def parse_fields(body: bytes) -> dict[str, list[str]]:
    """Parses the fields of a form, each with its values; empty if it cannot be parsed."""
    try:
        return parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        return {}


async def read_fields(request: Request) -> dict[str, str]:
    """Reads the fields of a form, each with its first value."""
    return {name: values[0] for name, values in parse_fields(await request.body()).items()}


@dataclass(frozen=True)
class SentFile:
    """An uploaded file; its name is untrusted and never used as a path."""

    name: str
    data: bytes


@dataclass(frozen=True)
class Upload:
    """A form with files: its fields with one value each, and its files by the names of their fields."""

    fields: dict[str, str] = field(default_factory=dict)
    files: dict[str, SentFile] = field(default_factory=dict)


class _InMemory(MultiPartParser):
    """Keeps uploads in memory: Starlette's parser would write a transcript above 1 MB to disk."""

    spool_max_size = LONGEST_WITH_A_FILE
    is_whole = False

    def on_end(self) -> None:
        self.is_whole = True


def is_multipart(headers: Headers) -> bool:
    return headers.get("content-type", "").partition(";")[0].strip().lower() == "multipart/form-data"


async def read_upload(body: bytes, headers: Headers) -> Upload:
    """Parses a form with files; empty if it cannot be parsed. A repeated field keeps its first value."""

    async def stream() -> AsyncGenerator[bytes]:
        yield body
        if not parser.is_whole:  # raised here, so that the parser closes its files
            raise MultiPartException("the end of the form is missing")

    upload = Upload()
    parser = _InMemory(headers, stream(), max_files=_MOST_FILES, max_fields=_MOST_PARTS, max_part_size=len(body))
    try:
        form = await parser.parse()
    except MultiPartException:
        return upload
    for name, value in form.multi_items():
        if not isinstance(value, str):
            file_name = unquote(value.filename or "").replace("\\", "/").rpartition("/")[2][:200]
            upload.files.setdefault(name, SentFile(file_name, await value.read()))
        elif len(value) <= _LONGEST_PART:
            upload.fields.setdefault(name, value)
    await form.close()
    return upload


def parse_json(body: bytes, most: int) -> dict[str, Any]:
    """Parses a JSON object sent by a script; NaN and infinity are refused."""
    if len(body) > most:
        raise HTTPException(413)
    try:
        value = json.loads(body)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        raise HTTPException(400) from None
    if not isinstance(value, dict):
        raise HTTPException(400)
    return value


def require_key(text: str) -> str:
    """Validates a key created by a page; refuses any other.

    The key of an imported rating is derived from its answer: a client that could send one would learn from the reply
    whether another person gave that answer.
    """
    if not text.isascii() or not text.isprintable() or text.startswith(IMPORTED) or len(text) > _LONGEST_KEY:
        raise HTTPException(400)
    return text


def is_same_origin(headers: Headers) -> bool:
    """Whether the browser says that the request comes from a page of this origin."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    try:
        origin = urlsplit(headers.get("origin", "")).netloc.lower()
    except ValueError:
        return False
    return bool(origin) and origin == headers.get("host", "").lower()


def local_path(address: str, root: str) -> str:
    """Returns the path to open after signing in; anything but a path of this desk becomes its start page."""
    start = f"{root}/"
    plain = address.isprintable() and " " not in address and "\\" not in address
    return address if plain and address.startswith(start) and not address.startswith("//") else start

"""Parses a single row with an XML parser and converts every value to its type.

The fast path in `columns` leaves all unusual rows to this module, so it defines what a row means and why a row is
rejected.
"""

from __future__ import annotations

import re
from datetime import datetime
from xml.etree import ElementTree
from xml.parsers import expat

import pyarrow as pa

from quaestor.evidence.sources.protocol import Row
from quaestor.evidence.sources.stackexchange.schema import FLAG, OTHER, TAGS, TIME, WHOLE, DumpTable

_TIME = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}(:\d{2}(:\d{2}(\.\d{1,9})?)?)?)?")
_WHOLE = re.compile(r"-?\d{1,19}")
_LARGEST = 2**63 - 1


class BadRow(ValueError):
    """A row that cannot be kept; the message says why."""


def parse_row(raw: bytes, table: DumpTable) -> Row:
    """Returns the typed values of one `<row … />`; raises BadRow with a readable reason."""
    known = table.columns
    types = dict(table.attributes)
    row: Row = {}
    unknown: dict[str, str] = {}
    for name, text in read_attributes(raw).items():
        if name in known:
            row[known[name]] = _convert(name, text, types[name])
        else:
            unknown[name] = text
    if row.get("id") is None:
        raise BadRow("the row has no Id")
    row[OTHER] = list(unknown.items()) or None
    return row


def read_attributes(raw: bytes) -> dict[str, str]:
    """Returns the attributes of one row as XML defines them."""
    text = raw.strip()
    if not text.endswith(b"/>"):
        if not text.endswith(b">"):
            raise BadRow("the row is not closed: the file may be incomplete")
        text += b"</row>"
    try:
        element = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise BadRow(_explain(raw, error)) from None
    if element.tag != "row" or len(element) or (element.text or "").strip():
        raise BadRow("this is not a row")
    return dict(element.attrib)


def _explain(raw: bytes, error: ElementTree.ParseError) -> str:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as undecodable:
        return f"not UTF-8 at byte {undecodable.start} of the row"
    control = re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]", raw)
    if control:
        return f"forbidden character 0x{control.group()[0]:02x} at byte {control.start()} of the row"
    return f"not well-formed: {expat.ErrorString(error.code)} at byte {error.position[1]} of the row"


def _convert(name: str, text: str, kind: pa.DataType) -> object:
    if kind == TAGS:
        return split_tags(text)
    if kind in (WHOLE, TIME, FLAG) and not text:
        return None
    if kind == WHOLE:
        if not _WHOLE.fullmatch(text) or abs(int(text)) > _LARGEST:
            raise BadRow(f"{name} is not a whole number: {text[:40]!r}")
        return int(text)
    if kind == TIME:
        return _parse_time(name, text)
    if kind == FLAG:
        if text not in ("True", "False", "true", "false", "1", "0"):
            raise BadRow(f"{name} is neither True nor False: {text[:40]!r}")
        return text in ("True", "true", "1")
    return text


def _parse_time(name: str, text: str) -> datetime:
    if _TIME.fullmatch(text):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            pass
        else:
            return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    raise BadRow(f"{name} is not a time: {text[:40]!r}")


def split_tags(text: str) -> list[str]:
    """Splits `<a><b>` or `|a|b|` into a, b, in the author's order."""
    return [tag for tag in re.split(r"[<>|]+", text) if tag]

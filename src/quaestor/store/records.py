"""Acts, before and after they are recorded, and reports about backups."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from quaestor.base.errors import InputError
from quaestor.base.names import is_storable

_MAX_INTEGER = 2**63 - 1


def new_key() -> str:
    """Returns a unique idempotency key."""
    return uuid.uuid4().hex


@dataclass(frozen=True)
class NewAct:
    """An act to be recorded; a second one with the same key is the same act."""

    kind: str
    actor: str
    payload: Mapping[str, Any]
    codebook: int = 0
    key: str = field(default_factory=new_key)


@dataclass(frozen=True)
class Act:
    """A recorded act; `time` is UTC in ISO 8601 with microseconds."""

    number: int
    time: str
    kind: str
    actor: str
    payload: dict[str, Any]
    codebook: int
    key: str


@dataclass(frozen=True)
class PartReport:
    """The part of a backup for one private file: the number of rows of each table, and a SHA-256 over all of them."""

    name: str
    version: int
    rows: Mapping[str, int]
    sha256: str


@dataclass(frozen=True)
class BackupReport:
    """A verified backup; `sha256` is the hash of its acts."""

    file: Path
    acts: int
    sha256: str
    created: str
    parts: Mapping[str, PartReport] = field(default_factory=dict)


@dataclass(frozen=True)
class RestoreReport:
    """The result of a restore; `kept` is the backup of the data that it replaced."""

    acts: int
    added: int
    kept: Path | None = None
    damaged: tuple[Path, ...] = ()
    """Damaged files, under the names they were given."""


class ActRow(NamedTuple):
    """An act as databases and backups store it, with its payload as canonical JSON."""

    number: int
    time: str
    kind: str
    actor: str
    codebook: int
    key: str
    payload: str

    def act(self) -> Act:
        return Act(self.number, self.time, self.kind, self.actor, json.loads(self.payload), self.codebook, self.key)

    def line(self) -> bytes:
        """Returns the bytes that a backup hashes, the same for every kind of database."""
        return json.dumps(list(self)).encode() + b"\n"

    def has_same_content(self, other: ActRow) -> bool:
        """Whether two acts differ only in number and time."""
        return self[2:] == other[2:]


def parse_acts(rows: Sequence[ActRow]) -> list[Act]:
    """Returns the acts of rows; parses all payloads as one text, which takes half the time and shares field names."""
    payloads: list[dict[str, Any]] = json.loads(f"[{','.join([row.payload for row in rows])}]")
    return [
        Act(number, time, kind, actor, payload, codebook, key)
        for (number, time, kind, actor, codebook, key, _), payload in zip(rows, payloads, strict=True)
    ]


def build_row(act: NewAct, time: str, number: int = 0) -> ActRow:
    """Builds the row of a new act; raises InputError for content that could not be read back unchanged."""
    for name, text in (("kind", act.kind), ("actor", act.actor), ("key", act.key)):
        if not isinstance(text, str) or not text or not is_storable(text):
            raise InputError(f"the {name} of an act is {text!r}: expected a text of ordinary characters")
    if not isinstance(act.codebook, int) or not 0 <= act.codebook <= _MAX_INTEGER:
        raise InputError(f"the codebook version of a {act.kind} act is {act.codebook!r}: expected a whole number")
    return ActRow(
        number, time, act.kind, act.actor, int(act.codebook), act.key, to_canonical_json(act.payload, act.kind)
    )


def to_canonical_json(payload: Mapping[str, Any], kind: str) -> str:
    """Returns a payload as ASCII JSON with sorted keys, which escapes what databases cannot store, such as NUL."""
    if not isinstance(payload, Mapping):
        raise InputError(f"the payload of a {kind} act is a {type(payload).__name__}: expected an object with keys")
    try:
        _require_text_keys(payload)
        text = _dump(dict(payload))
        # Two adjacent surrogates become one character when they are read back.
        return _dump(json.loads(text)) if "\\ud" in text else text
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the payload of a {kind} act is not JSON: {error}") from None


def _dump(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False, ensure_ascii=True, separators=(",", ":"))


def _require_text_keys(value: Any) -> None:
    """Raises TypeError for a key that is not a string: JSON would silently turn the key 1 into "1"."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not a text")
            _require_text_keys(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _require_text_keys(inner)

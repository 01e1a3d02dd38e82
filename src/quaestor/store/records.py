"""Acts: what somebody wants on record, and what is."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from quaestor.base.errors import InputError
from quaestor.base.names import is_storable

_LARGEST = 2**63 - 1


def new_key() -> str:
    """An idempotency key that nobody else has."""
    return uuid.uuid4().hex


@dataclass(frozen=True)
class NewAct:
    """An act somebody wants on record; whoever asks again with the same key means the same act."""

    kind: str
    actor: str
    payload: Mapping[str, Any]
    codebook: int = 0
    key: str = field(default_factory=new_key)


@dataclass(frozen=True)
class Act:
    """An act on record; `time` is UTC in ISO 8601 with microseconds."""

    number: int
    time: str
    kind: str
    actor: str
    payload: dict[str, Any]
    codebook: int
    key: str


@dataclass(frozen=True)
class PartReport:
    """What a backup holds of a file beside the journal: how many rows of each table, and a SHA-256 over all of them."""

    name: str
    version: int
    rows: Mapping[str, int]
    sha256: str


@dataclass(frozen=True)
class BackupReport:
    """A backup that was written, and read back; `sha256` is that of its acts."""

    file: Path
    acts: int
    sha256: str
    made: str
    parts: Mapping[str, PartReport] = field(default_factory=dict)


@dataclass(frozen=True)
class RestoreReport:
    """What a restore did; `kept` is where the acts are that it replaced, with what stood beside them."""

    acts: int
    added: int
    kept: Path | None = None
    damaged: tuple[Path, ...] = ()
    """What could not be read any more, and was given another name."""


class ActRow(NamedTuple):
    """An act as both databases and backups hold it: the payload is canonical JSON."""

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
        """What the hash of a backup is made of: the same bytes wherever the act is kept."""
        return json.dumps(list(self)).encode() + b"\n"

    def has_same_content(self, other: ActRow) -> bool:
        """Whether two acts differ in nothing but number and time."""
        return self[2:] == other[2:]


def parse_acts(rows: Sequence[ActRow]) -> list[Act]:
    """The acts of many rows; to read their payloads as one text takes half the time, and names of fields are shared."""
    payloads: list[dict[str, Any]] = json.loads(f"[{','.join([row.payload for row in rows])}]")
    return [
        Act(number, time, kind, actor, payload, codebook, key)
        for (number, time, kind, actor, codebook, key, _), payload in zip(rows, payloads, strict=True)
    ]


def build_row(act: NewAct, time: str, number: int = 0) -> ActRow:
    """The row a new act becomes once it has its number; refuses what could not be read back as it was."""
    for name, text in (("kind", act.kind), ("actor", act.actor), ("key", act.key)):
        if not isinstance(text, str) or not text or not is_storable(text):
            raise InputError(f"the {name} of an act is {text!r}: a text of ordinary characters is needed")
    if not isinstance(act.codebook, int) or not 0 <= act.codebook <= _LARGEST:
        raise InputError(f"the codebook version of a {act.kind} act is {act.codebook!r}: a whole number is needed")
    return ActRow(
        number, time, act.kind, act.actor, int(act.codebook), act.key, to_canonical_json(act.payload, act.kind)
    )


def to_canonical_json(payload: Mapping[str, Any], kind: str) -> str:
    """A payload as JSON with sorted keys, in ASCII: what databases refuse to hold, such as NUL, is escaped."""
    if not isinstance(payload, Mapping):
        raise InputError(f"the payload of a {kind} act is a {type(payload).__name__}: an object with keys is needed")
    try:
        _check_keys(payload)
        text = _dump(dict(payload))
        # Two halves that stand side by side are one character once they have been read back.
        return _dump(json.loads(text)) if "\\ud" in text else text
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the payload of a {kind} act is not JSON: {error}") from None


def _dump(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False, ensure_ascii=True, separators=(",", ":"))


def _check_keys(value: Any) -> None:
    """JSON would quietly turn the key 1 into "1"."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is no text")
            _check_keys(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _check_keys(inner)

"""Every change of a codebook in words a person reads, with who made it and when."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quaestor.coding.codebook.changes import CAN_BE_UNDONE
from quaestor.coding.codebook.history import UNDO, History, undone_in
from quaestor.coding.records import Codebook
from quaestor.store.records import Act
from quaestor.study.coding import Coding

_FIELDS = ("definition", "use", "not", "examples", "colour", "key", "across")


@dataclass(frozen=True)
class Change:
    """One act on the codebook; its number is the version it led to."""

    version: int
    time: str
    actor: str
    kind: str
    words: str
    codes: frozenset[str]
    """The codes it names."""
    undone: bool
    can_be_undone: bool


class ChangeLog:
    """The acts on a codebook; the journal is read once, and from there on only what is new in it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._head = 0
        self._acts: list[Act] = []

    def changes(self, coding: Coding, history: History) -> list[Change]:
        """As far as the history goes, the first change first."""
        with self._lock:
            for act in coding.journal.acts(after=self._head):
                self._head = act.number
                if act.kind.startswith("codebook."):
                    self._acts.append(act)
            acts = self._acts[: len(history.changes)]
        undone = undone_in(history.changes)
        return [
            Change(
                version,
                act.time,
                act.actor,
                act.kind.removeprefix("codebook."),
                told(act.kind, act.payload, history, version - 1),
                codes_named(act.kind, act.payload, history),
                version in undone,
                version not in undone and act.kind in CAN_BE_UNDONE | {UNDO},
            )
            for version, act in enumerate(acts, start=1)
        ]


def told(kind: str, said: Mapping[str, Any], history: History, version: int) -> str:
    """A change as one asks for it, with the names that codes had in the version it was made on."""
    if kind == UNDO:
        before = int(said["version"])
        known = 1 <= before <= len(history.changes)
        what = f": {told(*history.changes[before - 1], history, before - 1)}" if known else ""
        return f"Undo change {before}{what}"
    return _TOLD[kind](said, history.at(version))


def _import(said: Mapping[str, Any], book: Codebook) -> str:
    codes, facets = len(said["codes"]), len(said["facets"])
    return f"Begin with {codes} code{'' if codes == 1 else 's'} in {facets} facet{'' if facets == 1 else 's'}"


def _facet(said: Mapping[str, Any], book: Codebook) -> str:
    return f"Add the facet {_quoted(said.get('title') or said['id'])}"


def _add(said: Mapping[str, Any], book: Codebook) -> str:
    below = f" below {_name(book, said['parent'])}" if said.get("parent") else ""
    return f"Add {_quoted(said['name'])}{below}"


def _rename(said: Mapping[str, Any], book: Codebook) -> str:
    return f"Rename {_name(book, said['code'])} to {_quoted(said['name'])}"


def _redefine(said: Mapping[str, Any], book: Codebook) -> str:
    return f"Redefine {_name(book, said['code'])}: {', '.join(name for name in _FIELDS if name in said)}"


def _merge(said: Mapping[str, Any], book: Codebook) -> str:
    return f"Merge {', '.join(_name(book, code) for code in said['codes'])} into {_name(book, said['into'])}"


def _split(said: Mapping[str, Any], book: Codebook) -> str:
    return f"Split {_name(book, said['code'])} into {', '.join(_quoted(part['name']) for part in said['parts'])}"


def _move(said: Mapping[str, Any], book: Codebook) -> str:
    return f"Move {_name(book, said['code'])} to {_name(book, said['parent']) if said['parent'] else 'the top'}"


def _retire(said: Mapping[str, Any], book: Codebook) -> str:
    return f"Retire {_name(book, said['code'])}"


_TOLD = {
    "codebook.import": _import,
    "codebook.facet": _facet,
    "codebook.add": _add,
    "codebook.rename": _rename,
    "codebook.redefine": _redefine,
    "codebook.merge": _merge,
    "codebook.split": _split,
    "codebook.move": _move,
    "codebook.retire": _retire,
}


def codes_named(kind: str, said: Mapping[str, Any], history: History) -> frozenset[str]:
    """The codes that a change is about."""
    if kind == UNDO:
        before = int(said["version"])
        known = 1 <= before <= len(history.changes)
        return codes_named(*history.changes[before - 1], history) if known else frozenset()
    if kind == "codebook.import":
        return frozenset(str(code["id"]) for code in said["codes"])
    named = [said.get("code"), said.get("into"), *said.get("codes", ())]
    named += [part["id"] for part in said.get("parts", ())]
    named += [said["id"]] if kind == "codebook.add" else []
    return frozenset(str(code) for code in named if code)


def _name(book: Codebook, code: str) -> str:
    return _quoted(book.path_name(code) if code in book.codes else code)


def _quoted(name: str) -> str:
    return f"“{name}”"

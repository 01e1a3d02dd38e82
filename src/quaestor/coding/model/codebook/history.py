"""All versions of a codebook, and what a rating is under each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from quaestor.base.errors import StateError
from quaestor.coding.codebook.changes import CAN_BE_UNDONE, Payload, change
from quaestor.coding.records import MERGED, SPLIT, WITHDRAWN, Codebook, Reading

UNDO = "codebook.undo"


@dataclass
class History:
    """Every change in order; change number n leads to version n. An undo is a change too, and can be undone."""

    changes: list[tuple[str, Payload]] = field(default_factory=list)
    versions: list[Codebook] = field(default_factory=lambda: [Codebook()])

    @property
    def latest(self) -> Codebook:
        return self.versions[-1]

    def at(self, version: int) -> Codebook:
        if not 0 <= version < len(self.versions):
            raise StateError(f"the codebook has the versions 0 to {len(self.versions) - 1}: there is no {version}")
        return self.versions[version]

    def then(self, kind: str, payload: Payload) -> Codebook:
        """The version a change would lead to; raises StateError where the change is refused."""
        if kind != UNDO:
            return change(self.latest, kind, payload)
        target = int(payload["version"])
        undone = undone_in(self.changes)
        if not 1 <= target <= len(self.changes) or target in undone:
            raise StateError(f"there is no change {target} to undo: `quaestor codebook log` lists them")
        if self.changes[target - 1][0] not in CAN_BE_UNDONE | {UNDO}:
            raise StateError(f"change {target} began the codebook and cannot be undone: retire what is not wanted")
        return _replay([*self.changes, (kind, payload)], target)

    def record(self, kind: str, payload: Payload) -> None:
        """Go on to the next version."""
        book = self.then(kind, payload)
        self.changes.append((kind, payload))
        self.versions.append(book)

    def read(self, code: str, version: int, item: str = "", answers: Mapping[str, Any] | None = None) -> Reading:
        """What a rating with a code is under a version.

        Forwards, merged codes lead to what took their place and split codes to the part the split's rule names;
        backwards, the parts of a code lead to that code.
        """
        book = self.at(version)
        latest = self.latest.codes
        while True:
            entry = book.codes.get(code)
            if entry is None:
                later = latest.get(code)
                if later is None:
                    return Reading(None, f"the codebook never had a code {code!r}")
                if not later.origin:
                    return Reading(None, f"{code!r} was added in version {later.since}")
                code = later.origin
            elif entry.status == MERGED:
                code = entry.into
            elif entry.status == SPLIT and entry.split:
                code = entry.split.part(item, answers or {})
            elif entry.status == WITHDRAWN and entry.origin:
                code = entry.origin
            else:
                return Reading(code)


def undone_in(changes: Sequence[tuple[str, Payload]]) -> set[int]:
    """The numbers of the changes that do not count, because an undo that counts names them."""
    undone: set[int] = set()
    for number in range(len(changes), 0, -1):
        kind, payload = changes[number - 1]
        if kind == UNDO and number not in undone:
            undone.add(int(payload["version"]))
    return undone


def _replay(changes: Sequence[tuple[str, Payload]], target: int) -> Codebook:
    undone = undone_in(changes)
    book = Codebook()
    for number, (kind, payload) in enumerate(changes, start=1):
        try:
            if kind == UNDO:
                book = change(book, kind, payload, undone=True)
            else:
                book = change(book, kind, payload, undone=number in undone)
        except StateError:
            raise StateError(
                f"change {target} cannot be undone while change {number}, which builds on it, stands: undo that first"
            ) from None
    return book

"""All versions of a codebook; finds the code of a rating under any of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from quaestor.base.errors import StateError
from quaestor.coding.model.codebook.changes import CAN_BE_UNDONE, Payload, apply_change
from quaestor.coding.model.records import (
    ACTIVE,
    MERGED,
    RETIRED,
    SPLIT,
    WITHDRAWN,
    Code,
    Codebook,
    CodeFacet,
    CodeInVersion,
    Difference,
)

IMPORT, UNDO = "codebook.import", "codebook.undo"


@dataclass
class History:
    """All changes in order; change n produces version n. An undo is also a change and can be undone."""

    changes: list[tuple[str, Payload]] = field(default_factory=list)
    versions: list[Codebook] = field(default_factory=lambda: [Codebook()])

    @property
    def latest(self) -> Codebook:
        return self.versions[-1]

    def at(self, version: int) -> Codebook:
        if not 0 <= version < len(self.versions):
            raise StateError(f"the codebook has no version {version}; choose from: 0 to {len(self.versions) - 1}")
        return self.versions[version]

    def preview_change(self, kind: str, payload: Payload) -> Codebook:
        """Returns the version that a change would produce; raises StateError if it is not allowed."""
        if kind != UNDO:
            return apply_change(self.latest, kind, payload)
        target = int(payload["version"])
        undone = list_undone(self.changes)
        if not 1 <= target <= len(self.changes) or target in undone:
            raise StateError(f"there is no change {target} to undo: `quaestor codebook log` lists them")
        replaced = find_last_import(self.changes)
        if target < replaced:
            raise StateError(f"change {target} cannot be undone because change {replaced} replaced the whole codebook")
        if self.changes[target - 1][0] not in CAN_BE_UNDONE | {UNDO}:
            raise StateError(
                f"change {target} imported the codebook or added a facet and cannot be undone: retire the codes instead"
            )
        return _replay([*self.changes, (kind, payload)], target)

    def record(self, kind: str, payload: Payload) -> None:
        """Appends a change and the version it produces."""
        book = self.preview_change(kind, payload)
        self.changes.append((kind, payload))
        self.versions.append(book)

    def find_code(
        self, code: str, version: int, item: str = "", answers: Mapping[str, Any] | None = None
    ) -> CodeInVersion:
        """Returns the code of a rating under a version.

        In later versions, a merged code becomes the code it was merged into, and a split code the part that its rule
        selects. In earlier versions, a part becomes the code that was split.
        """
        book = self.at(version)
        latest = self.latest.codes
        while True:
            entry = book.codes.get(code)
            if entry is None:
                later = latest.get(code)
                if later is None:
                    return CodeInVersion(None, f"the codebook never had a code {code!r}")
                if not later.origin:
                    return CodeInVersion(None, f"{code!r} was added in version {later.since}")
                code = later.origin
            elif entry.status == MERGED:
                code = entry.into
            elif entry.status == SPLIT and entry.split:
                code = entry.split.part(item, answers or {})
            elif entry.status == WITHDRAWN and entry.origin:
                code = entry.origin
            else:
                return CodeInVersion(code)


def find_last_import(changes: Sequence[tuple[str, Payload]]) -> int:
    """Returns the number of the last import, which replaced everything before it; 0 if there is none."""
    return max((number for number, (kind, _) in enumerate(changes, start=1) if kind == IMPORT), default=0)


def list_undone(changes: Sequence[tuple[str, Payload]]) -> set[int]:
    """Returns the numbers of the changes that are undone; an undo that is itself undone does not count."""
    undone: set[int] = set()
    for number in range(len(changes), 0, -1):
        kind, payload = changes[number - 1]
        if kind == UNDO and number not in undone:
            undone.add(int(payload["version"]))
    return undone


def _replay(changes: Sequence[tuple[str, Payload]], target: int) -> Codebook:
    undone = list_undone(changes)
    book = Codebook()
    for number, (kind, payload) in enumerate(changes, start=1):
        try:
            if kind == UNDO:
                book = apply_change(book, kind, payload, undone=True)
            else:
                book = apply_change(book, kind, payload, undone=number in undone)
        except StateError:
            raise StateError(
                f"change {target} cannot be undone because change {number} builds on it: undo change {number} first"
            ) from None
    return book


_ENDS = {MERGED: "merged", SPLIT: "split", RETIRED: "retired", WITHDRAWN: "withdrawn"}
_DEFINED_BY = ("definition", "use", "not_", "examples", "colour", "key", "across")


def list_differences(before: Codebook, after: Codebook) -> list[Difference]:
    """Returns the differences in the order of the later version; a code can have several."""
    differences = _list_facet_differences(before, after)
    for code in after.codes.values():
        old = before.codes.get(code.id)
        if old is None:
            if code.active:
                differences.append(Difference(code.id, "added", after=after.path_name(code.id)))
            continue
        differences += _list_code_differences(before, after, old, code)
    for code in before.codes.values():
        if code.id not in after.codes and code.active:
            differences.append(Difference(code.id, "withdrawn", before=before.path_name(code.id)))
    return differences


NAME_CHANGED = "name changed"
FACET_DIFFERENCES = ("facet added", "facet changed", "facet removed")


def _list_facet_differences(before: Codebook, after: Codebook) -> list[Difference]:
    """Returns the differences of the facets and of the codebook's own name."""
    differences = []
    if before.version and before.name != after.name:
        differences.append(Difference("", NAME_CHANGED, before.name, after.name))
    for facet in after.facets.values():
        old = before.facets.get(facet.id)
        if old is None:
            differences.append(Difference(facet.id, "facet added", after=" → ".join(facet.levels)))
        elif old != facet:
            differences.append(Difference(facet.id, "facet changed", _describe_facet(old), _describe_facet(facet)))
    removed = (facet for facet in before.facets.values() if facet.id not in after.facets)
    return [*differences, *(Difference(facet.id, "facet removed", _describe_facet(facet)) for facet in removed)]


def _describe_facet(facet: CodeFacet) -> str:
    levels = " → ".join(facet.levels)
    return f"{facet.title}: {levels}" if facet.title else levels


def _list_code_differences(before: Codebook, after: Codebook, old: Code, new: Code) -> list[Difference]:
    differences = []
    if old.status != new.status:
        kind = "restored" if new.status == ACTIVE else _ENDS[new.status]
        end = new.into or (", ".join(part.id for part in after.codes.values() if part.active and part.origin == new.id))
        differences.append(Difference(new.id, kind, before=before.path_name(old.id), after=end))
    if old.name != new.name:
        differences.append(Difference(new.id, "renamed", old.name, new.name))
    if old.parent != new.parent:
        differences.append(Difference(new.id, "moved", old.parent, new.parent))
    changed = [name.rstrip("_") for name in _DEFINED_BY if getattr(old, name) != getattr(new, name)]
    if changed:
        differences.append(Difference(new.id, "redefined", after=", ".join(changed)))
    return differences

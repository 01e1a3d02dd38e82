"""Turns a codebook file into acts on the current codebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from quaestor.base.errors import StateError
from quaestor.coding.model.codebook.changes import Payload, apply_change
from quaestor.coding.model.codebook.file import build_entry
from quaestor.coding.model.codebook.history import IMPORT, History
from quaestor.coding.model.records import MERGED, SPLIT, WITHDRAWN, Code, Codebook

Change = tuple[str, dict[str, Any]]
_EMPTY: dict[str, Any] = {
    "definition": "", "use": "", "not": "", "colour": "", "key": "", "examples": [], "across": {}
}  # fmt: skip
"""The fields that an act can redefine, with their values in a code that lacks them."""


def list_import_acts(history: History, payload: Payload) -> list[Change]:
    """Returns the acts after which the active codes are those of a file, whatever the order of its codes.

    Raises StateError with everything that no act can express or that may mean more than one act.
    """
    current, target = history.latest, apply_change(Codebook(), IMPORT, payload)
    problems = [*_list_fixed(current, target), *_list_reused(history, target), *_list_ambiguous(current, target)]
    if problems:
        raise StateError("the file cannot be imported as changes of the codebook: " + "; ".join(problems))
    return _order_changes(current, list(_list_changes(current, target)))


def _list_fixed(current: Codebook, target: Codebook) -> Iterator[str]:
    """Yields what the file changes although no act can."""
    if target.name != current.name:
        yield f"the name of the codebook is {current.name!r} and cannot change: keep it in the file"
    for facet in current.facets.values():
        if facet.id not in target.facets:
            yield f"the facet {facet.id!r} is missing and cannot be removed: keep it in the file"
        elif target.facets[facet.id] != facet:
            yield f"the title and levels of the facet {facet.id!r} cannot change: keep them in the file"
    for code in target.codes.values():
        old = current.codes.get(code.id)
        if old is not None and old.facet != code.facet:
            yield f"the code {code.id!r} cannot move to the facet {code.facet!r}: give the code there another id"


def _list_reused(history: History, target: Codebook) -> Iterator[str]:
    """Yields the codes of the file that are no longer active."""
    for code in target.codes.values():
        old = history.latest.codes.get(code.id)
        if old is None or old.active:
            continue
        number = next(
            version
            for version in range(history.latest.version, 0, -1)
            if (before := history.at(version - 1).codes.get(code.id)) is None or before.active
        )
        became = {MERGED: f"merged into {old.into!r}", SPLIT: "split", WITHDRAWN: "withdrawn"}.get(
            old.status, "retired"
        )
        yield f"{code.id!r} was {became}: run `quaestor codebook undo {number}`, or remove it from the file"


def _list_ambiguous(current: Codebook, target: Codebook) -> Iterator[str]:
    """Yields the missing codes that may have been merged, split or given another id, which the file does not tell."""
    for code in _list_missing(current, target):
        new = [
            other
            for other in target.codes.values()
            if other.id not in current.codes and (other.facet, other.parent) == (code.facet, code.parent)
        ]
        adopted_by = {target.codes[child.id].parent for child in current.children(code.id) if child.id in target.codes}
        into = next((name for name in adopted_by if _is_sibling_level(current, code, name)), "")
        if len(new) > 1:
            parts = " ".join(f'--part {other.id}="{other.name}"' for other in new)
            yield (
                f"{code.id!r} is missing and {', '.join(repr(other.id) for other in new)} are new in its place: run "
                f"`quaestor codebook split {code.id} {parts} --otherwise {new[0].id}` if they are its parts, else "
                f"`quaestor codebook retire {code.id}`, and import the file again"
            )
        elif new:
            yield (
                f"{code.id!r} is missing and {new[0].id!r} is new in its place: keep the id {code.id!r} if it is the "
                f"same code, else run `quaestor codebook retire {code.id}` and import the file again"
            )
        elif into:
            yield (
                f"{code.id!r} is missing and codes below it are now below {into!r}: run `quaestor codebook merge "
                f"{code.id} --into {into}` and import the file again"
            )


def _is_sibling_level(current: Codebook, code: Code, name: str) -> bool:
    other = current.codes.get(name)
    return other is not None and other.facet == code.facet and current.depth(name) == current.depth(code.id)


def _list_missing(current: Codebook, target: Codebook) -> list[Code]:
    return [code for code in current.in_tree_order() if code.active and code.id not in target.codes]


def _list_changes(current: Codebook, target: Codebook) -> Iterator[Change]:
    for facet in target.facets.values():
        if facet.id not in current.facets:
            yield "codebook.facet", {"id": facet.id, "title": facet.title, "levels": list(facet.levels)}
    for code in target.codes.values():
        old, entry = current.codes.get(code.id), build_entry(target, code)
        if "across" in entry:
            entry["across"] = dict(code.across)
        if old is None:
            # Two new codes may refer to each other, so references to new codes follow in a second act.
            later = any(other not in current.codes for other in code.across.values())
            across = entry.pop("across") if later else {}
            yield "codebook.add", entry
            if across:
                yield "codebook.redefine", {"code": code.id, "across": across}
            continue
        if old.parent != code.parent:
            yield "codebook.move", {"code": code.id, "parent": code.parent}
        if old.name != code.name:
            yield "codebook.rename", {"code": code.id, "name": code.name}
        before = build_entry(current, old)
        new = {name: entry.get(name, empty) for name, empty in _EMPTY.items()}
        changed = {name: value for name, value in new.items() if value != before.get(name, _EMPTY[name])}
        if changed:
            yield "codebook.redefine", {"code": code.id, **changed}
    for code in reversed(_list_missing(current, target)):
        yield "codebook.retire", {"code": code.id}


def _order_changes(book: Codebook, changes: Sequence[Change]) -> list[Change]:
    """Orders changes so that each is allowed after those before it, such as a name that another code gives up."""
    ordered: list[Change] = []
    pending, may_free_keys = list(changes), True
    while pending:
        postponed: list[Change] = []
        refusals: list[StateError] = []
        for kind, payload in pending:
            try:
                book = apply_change(book, kind, payload)
            except StateError as refusal:
                postponed.append((kind, payload))
                refusals.append(refusal)
            else:
                ordered.append((kind, payload))
        if len(postponed) == len(pending):
            keys: list[Change] = [
                ("codebook.redefine", {"code": payload["code"], "key": ""})
                for kind, payload in postponed
                if kind == "codebook.redefine" and payload.get("key")
            ]
            if not keys or not may_free_keys:
                raise refusals[0]
            # Codes that exchange their keys must first give them up.
            postponed, may_free_keys = [*keys, *postponed], False
        pending = postponed
    return ordered

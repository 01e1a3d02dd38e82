"""Applies one change at a time to a codebook; raises StateError if the change is not allowed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from quaestor.base.errors import StateError
from quaestor.base.names import join_with_or, sort_by_similarity, suggest
from quaestor.coding.model.records import MERGED, RETIRED, SPLIT, WITHDRAWN, Code, Codebook, CodeFacet, SplitRule

Payload = Mapping[str, Any]
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_NO_LETTERS = re.compile(r"[^\w]+")


def apply_change(book: Codebook, kind: str, payload: Payload, *, undone: bool = False) -> Codebook:
    """Returns the next version of a codebook.

    An undone change keeps what ratings may refer to: an added code becomes withdrawn and is not deleted.
    """
    book = replace(book, version=book.version + 1)
    if undone:
        leave = _UNDONE_CHANGES.get(kind)
        return leave(book, payload) if leave else book
    return _CHANGES[kind](book, payload)


def build_code_id(name: str, parent: str, book: Codebook) -> str:
    """Returns an unused id for a new code, such as model-training/loss."""
    word = _NO_LETTERS.sub("-", name.casefold()).strip("-")
    candidate = f"{parent}/{word}" if parent else word
    numbered = (f"{candidate}-{number}" for number in range(2, len(book.codes) + 3))
    return next(unused for unused in (candidate, *numbered) if unused not in book.codes)


def build_code(payload: Payload, *, since: int, facet: str = "", parent: str = "", **more: Any) -> Code:
    """Builds a code from the payload of an act."""
    return Code(
        id=str(payload["id"]),
        facet=str(payload.get("facet", facet)),
        name=str(payload["name"]),
        parent=str(payload.get("parent", parent) or ""),
        not_=str(payload.get("not", "")),
        examples=tuple(payload.get("examples", ())),
        across=dict(payload.get("across", {})),
        since=since,
        definition=str(payload.get("definition", "")),
        use=str(payload.get("use", "")),
        colour=str(payload.get("colour", "")),
        key=str(payload.get("key", "")),
        **more,
    )


def _import(book: Codebook, payload: Payload) -> Codebook:
    """Replaces the whole codebook; an import is recorded only while no rating can refer to a code."""
    book = Codebook(book.version, str(payload.get("name", "")))
    for facet in payload["facets"]:
        book = _add_facet(book, facet)
    across = []
    for entry in payload["codes"]:
        # A code may refer to a code of another tree that comes later in the file, so references are checked at the end.
        code = build_code(entry, since=book.version)
        across.append(code)
        book = _add_codes(book, _check_new_code(book, replace(code, across={})))
    for code in across:
        _check_across(book, code)
    return _add_codes(book, *(replace(book.codes[code.id], across=code.across) for code in across))


def _add_facet(book: Codebook, payload: Payload) -> Codebook:
    facet = CodeFacet(str(payload["id"]), str(payload.get("title", "")), tuple(payload.get("levels") or ("code",)))
    if facet.id in book.facets:
        raise StateError(f"the facet {facet.id!r} already exists: choose another id")
    if not facet.id.strip() or not all(level.strip() for level in facet.levels):
        raise StateError("a facet needs an id and a name for each level")
    if len(set(facet.levels)) < len(facet.levels):
        raise StateError(f"two levels of the facet {facet.id!r} have the same name: give each its own name")
    return replace(book, facets={**book.facets, facet.id: facet})


def _add(book: Codebook, payload: Payload) -> Codebook:
    code = _check_new_code(book, build_code(payload, since=book.version))
    _check_across(book, code)
    return _add_codes(book, code)


def _rename(book: Codebook, payload: Payload) -> Codebook:
    code = replace(_require_active(book, payload["code"]), name=str(payload["name"]))
    _check_names(book, code)
    return _add_codes(book, code)


def _redefine(book: Codebook, payload: Payload) -> Codebook:
    code = _require_active(book, payload["code"])
    new = replace(
        code,
        definition=str(payload.get("definition", code.definition)),
        use=str(payload.get("use", code.use)),
        not_=str(payload.get("not", code.not_)),
        examples=tuple(payload.get("examples", code.examples)),
        colour=str(payload.get("colour", code.colour)),
        key=str(payload.get("key", code.key)),
        across=dict(payload.get("across", code.across)),
    )
    _check_names(book, new)
    _check_across(book, new)
    return _add_codes(book, new)


def _merge(book: Codebook, payload: Payload) -> Codebook:
    into = _require_active(book, payload["into"])
    for name in payload["codes"]:
        code = _require_active(book, name)
        if code.id == into.id:
            raise StateError(f"{code.id!r} cannot be merged into itself: name another code")
        if code.facet != into.facet or book.depth(code.id) != book.depth(into.id):
            raise StateError(f"{code.id!r} and {into.id!r} are at different levels: merge codes of the same level")
        book = _add_codes(book, replace(code, status=MERGED, into=into.id))
        book = _adopt(book, code.id, into.id)
    return book


def _adopt(book: Codebook, old: str, new: str) -> Codebook:
    """Moves the children of one code to another."""
    for child in [code for code in book.codes.values() if code.parent == old]:
        moved = replace(child, parent=new)
        if moved.active:
            _check_names(book, moved)
        book = _add_codes(book, moved)
    return book


def _split(book: Codebook, payload: Payload) -> Codebook:
    code = _require_active(book, payload["code"])
    parts = _build_parts(book, code, payload)
    rule = SplitRule(
        items=dict(payload.get("items", {})),
        rules=tuple((rule["facet"], rule["answer"], rule["part"]) for rule in payload.get("rules", ())),
        otherwise=str(payload["otherwise"]),
    )
    named = {*rule.items.values(), *(part for _, _, part in rule.rules), rule.otherwise}
    for name in named - {part.id for part in parts}:
        options = suggest(name, [part.id for part in parts])
        raise StateError(f"{name!r} is not a part of the split of {code.id!r}; choose from: {options}")
    book = _add_codes(book, replace(code, status=SPLIT, split=rule))
    for part in parts:
        book = _add_codes(book, _check_new_code(book, part))
    return _adopt(book, code.id, rule.otherwise)


def _build_parts(book: Codebook, code: Code, payload: Payload) -> list[Code]:
    parts = [
        build_code(part, since=book.version, facet=code.facet, parent=code.parent, origin=code.id)
        for part in payload["parts"]
    ]
    if len(parts) < 2:
        raise StateError(f"a split of {code.id!r} needs at least two parts: name them")
    return parts


def _move(book: Codebook, payload: Payload) -> Codebook:
    code = replace(_require_active(book, payload["code"]), parent=str(payload["parent"] or ""))
    if code.parent:
        parent = _require_active(book, code.parent)
        if code.id in book.path(parent.id):
            raise StateError(f"{code.id!r} cannot be moved below itself: choose another parent")
        if parent.facet != code.facet:
            raise StateError(f"{parent.id!r} belongs to the facet {parent.facet!r}: stay within {code.facet!r}")
    _check_names(book, code)
    moved = _add_codes(book, code)
    below = [other for other in moved.codes if code.id in moved.path(other)]
    _check_depth(moved, max(below, key=moved.depth))
    return moved


def _retire(book: Codebook, payload: Payload) -> Codebook:
    code = _require_active(book, payload["code"])
    children = [child.id for child in book.children(code.id)]
    if children:
        raise StateError(f"{code.id!r} has codes below it ({', '.join(children[:3])} …): retire or move them first")
    return _add_codes(book, replace(code, status=RETIRED))


def _undo_add(book: Codebook, payload: Payload) -> Codebook:
    code = build_code(payload, since=book.version, status=WITHDRAWN)
    return _add_codes(book, _check_new_code(book, code))


def _undo_split(book: Codebook, payload: Payload) -> Codebook:
    code = book.codes[payload["code"]]
    return _add_codes(book, *(replace(part, status=WITHDRAWN) for part in _build_parts(book, code, payload)))


_CHANGES: dict[str, Callable[[Codebook, Payload], Codebook]] = {
    "codebook.import": _import,
    "codebook.facet": _add_facet,
    "codebook.add": _add,
    "codebook.rename": _rename,
    "codebook.redefine": _redefine,
    "codebook.merge": _merge,
    "codebook.split": _split,
    "codebook.move": _move,
    "codebook.retire": _retire,
}
_UNDONE_CHANGES: dict[str, Callable[[Codebook, Payload], Codebook]] = {
    "codebook.add": _undo_add,
    "codebook.split": _undo_split,
}
CAN_BE_UNDONE = frozenset(_CHANGES) - {"codebook.import", "codebook.facet"}


def _add_codes(book: Codebook, *codes: Code) -> Codebook:
    return replace(book, codes={**book.codes, **{code.id: code for code in codes}})


def _require_active(book: Codebook, name: str) -> Code:
    code = book.codes.get(name)
    if code is None:
        options = sort_by_similarity(str(name), (entry.id for entry in book.codes.values() if entry.active))
        raise StateError(f"there is no code {name!r} in the codebook, nearest: {join_with_or(options[:3]) or 'none'}")
    if not code.active:
        became = f" into {code.into!r}" if code.into else ""
        raise StateError(f"the code {name!r} is {code.status}{became} and cannot be changed: undo that first")
    return code


def _check_new_code(book: Codebook, code: Code) -> Code:
    """Returns a new code after checking that it fits the codebook."""
    if code.id in book.codes:
        raise StateError(f"the id {code.id!r} is or was used by a code: choose another id")
    if not code.id or code.id.strip() != code.id:
        raise StateError(f"{code.id!r} is not a valid id for a code: use lower-case words, as in topic/subtopic")
    if code.facet not in book.facets:
        options = suggest(code.facet, book.facets) or "none yet"
        raise StateError(
            f"the code {code.id!r} names the facet {code.facet!r}, which does not exist; choose from: {options}"
        )
    if code.parent and (code.active or code.parent not in book.codes):
        parent = _require_active(book, code.parent)
        if parent.facet != code.facet:
            raise StateError(f"the parent of {code.id!r} belongs to another facet, {parent.facet!r}")
    if code.active:
        _check_names(book, code)
    _check_depth(_add_codes(book, code), code.id)
    return code


def _check_depth(book: Codebook, code: str) -> None:
    levels = book.facets[book.codes[code].facet].levels
    if book.depth(code) > len(levels):
        raise StateError(f"{code!r} would be below the last level ({' → '.join(levels)}): choose a higher parent")


def _check_names(book: Codebook, code: Code) -> None:
    if code.colour and not _COLOUR.fullmatch(code.colour):
        raise StateError(f"the colour of {code.id!r} is {code.colour!r}: write it as #4269d0")
    if len(code.key) > 1:
        raise StateError(f"the key of {code.id!r} is {code.key!r}: give a single character")
    if not code.name.strip():
        raise StateError(f"the code {code.id!r} has no name: give it one")
    for other in (child for child in book.children(code.parent, code.facet) if child.id != code.id):
        if other.name.casefold() == code.name.casefold():
            raise StateError(f"{other.id!r} already has the name {other.name!r}: choose another name, or merge the two")
        if code.key and other.key == code.key:
            raise StateError(f"the key {code.key!r} is already used by {other.id!r}: choose another")


def _check_across(book: Codebook, code: Code) -> None:
    for facet, other in code.across.items():
        target = book.codes.get(other)
        if facet == code.facet or facet not in book.facets or target is None or target.facet != facet:
            options = join_with_or(sort_by_similarity(other, [entry.id for entry in book.active(facet)])[:5]) or "none"
            raise StateError(f"{code.id!r} refers to {other!r} of the facet {facet!r}; choose from: {options}")

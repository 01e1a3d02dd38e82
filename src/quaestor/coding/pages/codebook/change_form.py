"""Acts on a codebook as a form describes them: lines and rows of text to the payload of a change."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.names import listed, nearest_first
from quaestor.base.numbers import whole_number
from quaestor.coding.records import Code, Codebook

Fields = Mapping[str, Sequence[str]]
ACTS = ("facet", "add", "rename", "redefine", "merge", "split", "move", "retire", "undo")
_TEXTS = ("definition", "use", "not", "colour", "key")
_NO_LETTERS = re.compile(r"[^\w]+")


def described(fields: Fields, book: Codebook) -> tuple[str, dict[str, Any]]:
    """The kind and the payload of the act that a form describes; `book` is the version it was filled in on."""
    act = text_in(fields, "act")
    if act not in ACTS:
        raise InputError(f"there is no act {act!r}, allowed: {listed(nearest_first(act, ACTS))}")
    return f"codebook.{act}", _DESCRIBED[act](fields, book)


def text_in(fields: Fields, name: str) -> str:
    """A field without the space around it; empty where the form has none."""
    return fields.get(name, ("",))[0].strip()


def lines(fields: Fields, name: str) -> list[str]:
    return [line.strip() for line in text_in(fields, name).splitlines() if line.strip()]


def id_from(name: str, parent: str, book: Codebook) -> str:
    """An id for a new code, in the manner of model-training/loss, that no code has or had."""
    word = _NO_LETTERS.sub("-", name.casefold()).strip("-")
    wanted = f"{parent}/{word}" if parent else word
    numbered = (f"{wanted}-{number}" for number in range(2, len(book.codes) + 3))
    return next(one for one in (wanted, *numbered) if one not in book.codes)


def _facet(fields: Fields, book: Codebook) -> dict[str, Any]:
    levels = [level.strip() for level in text_in(fields, "levels").split(",") if level.strip()]
    return {"id": text_in(fields, "id"), "title": text_in(fields, "title"), "levels": levels or ["code"]}


def _add(fields: Fields, book: Codebook) -> dict[str, Any]:
    parent = text_in(fields, "parent")
    above = book.codes.get(parent)
    facet = above.facet if above else text_in(fields, "facet") or next(iter(book.facets), "")
    name = _needed(fields, "name", "the new code has no name: give it one")
    payload = {
        "id": text_in(fields, "id") or id_from(name, parent, book),
        "facet": facet,
        "parent": parent,
        "name": name,
    }
    payload |= _told(fields, book)
    return {name: value for name, value in payload.items() if value}


def _rename(fields: Fields, book: Codebook) -> dict[str, Any]:
    return {"code": _code(fields), "name": _needed(fields, "name", "the code needs a name: write the new one")}


def _redefine(fields: Fields, book: Codebook) -> dict[str, Any]:
    """Only what differs from what stood in the form: what somebody else changed meanwhile stays changed."""
    code = book.codes.get(_code(fields))
    before = told_of(code) if code else {}
    changed = {name: value for name, value in _told(fields, book).items() if value != _as_sent(before.get(name))}
    if not changed:
        raise InputError("nothing is new here: change the definition, the examples or what else is to be different")
    return {"code": _code(fields), **changed}


def _merge(fields: Fields, book: Codebook) -> dict[str, Any]:
    into = _needed(fields, "into", "say which code takes the place: choose one")
    codes = list(dict.fromkeys([_code(fields), *(code for code in fields.get("codes", ()) if code)]))
    return {"codes": codes, "into": into}


def _split(fields: Fields, book: Codebook) -> dict[str, Any]:
    code = _code(fields)
    parent = book.codes[code].parent if code in book.codes else ""
    parts, otherwise = [], ""
    for row, name in enumerate(fields.get("part.name", ())):
        if not name.strip():
            continue
        given = {label: _row(fields, f"part.{label}", row) for label in ("id", "definition")}
        part = {"id": given["id"] or id_from(name, parent, book), "name": name.strip()}
        parts.append(part | ({"definition": given["definition"]} if given["definition"] else {}))
        if text_in(fields, "otherwise") == str(row):
            otherwise = part["id"]
    if not otherwise:
        raise InputError("say which part takes the rest: choose it beside the part's name")
    ids = {part["name"].casefold(): part["id"] for part in parts}
    rules = [
        dict(zip(("facet", "answer", "part"), (*pieces[:2], ids.get(pieces[2].casefold(), pieces[2])), strict=True))
        for pieces in _cut(fields, "rules", "=", 3, "facet = answer = part")
    ]
    items = {item: ids.get(part.casefold(), part) for item, part in _cut(fields, "items", ",", 2, "item, part")}
    return {"code": code, "parts": parts, "rules": rules, "items": items, "otherwise": otherwise}


def _move(fields: Fields, book: Codebook) -> dict[str, Any]:
    return {"code": _code(fields), "parent": text_in(fields, "parent")}


def _retire(fields: Fields, book: Codebook) -> dict[str, Any]:
    return {"code": _code(fields)}


def _undo(fields: Fields, book: Codebook) -> dict[str, Any]:
    said = text_in(fields, "version")
    version = whole_number(said)
    if version is None:
        raise InputError(f"the change to undo is {said[:60]!r}: name it by its number in the history")
    return {"version": version}


_DESCRIBED: dict[str, Callable[[Fields, Codebook], dict[str, Any]]] = {
    "facet": _facet,
    "add": _add,
    "rename": _rename,
    "redefine": _redefine,
    "merge": _merge,
    "split": _split,
    "move": _move,
    "retire": _retire,
    "undo": _undo,
}


def told_of(code: Code) -> dict[str, Any]:
    """What a code says about itself, as an act that redefines it would."""
    texts = {name: getattr(code, "not_" if name == "not" else name) for name in _TEXTS}
    return texts | {"examples": list(code.examples), "across": dict(code.across)}


def _told(fields: Fields, book: Codebook) -> dict[str, Any]:
    texts: dict[str, Any] = {name: _as_sent(text_in(fields, name)) for name in _TEXTS}
    across = {facet: code for facet in book.facets if (code := text_in(fields, f"across.{facet}"))}
    return texts | {"examples": lines(fields, "examples"), "across": across}


def _as_sent(value: Any) -> Any:
    """A text as it comes back from a form in which nobody touched it."""
    return value.replace("\r\n", "\n").strip() if isinstance(value, str) else value


def _code(fields: Fields) -> str:
    return _needed(fields, "code", "no code is named: choose one in the codebook")


def _needed(fields: Fields, name: str, words: str) -> str:
    given = text_in(fields, name)
    if not given:
        raise InputError(words)
    return given


def _row(fields: Fields, name: str, row: int) -> str:
    given = fields.get(name, ())
    return given[row].strip() if row < len(given) else ""


def _cut(fields: Fields, name: str, mark: str, pieces: int, form: str) -> list[list[str]]:
    """Lines of a fixed number of pieces; ids of items may hold the mark, parts do not."""
    found = []
    for line in lines(fields, name):
        parts = [part.strip() for part in line.rsplit(mark, pieces - 1)]
        if len(parts) < pieces or not all(parts):
            raise InputError(f"{name} has the line {line!r}: write each as {form}")
        found.append(parts)
    return found

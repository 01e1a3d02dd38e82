"""The form for changing the codebook: its defaults, its options, and the act that it describes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or, parse_whole_number, sort_by_similarity, suggest
from quaestor.coding.model.codebook.changes import build_code_id
from quaestor.coding.model.records import Code, Codebook, CodeFacet

Fields = Mapping[str, Sequence[str]]
ACTS = ("facet", "add", "rename", "redefine", "merge", "split", "move", "retire", "undo")
_TEXTS = ("definition", "use", "not", "colour", "key")


def read_change(fields: Fields, book: Codebook) -> tuple[str, dict[str, Any]]:
    """Returns the kind and the payload of the act that a form describes; `book` is the version shown in the form."""
    act = read_text(fields, "act")
    if act not in ACTS:
        raise InputError(f"there is no change {act!r}; choose from: {suggest(act, ACTS)}")
    return f"codebook.{act}", _READERS[act](fields, book)


def read_text(fields: Fields, name: str) -> str:
    """Returns a field without surrounding space; empty if the form does not have it."""
    return fields.get(name, ("",))[0].strip()


def read_lines(fields: Fields, name: str) -> list[str]:
    return [line.strip() for line in read_text(fields, name).splitlines() if line.strip()]


def _facet(fields: Fields, book: Codebook) -> dict[str, Any]:
    levels = [level.strip() for level in read_text(fields, "levels").split(",") if level.strip()]
    return {"id": read_text(fields, "id"), "title": read_text(fields, "title"), "levels": levels or ["code"]}


def _add(fields: Fields, book: Codebook) -> dict[str, Any]:
    parent = read_text(fields, "parent")
    above = book.codes.get(parent)
    facet = above.facet if above else read_text(fields, "facet") or next(iter(book.facets), "")
    name = _require_text(fields, "name", "the new code has no name: give it one")
    payload = {
        "id": read_text(fields, "id") or build_code_id(name, parent, book),
        "facet": facet,
        "parent": parent,
        "name": name,
    }
    payload |= _read_definition(fields, book)
    return {name: value for name, value in payload.items() if value}


def _rename(fields: Fields, book: Codebook) -> dict[str, Any]:
    return {
        "code": _require_code(fields),
        "name": _require_text(fields, "name", "the code needs a name: write the new one"),
    }


def _redefine(fields: Fields, book: Codebook) -> dict[str, Any]:
    """Returns only what was edited in the form, so that simultaneous changes by others are kept."""
    code = book.codes.get(_require_code(fields))
    before = describe_code(code) if code else {}
    changed = {
        name: value
        for name, value in _read_definition(fields, book).items()
        if value != _normalise_text(before.get(name))
    }
    if not changed:
        raise InputError("nothing was changed: edit the definition, the examples or another field")
    return {"code": _require_code(fields), **changed}


def _merge(fields: Fields, book: Codebook) -> dict[str, Any]:
    into = _require_text(fields, "into", "no target is chosen: choose the code to merge into")
    codes = list(dict.fromkeys([_require_code(fields), *(code for code in fields.get("codes", ()) if code)]))
    return {"codes": codes, "into": into}


def _split(fields: Fields, book: Codebook) -> dict[str, Any]:
    code = _require_code(fields)
    parent = book.codes[code].parent if code in book.codes else ""
    parts, otherwise = [], ""
    for row, name in enumerate(fields.get("part.name", ())):
        if not name.strip():
            continue
        row_values = {label: _read_row(fields, f"part.{label}", row) for label in ("id", "definition")}
        part = {"id": row_values["id"] or build_code_id(name, parent, book), "name": name.strip()}
        parts.append(part | ({"definition": row_values["definition"]} if row_values["definition"] else {}))
        if read_text(fields, "otherwise") == str(row):
            otherwise = part["id"]
    if not otherwise:
        raise InputError("no part is chosen for the remaining ratings: choose it next to the part's name")
    ids = {part["name"].casefold(): part["id"] for part in parts}
    rules = [
        dict(zip(("facet", "answer", "part"), (*pieces[:2], ids.get(pieces[2].casefold(), pieces[2])), strict=True))
        for pieces in _split_lines(fields, "rules", "=", 3, "facet = answer = part")
    ]
    items = {item: ids.get(part.casefold(), part) for item, part in _split_lines(fields, "items", ",", 2, "item, part")}
    return {"code": code, "parts": parts, "rules": rules, "items": items, "otherwise": otherwise}


def _move(fields: Fields, book: Codebook) -> dict[str, Any]:
    return {"code": _require_code(fields), "parent": read_text(fields, "parent")}


def _retire(fields: Fields, book: Codebook) -> dict[str, Any]:
    return {"code": _require_code(fields)}


def _undo(fields: Fields, book: Codebook) -> dict[str, Any]:
    text = read_text(fields, "version")
    version = parse_whole_number(text)
    if version is None:
        raise InputError(f"the change to undo is {text[:60]!r}: name it by its number in the history")
    return {"version": version}


_READERS: dict[str, Callable[[Fields, Codebook], dict[str, Any]]] = {
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


def describe_code(code: Code) -> dict[str, Any]:
    """Returns the definition of a code in the form of a redefine act."""
    texts = {name: getattr(code, "not_" if name == "not" else name) for name in _TEXTS}
    return texts | {"examples": list(code.examples), "across": dict(code.across)}


def _read_definition(fields: Fields, book: Codebook) -> dict[str, Any]:
    texts: dict[str, Any] = {name: _normalise_text(read_text(fields, name)) for name in _TEXTS}
    across = {facet: code for facet in book.facets if (code := read_text(fields, f"across.{facet}"))}
    return texts | {"examples": read_lines(fields, "examples"), "across": across}


def _normalise_text(value: Any) -> Any:
    """Returns a text as a browser sends it back from an unedited form."""
    return value.replace("\r\n", "\n").strip() if isinstance(value, str) else value


def _require_code(fields: Fields) -> str:
    return _require_text(fields, "code", "no code is chosen: choose one in the codebook")


def _require_text(fields: Fields, name: str, words: str) -> str:
    text = read_text(fields, name)
    if not text:
        raise InputError(words)
    return text


def _read_row(fields: Fields, name: str, row: int) -> str:
    field = fields.get(name, ())
    return field[row].strip() if row < len(field) else ""


def _split_lines(fields: Fields, name: str, separator: str, pieces: int, form: str) -> list[list[str]]:
    """Splits each line from the right into a fixed number of pieces, since item ids may contain the separator."""
    rows = []
    for line in read_lines(fields, name):
        parts = [part.strip() for part in line.rsplit(separator, pieces - 1)]
        if len(parts) < pieces or not all(parts):
            raise InputError(f"{name} has the line {line!r}: write each as {form}")
        rows.append(parts)
    return rows


_ROWS = 3
_TITLES = {
    "facet": "Add a facet",
    "add": "Add a code",
    "rename": "Rename",
    "redefine": "Redefine",
    "merge": "Merge",
    "split": "Split",
    "move": "Move",
    "retire": "Retire",
    "undo": "Undo a change",
    "import": "Import codebook.toml",
}
_ABOUT_A_CODE = ("rename", "redefine", "merge", "split", "move", "retire")


@dataclass(frozen=True)
class CodeOption:
    """A code that can be chosen."""

    id: str
    name: str
    chosen: bool = False


@dataclass(frozen=True)
class AcrossOptions:
    """Another facet and its codes that a code can refer to."""

    facet: CodeFacet
    choices: tuple[CodeOption, ...]


@dataclass(frozen=True)
class PartRow:
    """One part of a split, as filled in so far."""

    name: str = ""
    id: str = ""
    definition: str = ""
    rest: bool = False


@dataclass(frozen=True)
class ChangeForm:
    """A form for one change of one version of the codebook."""

    act: str
    title: str
    code: Code | None
    path: str
    version: int
    """The version shown in the form."""
    values: Mapping[str, str]
    parents: tuple[CodeOption, ...] = ()
    targets: tuple[CodeOption, ...] = ()
    also: tuple[CodeOption, ...] = ()
    across: tuple[AcrossOptions, ...] = ()
    facets: tuple[CodeFacet, ...] = ()
    rows: tuple[PartRow, ...] = ()


def build_form(fields: Fields, book: Codebook) -> ChangeForm:
    """Builds the form with what was typed so far, else with the current values of the code."""
    act, name = read_text(fields, "act"), read_text(fields, "code")
    code = book.codes.get(name)
    if code is None and act in _ABOUT_A_CODE:
        options = join_with_or(sort_by_similarity(name, book.codes)[:3]) or "none yet"
        raise StateError(f"there is no code {name!r} in the codebook, nearest: {options}")
    version = parse_whole_number(read_text(fields, "from"))
    values = {**_list_defaults(act, code), **{name: read_text(fields, name) for name in fields}}
    across = {facet.id: values.get(f"across.{facet.id}", "") for facet in book.facets.values()}
    return ChangeForm(
        act=act,
        title=_TITLES.get(act, act),
        code=code if act in _ABOUT_A_CODE else None,
        path=book.path_name(name) if code else "",
        version=book.version if version is None else version,
        values=values,
        parents=tuple(_list_parents(act, code, book, values.get("parent", ""))),
        targets=tuple(_list_same_level(code, book, {values.get("into", "")})) if act == "merge" and code else (),
        also=tuple(_list_same_level(code, book, set(fields.get("codes", ())))) if act == "merge" and code else (),
        across=tuple(_list_across_options(code, book, across)) if act in ("add", "redefine") else (),
        facets=tuple(book.facets.values()),
        rows=_build_rows(fields) if act == "split" else (),
    )


def _list_defaults(act: str, code: Code | None) -> dict[str, str]:
    """Returns the initial values of a form."""
    if code is None:
        return {}
    if act == "rename":
        return {"name": code.name}
    if act == "add":
        return {"parent": code.id, "facet": code.facet}
    if act == "move":
        return {"parent": code.parent}
    if act != "redefine":
        return {}
    definition = describe_code(code)
    texts = {name: value for name, value in definition.items() if isinstance(value, str)}
    across = {f"across.{facet}": other for facet, other in code.across.items()}
    return {**texts, "examples": "\n".join(code.examples), **across}


def _list_parents(act: str, code: Code | None, book: Codebook, chosen: str) -> Iterable[CodeOption]:
    """Yields the possible parents of a new or moved code."""
    if act not in ("add", "move"):
        return
    for parent in _list_codes(book):
        if act == "move" and code and (parent.facet != code.facet or code.id in book.path(parent.id)):
            continue
        if book.depth(parent.id) < len(book.facets[parent.facet].levels):
            yield CodeOption(parent.id, book.path_name(parent.id), parent.id == chosen)


def _list_same_level(code: Code, book: Codebook, chosen: set[str]) -> Iterable[CodeOption]:
    """Yields the other codes of the same facet and level."""
    depth = book.depth(code.id)
    for other in _list_codes(book):
        if other.facet == code.facet and other.id != code.id and book.depth(other.id) == depth:
            yield CodeOption(other.id, book.path_name(other.id), other.id in chosen)


def _list_across_options(code: Code | None, book: Codebook, chosen: Mapping[str, str]) -> Iterable[AcrossOptions]:
    for facet in book.facets.values():
        if len(book.facets) > 1 and not (code and facet.id == code.facet):
            choices = (
                CodeOption(other.id, book.path_name(other.id), other.id == chosen[facet.id])
                for other in _list_codes(book)
                if other.facet == facet.id
            )
            yield AcrossOptions(facet, tuple(choices))


def _list_codes(book: Codebook) -> list[Code]:
    """Returns the active codes in the order of the tree."""

    def down(code: Code) -> list[Code]:
        return [code, *(below for child in book.children(code.id) for below in down(child))]

    return [code for facet in book.facets for root in book.children("", facet) for code in down(root)]


def _build_rows(fields: Fields) -> tuple[PartRow, ...]:
    """Returns the filled-in parts and at least one empty row."""
    names = list(fields.get("part.name", ()))
    rest = read_text(fields, "otherwise")
    rows = [
        PartRow(
            name, _read_raw_row(fields, "part.id", row), _read_raw_row(fields, "part.definition", row), rest == str(row)
        )
        for row, name in enumerate(names)
    ]
    empty = sum(not row.name.strip() for row in rows)
    rows += [PartRow()] * max(_ROWS - len(rows), 0 if empty else 1)
    return tuple(rows)


def _read_raw_row(fields: Fields, name: str, row: int) -> str:
    field = fields.get(name, ())
    return field[row] if row < len(field) else ""

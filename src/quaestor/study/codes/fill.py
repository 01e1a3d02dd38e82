"""The form of an act on the codebook: what stands in it and what can be chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from quaestor.base.errors import StateError
from quaestor.base.names import listed, nearest_first
from quaestor.base.numbers import whole_number
from quaestor.coding.records import Code, Codebook, CodeFacet
from quaestor.study.codes.acts import Fields, text_in, told_of

_ROWS = 3
_TITLES = {
    "facet": "Add a facet",
    "add": "Add a code",
    "rename": "Rename",
    "redefine": "Say anew what it means",
    "merge": "Merge",
    "split": "Split",
    "move": "Move",
    "retire": "Retire",
    "undo": "Undo a change",
}
_ABOUT_A_CODE = ("rename", "redefine", "merge", "split", "move", "retire")


@dataclass(frozen=True)
class Choice:
    """A code that can be chosen."""

    id: str
    name: str
    chosen: bool = False


@dataclass(frozen=True)
class Across:
    """Another facet, and the code in it that goes along."""

    facet: CodeFacet
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class PartRow:
    """One part of a split, as far as it is filled in."""

    name: str = ""
    id: str = ""
    definition: str = ""
    rest: bool = False


@dataclass(frozen=True)
class Form:
    """An act to fill in, on one version of the codebook."""

    act: str
    title: str
    code: Code | None
    path: str
    version: int
    """The version it is filled in on."""
    values: Mapping[str, str]
    parents: tuple[Choice, ...] = ()
    targets: tuple[Choice, ...] = ()
    also: tuple[Choice, ...] = ()
    across: tuple[Across, ...] = ()
    facets: tuple[CodeFacet, ...] = ()
    rows: tuple[PartRow, ...] = ()


def filled(fields: Fields, book: Codebook) -> Form:
    """The form with what was typed already, and with what the code says where nothing was."""
    act, name = text_in(fields, "act"), text_in(fields, "code")
    code = book.codes.get(name)
    if code is None and act in _ABOUT_A_CODE:
        options = listed(nearest_first(name, book.codes)[:3]) or "none yet"
        raise StateError(f"there is no code {name!r} in the codebook, nearest: {options}")
    version = whole_number(text_in(fields, "from"))
    values = {**_known(act, code), **{name: text_in(fields, name) for name in fields}}
    across = {facet.id: values.get(f"across.{facet.id}", "") for facet in book.facets.values()}
    return Form(
        act=act,
        title=_TITLES.get(act, act),
        code=code if act in _ABOUT_A_CODE else None,
        path=book.path_name(name) if code else "",
        version=book.version if version is None else version,
        values=values,
        parents=tuple(_parents(act, code, book, values.get("parent", ""))),
        targets=tuple(_alike(code, book, {values.get("into", "")})) if act == "merge" and code else (),
        also=tuple(_alike(code, book, set(fields.get("codes", ())))) if act == "merge" and code else (),
        across=tuple(_across(code, book, across)) if act in ("add", "redefine") else (),
        facets=tuple(book.facets.values()),
        rows=_rows(fields) if act == "split" else (),
    )


def _known(act: str, code: Code | None) -> dict[str, str]:
    """What stands in a form before anybody types."""
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
    told = told_of(code)
    texts = {name: value for name, value in told.items() if isinstance(value, str)}
    across = {f"across.{facet}": other for facet, other in code.across.items()}
    return {**texts, "examples": "\n".join(code.examples), **across}


def _parents(act: str, code: Code | None, book: Codebook, chosen: str) -> Iterable[Choice]:
    """The codes below which a new or a moved code can stand."""
    if act not in ("add", "move"):
        return
    for one in _in_order(book):
        if act == "move" and code and (one.facet != code.facet or code.id in book.way(one.id)):
            continue
        if book.depth(one.id) < len(book.facets[one.facet].levels):
            yield Choice(one.id, book.path_name(one.id), one.id == chosen)


def _alike(code: Code, book: Codebook, chosen: set[str]) -> Iterable[Choice]:
    """The other codes of the same facet and level."""
    depth = book.depth(code.id)
    for one in _in_order(book):
        if one.facet == code.facet and one.id != code.id and book.depth(one.id) == depth:
            yield Choice(one.id, book.path_name(one.id), one.id in chosen)


def _across(code: Code | None, book: Codebook, chosen: Mapping[str, str]) -> Iterable[Across]:
    for facet in book.facets.values():
        if len(book.facets) > 1 and not (code and facet.id == code.facet):
            choices = (Choice(one.id, book.path_name(one.id), one.id == chosen[facet.id]) for one in _in_order(book)
                       if one.facet == facet.id)  # fmt: skip
            yield Across(facet, tuple(choices))


def _in_order(book: Codebook) -> list[Code]:
    """The codes that are offered, as the tree has them."""

    def down(code: Code) -> list[Code]:
        return [code, *(below for child in book.children(code.id) for below in down(child))]

    return [code for facet in book.facets for root in book.children("", facet) for code in down(root)]


def _rows(fields: Fields) -> tuple[PartRow, ...]:
    """What was filled in, and room for one part more."""
    names = list(fields.get("part.name", ()))
    rest = text_in(fields, "otherwise")
    rows = [
        PartRow(name, _at(fields, "part.id", row), _at(fields, "part.definition", row), rest == str(row))
        for row, name in enumerate(names)
    ]
    empty = sum(not row.name.strip() for row in rows)
    rows += [PartRow()] * max(_ROWS - len(rows), 0 if empty else 1)
    return tuple(rows)


def _at(fields: Fields, name: str, row: int) -> str:
    given = fields.get(name, ())
    return given[row] if row < len(given) else ""

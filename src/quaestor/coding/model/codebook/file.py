"""Reads and writes a codebook as a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tomlkit
from pydantic import Field, ValidationError

from quaestor.base.errors import InputError
from quaestor.base.toml import Settings, read_toml
from quaestor.coding.model.records import Code, Codebook

_TEXTS = ("definition", "use", "not", "colour", "key")


class FacetEntry(Settings):
    """A tree of codes."""

    id: str = Field(min_length=1)
    title: str = ""
    levels: tuple[str, ...] = ("code",)


class CodeEntry(Settings):
    """A code of the file."""

    id: str = Field(min_length=1)
    facet: str
    name: str = Field(min_length=1)
    parent: str = ""
    definition: str = ""
    use: str = ""
    not_: str = Field("", alias="not")
    examples: tuple[str, ...] = ()
    colour: str = Field("", pattern=r"^(#[0-9a-fA-F]{6})?$")
    key: str = Field("", max_length=1)
    across: dict[str, str] = Field(default_factory=dict)


class CodebookFile(Settings):
    """A whole file."""

    name: str = ""
    facet: tuple[FacetEntry, ...] = ()
    code: tuple[CodeEntry, ...] = ()


def read_codebook(path: Path) -> dict[str, Any]:
    """Returns the payload of the act that imports a file; raises InputError naming the entry with a mistake."""
    raw = read_toml(path, InputError)
    try:
        file = CodebookFile.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{path}: {_explain(error, raw)}") from None
    return {
        "name": file.name,
        "facets": [facet.model_dump(mode="json") for facet in file.facet],
        "codes": [code.model_dump(mode="json", by_alias=True, exclude_defaults=True) for code in file.code],
    }


def _explain(error: ValidationError, raw: dict[str, Any]) -> str:
    problem = error.errors()[0]
    place = problem["loc"]
    where = ".".join(str(part) for part in place)
    if len(place) > 1 and isinstance(place[1], int):
        entry = raw[str(place[0])][place[1]]
        name = entry.get("id") if isinstance(entry, dict) else None
        where = f"{place[0]} {name or place[1] + 1}, {'.'.join(str(part) for part in place[2:]) or 'entry'}"
    if problem["type"] == "extra_forbidden":
        allowed = "id, facet, name, parent, definition, use, not, examples, colour, key, across"
        return f"{where} is not a known key, allowed for a code: {allowed}"
    if problem["type"] == "missing":
        return f"{where} is missing: add it"
    return f"{where}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"


def write_codebook(book: Codebook) -> str:
    """Returns the active codes of a version as TOML, parents before children."""
    document = tomlkit.document()
    document["name"] = book.name
    facets = tomlkit.aot()
    for facet in book.facets.values():
        facets.append(tomlkit.item({"id": facet.id, "title": facet.title, "levels": list(facet.levels)}))
    codes = tomlkit.aot()
    for facet_id in book.facets:
        for root in book.children("", facet_id):
            for code in _list_branch(book, root):
                codes.append(tomlkit.item(build_entry(book, code)))
    if len(facets):
        document["facet"] = facets
    if len(codes):
        document["code"] = codes
    return tomlkit.dumps(document)


def _list_branch(book: Codebook, code: Code) -> list[Code]:
    return [code, *(below for child in book.children(code.id) for below in _list_branch(book, child))]


def build_entry(book: Codebook, code: Code) -> dict[str, Any]:
    """Returns a code as an entry of the file, without empty fields."""
    entry: dict[str, Any] = {"id": code.id, "facet": code.facet, "name": code.name}
    if code.parent:
        entry["parent"] = code.parent
    for name in _TEXTS:
        if value := getattr(code, "not_" if name == "not" else name):
            entry[name] = value
    if code.examples:
        entry["examples"] = list(code.examples)
    across = {facet: other for facet, named in code.across.items() if (other := _follow_merges(book, named))}
    if across:
        inline = tomlkit.inline_table()
        inline.update(across)
        entry["across"] = inline
    return entry


def _follow_merges(book: Codebook, code: str) -> str:
    """Returns the code that a reference to another tree leads to after merges; empty if it is no longer active."""
    while book.codes[code].into:
        code = book.codes[code].into
    return code if book.codes[code].active else ""

"""Two versions of a codebook side by side, code by code and word by word."""

from __future__ import annotations

from dataclasses import dataclass

from quaestor.coding.codebook.differences import differences
from quaestor.coding.records import Code, Codebook, Difference
from quaestor.study.codes.texts import Pieces, told_apart

_TEXTS = ("name", "stands below", "definition", "use", "not", "examples", "across", "key", "colour")


@dataclass(frozen=True)
class TextChange:
    """A text of a code before and after."""

    label: str
    before: Pieces
    after: Pieces


@dataclass(frozen=True)
class Compared:
    """A code, or a facet, that differs between two versions."""

    code: str
    name: str
    what: tuple[str, ...]
    texts: tuple[TextChange, ...]
    is_code: bool = True


def compared(before: Codebook, after: Codebook) -> list[Compared]:
    """In the order of the later version; what does not differ is left out."""
    facets, by_code = [], dict[str, list[Difference]]()
    for one in differences(before, after):
        if one.what == "facet added":
            levels = f"facet added, with the levels {one.after}"
            facets.append(Compared(one.code, after.facets[one.code].title or one.code, (levels,), (), is_code=False))
        else:
            by_code.setdefault(one.code, []).append(one)
    return [*facets, *(_of_code(before, after, code, found) for code, found in by_code.items())]


def _of_code(before: Codebook, after: Codebook, code: str, found: list[Difference]) -> Compared:
    old, new = before.codes.get(code), after.codes.get(code)
    left = _texts(before, old) if old else {}
    right = _texts(after, new) if new else {}
    gone = new is None or not new.active
    texts = () if gone else tuple(
        TextChange(label, *told_apart(left.get(label, ""), right.get(label, "")))
        for label in _TEXTS
        if left.get(label, "") != right.get(label, "")
    )  # fmt: skip
    name = (after if new else before).path_name(code)
    return Compared(code, name, tuple(_in_words(after, one) for one in found), texts)


def _in_words(after: Codebook, one: Difference) -> str:
    if one.what == "merged" and one.after in after.codes:
        return f"merged into {after.path_name(one.after)}"
    if one.what == "split":
        return f"split into {', '.join(after.codes[part].name for part in one.after.split(', ') if part)}"
    return one.what


def _texts(book: Codebook, code: Code) -> dict[str, str]:
    across = [f"{facet}: {book.path_name(other)}" for facet, other in code.across.items() if other in book.codes]
    return {
        "name": code.name,
        "stands below": book.path_name(code.parent) if code.parent else "",
        "definition": code.definition,
        "use": code.use,
        "not": code.not_,
        "examples": "\n".join(code.examples),
        "across": "\n".join(across),
        "key": code.key,
        "colour": code.colour,
    }

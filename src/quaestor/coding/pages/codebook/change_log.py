"""The change log of a codebook and the comparison of two versions."""

from __future__ import annotations

import difflib
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from quaestor.coding.model.codebook.changes import CAN_BE_UNDONE
from quaestor.coding.model.codebook.history import (
    FACET_DIFFERENCES,
    NAME_CHANGED,
    UNDO,
    History,
    find_last_import,
    list_differences,
    list_undone,
)
from quaestor.coding.model.records import Code, Codebook, Difference
from quaestor.coding.session import CodingSession
from quaestor.store.records import Act

_FIELDS = ("definition", "use", "not", "examples", "colour", "key", "across")


@dataclass(frozen=True)
class CodebookChange:
    """One change of the codebook; its number is the version it produced."""

    version: int
    time: str
    actor: str
    kind: str
    words: str
    codes: frozenset[str]
    """The codes that the change is about."""
    undone: bool
    can_be_undone: bool


class ChangeLog:
    """The acts on a codebook; reads the journal once and then only its new acts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._head = 0
        self._acts: list[Act] = []

    def changes(self, coding: CodingSession, history: History) -> list[CodebookChange]:
        """Returns the changes up to the end of the history, oldest first."""
        with self._lock:
            for act in coding.journal.acts(after=self._head):
                self._head = act.number
                if act.kind.startswith("codebook."):
                    self._acts.append(act)
            acts = self._acts[: len(history.changes)]
        undone, replaced = list_undone(history.changes), find_last_import(history.changes)
        return [
            CodebookChange(
                version,
                act.time,
                act.actor,
                act.kind.removeprefix("codebook."),
                describe_change(act.kind, act.payload, history, version - 1),
                list_changed_codes(act.kind, act.payload, history),
                version in undone,
                version not in undone and version > replaced and act.kind in CAN_BE_UNDONE | {UNDO},
            )
            for version, act in enumerate(acts, start=1)
        ]


def describe_change(kind: str, payload: Mapping[str, Any], history: History, version: int) -> str:
    """Returns a description of a change with the code names of the version that it changed."""
    if kind == UNDO:
        before = int(payload["version"])
        known = 1 <= before <= len(history.changes)
        description = f": {describe_change(*history.changes[before - 1], history, before - 1)}" if known else ""
        return f"Undo change {before}{description}"
    return _describe(kind, payload, history.at(version))


def _describe(kind: str, payload: Mapping[str, Any], book: Codebook) -> str:
    match kind.removeprefix("codebook."):
        case "import":
            codes, facets = len(payload["codes"]), len(payload["facets"])
            return f"Import {codes} code{'' if codes == 1 else 's'} in {facets} facet{'' if facets == 1 else 's'}"
        case "facet":
            return f"Add the facet {_quote(payload.get('title') or payload['id'])}"
        case "add":
            below = f" below {_quote_code(book, payload['parent'])}" if payload.get("parent") else ""
            return f"Add {_quote(payload['name'])}{below}"
        case "merge":
            merged = ", ".join(_quote_code(book, code) for code in payload["codes"])
            return f"Merge {merged} into {_quote_code(book, payload['into'])}"
    name = _quote_code(book, payload["code"])
    match kind.removeprefix("codebook."):
        case "rename":
            return f"Rename {name} to {_quote(payload['name'])}"
        case "redefine":
            return f"Redefine {name}: {', '.join(field for field in _FIELDS if field in payload)}"
        case "split":
            return f"Split {name} into {', '.join(_quote(part['name']) for part in payload['parts'])}"
        case "move":
            return f"Move {name} to {_quote_code(book, payload['parent']) if payload['parent'] else 'the top'}"
        case "retire":
            return f"Retire {name}"
    raise KeyError(kind)


def list_changed_codes(kind: str, payload: Mapping[str, Any], history: History) -> frozenset[str]:
    """Returns the codes that a change is about."""
    if kind == UNDO:
        before = int(payload["version"])
        known = 1 <= before <= len(history.changes)
        return list_changed_codes(*history.changes[before - 1], history) if known else frozenset()
    if kind == "codebook.import":
        return frozenset(str(code["id"]) for code in payload["codes"])
    codes = [payload.get("code"), payload.get("into"), *payload.get("codes", ())]
    codes += [part["id"] for part in payload.get("parts", ())]
    codes += [payload["id"]] if kind == "codebook.add" else []
    return frozenset(str(code) for code in codes if code)


def _quote_code(book: Codebook, code: str) -> str:
    return _quote(book.path_name(code) if code in book.codes else code)


def _quote(name: str) -> str:
    return f"“{name}”"


Pieces = tuple[tuple[str, bool], ...]
"""A text in pieces; True if a piece is highlighted."""
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


def unmarked(text: str) -> Pieces:
    return ((text, False),) if text else ()


def mark_words(text: str, words: Iterable[str]) -> Pieces:
    """Highlights the search words in a text."""
    patterns = [re.escape(word) for word in sorted(words, key=len, reverse=True) if word]
    if not patterns:
        return unmarked(text)
    parts = re.split(f"({'|'.join(patterns)})", text, flags=re.IGNORECASE)
    return tuple((part, number % 2 == 1) for number, part in enumerate(parts) if part)


def mark_differences(before: str, after: str) -> tuple[Pieces, Pieces]:
    """Highlights in each of two texts the words that differ from the other."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    left: list[tuple[str, bool]] = []
    right: list[tuple[str, bool]] = []
    for tag, start, end, other, until in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        changed = tag != "equal"
        left.append(("".join(old[start:end]), changed))
        right.append(("".join(new[other:until]), changed))
    return tuple(piece for piece in left if piece[0]), tuple(piece for piece in right if piece[0])


_TEXTS = ("name", "parent", "definition", "use it when", "not when", "examples", "related codes", "key", "colour")


@dataclass(frozen=True)
class TextChange:
    """A text of a code before and after."""

    label: str
    before: Pieces
    after: Pieces


@dataclass(frozen=True)
class CodeDifference:
    """A code or facet that differs between two versions."""

    code: str
    name: str
    what: tuple[str, ...]
    texts: tuple[TextChange, ...]
    is_code: bool = True


def list_code_differences(before: Codebook, after: Codebook) -> list[CodeDifference]:
    """Returns the codes and facets that differ, in the order of the later version."""
    facets, by_code = [], dict[str, list[Difference]]()
    for difference in list_differences(before, after):
        if difference.what in (NAME_CHANGED, *FACET_DIFFERENCES):
            facets.append(_describe_whole(before, after, difference))
        else:
            by_code.setdefault(difference.code, []).append(difference)
    return [*facets, *(_build_difference(before, after, code, differences) for code, differences in by_code.items())]


def _describe_whole(before: Codebook, after: Codebook, difference: Difference) -> CodeDifference:
    """Describes a difference that is not about a code: of a facet, or of the codebook's name."""
    facet = after.facets.get(difference.code) or before.facets.get(difference.code)
    name = (facet.title or facet.id) if facet else "Name of the codebook"
    if difference.what == "facet added":
        return CodeDifference(
            difference.code, name, (f"facet added, with the levels {difference.after}",), (), is_code=False
        )
    changed = TextChange(difference.what, *mark_differences(difference.before, difference.after))
    return CodeDifference(difference.code, name, (difference.what,), (changed,), is_code=False)


def _build_difference(before: Codebook, after: Codebook, code: str, differences: list[Difference]) -> CodeDifference:
    old, new = before.codes.get(code), after.codes.get(code)
    left = _list_texts(before, old) if old else {}
    right = _list_texts(after, new) if new else {}
    gone = new is None or not new.active
    texts = () if gone else tuple(
        TextChange(label, *mark_differences(left.get(label, ""), right.get(label, "")))
        for label in _TEXTS
        if left.get(label, "") != right.get(label, "")
    )  # fmt: skip
    name = (after if new else before).path_name(code)
    return CodeDifference(
        code, name, tuple(_describe_difference(after, difference) for difference in differences), texts
    )


def _describe_difference(after: Codebook, difference: Difference) -> str:
    if difference.what == "merged" and difference.after in after.codes:
        return f"merged into {after.path_name(difference.after)}"
    if difference.what == "split":
        return f"split into {', '.join(after.codes[part].name for part in difference.after.split(', ') if part)}"
    return difference.what


def _list_texts(book: Codebook, code: Code) -> dict[str, str]:
    across = [f"{facet}: {book.path_name(other)}" for facet, other in code.across.items() if other in book.codes]
    return {
        "name": code.name,
        "parent": book.path_name(code.parent) if code.parent else "",
        "definition": code.definition,
        "use it when": code.use,
        "not when": code.not_,
        "examples": "\n".join(code.examples),
        "related codes": "\n".join(across),
        "key": code.key,
        "colour": code.colour,
    }

"""A codebook as a tree to look through, whole or as far as it answers a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quaestor.coding.records import Code, Codebook, CodeFacet
from quaestor.study.codes.texts import Pieces, marked, plain

_SHORT = 140


@dataclass(frozen=True)
class Branch:
    """A code with what stands below it."""

    code: Code
    name: Pieces
    says: Pieces
    """What it means in short; in a search, the words that were found."""
    label: str
    """Where those words stand, if not in the definition."""
    found: bool
    branches: tuple[Branch, ...] = ()


@dataclass(frozen=True)
class Tree:
    """One facet of a codebook."""

    facet: CodeFacet
    codes: int
    found: int
    branches: tuple[Branch, ...]


def trees_of(book: Codebook, query: str = "", facet: str = "") -> tuple[Tree, ...]:
    """The facets, or one of them; with a query, the codes that have all of its words and what they stand below."""
    words = query.casefold().split()
    below: dict[tuple[str, str], list[Code]] = {}
    for code in book.codes.values():
        if code.active:
            below.setdefault((code.facet, code.parent), []).append(code)

    def grow(tree: str, parent: str) -> tuple[Branch, ...]:
        grown = (_branch(code, words, grow(tree, code.id)) for code in below.get((tree, parent), ()))
        return tuple(branch for branch in grown if branch.found or branch.branches or not words)

    trees = []
    for one in book.facets.values():
        if facet in ("", one.id):
            branches = grow(one.id, "")
            trees.append(Tree(one, len(book.active(one.id)), sum(map(_found, branches)), branches))
    return tuple(trees)


def _branch(code: Code, words: Sequence[str], branches: tuple[Branch, ...]) -> Branch:
    whole = " ".join(text for _, text in _texts(code)).casefold()
    found = bool(words) and all(word in whole for word in words)
    label, says = "", _shortened(code.definition)
    if found and not any(word in f"{code.name} {code.definition}".casefold() for word in words):
        label, says = next(
            (label, text) for label, text in _texts(code) if any(word in text.casefold() for word in words)
        )
    elif found:
        says = code.definition
    shown = marked if found else lambda text, _: plain(text)
    return Branch(code, shown(code.name, words), shown(says, words), label, found, branches)


def _texts(code: Code) -> list[tuple[str, str]]:
    """All that a search looks at."""
    examples = [("example", example) for example in code.examples]
    told = [("", code.name), ("", code.definition), ("use", code.use), ("not", code.not_), *examples, ("id", code.id)]
    return [(label, text) for label, text in told if text]


def _shortened(text: str) -> str:
    if len(text) <= _SHORT:
        return text
    return f"{text[:_SHORT].rsplit(' ', 1)[0]} …"


def _found(branch: Branch) -> int:
    return branch.found + sum(map(_found, branch.branches))

"""The pages of a codebook: what a viewer may see of it, with cached counts."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from quaestor.base.errors import StateError
from quaestor.coding.codebook import CODEBOOK_FILE
from quaestor.coding.model.code_proposals import list_proposed_codes
from quaestor.coding.model.codebook.file import write_codebook
from quaestor.coding.model.codebook.history import History
from quaestor.coding.model.decisions import is_settled_round
from quaestor.coding.model.records import Code, Codebook, CodeFacet
from quaestor.coding.model.state import CLOSED, OPEN, RoundState, State
from quaestor.coding.pages.codebook.change_log import (
    ChangeLog,
    CodebookChange,
    CodeDifference,
    Pieces,
    list_code_differences,
    mark_words,
    unmarked,
)
from quaestor.coding.pages.codebook.change_preview import ChangePreview, preview_change, preview_file
from quaestor.coding.pages.codebook.code_detail import (
    CodeItemCounts,
    CodePage,
    CodeUses,
    build_code_page,
    collect_uses,
    count_items,
)
from quaestor.coding.session import CodingSession
from quaestor.coding.visibility import Viewer, Visibility
from quaestor.evidence.item_texts import read_titles
from quaestor.people.roles import Role
from quaestor.study.contributions import TextMask
from quaestor.study.folder import Study


def explain_no_counts(visibility: Visibility) -> str:
    """Returns why a viewer sees no counts at all; empty if they do.

    A lead who rates sees the counts of `list_counted_rounds`, since nobody can maintain a codebook without them.
    """
    if visibility.viewer.role is Role.LEAD:
        return ""
    for round_state in visibility.state.rounds.values():
        if _is_rating(round_state, visibility.viewer.name):
            return f"you rate in {round_state.plan.round}: code counts are shown once that round is closed"
        if round_state.plan.tie_breaker == visibility.viewer.name and not (
            round_state.status == CLOSED and is_settled_round(visibility.state, round_state.plan.round)
        ):
            round_name = round_state.plan.round
            return f"you are the tie-breaker of {round_name}: code counts are shown once its disagreements are settled"
    return ""


def list_counted_rounds(visibility: Visibility) -> list[str]:
    """Returns the rounds and published decisions whose final answers a viewer sees counted."""
    if explain_no_counts(visibility):
        return []
    state = visibility.state
    if visibility.viewer.role in (Role.RATER, Role.TIE_BREAKER):
        closed = [round_state.plan.round for round_state in state.rounds.values() if round_state.status == CLOSED]
        return [*(name for name in closed if is_settled_round(state, name)), *state.published]
    return [name for name in (*state.rounds, *state.published) if not visibility.why_no_decisions(name)]


def find_last_version(visibility: Visibility) -> int:
    """Returns the last version a viewer may see; raters see that of their open rounds and thus no new codes."""
    latest = visibility.state.history.latest.version
    if visibility.viewer.role is Role.LEAD:
        return latest
    frozen = [
        round_state.plan.codebook
        for round_state in visibility.state.rounds.values()
        if _is_rating(round_state, visibility.viewer.name)
    ]
    return max(frozen) if frozen else latest


def find_visible_book(visibility: Visibility, version: int | None = None) -> Codebook:
    """Returns a version of the codebook, by default the last one the viewer may see."""
    last = find_last_version(visibility)
    if version is not None and last < version < len(visibility.state.history.versions):
        raise StateError(
            f"you rate under version {last} of the codebook: later versions are shown once the round is closed"
        )
    return visibility.state.history.at(last if version is None else version)


def _is_rating(round_state: RoundState, name: str) -> bool:
    return round_state.status == OPEN and round_state.slot_of(name) is not None


_SHORT = 140


@dataclass(frozen=True)
class Branch:
    """A code with the codes below it."""

    code: Code
    name: Pieces
    says: Pieces
    """The shortened definition, or the text that matches the search."""
    label: str
    """The field of the matching text if it is not the definition."""
    matches: bool
    branches: tuple[Branch, ...] = ()


@dataclass(frozen=True)
class Tree:
    """One facet of a codebook."""

    facet: CodeFacet
    codes: int
    matches: int
    branches: tuple[Branch, ...]


def build_trees(book: Codebook, query: str = "", facet: str = "") -> tuple[Tree, ...]:
    """Returns the trees of all facets or of one; a query keeps only codes with all its words, and their ancestors."""
    words = query.casefold().split()
    below: dict[tuple[str, str], list[Code]] = {}
    for code in book.in_tree_order():
        if code.active:
            below.setdefault((code.facet, code.parent), []).append(code)

    def grow(tree: str, parent: str) -> tuple[Branch, ...]:
        grown = (_build_branch(code, words, grow(tree, code.id)) for code in below.get((tree, parent), ()))
        return tuple(branch for branch in grown if branch.matches or branch.branches or not words)

    trees = []
    for code_facet in book.facets.values():
        if facet in ("", code_facet.id):
            branches = grow(code_facet.id, "")
            trees.append(
                Tree(code_facet, len(book.active(code_facet.id)), sum(map(_count_matches, branches)), branches)
            )
    return tuple(trees)


def _build_branch(code: Code, words: Sequence[str], branches: tuple[Branch, ...]) -> Branch:
    whole = " ".join(text for _, text in _list_texts(code)).casefold()
    matches = bool(words) and all(word in whole for word in words)
    label, says = "", _shorten(code.definition)
    if matches and not any(word in f"{code.name} {code.definition}".casefold() for word in words):
        label, says = next(
            (label, text) for label, text in _list_texts(code) if any(word in text.casefold() for word in words)
        )
    elif matches:
        says = code.definition
    shown = mark_words if matches else lambda text, _: unmarked(text)
    return Branch(code, shown(code.name, words), shown(says, words), label, matches, branches)


def _list_texts(code: Code) -> list[tuple[str, str]]:
    """Returns the texts that a search covers."""
    examples = [("example", example) for example in code.examples]
    texts = [("", code.name), ("", code.definition), ("use", code.use), ("not", code.not_), *examples, ("id", code.id)]
    return [(label, text) for label, text in texts if text]


def _shorten(text: str) -> str:
    if len(text) <= _SHORT:
        return text
    return f"{text[:_SHORT].rsplit(' ', 1)[0]} …"


def _count_matches(branch: Branch) -> int:
    return branch.matches + sum(map(_count_matches, branch.branches))


_KEPT = 8


@dataclass(frozen=True)
class VisibleCodebook:
    """A version of the codebook as one viewer sees it."""

    book: Codebook
    last: int
    """The last version the viewer may see."""
    counts: CodeItemCounts | None
    why_no_counts: str


@dataclass(frozen=True)
class CodebookTree:
    """The codebook as trees of codes, filtered by a search."""

    codebook: VisibleCodebook
    trees: tuple[Tree, ...]
    matches: int
    inactive: tuple[Code, ...]
    """Codes that are no longer active."""
    has_file: bool
    """Whether the study folder has a codebook file to import."""


class OpenStudy(Protocol):
    """The study behind the web server."""

    @property
    def study(self) -> Study: ...
    @property
    def coding(self) -> CodingSession: ...
    @property
    def coding_if_any(self) -> CodingSession | None: ...
    @property
    def text_mask(self) -> TextMask: ...
    def locked_state(self) -> AbstractContextManager[State]: ...


class CodebookBrowser:
    """Returns what a viewer may see of a codebook; thread-safe."""

    def __init__(self, opened: OpenStudy) -> None:
        self._opened = opened
        self._log = ChangeLog()
        self._lock = threading.Lock()
        self._counted: OrderedDict[object, CodeItemCounts] = OrderedDict()

    def find_visible(self, viewer: Viewer, version: int | None = None) -> VisibleCodebook:
        with self._opened.locked_state() as state:
            visibility = Visibility(state, self._opened.study.settings.study.lead, viewer)
            book = find_visible_book(visibility, version)
            last = find_last_version(visibility)
            why = explain_no_counts(visibility)
            uses = None if why else collect_uses(state, decided=list_counted_rounds(visibility))
        return VisibleCodebook(book, last, self._counts(uses, book) if uses else None, why)

    def book(self, viewer: Viewer) -> Codebook:
        """Returns the last version the viewer may see, without counts."""
        with self._opened.locked_state() as state:
            return find_visible_book(Visibility(state, self._opened.study.settings.study.lead, viewer))

    def search(self, viewer: Viewer, version: int | None = None, query: str = "", facet: str = "") -> CodebookTree:
        codebook = self.find_visible(viewer, version)
        trees = build_trees(codebook.book, query, facet)
        gone = tuple(code for code in codebook.book.codes.values() if not code.active)
        file = self._opened.study.root / CODEBOOK_FILE
        return CodebookTree(codebook, trees, sum(tree.matches for tree in trees), gone, file.is_file())

    def code(self, viewer: Viewer, name: str, version: int | None = None) -> tuple[VisibleCodebook, CodePage]:
        codebook = self.find_visible(viewer, version)
        return codebook, build_code_page(codebook.book, name, self.changes(viewer), codebook.counts)

    def changes(self, viewer: Viewer) -> list[CodebookChange]:
        """Returns every change that the viewer may know of, newest first."""
        coding = self._opened.coding_if_any
        if coding is None:
            return []
        return self._log.changes(coding, self._history(viewer))[::-1]

    def compare(self, viewer: Viewer, before: int | None, after: int | None) -> tuple[int, int, list[CodeDifference]]:
        """Compares two versions, by default the last one the viewer may see with the one before it."""
        with self._opened.locked_state() as state:
            visibility = Visibility(state, self._opened.study.settings.study.lead, viewer)
            new = find_visible_book(visibility, after)
            old = find_visible_book(visibility, max(0, new.version - 1) if before is None else before)
        return old.version, new.version, list_code_differences(old, new)

    def file(self, viewer: Viewer, version: int | None = None) -> str:
        """Returns a version as a file that `quaestor codebook import` reads."""
        with self._opened.locked_state() as state:
            book = find_visible_book(Visibility(state, self._opened.study.settings.study.lead, viewer), version)
        return write_codebook(book)

    def preview(self, viewer: Viewer, kind: str, payload: Mapping[str, Any]) -> ChangePreview:
        return preview_change(self._opened.coding, kind, payload, viewer)

    def preview_file(self, viewer: Viewer) -> ChangePreview:
        return preview_file(self._opened.coding, viewer)

    def count_proposals(self, viewer: Viewer) -> int:
        """Returns how many codes that raters proposed wait for the lead's decision."""
        with self._opened.locked_state() as state:
            return sum(not proposed.first.outcome for proposed in list_proposed_codes(state, viewer.name))

    def titles(self, items: Sequence[str]) -> dict[str, str]:
        """Returns the titles of items; an item that is not in the evidence is its own title."""
        return read_titles(self._opened.study, items, self._opened.text_mask)

    def _history(self, viewer: Viewer) -> History:
        with self._opened.locked_state() as state:
            last = find_last_version(Visibility(state, self._opened.study.settings.study.lead, viewer))
            return History(state.history.changes[:last], state.history.versions[: last + 1])

    def _counts(self, uses: CodeUses, book: Codebook) -> CodeItemCounts:
        """Counts outside the lock; the cache key contains everything that the counts depend on."""
        newest = (
            (
                name,
                frozenset(decision.item for decision in decisions),
                max((decision.number for decision in decisions), default=0),
            )
            for name, decisions in uses.decisions.items()
        )
        key = (book.version, uses.history.latest.version, uses.excluded, *newest)
        with self._lock:
            known = self._counted.get(key)
        if known is None:
            known = count_items(uses, book)
            with self._lock:
                self._counted[key] = known
                while len(self._counted) > _KEPT:
                    self._counted.popitem(last=False)
        return known

"""The confusion matrix of two raters, and the items behind each of its cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from quaestor.coding.agreement_access import find_visible_agreement, require_agreement_access
from quaestor.coding.model.answers import summarise_answer
from quaestor.coding.model.records import Codebook, Facet
from quaestor.coding.model.state import RoundState
from quaestor.coding.session import CodingSession
from quaestor.evidence.item_text_cache import ItemTexts
from quaestor.measures.agreement import find_confused_items
from quaestor.measures.records import Confusion
from quaestor.study.contributions import NoNames, TextMask

MOST_CODES = 12
"""Codes shown in a matrix on a page; if there are more, the most confused ones."""
_HEATS = 5


@dataclass(frozen=True)
class CodeLabel:
    """A label of a facet with the name and definition of its code."""

    label: str
    name: str
    definition: str = ""


@dataclass(frozen=True)
class ConfusionCell:
    """How often the first rater gave one label and the second rater another."""

    first: CodeLabel
    second: CodeLabel
    n: int
    shade: int
    """From 0 (empty) to 5 (darkest)."""

    @property
    def same(self) -> bool:
        return self.first == self.second


@dataclass(frozen=True)
class ConfusionMatrix:
    """The labels of the second rater against those of the first, for the codes shown."""

    first: str
    second: str
    codes: tuple[CodeLabel, ...]
    rows: tuple[tuple[ConfusionCell, ...], ...]
    of: int
    """The number of codes, shown or not."""


@dataclass(frozen=True)
class RaterAnswer:
    """One rater's answer to an item."""

    rater: str
    answer: str
    unsure: bool
    memo: str


@dataclass(frozen=True)
class ConfusedItem:
    """An item with the answer of each rater."""

    item: str
    title: str
    opinions: tuple[RaterAnswer, ...]


@dataclass(frozen=True)
class ConfusedItems:
    """Some of the items behind a cell."""

    first: CodeLabel
    second: CodeLabel
    raters: tuple[str, ...]
    total: int
    items: tuple[ConfusedItem, ...]


def build_label(label: str, facet: Facet, book: Codebook) -> CodeLabel:
    """Adds the name and definition of its code to a label, or the names of several codes."""
    if not facet.codes:
        return CodeLabel(label, label)
    if label in book.codes:
        return CodeLabel(label, book.path_name(label), book.codes[label].definition)
    parts = label.split("; ")
    return CodeLabel(label, "; ".join(book.codes[part].name if part in book.codes else part for part in parts))


def build_matrix(confusion: Confusion, names: Mapping[str, CodeLabel], most: int = MOST_CODES) -> ConfusionMatrix:
    """Builds the matrix of two raters; the darkest cell off the diagonal is the most frequent confusion."""
    counts = {(first, second): n for first, second, n in confusion.cells}
    confused: Counter[str] = Counter()
    for (first, second), n in counts.items():
        if first != second:
            confused[first] += n
            confused[second] += n
    chosen = set(sorted(confusion.labels, key=lambda label: -confused[label])[:most])
    shown = [label for label in confusion.labels if label in chosen]
    worst = max((n for (first, second), n in counts.items() if first != second), default=0)
    best = max((n for (first, second), n in counts.items() if first == second), default=0)
    rows = tuple(
        tuple(
            ConfusionCell(names[first], names[second], n, _compute_shade(n, best if first == second else worst))
            for second in shown
            for n in [counts.get((first, second), 0)]
        )
        for first in shown
    )
    return ConfusionMatrix(
        confusion.first, confusion.second, tuple(names[label] for label in shown), rows, len(confusion.labels)
    )


def _compute_shade(n: int, most: int) -> int:
    return -(-n * _HEATS // most) if most else 0


def list_confused_items(
    coding: CodingSession,
    item_texts: ItemTexts,
    name: str,
    actor: str,
    facet: str,
    first: str,
    second: str,
    *,
    either: bool = False,
    version: int | None = None,
    level: str = "",
    limit: int = 50,
    offset: int = 0,
    mask: TextMask | None = None,
) -> ConfusedItems | None:
    """Returns the items behind a cell with each rater's answer; None while agreement is still being computed."""
    mask = mask or NoNames()
    visible = find_visible_agreement(coding, name, actor, facet, version=version, level=level, wait=False)
    if visible is None:
        return None
    table = visible[1].table
    matches = find_confused_items(table, first, second, either=either)
    chosen = matches[offset : offset + limit]
    with coding.locked_state() as state:
        round_state = require_agreement_access(coding, name, actor)
        book = state.history.at(round_state.plan.codebook if version is None else version)
        facet_plan = round_state.plan.facet(facet)
        answers = {item: _list_answers(round_state, item, facet_plan, book) for item in chosen}
    texts = item_texts.get(chosen)
    items = tuple(
        ConfusedItem(
            item,
            texts[item].title,
            tuple(
                replace(opinion, answer=mask.mask(opinion.answer), memo=mask.mask(opinion.memo))
                for opinion in answers[item]
            ),
        )
        for item in chosen
    )
    return ConfusedItems(
        build_label(first, facet_plan, book), build_label(second, facet_plan, book), table.raters, len(matches), items
    )


def _list_answers(round_state: RoundState, item: str, facet: Facet, book: Codebook) -> tuple[RaterAnswer, ...]:
    answers = []
    for slot in round_state.slots:
        rating = round_state.rating_in_slot(slot, item)
        if rating is not None and facet.id in rating.answers:
            answer = rating.answers[facet.id]
            name = build_label(summarise_answer(facet, answer), facet, book).name
            answers.append(RaterAnswer(rating.rater, name, facet.id in rating.unsure, rating.memo))
    return tuple(answers)


def build_matrix_rows(confusion: Confusion) -> list[list[str | int]]:
    """Returns the whole matrix with its header for a file; rows start as zeros because most cells are empty."""
    columns = {label: column for column, label in enumerate(confusion.labels, start=1)}
    rows: list[list[str | int]] = [[label, *[0] * len(columns)] for label in confusion.labels]
    for first, second, n in confusion.cells:
        rows[columns[first] - 1][columns[second]] = n
    return [[f"{confusion.first} \\ {confusion.second}", *confusion.labels], *rows]

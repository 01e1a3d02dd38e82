"""Codes that occur together: in the same turn, in the same answer, on the same words; and saturation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np

from quaestor.interviews.themes.records import (
    ANSWER,
    CODE,
    INTERVIEW,
    QUOTATION,
    TURN,
    InterviewThemes,
    UsedCode,
    find_occurrences,
    list_codes_by_event,
    list_units,
    select_by,
)
from quaestor.interviews.themes.tables import NOTHING, base_notes, join_with_and
from quaestor.measures.co_occurrence import Saturation, StoppingPoint, character_overlap, co_occurrence, saturation
from quaestor.render.number_format import ABSENT, decimal, percent, whole
from quaestor.render.table_model import Cell, Column, Group, Row, Selection, Table

TOGETHER = "together"
_MOST_PAIRS = 40


@dataclass(frozen=True)
class Pair:
    """Two codes that occur together, by turn, by answer, and on the same words."""

    first: UsedCode
    second: UsedCode
    turns: tuple[str, ...]
    answers: tuple[str, ...]
    characters: int
    same: tuple[str, ...]
    """Quotations of either code that overlap with one of the other."""
    by_turn: float
    by_answer: float | None
    on_words: float | None


def find_pairs(themes: InterviewThemes) -> list[Pair]:
    """Returns all pairs of codes in the same turn or answer, most frequent first."""
    places = {code.id: place for place, code in enumerate(themes.codes)}
    turns, in_turns = find_occurrences(themes, TURN)
    answers, in_answers = find_occurrences(themes, ANSWER)
    by_turn, by_answer = co_occurrence(in_turns), co_occurrence(in_answers)
    passages = [
        (part.item, part.start, part.end, places[quotation.code])
        for quotation in themes.quotations
        for part in quotation.parts
    ]
    words = character_overlap(passages, len(places))
    code_pairs = []
    for (at, first), (to, second) in combinations(enumerate(themes.codes), 2):
        if not by_turn.counts[at, to] and not by_answer.counts[at, to]:
            continue
        code_pairs.append(
            Pair(
                first,
                second,
                tuple(name for name, both in zip(turns, in_turns[:, at] & in_turns[:, to], strict=True) if both),
                tuple(name for name, both in zip(answers, in_answers[:, at] & in_answers[:, to], strict=True) if both),
                int(words.counts[at, to]),
                tuple(_on_the_same_words(themes, first.id, second.id)) if words.counts[at, to] else (),
                float(by_turn.jaccard[at, to]),
                _known(by_answer.jaccard[at, to]),
                _known(words.jaccard[at, to]),
            )
        )
    return sorted(
        code_pairs,
        key=lambda code_pair: (
            -len(code_pair.turns),
            -len(code_pair.answers),
            code_pair.first.path,
            code_pair.second.path,
        ),
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _on_the_same_words(themes: InterviewThemes, first: str, second: str) -> Iterator[str]:
    own, others = themes_with(themes, first), themes_with(themes, second)
    for quotation, against in [*((quotation, others) for quotation in own), *((other, own) for other in others)]:
        mine, theirs = quotation[1], [part for _, parts in against for part in parts]
        if any(a[0] == b[0] and a[1] < b[2] and b[1] < a[2] for a in mine for b in theirs):
            yield quotation[0]


def themes_with(themes: InterviewThemes, code: str) -> list[tuple[str, list[tuple[str, int, int]]]]:
    """Returns (quotation, its positions) for each quotation of a code."""
    return [
        (quotation.id, [(part.item, part.start, part.end) for part in quotation.parts])
        for quotation in themes.quotations
        if quotation.code == code
    ]


def build_co_occurrence_table(themes: InterviewThemes) -> Table:
    """Builds the table of codes that occur together, counted in turns, in answers and in shared characters."""
    code_pairs = find_pairs(themes)
    rows = [_pair_row(themes, code_pair) for code_pair in code_pairs[:_MOST_PAIRS]]
    columns = (
        Column("turns", "turns", ("", "Jaccard"), numbers=("", "Jaccard")),
        Column("answers", "answers", ("", "Jaccard"), numbers=("", "Jaccard")),
        Column("characters", "shared characters", ("", "Jaccard"), numbers=("", "Jaccard")),
        Column("participants", "participants"),
    )
    notes = [
        "Jaccard is the share of turns, answers or characters with both codes among those with at least one.",
        *base_notes(themes),
    ]
    if len(code_pairs) > _MOST_PAIRS:
        notes.insert(0, f"The {_MOST_PAIRS} most frequent of {len(code_pairs):,} pairs.")
    return Table(TOGETHER, "Codes that occur together", "codes", columns, (Group("", tuple(rows)),), notes=tuple(notes))


def _pair_row(themes: InterviewThemes, pair: Pair) -> Row:
    both = select_by(CODE, pair.first.id, pair.second.id)
    people = {two.participant for two in themes.quotations if {part.item for part in two.parts} & set(pair.turns)}
    there = both.narrow(QUOTATION, *_of_pair(themes, pair, TURN)) if pair.turns else None
    answered = both.narrow(QUOTATION, *_of_pair(themes, pair, ANSWER)) if pair.answers else None
    cells = (
        _counted_with(len(pair.turns), pair.by_turn, there),
        _counted_with(len(pair.answers), pair.by_answer, answered),
        _counted_with(pair.characters, pair.on_words, select_by(QUOTATION, *pair.same) if pair.same else None),
        Cell((whole(len(people)),), (len(people),), there),
    )
    return Row(f"{pair.first.id}+{pair.second.id}", f"{pair.first.name} + {pair.second.name}", cells)


def _of_pair(themes: InterviewThemes, pair: Pair, unit: str) -> list[str]:
    """Returns the quotations of both codes in the turns, or answers, that have both."""
    codes_wanted, shared = {pair.first.id, pair.second.id}, set(pair.turns if unit == TURN else pair.answers)
    return [
        quotation.id
        for quotation in themes.quotations
        if quotation.code in codes_wanted and shared & set(list_units(quotation, unit))
    ]


def _counted_with(number: int, jaccard: float | None, selection: Selection | None) -> Cell:
    return Cell((whole(number), decimal(jaccard)) if number else (NOTHING,), (number, jaccard), selection)


SATURATION = "saturation"


def compute_saturation(themes: InterviewThemes) -> Saturation:
    return saturation(list_codes_by_event(themes), themes.seed)


def build_saturation_table(themes: InterviewThemes) -> Table:
    """Builds the table of new codes per interview, and the number of codes expected in other orders."""
    saturation = compute_saturation(themes)
    seen: set[str] = set()
    people = dict(themes.interviews)
    rows = []
    for place, event in enumerate(themes.events):
        here = {quotation.code for quotation in themes.quotations if quotation.interview in event}
        new = [code.id for code in themes.codes if code.id in here - seen]
        seen |= here
        quoted = [
            quotation.id for quotation in themes.quotations if quotation.interview in event and quotation.code in new
        ]
        names = ", ".join(code.name for code in themes.codes if code.id in new)
        so_far = select_by(INTERVIEW, *chain(*themes.events[: place + 1])) if seen else None
        cells = (
            Cell(
                (whole(saturation.new[place]),),
                (saturation.new[place],),
                select_by(QUOTATION, *quoted) if quoted else None,
            ),
            Cell((whole(saturation.total[place]),), (saturation.total[place],), so_far),
            Cell((decimal(saturation.expected[place], 1),), (saturation.expected[place],)),
            Cell(
                (f"{decimal(saturation.low[place], 1)} to {decimal(saturation.high[place], 1)}",),
                (saturation.low[place], saturation.high[place]),
            ),
            Cell((names or ABSENT,)),
        )
        titles = [name if name == people[name] else f"{name} ({people[name]})" for name in event]
        rows.append(Row(event[0], " + ".join(titles), cells))
    columns = (
        Column("new", "new codes"),
        Column("total", "codes so far"),
        Column("expected", "on average"),
        Column("orders", "95% of orders", numbers=("low", "high")),
        Column("names", "which", numeric=False),
    )
    notes = (
        f"{describe_order(themes)} On average: the number of codes in that many interviews, over all orders of the "
        "interviews.",
        *describe_groups(themes),
        *(describe_stop(stop) for stop in saturation.stops),
        *base_notes(themes),
    )
    title = "New codes interview by interview"
    return Table(SATURATION, title, "interview", columns, (Group("", tuple(rows)),), notes=notes)


def describe_order(themes: InterviewThemes) -> str:
    """Describes the order of the interviews in a sentence."""
    if themes.undated:
        return f"In the order of their pseudonyms: no date is known for {join_with_and(themes.undated)}."
    same_day = ", those of the same day in the order of their pseudonyms" if themes.same_day else ""
    return f"In the order in which they were held{same_day}."


def describe_groups(themes: InterviewThemes) -> list[str]:
    """Describes each group that was interviewed together in a sentence."""
    return [
        f"{join_with_and(event)} were interviewed together and count as one interview."
        for event in themes.events
        if len(event) > 1
    ]


def describe_stop(stop: StoppingPoint) -> str:
    """Describes the result of a stopping rule in a sentence."""
    rule = stop.rule
    rule_text = f"{rule.name} ({rule.base} + {rule.run})"
    if stop.undefined:
        return f"{rule_text}: cannot be determined yet, {stop.undefined}."
    refuted = f"; after {stop.lapsed} interviews it seemed reached, but a later one adds a code" if stop.lapsed else ""
    if stop.reached is None:
        return f"{rule_text}: not reached, the last {rule.run} interviews add {percent(stop.shares[-1])}{refuted}."
    return f"{rule_text}: reached after {stop.reached} interviews, as the {rule.run} after them show{refuted}."

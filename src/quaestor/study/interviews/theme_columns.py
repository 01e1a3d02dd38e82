"""Quotations as columns: a cell of a table selects among them, and what it selects is what it counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quaestor.measures.decided import Codes, Decided, Flags, attribute_of
from quaestor.publish.records import Selection
from quaestor.study.interviews.theme_records import Quotation, Themes

THEME, CODE, PARTICIPANT, INTERVIEW = "theme", "code", "participant", "interview"
QUESTION, TURN, ANSWER, QUOTATION = "question", "turn", "answer", "quotation"
_LISTED = 6


def columns_of(themes: Themes) -> Decided:
    """Every quotation with all that tells it apart."""
    several = themes.quotations
    order = {
        THEME: list(dict.fromkeys((one.theme, one.theme_name) for one in themes.codes)),
        CODE: [(one.id, one.path) for one in themes.codes],
        PARTICIPANT: [(one, one) for one in themes.participants],
        INTERVIEW: [(name, name) for name, _ in themes.interviews],
        QUESTION: list({one.question: (one.question, one.asked) for one in several if one.question}.values()),
        TURN: _as_they_are([one.item for one in several]),
        QUOTATION: _as_they_are([one.id for one in several]),
    }
    values: dict[str, list[str | None]] = {
        THEME: [one.theme for one in several],
        CODE: [one.code for one in several],
        PARTICIPANT: [one.participant for one in several],
        INTERVIEW: [one.interview for one in several],
        QUESTION: [one.question or None for one in several],
        TURN: [one.item for one in several],
        QUOTATION: [one.id for one in several],
    }
    made = {name: attribute_of(name, values[name], order[name]) for name in order}
    return Decided(tuple(one.id for one in several), made, {})


def _as_they_are(keys: Sequence[str]) -> list[tuple[str, str]]:
    return [(key, key) for key in dict.fromkeys(keys)]


def selected(themes: Themes, selection: Selection) -> list[Quotation]:
    """The quotations behind a cell."""
    chosen = columns_of(themes).mask(selection.conditions)
    return [one for one, wanted in zip(themes.quotations, chosen.tolist(), strict=True) if wanted]


def in_words(themes: Themes, selection: Selection) -> str:
    """What the quotations behind a cell have in common; which ones they are, their list shows."""
    columns = columns_of(themes)
    told = []
    for name, keys in selection.conditions:
        if name == QUOTATION:
            continue
        titles = [columns.attribute(name).title(key) for key in keys]
        told.append(f"{name} {' or '.join(titles)}" if len(titles) <= _LISTED else f"one of {len(titles)} {name}s")
    return ", ".join(told) or ("all quotations" if not selection.conditions else "these quotations")


def of(attribute: str, *keys: str) -> Selection:
    return Selection(((attribute, keys),))


def mentions(themes: Themes) -> Codes:
    """How often each participant's words were given each code: a row for each code, a column for each participant."""
    rows = {one.id: place for place, one in enumerate(themes.codes)}
    columns = {one: place for place, one in enumerate(themes.participants)}
    found = np.zeros((len(rows), len(columns)), np.int64)
    for one in themes.quotations:
        found[rows[one.code], columns[one.participant]] += 1
    return found


def occurrences(themes: Themes, unit: str) -> tuple[list[str], Flags]:
    """Units (turns, answers) and which codes occur in each."""
    places = {one.id: place for place, one in enumerate(themes.codes)}
    pairs = [(name, places[one.code]) for one in themes.quotations for name in units_of(one, unit)]
    units = list(dict.fromkeys(name for name, _ in pairs))
    at = {name: place for place, name in enumerate(units)}
    found = np.zeros((len(units), len(places)), bool)
    for name, code in pairs:
        found[at[name], code] = True
    return units, found


def units_of(one: Quotation, unit: str) -> list[str]:
    """The turns or the answers that a quotation is part of."""
    if unit == TURN:
        return [part.item for part in one.parts]
    return list(one.answers)


def codes_by_interview(themes: Themes) -> Flags:
    """Which codes occur in each interview, in the order in which interviews were held."""
    rows = {name: place for place, (name, _) in enumerate(themes.interviews)}
    places = {one.id: place for place, one in enumerate(themes.codes)}
    found = np.zeros((len(rows), len(places)), bool)
    for one in themes.quotations:
        found[rows[one.interview], places[one.code]] = True
    return found

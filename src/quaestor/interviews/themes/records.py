"""What interviews come to: quotations with their codes and surroundings, and all that tables are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType

import numpy as np

from quaestor.measures.item_columns import Codes, DecidedItems, Flags, build_attribute
from quaestor.render.table_model import Selection

_NOTHING: Mapping[str, str] = MappingProxyType({})
BETWEEN = " […] "
"""Stands between parts of one quotation that others spoke between."""


@dataclass(frozen=True)
class Said:
    """A turn beside a quotation."""

    voice: str
    words: str


@dataclass(frozen=True)
class Part:
    """A stretch of one turn."""

    item: str
    turn: int
    start: int
    end: int
    words: str
    answer: str = ""
    """The answer that it is part of, by its id; empty before the first question."""


@dataclass(frozen=True)
class Quotation:
    """Words that count as a code, once, with what stands around them; several turns where they were coded as one."""

    id: str
    code: str
    theme: str
    """The code at the root of that one, or itself."""
    interview: str
    participant: str
    question: str
    """The question of the guide that is answered, by its id; empty before the first one."""
    asked: str
    """Its words."""
    parts: tuple[Part, ...]
    fields: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    """What the code asks for more, such as a threshold."""
    memo: str = ""
    raters: int = 0
    """How many gave it this code before it was decided."""
    earlier: Said | None = None
    before: str = ""
    """The rest of its turn."""
    after: str = ""
    later: Said | None = None

    @property
    def item(self) -> str:
        """The turn in which it begins."""
        return self.parts[0].item

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers that it is part of: a passage may go on after the next question."""
        return tuple(dict.fromkeys(part.answer for part in self.parts if part.answer))

    @property
    def words(self) -> str:
        return BETWEEN.join(part.words for part in self.parts)


@dataclass(frozen=True)
class CodeUsed:
    """A code that somebody's words were given."""

    id: str
    name: str
    theme: str
    theme_name: str
    fields: tuple[str, ...] = ()
    """What its stretches say more."""

    @property
    def path(self) -> str:
        return self.name if self.id == self.theme else f"{self.theme_name} › {self.name}"


@dataclass(frozen=True)
class ReferenceTally:
    """An item that participants may refer to: who did so in the conversation, and whose words were coded as it."""

    key: str
    label: str
    ticked: tuple[str, ...]
    named: tuple[str, ...]
    codes: tuple[str, ...] = ()
    """The codes that count as naming it."""


@dataclass(frozen=True)
class Reference:
    """A question with items to refer to, and how often each was."""

    question: str
    text: str
    asked: tuple[str, ...]
    """Participants in whose conversations it was asked, as the interviewer's desk has it."""
    items: tuple[ReferenceTally, ...]
    others: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """What was added, and who added it."""

    @property
    def reached(self) -> tuple[str, ...]:
        """Whom a tick can come from: who was asked, and who ticked or added something before it was marked skipped."""
        ticking = [*(item.ticked for item in self.items), *(who for _, who in self.others)]
        return tuple(dict.fromkeys(chain(self.asked, *ticking)))


@dataclass(frozen=True)
class Themes:
    """All that the coded interviews of a study come to."""

    rounds: tuple[str, ...]
    quotations: tuple[Quotation, ...]
    codes: tuple[CodeUsed, ...]
    """Those in use, in the order of the codebook."""
    interviews: tuple[tuple[str, str], ...]
    """(interview, participant) of all that were coded, in the order in which they were held."""
    references: tuple[Reference, ...] = ()
    unused: tuple[str, ...] = ()
    """Names of the codes that nobody's words were given, by any rater."""
    undecided: tuple[str, ...] = ()
    """Names of those that are on words about which nothing is decided yet, and on no others."""
    turns: int = 0
    unsettled: int = 0
    """Turns on which raters differ and nobody has decided."""
    uncoded: int = 0
    """Stretches whose code was split or withdrawn since."""
    in_vivo: int = 0
    """Stretches whose words are their own code and were adopted as none."""
    withdrawn: int = 0
    simulated: bool = False
    synthetic: bool = False
    blindness: tuple[str, ...] = ()
    """A sentence for each round whose raters were not blind."""
    hidden: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    """By round: why whoever looks does not see what it decided."""
    seed: int = 0

    @property
    def participants(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(participant for _, participant in self.interviews))

    def code(self, name: str) -> CodeUsed | None:
        return next((code for code in self.codes if code.id == name), None)

    def of(self, code: str) -> list[Quotation]:
        """The quotations of a code, or of all codes of a theme."""
        return [quotation for quotation in self.quotations if code in (quotation.code, quotation.theme)]


THEME, CODE, PARTICIPANT, INTERVIEW = "theme", "code", "participant", "interview"
QUESTION, TURN, ANSWER, QUOTATION = "question", "turn", "answer", "quotation"
_LISTED = 6


def columns_of(themes: Themes) -> DecidedItems:
    """Every quotation with all that tells it apart."""
    several = themes.quotations
    order = {
        THEME: list(dict.fromkeys((code.theme, code.theme_name) for code in themes.codes)),
        CODE: [(code.id, code.path) for code in themes.codes],
        PARTICIPANT: [(participant, participant) for participant in themes.participants],
        INTERVIEW: [(name, name) for name, _ in themes.interviews],
        QUESTION: list(
            {
                quotation.question: (quotation.question, quotation.asked) for quotation in several if quotation.question
            }.values()
        ),
        TURN: _as_they_are([quotation.item for quotation in several]),
        QUOTATION: _as_they_are([quotation.id for quotation in several]),
    }
    values: dict[str, list[str | None]] = {
        THEME: [quotation.theme for quotation in several],
        CODE: [quotation.code for quotation in several],
        PARTICIPANT: [quotation.participant for quotation in several],
        INTERVIEW: [quotation.interview for quotation in several],
        QUESTION: [quotation.question or None for quotation in several],
        TURN: [quotation.item for quotation in several],
        QUOTATION: [quotation.id for quotation in several],
    }
    attributes = {name: build_attribute(name, values[name], order[name]) for name in order}
    return DecidedItems(tuple(quotation.id for quotation in several), attributes, {})


def _as_they_are(keys: Sequence[str]) -> list[tuple[str, str]]:
    return [(key, key) for key in dict.fromkeys(keys)]


def selected(themes: Themes, selection: Selection) -> list[Quotation]:
    """The quotations behind a cell."""
    chosen = columns_of(themes).build_mask(selection.conditions)
    return [quotation for quotation, is_chosen in zip(themes.quotations, chosen.tolist(), strict=True) if is_chosen]


def in_words(themes: Themes, selection: Selection) -> str:
    """What the quotations behind a cell have in common; which ones they are, their list shows."""
    columns = columns_of(themes)
    parts = []
    for name, keys in selection.conditions:
        if name == QUOTATION:
            continue
        titles = [columns.get_attribute(name).get_title(key) for key in keys]
        parts.append(f"{name} {' or '.join(titles)}" if len(titles) <= _LISTED else f"one of {len(titles)} {name}s")
    return ", ".join(parts) or ("all quotations" if not selection.conditions else "these quotations")


def of(attribute: str, *keys: str) -> Selection:
    return Selection(((attribute, keys),))


def mentions(themes: Themes) -> Codes:
    """How often each participant's words were given each code: a row for each code, a column for each participant."""
    rows = {code.id: place for place, code in enumerate(themes.codes)}
    columns = {participant: place for place, participant in enumerate(themes.participants)}
    counts = np.zeros((len(rows), len(columns)), np.int64)
    for quotation in themes.quotations:
        counts[rows[quotation.code], columns[quotation.participant]] += 1
    return counts


def occurrences(themes: Themes, unit: str) -> tuple[list[str], Flags]:
    """Units (turns, answers) and which codes occur in each."""
    places = {code.id: place for place, code in enumerate(themes.codes)}
    pairs = [(name, places[quotation.code]) for quotation in themes.quotations for name in units_of(quotation, unit)]
    units = list(dict.fromkeys(name for name, _ in pairs))
    at = {name: place for place, name in enumerate(units)}
    occurrences = np.zeros((len(units), len(places)), bool)
    for name, code in pairs:
        occurrences[at[name], code] = True
    return units, occurrences


def units_of(quotation: Quotation, unit: str) -> list[str]:
    """The turns or the answers that a quotation is part of."""
    if unit == TURN:
        return [part.item for part in quotation.parts]
    return list(quotation.answers)


def codes_by_interview(themes: Themes) -> Flags:
    """Which codes occur in each interview, in the order in which interviews were held."""
    rows = {name: place for place, (name, _) in enumerate(themes.interviews)}
    places = {code.id: place for place, code in enumerate(themes.codes)}
    mentions = np.zeros((len(rows), len(places)), bool)
    for quotation in themes.quotations:
        mentions[rows[quotation.interview], places[quotation.code]] = True
    return mentions

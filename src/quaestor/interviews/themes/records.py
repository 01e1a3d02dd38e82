"""Interview results: quotations with their codes and context, and the counts behind the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType

import numpy as np

from quaestor.interviews.coding.decided_passages import DISPUTED, UncountedTurns
from quaestor.measures.item_columns import Codes, DecidedItems, Flags, build_attribute
from quaestor.render.table_model import Selection

_NOTHING: Mapping[str, str] = MappingProxyType({})
BETWEEN = " […] "
"""Separates the parts of a quotation if others spoke in between."""


@dataclass(frozen=True)
class ContextTurn:
    """A turn before or after a quotation."""

    voice: str
    words: str


@dataclass(frozen=True)
class QuotationPart:
    """A passage of one turn."""

    item: str
    turn: int
    start: int
    end: int
    words: str
    answer: str = ""
    """The id of the answer that it belongs to; empty outside of the questions of the guide."""


@dataclass(frozen=True)
class Quotation:
    """A coded text with its context; it spans several turns if they were linked when coding."""

    id: str
    code: str
    theme: str
    """The root of the code's tree, or the code itself."""
    interview: str
    participant: str
    question: str
    """The id of the guide question that is answered; empty outside of its questions."""
    question_text: str
    """The text of that question."""
    parts: tuple[QuotationPart, ...]
    fields: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    """The further fields of the code, such as a threshold."""
    memo: str = ""
    raters: int = 0
    """How many raters gave it this code before the decision."""
    earlier: ContextTurn | None = None
    before: str = ""
    """The rest of its turn."""
    after: str = ""
    later: ContextTurn | None = None

    @property
    def item(self) -> str:
        """The turn in which it begins."""
        return self.parts[0].item

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers that it belongs to: a quotation may continue after the next question."""
        return tuple(dict.fromkeys(part.answer for part in self.parts if part.answer))

    @property
    def words(self) -> str:
        return BETWEEN.join(part.words for part in self.parts)


@dataclass(frozen=True)
class UsedCode:
    """A code that was given to at least one quotation."""

    id: str
    name: str
    theme: str
    theme_name: str
    fields: tuple[str, ...] = ()
    """The fields that its passages may fill in."""

    @property
    def path(self) -> str:
        return self.name if self.id == self.theme else f"{self.theme_name} › {self.name}"


@dataclass(frozen=True)
class ReferenceTally:
    """A reference item: the participants who ticked it in the conversation, and those whose words were coded as it."""

    key: str
    label: str
    ticked: tuple[str, ...]
    named: tuple[str, ...]
    codes: tuple[str, ...] = ()
    """The codes that count as mentioning it."""


@dataclass(frozen=True)
class Reference:
    """A question with reference items, and the participants who referred to each."""

    question: str
    text: str
    asked_participants: tuple[str, ...]
    """Participants who were asked it, according to the interviewer's records."""
    items: tuple[ReferenceTally, ...]
    others: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Items that participants added, each with those participants."""

    @property
    def reached(self) -> tuple[str, ...]:
        """Participants who can have ticked: those who were asked, and those who ticked or added something."""
        ticking = [*(item.ticked for item in self.items), *(who for _, who in self.others)]
        return tuple(dict.fromkeys(chain(self.asked_participants, *ticking)))


@dataclass(frozen=True)
class ParticipantAttribute:
    """What is known about participants in one respect, such as their role."""

    name: str
    values: tuple[str, ...]
    """The values in use, in their order."""
    by_participant: Mapping[str, str]
    """Participants without a value are not in it."""


@dataclass(frozen=True)
class InterviewThemes:
    """The results of all coded interviews of a study."""

    rounds: tuple[str, ...]
    quotations: tuple[Quotation, ...]
    codes: tuple[UsedCode, ...]
    """Codes in use, in the order of the codebook."""
    interviews: tuple[tuple[str, str], ...]
    """(interview, participant) of all coded interviews, in the order of `events`."""
    events: tuple[tuple[str, ...], ...] = ()
    """The coded interviews, those that were held together as one; in the order in which they were held, if known."""
    undated: tuple[str, ...] = ()
    """Coded interviews without a date: if there are any, all are in the order of their pseudonyms."""
    same_day: bool = False
    """Whether interviews of one day are in the order of their pseudonyms, because their times are not known."""
    references: tuple[Reference, ...] = ()
    unused: tuple[str, ...] = ()
    """Names of the codes that no rater gave to anything."""
    undecided: tuple[str, ...] = ()
    """Names of the codes that only occur in undecided turns."""
    turns: int = 0
    uncounted: tuple[UncountedTurns, ...] = ()
    """Participants' turns without a decision, and coded turns that are no longer a participant's."""
    missing: tuple[str, ...] = ()
    """Participants with a transcript of whom no turn is decided."""
    declined: int = 0
    """Participants whose turns were rated, and who have declined since."""
    uncoded: int = 0
    """Passages whose code was split or withdrawn."""
    in_vivo: int = 0
    """In vivo passages that were not adopted as a code."""
    withdrawn: int = 0
    simulated: bool = False
    synthetic: bool = False
    blindness: tuple[str, ...] = ()
    """A sentence for each round whose raters were not blind."""
    hidden: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    """Why the viewer may not see a round's decisions, by round."""
    seed: int = 0
    attributes: tuple[ParticipantAttribute, ...] = ()
    compared: tuple[str, ...] = ()
    """The attributes by which study.toml compares themes."""
    smallest_group: int = 0
    """Groups of fewer participants are shown as one; 0 for the lead, who sees all groups."""

    @property
    def unsettled(self) -> int:
        """Turns on which raters disagree and nobody has decided."""
        return self.count_uncounted(DISPUTED)

    def count_uncounted(self, *reasons: str) -> int:
        """Returns how many turns are not counted for these reasons."""
        return sum(turns.total for turns in self.uncounted if turns.reason in reasons)

    @property
    def participants(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(participant for _, participant in self.interviews))

    def code(self, name: str) -> UsedCode | None:
        return next((code for code in self.codes if code.id == name), None)

    def of(self, code: str) -> list[Quotation]:
        """Returns the quotations of a code, or of all codes of a theme."""
        return [quotation for quotation in self.quotations if code in (quotation.code, quotation.theme)]


THEME, CODE, PARTICIPANT, INTERVIEW = "theme", "code", "participant", "interview"
QUESTION, TURN, ANSWER, QUOTATION = "question", "turn", "answer", "quotation"
_LISTED = 6


def build_columns(themes: InterviewThemes) -> DecidedItems:
    """Returns the attributes of every quotation by which it can be selected."""
    several = themes.quotations
    order = {
        THEME: list(dict.fromkeys((code.theme, code.theme_name) for code in themes.codes)),
        CODE: [(code.id, code.path) for code in themes.codes],
        PARTICIPANT: [(participant, participant) for participant in themes.participants],
        INTERVIEW: [(name, name) for name, _ in themes.interviews],
        QUESTION: list(
            {
                quotation.question: (quotation.question, quotation.question_text)
                for quotation in several
                if quotation.question
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


def select_quotations(themes: InterviewThemes, selection: Selection) -> list[Quotation]:
    """Returns the quotations behind a cell."""
    chosen = build_columns(themes).build_mask(selection.conditions)
    return [quotation for quotation, is_chosen in zip(themes.quotations, chosen.tolist(), strict=True) if is_chosen]


def describe_selection(themes: InterviewThemes, selection: Selection) -> str:
    """Describes what the quotations behind a cell have in common."""
    columns = build_columns(themes)
    parts = []
    for name, keys in selection.conditions:
        if name == QUOTATION:
            continue
        titles = [columns.get_attribute(name).get_title(key) for key in keys]
        parts.append(f"{name} {' or '.join(titles)}" if len(titles) <= _LISTED else f"one of {len(titles)} {name}s")
    return ", ".join(parts) or ("all quotations" if not selection.conditions else "these quotations")


def select_by(attribute: str, *keys: str) -> Selection:
    return Selection(((attribute, keys),))


def count_mentions(themes: InterviewThemes) -> Codes:
    """Counts how often each code was given to each participant's words: codes in rows, participants in columns."""
    rows = {code.id: place for place, code in enumerate(themes.codes)}
    columns = {participant: place for place, participant in enumerate(themes.participants)}
    counts = np.zeros((len(rows), len(columns)), np.int64)
    for quotation in themes.quotations:
        counts[rows[quotation.code], columns[quotation.participant]] += 1
    return counts


def find_occurrences(themes: InterviewThemes, unit: str) -> tuple[list[str], Flags]:
    """Returns the units (turns or answers) and which codes occur in each."""
    places = {code.id: place for place, code in enumerate(themes.codes)}
    pairs = [(name, places[quotation.code]) for quotation in themes.quotations for name in list_units(quotation, unit)]
    units = list(dict.fromkeys(name for name, _ in pairs))
    at = {name: place for place, name in enumerate(units)}
    occurrences = np.zeros((len(units), len(places)), bool)
    for name, code in pairs:
        occurrences[at[name], code] = True
    return units, occurrences


def list_units(quotation: Quotation, unit: str) -> list[str]:
    """Returns the turns or answers that a quotation belongs to."""
    if unit == TURN:
        return [part.item for part in quotation.parts]
    return list(quotation.answers)


def list_codes_by_event(themes: InterviewThemes) -> Flags:
    """Returns which codes occur in each interview, or in each group that was interviewed together."""
    rows = {name: place for place, event in enumerate(themes.events) for name in event}
    places = {code.id: place for place, code in enumerate(themes.codes)}
    mentions = np.zeros((len(themes.events), len(places)), bool)
    for quotation in themes.quotations:
        mentions[rows[quotation.interview], places[quotation.code]] = True
    return mentions

"""What was decided about transcripts: every passage with its current code, its text, and the raters who coded it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from quaestor.base.errors import StateError
from quaestor.coding.model.decisions import list_answers, list_disagreements
from quaestor.coding.model.facet_kinds.passages import (
    find_passage_facet,
    list_in_vivo,
    merge_passages,
    require_passage_facet,
    split_links,
)
from quaestor.coding.model.records import CANNOT_JUDGE, WITHDRAWN, Decision, Passage, read_passages
from quaestor.coding.model.state import CLOSED, RoundState, State
from quaestor.coding.model.views import require_lead_view
from quaestor.coding.rating_files import record_view
from quaestor.interviews.left_out_turns import is_participants_turn, record_left_out_turns
from quaestor.interviews.model.records import SpokenTurn, Transcript, Voice, is_coded, parse_item_id
from quaestor.interviews.participants.consent import list_declined
from quaestor.interviews.repository import Interviews

ADOPT_ACT = "interview.adopt"
Place = tuple[str, str, int, int]
"""A round, an item, and the start and end of a passage in it."""


@dataclass(frozen=True)
class CodedPassage:
    """A decided passage: what a participant said, and its final code."""

    round: str
    item: str
    interview: str
    participant: str
    turn: int
    question: str
    """The question of the guide that it answers; empty outside of its questions."""
    start: int
    end: int
    """Positions in the recorded text."""
    words: str
    """The shown text, with names masked."""
    code: str
    """A code of the latest codebook; empty for an in vivo passage that nobody has adopted."""
    memo: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    link: str = ""
    raters: tuple[str, ...] = ()
    """The raters who gave this code to any words of this passage."""
    how: str = ""
    simulated: bool = False


DISPUTED, UNDECIDED, UNRATED = "disagreement", "undecided", "not rated"
OUTSIDE, OTHER_SPEAKER = "in no closed round", "other speaker"


@dataclass(frozen=True)
class UncountedTurns:
    """Turns that no table counts for one reason, as (participant, number of turns)."""

    reason: str  # DISPUTED, UNDECIDED, UNRATED, OUTSIDE, OTHER_SPEAKER
    turns: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        return sum(number for _, number in self.turns)


@dataclass(frozen=True)
class DecidedPassages:
    """Everything that was decided about the transcripts of a study."""

    rounds: tuple[str, ...]
    passages: tuple[CodedPassage, ...]
    interviews: tuple[str, ...]
    """Interviews with decided turns, in order, whether or not anything was coded."""
    turns: int
    """The number of decided turns."""
    uncoded: int = 0
    """Passages whose code was split or withdrawn, and nobody has decided on a new one."""
    undecided: frozenset[str] = frozenset()
    """Codes that a rater gave in turns without a decision."""
    in_vivo: tuple[CodedPassage, ...] = ()
    """In vivo passages as they were marked, each with the code that it was adopted as."""
    uncounted: tuple[UncountedTurns, ...] = ()
    """Participants' turns without a decision, and coded turns that are no longer a participant's."""
    missing: tuple[str, ...] = ()
    """Participants with a transcript of whom no turn is decided."""
    declined: int = 0
    """Participants whose turns were rated, and who have declined since."""

    @property
    def unsettled(self) -> int:
        """Turns on which raters disagree and nobody has decided."""
        return sum(turns.total for turns in self.uncounted if turns.reason == DISPUTED)

    @property
    def simulated(self) -> bool:
        return any(passage.simulated for passage in self.passages)


def list_coded_rounds(state: State) -> list[str]:
    """Lists the closed rounds that coded transcripts."""
    return [
        name
        for name, round_state in state.rounds.items()
        if round_state.status == CLOSED and find_passage_facet(round_state.plan) is not None
    ]


def read_coded_passages(
    interviews: Interviews, rounds: Sequence[str] = (), actor: str | None = None
) -> DecidedPassages:
    """Returns what these rounds decided, or all on transcripts; for a turn in several rounds, the last one counts.

    The actor must be allowed to see the rounds; a rater's view is recorded.
    """
    coding = interviews.coding
    record_left_out_turns(interviews, list_declined(interviews))
    names = list(rounds) or list_coded_rounds(coding.state)
    for name in names:
        round_state = require_lead_view(coding.state, name, actor or coding.lead, coding.lead)
        if round_state.status != CLOSED:
            raise StateError(f"the round {name!r} is open: its decisions are visible once it is closed")
        record_view(coding, name, actor or coding.lead)
    return read_decided_passages(interviews, names)


def read_decided_passages(interviews: Interviews, rounds: Sequence[str]) -> DecidedPassages:
    """Returns what these closed rounds decided, without a permission check."""
    declined = list_declined(interviews)
    transcripts = {transcript.interview: transcript for transcript in interviews.transcripts()}
    with interviews.coding.locked_state() as state:
        return _collect_passages(state, rounds, transcripts, declined)


def _collect_passages(
    state: State, names: Sequence[str], transcripts: Mapping[str, Transcript], declined: Collection[str]
) -> DecidedPassages:
    last = find_last_decisions(state, names)
    adopted = read_adoptions(state)
    coded_passages: list[CodedPassage] = []
    own_words: list[CodedPassage] = []
    counted: set[str] = set()
    uncoded = 0
    order = {name: place for place, name in enumerate(transcripts)}
    for item in sorted(
        last.decided, key=lambda item_id: (order.get(parse_item_id(item_id)[0], len(order)), parse_item_id(item_id))
    ):
        name, decision = last.decided[item]
        interview, number = parse_item_id(item)
        transcript = transcripts.get(interview)
        if (
            transcript is None
            or not is_participants_turn(transcript, number, declined)
            or decision.answer == CANNOT_JUDGE
        ):
            continue
        counted.add(item)
        reader = _Reader(state, state.round(name), item, adopted)
        passages, lost = reader.read_latest(decision.answer)
        coded_passages += (
            reader.build_passage(decision, transcript, passage, reader.list_raters(passage)) for passage in passages
        )
        own_words += (
            reader.build_passage(decision, transcript, each, reader.list_markers(each))
            for each in reader.in_vivo(decision.answer)
        )
        uncoded += lost
    talks = [transcript for transcript in transcripts.values() if transcript.participant not in declined]
    there = {parse_item_id(item)[0] for item in counted}
    people = {transcript.participant for transcript in talks if transcript.interview in there}
    rated_interviews = {parse_item_id(item)[0] for item in last.rated}
    return DecidedPassages(
        tuple(names),
        tuple(coded_passages),
        tuple(name for name in order if name in there),
        len(counted),
        uncoded,
        frozenset(_find_undecided_codes(state, names, last.decided, {talk.interview: talk for talk in talks})),
        tuple(own_words),
        tuple(_count_uncounted(talks, counted, last)),
        tuple(dict.fromkeys(talk.participant for talk in talks if talk.participant not in people)),
        len(
            {
                transcript.participant
                for transcript in transcripts.values()
                if transcript.participant in declined and transcript.interview in rated_interviews
            }
        ),
    )


def _count_uncounted(
    talks: Sequence[Transcript], counted: Collection[str], last: LastDecisions
) -> Iterator[UncountedTurns]:
    """Yields the turns that are not counted, by reason."""
    by_reason: dict[str, dict[str, int]] = {
        reason: {} for reason in (OTHER_SPEAKER, DISPUTED, UNDECIDED, UNRATED, OUTSIDE)
    }
    for transcript in talks:
        for turn in transcript.turns:
            item = transcript.item(turn.number)
            if item not in counted and (is_coded(turn) or item in last.rated):
                reason = _find_reason(item, turn, last)
                numbers = by_reason[reason]
                numbers[transcript.participant] = numbers.get(transcript.participant, 0) + 1
    for reason, numbers in by_reason.items():
        if numbers:
            yield UncountedTurns(reason, tuple(numbers.items()))


def _find_reason(item: str, turn: SpokenTurn, last: LastDecisions) -> str:
    if turn.voice is not Voice.PARTICIPANT:
        return OTHER_SPEAKER
    if item in last.disputed:
        return DISPUTED
    if item in last.rated:
        return UNDECIDED
    return UNRATED if item in last.planned else OUTSIDE


@dataclass(frozen=True)
class LastDecisions:
    """What the closed rounds say about each turn; for a turn in several rounds, the one that was closed last counts."""

    decided: dict[str, tuple[str, Decision]]
    """By item, the round and its decision."""
    disputed: set[str]
    """Turns on which raters disagree and nobody has decided."""
    rated: set[str]
    """Turns that somebody rated, whether or not they still count."""
    planned: set[str]


def find_last_decisions(state: State, names: Sequence[str]) -> LastDecisions:
    """Returns the last closed round's decision on each turn; a later round without a decision leaves it undecided."""
    last = LastDecisions({}, set(), set(), set())
    for name in sorted(names, key=lambda round_name: state.round(round_name).closed):
        round_state = state.round(name)
        decisions = round_state.last_decisions(require_passage_facet(round_state.plan).id)
        waiting = {case.item for case in list_disagreements(state, name) if case.decision is None}
        rated = {item for items in round_state.ratings.values() for item in items}
        for item in (rated | waiting) - decisions.keys():
            last.decided.pop(item, None)
        last.decided.update({item: (name, decision) for item, decision in decisions.items() if item not in waiting})
        last.disputed.difference_update(rated | decisions.keys())
        last.disputed.update(waiting)
        last.rated.update(rated, decisions)
        last.planned.update(round_state.plan.items)
    return last


def _find_undecided_codes(
    state: State, names: Sequence[str], decided: Collection[str], transcripts: Mapping[str, Transcript]
) -> Iterator[str]:
    """Yields the current codes that raters gave in turns without a decision."""
    for round_state in map(state.round, names):
        for item in round_state.plan.items:
            interview, number = parse_item_id(item)
            if item in decided or interview not in transcripts:
                continue
            if is_participants_turn(transcripts[interview], number):
                for _, passages in _Reader(state, round_state, item).rater_passages:
                    yield from (passage.code for passage in passages if passage.code)


def read_adoptions(state: State) -> dict[Place, str]:
    """Returns the codes that in vivo passages were adopted as; the last act on each counts."""
    adopted: dict[Place, str] = {}
    for act in state.unhandled_acts:
        if act.kind == ADOPT_ACT:
            payload = act.payload
            adopted[payload["round"], payload["item"], payload["start"], payload["end"]] = payload["code"]
    return adopted


def find_current_code(state: State, item: str, code: str, answers: Mapping[str, Any]) -> str | None:
    """Returns a code under the latest codebook; None if it cannot be determined or its addition was undone."""
    latest = state.history.latest
    read = state.history.find_code(code, latest.version, item, answers).code
    return None if read is None or latest.codes[read].status == WITHDRAWN else read


@dataclass(frozen=True)
class _Reader:
    """Reads the answers on a turn under the latest codebook, with the adopted codes of its in vivo passages."""

    state: State
    round: RoundState
    item: str
    adopted: Mapping[Place, str] = field(default_factory=dict)

    @property
    def _facet(self) -> str:
        return require_passage_facet(self.round.plan).id

    @cached_property
    def _answers(self) -> list[tuple[str, Any]]:
        return list_answers(self.round, self.item, self._facet)

    @cached_property
    def rater_passages(self) -> list[tuple[str, tuple[Passage, ...]]]:
        """Each rater's passages of this turn."""
        return [(rater, self.read_latest(answer)[0]) for rater, answer in self._answers]

    def read_latest(self, answer: Any) -> tuple[tuple[Passage, ...], int]:
        """Returns the passages of an answer, and how many others no longer have a code.

        Merged codes, or adopted in vivo codes, may cover the same words: these passages become one. Passages that had
        the same code from the beginning stay separate.
        """
        read = [(passage, self._code(passage, answer)) for passage in read_passages(answer)]
        kept: dict[object, list[dict[str, Any]]] = {}
        for passage, code in read:
            if code is not None:
                kept.setdefault(passage.code or (passage.start, passage.end), []).append(
                    replace(passage, code=code).payload()
                )
        return read_passages(merge_passages(kept.values())), sum(code is None for _, code in read)

    def in_vivo(self, answer: Any) -> list[Passage]:
        """Returns the in vivo passages of an answer at their marked positions, with the adopted code, if any."""
        return [replace(passage, code=self._code(passage, answer) or "") for passage in list_in_vivo(answer)]

    def _code(self, passage: Passage, answer: Any) -> str | None:
        code = passage.code or self.adopted.get((self.round.plan.round, self.item, passage.start, passage.end), "")
        return find_current_code(self.state, self.item, code, {self._facet: answer}) if code else ""

    def build_passage(
        self, decision: Decision, transcript: Transcript, passage: Passage, raters: tuple[str, ...]
    ) -> CodedPassage:
        """Builds a passage of a decision with all its details."""
        turn = transcript.turns[parse_item_id(self.item)[1]]
        return CodedPassage(
            self.round.plan.round, self.item, transcript.interview, transcript.participant, turn.number, turn.question,
            passage.start, passage.end, read_passage_text(turn, passage), passage.code, passage.memo,
            dict(passage.fields), passage.link, raters, decision.how, decision.simulated,
        )  # fmt: skip

    def list_raters(self, target: Passage) -> tuple[str, ...]:
        """Returns the raters who gave the passage's code to any of its words; in vivo, those who marked them."""
        if target.in_vivo:
            return self.list_markers(target)
        return tuple(
            rater
            for rater, passages in self.rater_passages
            if any(
                passage.code == target.code and passage.start < target.end and passage.end > target.start
                for passage in passages
            )
        )

    def list_markers(self, target: Passage) -> tuple[str, ...]:
        """Returns the raters who marked exactly these words in vivo."""
        place = target.start, target.end
        return tuple(
            rater
            for rater, answer in self._answers
            if any((passage.start, passage.end) == place for passage in list_in_vivo(answer))
        )


def group_linked_passages(passages: Iterable[CodedPassage]) -> list[list[CodedPassage]]:
    """Groups passages of one code in one interview that are linked; every other passage is a group of its own.

    Raters link turns independently: where their passages were merged, the merged one has both links.
    """
    above: dict[tuple[str, ...], tuple[str, ...]] = {}

    def top(link: tuple[str, ...]) -> tuple[str, ...]:
        while link in above:
            link = above[link]
        return link

    linked = [(_list_links(passage), passage) for passage in passages]
    for (first, *others), _ in linked:
        for other in others:
            if top(other) != top(first):
                above[top(other)] = top(first)
    joined: dict[tuple[str, ...], list[CodedPassage]] = {}
    for (first, *_), passage in linked:
        joined.setdefault(top(first), []).append(passage)
    return list(joined.values())


def _list_links(passage: CodedPassage) -> list[tuple[str, ...]]:
    links: list[tuple[str, ...]] = [(passage.interview, passage.code, link) for link in split_links(passage.link)]
    return links or [(passage.item, passage.code, str(passage.start), str(passage.end))]


def read_passage_text(turn: SpokenTurn, passage: Passage) -> str:
    """Returns the shown text of a passage."""
    start, end = turn.to_shown(passage.start, passage.end)
    return turn.text[start:end]

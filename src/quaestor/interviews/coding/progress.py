"""Progress of the coding of transcripts: per rater and round, and the next step of each interview."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from quaestor.base.names import join_with_or
from quaestor.coding.model.decisions import is_settled_round
from quaestor.coding.model.facet_kinds.passages import find_passage_facet, list_in_vivo, require_passage_facet
from quaestor.coding.model.records import Decision, Rating, read_passages
from quaestor.coding.model.state import OPEN, State
from quaestor.coding.model.views import build_rater_position
from quaestor.coding.session import CodingSession
from quaestor.coding.visibility import Viewer, Visibility
from quaestor.interviews.coding.decided_passages import (
    find_current_code,
    find_last_decisions,
    list_coded_rounds,
    read_adoptions,
)
from quaestor.interviews.model.records import parse_item_id
from quaestor.interviews.repository import Interviews
from quaestor.people.roles import Role


@dataclass(frozen=True)
class TranscriptProgress:
    """A rater's progress with one transcript."""

    interview: str
    participant: str
    done: int
    total: int
    passages: int
    erased: bool = False

    @property
    def left(self) -> int:
        return self.total - self.done


@dataclass(frozen=True)
class RoundProgress:
    """The transcripts of a round for one rater."""

    round: str
    instructions: str
    is_open: bool
    transcripts: tuple[TranscriptProgress, ...]

    @property
    def first_left(self) -> str:
        """The first transcript with unrated turns."""
        return next(
            (transcript.interview for transcript in self.transcripts if transcript.left and not transcript.erased), ""
        )


def count_round_progress(coding: CodingSession, interviews: Interviews, name: str, rater: str) -> RoundProgress:
    """Returns a rater's progress with the transcripts of a round, in the order of the interviews."""
    known = {interview.id: place for place, interview in enumerate(interviews.interviews())}
    with coding.locked_state() as state:
        place = build_rater_position(state, name, rater)
        facet = require_passage_facet(place.plan)
        is_open = state.round(name).status == OPEN
        counted: dict[str, list[Rating | None]] = {}
        for item in place.progress:
            counted.setdefault(parse_item_id(item)[0], []).append(place.rating(item))
    transcript_progresses = [
        TranscriptProgress(
            interview,
            interview,
            sum(rating is not None for rating in ratings),
            len(ratings),
            sum(len(read_passages(rating.answers.get(facet.id))) for rating in ratings if rating is not None),
            interview not in known,
        )
        for interview, ratings in counted.items()
    ]
    ordered = sorted(
        transcript_progresses, key=lambda progress: (known.get(progress.interview, len(known)), progress.interview)
    )
    return RoundProgress(name, place.plan.instructions, is_open, tuple(ordered))


@dataclass(frozen=True)
class CodingStep:
    """The next step in coding an interview, and the page for it."""

    done: bool
    words: str
    route: str = "rounds"
    round: str = ""
    """The round that the page is about."""


NOT_BEGUN = CodingStep(
    False, "open a round on its turns; if study.toml has no source of turns, first run `quaestor interview items`"
)


@dataclass
class _Counts:
    """Ratings and turns of one interview."""

    expected: int = 0
    rated: int = 0
    opened: Counter[str] = field(default_factory=Counter)
    """The missing ratings of each open round."""
    undecided: Counter[str] = field(default_factory=Counter)
    """The undecided turns of each closed round."""
    in_vivo: int = 0
    """In vivo passages that have not been adopted as a code."""


def find_coding_steps(interviews: Interviews) -> dict[str, CodingStep]:
    """Returns the next step of each interview, for the lead.

    A lead who rated in a round and has not viewed its agreement learns that it has disagreements, but not how many.
    """
    coding = interviews.coding
    with coding.locked_state() as state:
        sight = Visibility(state, coding.lead, Viewer(coding.lead, Role.LEAD))
        unseen = {
            name: is_settled_round(state, name) for name in list_coded_rounds(state) if sight.why_no_disagreements(name)
        }
        unopened = list(_list_unopened(interviews, state))
        steps = {name: _find_step(counts, unseen, unopened) for name, counts in _count_by_interview(state).items()}
        closed = [name for name in list_coded_rounds(state) if state.round(name).status != OPEN]
    later = _plan_late_interview(closed) if closed and not unopened else NOT_BEGUN
    return {interview.id: steps.get(interview.id, later) for interview in interviews.interviews()}


BEING_CODED, CODED = "being coded", "coded"


def find_coding_stages(interviews: Interviews) -> dict[str, str]:
    """Returns which interviews are being coded or were coded; it tells nothing about what raters said."""
    with interviews.coding.locked_state() as state:
        counts_by_interview = _count_by_interview(state)
    return {
        name: BEING_CODED if counts.opened else CODED for name, counts in counts_by_interview.items() if counts.rated
    }


def _plan_late_interview(closed: Collection[str]) -> CodingStep:
    """Returns the next step of an interview that was added after the rounds were closed."""
    words = "in no round yet: build items with `quaestor interview items`, then open a new round"
    return CodingStep(False, f"{words}, without the turns of {join_with_or(closed)}")


def _list_unopened(interviews: Interviews, state: State) -> Iterator[str]:
    """Yields the rounds on transcripts that are planned but not open yet."""
    settings = interviews.study.settings
    for round_state in settings.rounds:
        if round_state.round not in state.rounds and any(
            settings.facets[name].kind == "stretches" for name in round_state.facets
        ):
            yield round_state.round


def _count_by_interview(state: State) -> dict[str, _Counts]:
    counts_by_interview: dict[str, _Counts] = {}
    for name, round_state in state.rounds.items():
        for seat in round_state.slots if find_passage_facet(round_state.plan) is not None else ():
            for item in seat.items[0]:
                here = counts_by_interview.setdefault(_parse_interview(item), _Counts())
                if item in round_state.gone:
                    continue
                rated = round_state.rating_in_slot(seat, item) is not None
                here.expected += 1
                here.rated += rated
                if round_state.status == OPEN:
                    here.opened[name] += not rated
    closed = sorted(list_coded_rounds(state), key=lambda name: state.round(name).closed)
    decided = find_last_decisions(state, closed).decided
    rated_last = {
        item: name
        for name in closed
        for rated in state.round(name).ratings.values()
        for item in rated
        if item not in state.round(name).gone
    }
    for item, name in rated_last.items():
        if item not in decided and _parse_interview(item) in counts_by_interview:
            counts_by_interview[_parse_interview(item)].undecided[name] += 1
    adopted = read_adoptions(state)
    for item, (name, decision) in decided.items():
        places = [(name, item, passage.start, passage.end) for passage in list_in_vivo(decision.answer)]
        if places and _parse_interview(item) in counts_by_interview:
            counts_by_interview[_parse_interview(item)].in_vivo += sum(
                not _is_adopted(state, decision, adopted.get(place, "")) for place in places
            )
    return counts_by_interview


def _is_adopted(state: State, decision: Decision, adopted_as: str) -> bool:
    """Whether in vivo words were adopted as a code that still exists."""
    return bool(adopted_as and find_current_code(state, decision.item, adopted_as, {decision.facet: decision.answer}))


def _parse_interview(item: str) -> str:
    return parse_item_id(item)[0]


def _find_step(counts: _Counts, unseen: dict[str, bool], unopened: Collection[str]) -> CodingStep:
    if not counts.expected:
        return CodingStep(True, "none of its turns counts")
    if counts.opened.total():
        return CodingStep(False, f"{counts.rated:,} of {counts.expected:,} ratings of turns")
    for name in counts.opened:
        return CodingStep(False, f"every turn is rated: close {name}", "round", name)
    later = "".join(f"; {name} is not opened yet" for name in unopened)
    for name, turns in counts.undecided.items():
        if name not in unseen:
            words = f"{turns:,} undecided {'turn' if turns == 1 else 'turns'} in {name}"
            return CodingStep(False, f"{words}{later}", "disagreements", name)
        if not unseen[name]:
            return CodingStep(False, f"settle the disagreements in {name}{later}", "disagreements", name)
    if later:
        return CodingStep(False, later.removeprefix("; "))
    more = f"; {counts.in_vivo:,} in vivo, not adopted as a code" if counts.in_vivo else ""
    return CodingStep(True, f"{counts.rated:,} ratings of turns, all decided{more}")

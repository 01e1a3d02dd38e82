"""One disagreement after the other, put into words for one viewer: who said what, what was said since, how it ended."""

from __future__ import annotations

from dataclasses import dataclass, replace

from quaestor.coding.answers import written
from quaestor.coding.decisions import DISCUSSION, TIE_BREAKER, TOGETHER, WORDS_WAYS, is_settled, ways_of
from quaestor.coding.records import Decision, Disagreement
from quaestor.coding.state import RoundState, Seat, State
from quaestor.coding.stretches import is_stretches
from quaestor.study.opinions import Question, Voice, in_words, question_of
from quaestor.study.sight import Sight

_WAYS = {DISCUSSION: "by discussion", TOGETHER: "together with the tie-breaker", TIE_BREAKER: "by the tie-breaker"}
_ALONE, _TWO_STEP = "tie-breaker", "two-step"


@dataclass(frozen=True)
class Filter:
    """Which disagreements are wanted: the open ones, those where somebody said something."""

    open_only: bool = False
    answer: str = ""


@dataclass(frozen=True)
class Outcome:
    """How a case was settled."""

    label: str
    how: str
    who: str
    time: str
    reason: str
    simulated: bool


@dataclass(frozen=True)
class Row:
    """One disagreement in the list; the answers stand in the order of the seats."""

    item: str
    facet: str
    answers: tuple[str, ...]
    comments: int
    awaits_tie_breaker: bool
    tie_answer: str
    outcome: Outcome | None


@dataclass(frozen=True)
class Remark:
    """Something said about a case; the tie-breaker's comment also says an answer."""

    who: str
    text: str
    time: str
    answer: str = ""
    is_independent: bool = False


@dataclass(frozen=True)
class Step:
    """One step on the way to a decision, and who it is awaited from."""

    words: str
    state: str  # done, now, to come


@dataclass(frozen=True)
class Teller:
    """Tells one viewer of one round; names stand in nothing it tells where the viewer may not read them."""

    state: State
    sight: Sight
    one: RoundState

    @property
    def _round(self) -> str:
        return self.one.plan.round

    def words(self, facet: str, answer: object) -> str:
        return in_words(self.one.plan.facet(facet), self.state.history.at(self.one.plan.codebook), answer)

    def asked_for(self, facet: str, answer: object) -> str:
        """By what a list is narrowed to an answer; stretches by their codes, wherever they lie."""
        return self.words(facet, answer) if is_stretches(answer) else written(answer)

    def seat(self, seat: Seat) -> str:
        return " then ".join(self.sight.shown(self._round, rater) for rater in seat.raters)

    def is_wanted(self, case: Disagreement, wanted: Filter) -> bool:
        if wanted.open_only and is_settled(case):
            return False
        part = wanted.answer.casefold()
        said = (tell(case.facet, answer) for _, answer in case.answers for tell in (self.asked_for, self.words))
        return not part or any(part in form.casefold() for form in said)

    def row(self, case: Disagreement) -> Row:
        said = {rater: self.words(case.facet, answer) for rater, answer in case.answers}
        return Row(
            case.item,
            case.facet,
            tuple(next((said[rater] for rater in seat.raters if rater in said), "") for seat in self.one.seats),
            len(case.comments),
            case.decision is None and case.tie_comment is None and self.one.plan.settle in (_ALONE, _TWO_STEP),
            self.words(case.facet, case.tie_comment.answer) if case.tie_comment else "",
            self._outcome(case.decision) if case.decision else None,
        )

    def outcomes(self, case: Disagreement) -> tuple[Outcome, ...]:
        """Every decision on a case; the one that holds comes last."""
        return tuple(self._outcome(made) for made in self.one.decisions.get((case.item, case.facet), ()))

    def _outcome(self, made: Decision) -> Outcome:
        return Outcome(
            self.words(made.facet, made.answer),
            _WAYS.get(made.how, made.how),
            self.sight.shown(self._round, made.actor),
            made.time,
            self.sight.text(self._round, made.reason),
            made.simulated,
        )

    def question(self, case: Disagreement) -> Question:
        """The answers side by side, each with those who gave it and what the codebook says of it."""
        facet = self.one.plan.facet(case.facet)
        given: list[tuple[object, Voice | None]] = []
        for rater, answer in case.answers:
            rating = self.one.current(rater, case.item)
            who = self.sight.shown(self._round, rater)
            memo = self.sight.text(self._round, rating.memo) if rating else ""
            unsure, simulated = (facet.id in rating.unsure, rating.simulated) if rating else (False, False)
            given.append((answer, Voice(who, unsure, memo, simulated)))
        if case.tie_comment is not None:
            who = self.sight.shown(self._round, case.tie_comment.actor)
            given.append((case.tie_comment.answer, Voice(who, simulated=case.tie_comment.simulated)))
        proposed = self.one.plan.proposals.get(case.item, {}) if facet.kind == "confirm" else {}
        found = question_of(facet, self.state.history.at(self.one.plan.codebook), given, proposed)
        return replace(found, others=()) if case.words_only else found

    def remarks(self, case: Disagreement) -> tuple[Remark, ...]:
        """The discussion in order of time, the tie-breaker's comment where it came."""
        said = [*case.comments, *([case.tie_comment] if case.tie_comment else [])]
        return tuple(
            Remark(
                self.sight.shown(self._round, one.actor),
                self.sight.text(self._round, one.text),
                one.time,
                self.words(case.facet, one.answer) if one is case.tie_comment else "",
                one is case.tie_comment,
            )
            for one in sorted(said, key=lambda one: one.number)
        )

    def ways(self, case: Disagreement) -> tuple[tuple[str, str], ...]:
        """How the viewer may settle a case now; the way that comes first is the usual one."""
        ways = [way for way in (WORDS_WAYS if case.words_only else ways_of(self.one.plan)) if way != TIE_BREAKER]
        if self.sight.viewer.name == self.one.plan.tie_breaker:
            ways = [way for way in ways if way == TOGETHER]
        if case.tie_comment is None:
            ways = [way for way in ways if way != TOGETHER]
        return tuple((way, _WAYS[way]) for way in sorted(ways, key=lambda way: way != TOGETHER))

    def steps(self, case: Disagreement) -> tuple[Step, ...]:
        """What is awaited from whom; nothing where those who rated simply talk it over."""
        if self.one.plan.settle not in (_ALONE, _TWO_STEP) or case.words_only:
            return ()
        answered, is_settled = case.tie_comment is not None, case.decision is not None
        answer = "The tie-breaker answers without knowing who said what"
        if self.one.plan.settle == _ALONE:
            return (Step(f"{answer}, and that settles it", "done" if is_settled else "now"),)
        if is_settled and not answered:
            return (Step("The raters settled it by discussion", "done"),)
        return (
            Step("The raters discuss it, and may settle it", "done" if answered else "now"),
            Step(answer, "done" if answered else "now"),
            Step("All decide together", "done" if is_settled else "now" if answered else "to come"),
        )

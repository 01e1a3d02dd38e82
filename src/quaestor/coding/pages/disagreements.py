"""The disagreements of a closed round as those with a part in it see them: side by side, discussed, settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from quaestor.base.errors import InputError, StateError
from quaestor.coding.disagreements import comment_on_item, settle_agreed, settle_item
from quaestor.coding.model.answers import name_answer, write_cell
from quaestor.coding.model.decisions import (
    DISCUSSION,
    TIE_BREAKER,
    TOGETHER,
    WORD_METHODS,
    count_undecided_agreements,
    is_settled,
    is_settled_round,
    list_answers,
    list_settlement_methods,
    list_word_differences,
)
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.passages import is_passages
from quaestor.coding.model.records import Codebook, Decision, Disagreement, Facet
from quaestor.coding.model.state import CLOSED, RaterSlot, RoundState, State
from quaestor.coding.model.views import list_visible_disagreements, needs_consent
from quaestor.coding.pages.disputed_answers import (
    AnswerSource,
    DisputeQuestion,
    SubmittedAnswer,
    build_question,
    mask_question,
    read_submitted_answer,
)
from quaestor.coding.rating_files import record_view
from quaestor.coding.session import CodingSession, Where, open_coding, require_lead
from quaestor.coding.visibility import Viewer, Visibility
from quaestor.study.contributions import TextMask
from quaestor.study.folder import Study

_METHODS = {DISCUSSION: "by discussion", TOGETHER: "together with the tie-breaker", TIE_BREAKER: "by the tie-breaker"}
_ALONE, _TWO_STEP = "tie-breaker", "two-step"


@dataclass(frozen=True)
class DisagreementFilter:
    """Which disagreements are wanted: the open ones, those where somebody said something."""

    open_only: bool = False
    answer: str = ""


@dataclass(frozen=True)
class CaseOutcome:
    """How a case was settled."""

    label: str
    how: str
    who: str
    time: str
    reason: str
    simulated: bool


@dataclass(frozen=True)
class DisagreementRow:
    """One disagreement in the list; the answers stand in the order of the seats."""

    item: str
    facet: str
    answers: tuple[str, ...]
    comments: int
    awaits_tie_breaker: bool
    tie_answer: str
    outcome: CaseOutcome | None


@dataclass(frozen=True)
class CaseRemark:
    """Something said about a case; the tie-breaker's comment also says an answer."""

    who: str
    text: str
    time: str
    answer: str = ""
    is_independent: bool = False


@dataclass(frozen=True)
class SettlementStep:
    """One step on the way to a decision, and who it is awaited from."""

    words: str
    state: str  # done, now, to come


@dataclass(frozen=True)
class CaseFormatter:
    """Tells one viewer of one round; names stand in nothing it tells where the viewer may not read them."""

    state: State
    visibility: Visibility
    round_state: RoundState

    @property
    def _round(self) -> str:
        return self.round_state.plan.round

    def name_answer(self, facet: str, answer: object) -> str:
        return name_answer(
            self.round_state.plan.facet(facet), self.state.history.at(self.round_state.plan.codebook), answer
        )

    def filter_value(self, facet: str, answer: object) -> str:
        """By what a list is narrowed to an answer; stretches by their codes, wherever they lie."""
        return (
            self.name_answer(facet, answer)
            if is_passages(answer)
            else write_cell(self.round_state.plan.facet(facet), answer)
        )

    def name_slot(self, slot: RaterSlot) -> str:
        return " then ".join(self.visibility.name_actor(self._round, rater) for rater in slot.raters)

    def matches(self, case: Disagreement, filters: DisagreementFilter) -> bool:
        if filters.open_only and is_settled(case):
            return False
        part = filters.answer.casefold()
        texts = (
            write(case.facet, answer) for _, answer in case.answers for write in (self.filter_value, self.name_answer)
        )
        return not part or any(part in text.casefold() for text in texts)

    def build_row(self, case: Disagreement) -> DisagreementRow:
        answers = {rater: self.name_answer(case.facet, answer) for rater, answer in case.answers}
        return DisagreementRow(
            case.item,
            case.facet,
            tuple(
                next((answers[rater] for rater in slot.raters if rater in answers), "")
                for slot in self.round_state.slots
            ),
            len(case.comments),
            case.decision is None and case.tie_comment is None and self.round_state.plan.settle in (_ALONE, _TWO_STEP),
            self.name_answer(case.facet, case.tie_comment.answer) if case.tie_comment else "",
            self._build_outcome(case.decision) if case.decision else None,
        )

    def list_outcomes(self, case: Disagreement) -> tuple[CaseOutcome, ...]:
        """Every decision on a case; the one that holds comes last."""
        return tuple(
            self._build_outcome(decision) for decision in self.round_state.decisions.get((case.item, case.facet), ())
        )

    def _build_outcome(self, decision: Decision) -> CaseOutcome:
        return CaseOutcome(
            self.name_answer(decision.facet, decision.answer),
            _METHODS.get(decision.how, decision.how),
            self.visibility.name_actor(self._round, decision.actor),
            decision.time,
            self.visibility.mask_people(self._round, decision.reason),
            decision.simulated,
        )

    def build_question(self, case: Disagreement) -> DisputeQuestion:
        """The answers side by side, each with those who gave it and what the codebook says of it."""
        facet = self.round_state.plan.facet(case.facet)
        answered: list[tuple[object, AnswerSource | None]] = []
        for rater, answer in case.answers:
            rating = self.round_state.current(rater, case.item)
            who = self.visibility.name_actor(self._round, rater)
            memo = self.visibility.mask_people(self._round, rating.memo) if rating else ""
            unsure, simulated = (facet.id in rating.unsure, rating.simulated) if rating else (False, False)
            answered.append((answer, AnswerSource(who, unsure, memo, simulated)))
        if case.tie_comment is not None:
            who = self.visibility.name_actor(self._round, case.tie_comment.actor)
            answered.append((case.tie_comment.answer, AnswerSource(who, simulated=case.tie_comment.simulated)))
        proposed = self.round_state.plan.proposals.get(case.item, {}) if find_kind(facet).confirms_proposal else {}
        question = build_question(facet, self.state.history.at(self.round_state.plan.codebook), answered, proposed)
        return replace(question, others=()) if case.words_only else question

    def list_remarks(self, case: Disagreement) -> tuple[CaseRemark, ...]:
        """The discussion in order of time, the tie-breaker's comment where it came."""
        comments = [*case.comments, *([case.tie_comment] if case.tie_comment else [])]
        return tuple(
            CaseRemark(
                self.visibility.name_actor(self._round, comment.actor),
                self.visibility.mask_people(self._round, comment.text),
                comment.time,
                self.name_answer(case.facet, comment.answer) if comment is case.tie_comment else "",
                comment is case.tie_comment,
            )
            for comment in sorted(comments, key=lambda comment: comment.number)
        )

    def list_methods(self, case: Disagreement) -> tuple[tuple[str, str], ...]:
        """How the viewer may settle a case now; the way that comes first is the usual one."""
        methods = [
            method
            for method in (WORD_METHODS if case.words_only else list_settlement_methods(self.round_state.plan))
            if method != TIE_BREAKER
        ]
        if self.visibility.viewer.name == self.round_state.plan.tie_breaker:
            methods = [method for method in methods if method == TOGETHER]
        if case.tie_comment is None:
            methods = [method for method in methods if method != TOGETHER]
        return tuple((method, _METHODS[method]) for method in sorted(methods, key=lambda method: method != TOGETHER))

    def list_steps(self, case: Disagreement) -> tuple[SettlementStep, ...]:
        """What is awaited from whom; nothing where those who rated simply talk it over."""
        if self.round_state.plan.settle not in (_ALONE, _TWO_STEP) or case.words_only:
            return ()
        answered, is_settled = case.tie_comment is not None, case.decision is not None
        answer = "The tie-breaker answers without knowing who said what"
        if self.round_state.plan.settle == _ALONE:
            return (SettlementStep(f"{answer}, and that settles it", "done" if is_settled else "now"),)
        if is_settled and not answered:
            return (SettlementStep("The raters settled it by discussion", "done"),)
        return (
            SettlementStep("The raters discuss it, and may settle it", "done" if answered else "now"),
            SettlementStep(answer, "done" if answered else "now"),
            SettlementStep("All decide together", "done" if is_settled else "now" if answered else "to come"),
        )


Key = tuple[str, str]
"""An item and a facet."""


@dataclass(frozen=True)
class DisagreementList:
    """The disagreements of a round and how far they are settled."""

    round: str
    people: tuple[str, ...]
    facets: tuple[str, ...]
    rows: tuple[DisagreementRow, ...]
    answers: tuple[tuple[str, str], ...]
    """The answers in dispute with their words, to choose from."""
    settled: int
    total: int
    first_open: Key | None
    undecided_agreements: int
    is_lead: bool
    next_steps: tuple[str, ...]
    """What comes next, a sentence each, once all is settled."""
    word_differences: tuple[DisagreementRow, ...] = ()
    """Where raters gave the same codes and say different things of them, and nobody has settled that."""


@dataclass(frozen=True)
class Case:
    """One disagreement with all that belongs on its page."""

    round: str
    item: str
    question: DisputeQuestion
    remarks: tuple[CaseRemark, ...]
    outcomes: tuple[CaseOutcome, ...]
    methods: tuple[tuple[str, str], ...]
    steps: tuple[SettlementStep, ...]
    before: Key | None
    after: Key | None
    settled: int
    total: int
    differs_in_words: bool = False
    """Whether the raters gave the same codes and what they say of them is not settled yet."""

    @property
    def outcome(self) -> CaseOutcome | None:
        """How it was settled, where it is."""
        return self.outcomes[-1] if self.outcomes else None


def is_active_tie_breaker(where: Where, name: str, viewer: Viewer) -> bool:
    """Whether somebody breaks the ties of a round in which some are left."""
    with open_coding(where) as coding:
        round_state = coding.state.round(name)
        return viewer.name == round_state.plan.tie_breaker and not (
            round_state.status == CLOSED and is_settled_round(coding.state, name)
        )


def needs_view_consent(where: Where, name: str, viewer: Viewer) -> bool:
    """Whether somebody would see for the first time what the others said, which is theirs to say; else they may now."""
    with open_coding(where) as coding:
        list_visible_disagreements(coding.state, name, viewer.name, coding.lead)
        return needs_consent(coding.state, name, viewer.name)


def record_disagreements_view(where: Where, name: str, viewer: Viewer) -> None:
    """Put on record that somebody now sees the disagreements of a closed round, where they may."""
    with open_coding(where) as coding:
        list_visible_disagreements(coding.state, name, viewer.name, coding.lead)
        record_view(coding, name, viewer.name)


def list_disagreements_page(where: Where, name: str, viewer: Viewer, filters: DisagreementFilter) -> DisagreementList:
    """The disagreements that are wanted, for those who need not say first that they look."""
    with open_coding(where) as coding:
        cases, formatter = _open_cases(coding, name, viewer)
        answered = [(case.facet, answer) for case in cases for _, answer in case.answers]
        answers = {formatter.filter_value(*answer): formatter.name_answer(*answer) for answer in answered}
        left = [(case.item, case.facet) for case in cases if case.decision is None]
        return DisagreementList(
            name,
            tuple(formatter.name_slot(slot) for slot in formatter.round_state.slots),
            tuple(facet.id for facet in formatter.round_state.plan.facets),
            tuple(formatter.build_row(case) for case in cases if formatter.matches(case, filters)),
            tuple(sorted(answers.items(), key=lambda pair: pair[1].casefold())),
            len(cases) - len(left),
            len(cases),
            left[0] if left else None,
            count_undecided_agreements(formatter.state, name),
            viewer.name == coding.lead,
            () if left else list_next_steps(coding.study, formatter.state, name),
            tuple(
                formatter.build_row(case)
                for case in list_word_differences(formatter.state, name)
                if not is_settled(case)
            ),
        )


def build_case(
    where: Where,
    name: str,
    viewer: Viewer,
    item: str,
    facet: str,
    filters: DisagreementFilter,
    mask: TextMask | None = None,
) -> Case:
    """Returns one disagreement without known names, and the open ones before and after it."""
    with open_coding(where) as coding:
        cases, formatter = _open_cases(coding, name, viewer)
        position = _find_position(cases, item, facet)
        if position is None:
            cases = list_word_differences(formatter.state, name)
            position = _find_position(cases, item, facet)
        if position is None:
            raise InputError(f"The raters of {name!r} do not differ on {item!r}: choose a case from the list.")
        case = cases[position]
        neighbours = [
            ((other.item, other.facet), number < position)
            for number, other in enumerate(cases)
            if number != position and not is_settled(other) and formatter.matches(other, filters)
        ]
        earlier, later = ([key for key, is_earlier in neighbours if is_earlier is filters] for filters in (True, False))
        book = formatter.state.history.at(formatter.round_state.plan.codebook)
        page = Case(
            name,
            case.item,
            formatter.build_question(case),
            formatter.list_remarks(case),
            formatter.list_outcomes(case),
            formatter.list_methods(case),
            formatter.list_steps(case),
            earlier[-1] if earlier else None,
            next(iter([*later, *earlier]), None),
            sum(is_settled(other) for other in cases),
            len(cases),
            case.words_only and not is_settled(case),
        )
    return _mask_case(page, book, mask) if mask else page  # not under the lock: looking for names takes a while


def _mask_case(case: Case, book: Codebook, mask: TextMask) -> Case:
    remarks = (replace(remark, text=mask.mask(remark.text), answer=mask.mask(remark.answer)) for remark in case.remarks)
    outcomes = (
        replace(outcome, label=mask.mask(outcome.label), reason=mask.mask(outcome.reason)) for outcome in case.outcomes
    )
    question = mask_question(case.question, case.item, book, mask)
    return replace(case, question=question, remarks=tuple(remarks), outcomes=tuple(outcomes))


def _find_position(disagreements: Sequence[Disagreement], item: str, facet: str) -> int | None:
    return next(
        (
            number
            for number, disagreement in enumerate(disagreements)
            if disagreement.item == item and facet in ("", disagreement.facet)
        ),
        None,
    )


def settle_case(
    where: Where,
    name: str,
    viewer: Viewer,
    item: str,
    facet: str,
    submitted: SubmittedAnswer,
    how: str,
    reason: str,
    *,
    seen: int,
    key: str,
) -> int:
    """Settle a case as a form says; the number of the act."""
    with open_coding(where) as coding:
        _require_recorded_view(coding, name, viewer)
        round_state = coding.state.round(name)
        facet_plan = find_facet(round_state, facet)
        answers = [answer for _, answer in list_answers(round_state, item, facet_plan.id)]
        tie_comment = round_state.tie_comments.get((item, facet_plan.id))
        answers += [tie_comment.answer] if tie_comment is not None else []
        answer = read_submitted_answer(facet_plan, submitted, answers)
        return settle_item(coding, name, viewer.name, item, facet_plan.id, answer, how, reason, seen=seen, key=key)


def comment_case(where: Where, name: str, viewer: Viewer, item: str, facet: str, text: str, *, key: str) -> int:
    """Say something about a case; the number of the act."""
    with open_coding(where) as coding:
        _require_recorded_view(coding, name, viewer)
        return comment_on_item(coding, name, viewer.name, item, facet, text, key=key)


def settle_all_agreed(where: Where, name: str, viewer: Viewer) -> int:
    """Put on record what all raters agree on; how many decisions that made."""
    with open_coding(where) as coding:
        require_lead(coding, viewer.name, "put on record what raters agree on")
        _require_recorded_view(coding, name, viewer)
        return settle_agreed(coding, name, viewer.name)


def mask_names(where: Where, name: str, viewer: Viewer, text: str) -> str:
    """A sentence about a round, with no name in it that the viewer may not read."""
    with open_coding(where) as coding:
        return Visibility(coding.state, coding.lead, viewer).mask_people(name, text)


def list_next_steps(study: Study, state: State, name: str) -> tuple[str, ...]:
    """What the decisions of a round are waited for."""
    left = count_undecided_agreements(state, name)
    agreed = [f"{left:,} answers on which all raters agree are to be put on record by the lead."] if left else []
    steps = [
        f"The step {step.step!r} of the funnel goes by this round: run the funnel again."
        for step in study.settings.funnel.steps
        if step.round == name
    ]
    rounds = [
        f"The round {round_state.round!r} waits for this one: the lead can open it."
        for round_state in study.settings.rounds
        if round_state.round not in state.rounds and name in (round_state.items.kept_by, *round_state.confirms)
    ]
    return (*agreed, *steps, *rounds)


def find_facet(round_state: RoundState, facet: str) -> Facet:
    """A facet of a round; the only one need not be named."""
    if not facet and len(round_state.plan.facets) == 1:
        return round_state.plan.facets[0]
    match = next((known for known in round_state.plan.facets if known.id == facet), None)
    if match is None:
        raise InputError(f"The round {round_state.plan.round!r} asks no {facet!r}: choose a case from the list.")
    return match


def _open_cases(coding: CodingSession, name: str, viewer: Viewer) -> tuple[list[Disagreement], CaseFormatter]:
    state = coding.state
    disagreements = list_visible_disagreements(state, name, viewer.name, coding.lead)
    _require_recorded_view(coding, name, viewer)
    return disagreements, CaseFormatter(state, Visibility(state, coding.lead, viewer), state.round(name))


def _require_recorded_view(coding: CodingSession, name: str, viewer: Viewer) -> None:
    """Refuse those who have to agree first that their look goes on record; record the look of everybody else."""
    if coding.state.round(name).status != CLOSED:
        return
    if needs_consent(coding.state, name, viewer.name):
        raise StateError(f"The disagreements of {name!r} are seen by those who say so: open their page and look.")
    record_view(coding, name, viewer.name)

"""The pages of a closed round's disagreements: the list, each case, its discussion and its decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from quaestor.base.errors import InputError, StateError
from quaestor.coding.disagreements import assent_to_proposal, comment_on_item, settle_agreed, settle_item
from quaestor.coding.model.answers import name_answer, write_cell
from quaestor.coding.model.decisions import (
    count_undecided_agreements,
    is_settled,
    is_settled_round,
    list_answers,
    list_not_asked,
    list_word_differences,
)
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.passages import is_passages
from quaestor.coding.model.records import Codebook, Decision, Disagreement, Facet
from quaestor.coding.model.settlement import (
    DISCUSSION,
    ONE_PERSON,
    TIE_BREAKER,
    TOGETHER,
    WORD_METHODS,
    list_needed_assents,
    list_settlement_methods,
)
from quaestor.coding.model.state import CLOSED, RaterSlot, RoundState, State
from quaestor.coding.model.views import list_visible_cases, needs_consent
from quaestor.coding.pages.disputed_answers import (
    AnswerSource,
    DisputeQuestion,
    Quote,
    SubmittedAnswer,
    build_question,
    list_quotes,
    mask_question,
    read_submitted_answer,
)
from quaestor.coding.rating_files import record_view
from quaestor.coding.session import CodingSession, StudyOrSession, open_coding, require_lead
from quaestor.coding.visibility import Viewer, Visibility
from quaestor.study.contributions import TextMask
from quaestor.study.folder import Study

_METHODS = {
    DISCUSSION: "by discussion, with the assent of every rater of the item",
    TOGETHER: "together with the tie-breaker, with the assent of all",
    ONE_PERSON: "by one person, with a reason",
    TIE_BREAKER: "by the tie-breaker",
}
METHOD_WORDS = {
    DISCUSSION: "by discussion", TOGETHER: "together with the tie-breaker", ONE_PERSON: "by one person",
    TIE_BREAKER: "by the tie-breaker", "agreement": "by agreement", "single": "by the only rater of the item",
}  # fmt: skip
_ALONE, _TWO_STEP = "tie-breaker", "two-step"


@dataclass(frozen=True)
class DisagreementFilter:
    """Which disagreements to list: only open ones, or those with a certain answer."""

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
    answer: object = None
    quotes: tuple[Quote, ...] = ()
    """The coded passages of the decision."""


@dataclass(frozen=True)
class CaseProposal:
    """A proposed decision that waits for assents."""

    number: int
    label: str
    how: str
    who: str
    time: str
    reason: str
    waits_for: str
    can_assent: bool
    """Whether the viewer is one of those who still have to assent."""
    answer: object = None
    quotes: tuple[Quote, ...] = ()
    """The coded passages of the proposal."""


Decided = TypeVar("Decided", CaseOutcome, CaseProposal)


@dataclass(frozen=True)
class DisagreementRow:
    """One disagreement of the list; the answers are in the order of the rater slots."""

    item: str
    facet: str
    answers: tuple[str, ...]
    comments: int
    awaits_tie_breaker: bool
    tie_answer: str
    outcome: CaseOutcome | None
    proposal: CaseProposal | None = None


@dataclass(frozen=True)
class CaseRemark:
    """A comment on a case; a tie-breaker's comment includes an answer."""

    who: str
    text: str
    time: str
    answer: str = ""
    is_independent: bool = False


@dataclass(frozen=True)
class SettlementStep:
    """One step towards a decision."""

    words: str
    state: str  # done, now, to come


@dataclass(frozen=True)
class CaseFormatter:
    """Formats the cases of one round for one viewer; masks the names that the viewer may not see."""

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
        """Returns the value by which a list is filtered for an answer; for passages, their codes without offsets."""
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

    def name_not_asked(self, case: Disagreement) -> tuple[str, ...]:
        """Returns the names of the raters whose other answers did not lead to this question."""
        raters = list_not_asked(self.round_state, case.item, self.round_state.plan.facet(case.facet))
        return tuple(self.visibility.name_actor(self._round, rater) for rater in raters)

    def build_row(self, case: Disagreement) -> DisagreementRow:
        answers = {rater: self.name_answer(case.facet, answer) for rater, answer in case.answers}
        not_asked = list_not_asked(self.round_state, case.item, self.round_state.plan.facet(case.facet))
        answers |= dict.fromkeys(not_asked, "not asked")
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
            self.build_proposal(case),
        )

    def list_outcomes(self, case: Disagreement) -> tuple[CaseOutcome, ...]:
        """Returns every decision on a case; the last one counts."""
        return tuple(
            self._build_outcome(decision) for decision in self.round_state.decisions.get((case.item, case.facet), ())
        )

    def _build_outcome(self, decision: Decision) -> CaseOutcome:
        return CaseOutcome(
            self.name_answer(decision.facet, decision.answer),
            METHOD_WORDS.get(decision.how, decision.how),
            self._name_people(decision.assents or (decision.actor,)),
            decision.time,
            self.visibility.mask_people(self._round, decision.reason),
            decision.simulated,
            decision.answer,
        )

    def _name_people(self, people: Sequence[str]) -> str:
        return ", ".join(self.visibility.name_actor(self._round, person) for person in people)

    def build_proposal(self, case: Disagreement) -> CaseProposal | None:
        """Returns the proposed decision of a case with the people who still have to assent."""
        proposal = case.proposal
        if proposal is None:
            return None
        missing = [
            person
            for person in list_needed_assents(self.round_state, case.item, proposal.how)
            if person not in proposal.assents
        ]
        return CaseProposal(
            proposal.number,
            self.name_answer(case.facet, proposal.answer),
            METHOD_WORDS[proposal.how],
            self.visibility.name_actor(self._round, proposal.actor),
            proposal.time,
            self.visibility.mask_people(self._round, proposal.reason),
            self._name_people(missing),
            self.visibility.viewer.name in missing,
            proposal.answer,
        )

    def build_question(self, case: Disagreement) -> DisputeQuestion:
        """Returns the answers, each with its raters and its entry in the codebook."""
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
        """Returns all comments in order of time, including the tie-breaker's."""
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
        """Returns the methods by which the viewer may settle a case now; the usual one comes first."""
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
        """Returns the steps towards a decision; none if the raters only discuss."""
        if self.round_state.plan.settle not in (_ALONE, _TWO_STEP) or case.words_only:
            return ()
        answered, is_settled = case.tie_comment is not None, case.decision is not None
        answer = "The tie-breaker answers without seeing the raters' names"
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
    """The disputed answers with their names, for the filter."""
    settled: int
    total: int
    first_open: Key | None
    undecided_agreements: int
    is_lead: bool
    next_steps: tuple[str, ...]
    """What to do next once all is settled, one sentence each."""
    word_differences: tuple[DisagreementRow, ...] = ()
    """Unsettled cases in which raters gave the same codes but different fields."""


@dataclass(frozen=True)
class Case:
    """The page of one disagreement."""

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
    """Whether the raters gave the same codes and their different fields are not settled yet."""
    proposal: CaseProposal | None = None
    not_asked: tuple[str, ...] = ()
    """The raters whose other answers did not lead to this question."""

    @property
    def outcome(self) -> CaseOutcome | None:
        """The decision that counts, if any."""
        return self.outcomes[-1] if self.outcomes else None


def is_active_tie_breaker(study: StudyOrSession, name: str, viewer: Viewer) -> bool:
    """Returns whether the viewer is the tie-breaker of a round that is not settled yet."""
    with open_coding(study) as coding:
        round_state = coding.state.round(name)
        return viewer.name == round_state.plan.tie_breaker and not (
            round_state.status == CLOSED and is_settled_round(coding.state, name)
        )


def needs_view_consent(study: StudyOrSession, name: str, viewer: Viewer) -> bool:
    """Returns whether the viewer must first consent to seeing others' ratings; raises if they may not see them."""
    with open_coding(study) as coding:
        list_visible_cases(coding.state, name, viewer.name, coding.lead)
        return needs_consent(coding.state, name, viewer.name)


def record_disagreements_view(study: StudyOrSession, name: str, viewer: Viewer) -> None:
    """Records that the viewer sees the disagreements of a closed round; raises if they may not."""
    with open_coding(study) as coding:
        list_visible_cases(coding.state, name, viewer.name, coding.lead)
        record_view(coding, name, viewer.name)


def list_disagreements_page(
    study: StudyOrSession, name: str, viewer: Viewer, filters: DisagreementFilter
) -> DisagreementList:
    """Returns the filtered list of disagreements; raises StateError before consent."""
    with open_coding(study) as coding:
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
    study: StudyOrSession,
    name: str,
    viewer: Viewer,
    item: str,
    facet: str,
    filters: DisagreementFilter,
    mask: TextMask | None = None,
) -> Case:
    """Returns one disagreement with known names masked, and the open ones before and after it."""
    with open_coding(study) as coding:
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
        earlier, later = ([key for key, is_earlier in neighbours if is_earlier is before] for before in (True, False))
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
            formatter.build_proposal(case),
            formatter.name_not_asked(case),
        )
    return _mask_case(page, book, mask) if mask else page  # masking is slow, so it happens outside the lock


def _mask_case(case: Case, book: Codebook, mask: TextMask) -> Case:
    remarks = (replace(remark, text=mask.mask(remark.text), answer=mask.mask(remark.answer)) for remark in case.remarks)
    outcomes = (_mask_decided(outcome, case.item, book, mask) for outcome in case.outcomes)
    question = mask_question(case.question, case.item, book, mask)
    proposal = _mask_decided(case.proposal, case.item, book, mask) if case.proposal else None
    return replace(case, question=question, remarks=tuple(remarks), outcomes=tuple(outcomes), proposal=proposal)


def _mask_decided(decided: Decided, item: str, book: Codebook, mask: TextMask) -> Decided:
    quotes = list_quotes(decided.answer, item, book, mask)
    return replace(decided, label=mask.mask(decided.label), reason=mask.mask(decided.reason), quotes=quotes)


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
    study: StudyOrSession,
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
    mask: TextMask | None = None,
) -> int:
    """Settles a case from a form; returns the number of the act."""
    with open_coding(study) as coding:
        _require_recorded_view(coding, name, viewer)
        round_state = coding.state.round(name)
        facet_plan = find_facet(round_state, facet)
        answers = [answer for _, answer in list_answers(round_state, item, facet_plan.id)]
        tie_comment = round_state.tie_comments.get((item, facet_plan.id))
        answers += [tie_comment.answer] if tie_comment is not None else []
        answer = read_submitted_answer(facet_plan, submitted, answers, item, mask)
        return settle_item(coding, name, viewer.name, item, facet_plan.id, answer, how, reason, seen=seen, key=key)


def assent_case(
    study: StudyOrSession, name: str, viewer: Viewer, item: str, facet: str, proposal: int, *, key: str
) -> bool:
    """Records the viewer's assent to a proposal; returns whether that settles the case."""
    with open_coding(study) as coding:
        _require_recorded_view(coding, name, viewer)
        return assent_to_proposal(coding, name, viewer.name, item, facet or None, proposal=proposal, key=key)


def comment_case(
    study: StudyOrSession, name: str, viewer: Viewer, item: str, facet: str, text: str, *, key: str
) -> int:
    """Comments on a case; returns the number of the act."""
    with open_coding(study) as coding:
        _require_recorded_view(coding, name, viewer)
        return comment_on_item(coding, name, viewer.name, item, facet, text, key=key)


def settle_all_agreed(study: StudyOrSession, name: str, viewer: Viewer) -> int:
    """Records decisions for all answers that the raters agree on; returns how many."""
    with open_coding(study) as coding:
        require_lead(coding, viewer.name, "record the answers that raters agree on")
        _require_recorded_view(coding, name, viewer)
        return settle_agreed(coding, name, viewer.name)


def mask_names(study: StudyOrSession, name: str, viewer: Viewer, text: str) -> str:
    """Masks the names in a sentence about a round that the viewer may not see."""
    with open_coding(study) as coding:
        return Visibility(coding.state, coding.lead, viewer).mask_people(name, text)


def list_next_steps(study: Study, state: State, name: str) -> tuple[str, ...]:
    """Returns what waits for the decisions of a round, one sentence each."""
    left = count_undecided_agreements(state, name)
    agreed = [f"The lead must record {left:,} answers on which all raters agree."] if left else []
    steps = [
        f"The step {step.step!r} of the funnel uses this round: run the funnel again."
        for strand in study.in_each_strand()
        for step in strand.funnel.steps
        if step.round == name
    ]
    rounds = [
        f"The round {round_state.round!r} waits for this one: the lead can open it."
        for round_state in study.settings.rounds
        if round_state.round not in state.rounds and name in (round_state.items.kept_by, *round_state.confirms)
    ]
    return (*agreed, *steps, *rounds)


def find_facet(round_state: RoundState, facet: str) -> Facet:
    """Returns a facet of a round; the name may be empty if there is only one."""
    if not facet and len(round_state.plan.facets) == 1:
        return round_state.plan.facets[0]
    match = next((known for known in round_state.plan.facets if known.id == facet), None)
    if match is None:
        raise InputError(f"The round {round_state.plan.round!r} has no facet {facet!r}: choose a case from the list.")
    return match


def _open_cases(coding: CodingSession, name: str, viewer: Viewer) -> tuple[list[Disagreement], CaseFormatter]:
    state = coding.state
    disagreements = list_visible_cases(state, name, viewer.name, coding.lead)
    _require_recorded_view(coding, name, viewer)
    return disagreements, CaseFormatter(state, Visibility(state, coding.lead, viewer), state.round(name))


def _require_recorded_view(coding: CodingSession, name: str, viewer: Viewer) -> None:
    """Raises StateError if the viewer must consent first; otherwise records the view."""
    if coding.state.round(name).status != CLOSED:
        return
    if needs_consent(coding.state, name, viewer.name):
        raise StateError(f"Seeing the disagreements of {name!r} is recorded: confirm that on their page first.")
    record_view(coding, name, viewer.name)

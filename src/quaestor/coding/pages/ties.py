"""The tie-breaker's pages: answers and their meaning, without the raters' names and without their discussion."""

from __future__ import annotations

from dataclasses import dataclass, replace

from quaestor.base.errors import InputError
from quaestor.coding.disagreements import break_tie, list_recorded_tie_cases
from quaestor.coding.model.answers import name_answer
from quaestor.coding.model.decisions import is_settled_round
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.records import Codebook, Facet, TieCase
from quaestor.coding.model.settlement import TIE_BREAKER, list_settlement_methods
from quaestor.coding.model.state import CLOSED, RoundState, State
from quaestor.coding.model.views import list_tie_cases
from quaestor.coding.pages.disagreements import Key, find_facet
from quaestor.coding.pages.disputed_answers import (
    DisputeQuestion,
    Quote,
    SubmittedAnswer,
    build_question,
    list_quotes,
    mask_question,
    read_submitted_answer,
)
from quaestor.coding.session import CodingSession, StudyOrSession, open_coding
from quaestor.coding.visibility import Viewer, Visibility
from quaestor.people.roles import Role
from quaestor.study.contributions import TextMask


@dataclass(frozen=True)
class TieProposal:
    """A decision that waits for the tie-breaker's assent, without the name of the person who proposed it."""

    number: int
    label: str
    reason: str
    answer: object = None
    quotes: tuple[Quote, ...] = ()
    """The coded passages of the proposal."""


@dataclass(frozen=True)
class TieCasePage:
    """One case as the tie-breaker sees it."""

    round: str
    item: str
    question: DisputeQuestion
    answer: str
    """The tie-breaker's answer; empty if there is none yet."""
    text: str
    is_settled: bool
    may_settle: bool
    must_settle: bool
    before: Key | None
    after: Key | None
    done: int
    total: int
    proposal: TieProposal | None = None


@dataclass(frozen=True)
class TieRow:
    """One case in the tie-breaker's list."""

    item: str
    facet: str
    answers: tuple[str, ...]
    answer: str
    is_settled: bool
    awaits_assent: bool


@dataclass(frozen=True)
class TieList:
    """All cases of a round for its tie-breaker."""

    round: str
    facets: tuple[str, ...]
    rows: tuple[TieRow, ...]
    done: int
    total: int
    is_settled: bool
    """Whether every case is settled, so that names are shown."""


def list_ties(study: StudyOrSession, name: str, actor: str) -> TieList:
    """Returns the cases of a round, answered or not."""
    with open_coding(study) as coding:
        cases = list_recorded_tie_cases(coding, name, actor)
        state = coding.state
        round_state = state.round(name)
        rows = tuple(_build_row(round_state, state, case) for case in cases)
        facets = tuple(facet.id for facet in round_state.plan.facets)
        done = sum(case.is_done for case in cases)
        return TieList(
            name, facets, rows, done, len(cases), round_state.status == CLOSED and is_settled_round(state, name)
        )


def build_tie(
    study: StudyOrSession, name: str, actor: str, item: str = "", facet: str = "", mask: TextMask | None = None
) -> TieCasePage | None:
    """Returns a case, by default the next unanswered one, with known names masked; None if none is left."""
    with open_coding(study) as coding:
        cases = list_recorded_tie_cases(coding, name, actor)
        state = coding.state
        if item:
            position = next(
                (number for number, case in enumerate(cases) if case.item == item and facet in ("", case.facet)), None
            )
            if position is None:
                raise InputError(f"{item!r} is not a case of {name!r}: choose one from the list.")
        else:
            position = next((number for number, case in enumerate(cases) if not case.is_done), None)
            if position is None:
                return None
        case = cases[position]
        tie = _build_tie(state, name, cases, position, _build_proposal(coding, name, actor, case))
        book = state.history.at(state.round(name).plan.codebook)
    # Masking is slow, so it happens outside the lock.
    return _mask_tie(tie, book, mask) if mask else tie


def _mask_tie(tie: TieCasePage, book: Codebook, mask: TextMask) -> TieCasePage:
    proposal = tie.proposal
    if proposal is not None:
        quotes = list_quotes(proposal.answer, tie.item, book, mask)
        proposal = replace(proposal, label=mask.mask(proposal.label), reason=mask.mask(proposal.reason), quotes=quotes)
    return replace(tie, question=mask_question(tie.question, tie.item, book, mask), proposal=proposal)


def answer_tie(
    study: StudyOrSession,
    name: str,
    actor: str,
    item: str,
    facet: str,
    submitted: SubmittedAnswer,
    text: str,
    *,
    settling: bool,
    key: str,
    mask: TextMask | None = None,
) -> int:
    """Records the tie-breaker's answer, and the decision if it is requested or the round leaves it to them alone."""
    with open_coding(study) as coding:
        round_state = coding.state.round(name)
        facet_plan = find_facet(round_state, facet)
        answers = [
            answer
            for case in list_tie_cases(coding.state, name, actor)
            if (case.item, case.facet) == (item, facet_plan.id)
            for answer in case.answers
        ]
        answer = read_submitted_answer(facet_plan, submitted, answers, item, mask)
        settles = settling or _must_settle(round_state)
        return break_tie(coding, name, actor, item, facet_plan.id, answer, text, settling=settles, key=key)


def _must_settle(round_state: RoundState) -> bool:
    return list_settlement_methods(round_state.plan) == (TIE_BREAKER,)


def _build_row(round_state: RoundState, state: State, case: TieCase) -> TieRow:
    answers = dict.fromkeys(_name_answer(round_state, state, case.facet, answer) for answer in case.answers)
    answer = _name_answer(round_state, state, case.facet, case.comment.answer) if case.comment else ""
    return TieRow(case.item, case.facet, tuple(answers), answer, case.settled, case.proposal is not None)


def _name_answer(round_state: RoundState, state: State, facet: str, answer: object) -> str:
    return name_answer(round_state.plan.facet(facet), state.history.at(round_state.plan.codebook), answer)


def _build_proposal(coding: CodingSession, name: str, actor: str, case: TieCase) -> TieProposal | None:
    if case.proposal is None:
        return None
    state = coding.state
    visibility = Visibility(state, coding.lead, Viewer(actor, Role.TIE_BREAKER))
    label = _name_answer(state.round(name), state, case.facet, case.proposal.answer)
    return TieProposal(
        case.proposal.number, label, visibility.mask_people(name, case.proposal.reason), case.proposal.answer
    )


def _build_tie(
    state: State, name: str, cases: list[TieCase], position: int, proposal: TieProposal | None
) -> TieCasePage:
    round_state, case = state.round(name), cases[position]
    facet: Facet = round_state.plan.facet(case.facet)
    left = [number for number, other in enumerate(cases) if number != position and not other.is_done]
    earlier, later = [number for number in left if number < position], [number for number in left if number > position]
    after = next(iter([*later, *earlier]), None)
    must = _must_settle(round_state)
    proposed = round_state.plan.proposals.get(case.item, {}) if find_kind(facet).confirms_proposal else {}
    answers = [(answer, None) for answer in case.answers]
    return TieCasePage(
        name,
        case.item,
        build_question(facet, state.history.at(round_state.plan.codebook), answers, proposed, judging=not must),
        _name_answer(round_state, state, case.facet, case.comment.answer) if case.comment else "",
        case.comment.text if case.comment else "",
        case.settled,
        TIE_BREAKER in list_settlement_methods(round_state.plan),
        must,
        _key(cases[earlier[-1]]) if earlier else None,
        _key(cases[after]) if after is not None else None,
        sum(other.is_done for other in cases),
        len(cases),
        proposal,
    )


def _key(case: TieCase) -> Key:
    return case.item, case.facet

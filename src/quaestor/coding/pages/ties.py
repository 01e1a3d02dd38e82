"""The tie-breaker's pages: answers and their meaning, without the raters' names and without their discussion."""

from __future__ import annotations

from dataclasses import dataclass, replace

from quaestor.base.errors import InputError
from quaestor.coding.disagreements import break_tie, list_recorded_tie_cases
from quaestor.coding.model.answers import name_answer
from quaestor.coding.model.decisions import is_settled_round
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.records import Facet, TieCase
from quaestor.coding.model.settlement import TIE_BREAKER, list_settlement_methods
from quaestor.coding.model.state import CLOSED, RoundState, State
from quaestor.coding.model.views import list_tie_cases
from quaestor.coding.pages.disagreements import Key, find_facet
from quaestor.coding.pages.disputed_answers import (
    DisputeQuestion,
    SubmittedAnswer,
    build_question,
    mask_question,
    read_submitted_answer,
)
from quaestor.coding.session import StudyOrSession, open_coding
from quaestor.study.contributions import TextMask


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


@dataclass(frozen=True)
class TieRow:
    """One case in the tie-breaker's list."""

    item: str
    facet: str
    answers: tuple[str, ...]
    answer: str
    is_settled: bool


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
        done = sum(_is_done(case) for case in cases)
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
            position = next((number for number, case in enumerate(cases) if not _is_done(case)), None)
            if position is None:
                return None
        tie = _build_tie(state, name, cases, position)
        book = state.history.at(state.round(name).plan.codebook)
    # Masking is slow, so it happens outside the lock.
    return replace(tie, question=mask_question(tie.question, tie.item, book, mask)) if mask else tie


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
        answer = read_submitted_answer(facet_plan, submitted, answers)
        settles = settling or _must_settle(round_state)
        return break_tie(coding, name, actor, item, facet_plan.id, answer, text, settling=settles, key=key)


def _is_done(case: TieCase) -> bool:
    return case.settled or case.comment is not None


def _must_settle(round_state: RoundState) -> bool:
    return list_settlement_methods(round_state.plan) == (TIE_BREAKER,)


def _build_row(round_state: RoundState, state: State, case: TieCase) -> TieRow:
    answers = dict.fromkeys(_name_answer(round_state, state, case.facet, answer) for answer in case.answers)
    answer = _name_answer(round_state, state, case.facet, case.comment.answer) if case.comment else ""
    return TieRow(case.item, case.facet, tuple(answers), answer, case.settled)


def _name_answer(round_state: RoundState, state: State, facet: str, answer: object) -> str:
    return name_answer(round_state.plan.facet(facet), state.history.at(round_state.plan.codebook), answer)


def _build_tie(state: State, name: str, cases: list[TieCase], position: int) -> TieCasePage:
    round_state, case = state.round(name), cases[position]
    facet: Facet = round_state.plan.facet(case.facet)
    left = [number for number, other in enumerate(cases) if number != position and not _is_done(other)]
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
        sum(_is_done(other) for other in cases),
        len(cases),
    )


def _key(case: TieCase) -> Key:
    return case.item, case.facet

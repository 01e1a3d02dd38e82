"""Lists, comments on and settles disagreements; each person gets only what they may see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or
from quaestor.coding.model.answers import check_answer, write_cell
from quaestor.coding.model.decisions import (
    TIE_BREAKER,
    build_agreed_act,
    build_comment_act,
    build_decision_act,
    build_tie_act,
    is_simulated,
    list_disagreements,
)
from quaestor.coding.model.records import Decision, RoundPlan, TieCase
from quaestor.coding.model.state import State
from quaestor.coding.model.views import list_tie_cases, list_visible_disagreements
from quaestor.coding.rating_files import record_view
from quaestor.coding.session import CodingSession, StudyOrSession, open_coding
from quaestor.store.records import Act, NewAct


def list_disagreement_rows(
    study: StudyOrSession, name: str, actor: str | None, *, open_only: bool, item: str | None, answer: str | None
) -> list[dict[str, Any]]:
    """Returns the disagreements of a closed round as far as the actor may see them, and records the view."""
    with open_coding(study) as coding:
        who = actor or coding.lead
        state = coding.state
        plan = state.round(name).plan
        if who == plan.tie_breaker:
            rows = _list_tie_rows(coding, name, who)
        else:
            cases = list_visible_disagreements(state, name, who, coding.lead)
            record_view(coding, name, who)
            rows = [
                {
                    "item": case.item,
                    "facet": case.facet,
                    "answers": [
                        (rater, write_cell(plan.facet(case.facet), given_answer))
                        for rater, given_answer in case.answers
                    ],
                    "simulated": is_simulated(state.round(name), case.item),
                    "comments": [
                        {"actor": comment.actor, "text": comment.text, "time": comment.time}
                        for comment in case.comments
                    ],
                    "tie_comment": write_cell(plan.facet(case.facet), case.tie_comment.answer)
                    if case.tie_comment
                    else "",
                    "tie_text": case.tie_comment.text if case.tie_comment else "",
                    **_build_outcome(plan, case.decision),
                }
                for case in cases
            ]
    return [
        case
        for case in rows
        if not (open_only and case["decision"])
        and item in (None, case["item"])
        and (answer is None or any(answer.casefold() in given_answer.casefold() for _, given_answer in case["answers"]))
    ]


def list_recorded_tie_cases(coding: CodingSession, name: str, actor: str) -> list[TieCase]:
    """Returns the cases of a round for its tie-breaker; if there are any, records that ratings were seen."""
    cases = list_tie_cases(coding.state, name, actor)
    if cases:
        record_view(coding, name, actor)
    return cases


def _list_tie_rows(coding: CodingSession, name: str, who: str) -> list[dict[str, Any]]:
    state = coding.state
    plan = state.round(name).plan
    decisions = {
        (disagreement.item, disagreement.facet): disagreement.decision
        for disagreement in list_disagreements(state, name)
    }
    return [
        {
            "item": case.item,
            "facet": case.facet,
            "answers": [("", write_cell(plan.facet(case.facet), answer)) for answer in case.answers],
            "simulated": is_simulated(state.round(name), case.item),
            "comments": [],
            "tie_comment": write_cell(plan.facet(case.facet), case.comment.answer) if case.comment else "",
            "tie_text": case.comment.text if case.comment else "",
            **_build_outcome(plan, decisions[case.item, case.facet] if case.comment else None),
        }
        for case in list_recorded_tie_cases(coding, name, who)
    ]


def _build_outcome(plan: RoundPlan, decision: Decision | None) -> dict[str, str]:
    if decision is None:
        return {"decision": "", "how": ""}
    answer = write_cell(plan.facet(decision.facet), decision.answer)
    return {"decision": answer, "how": decision.how + (", simulated" if decision.simulated else "")}


def settle_agreed(study: StudyOrSession, name: str, actor: str | None) -> int:
    with open_coding(study) as coding:
        acts = coding.act(lambda state: build_agreed_act(state, name, actor or coding.lead))
        return sum(len(act.payload["decisions"]) for act in acts)


def comment_on_item(
    study: StudyOrSession, name: str, actor: str, item: str, facet: str | None, text: str, *, key: str = ""
) -> int:
    """Comments on a disagreement; sending it twice with the same key records it once."""
    with open_coding(study) as coding:

        def act(state: State) -> NewAct:
            facet_id = _find_facet(state, name, facet)
            return _set_key(build_comment_act(state, name, actor, item, facet_id, text, lead=coding.lead), key)

        def same(state: State, known: Act) -> bool:
            payload = {"round": name, "item": item, "facet": _find_facet(state, name, facet), "text": text}
            return _is_repeat(known, "comment", actor, payload)

        acts = coding.act(act, key, same)
        record_view(coding, name, actor)
        return acts[0].number


def break_tie(
    study: StudyOrSession,
    name: str,
    actor: str,
    item: str,
    facet: str | None,
    answer: Any,
    text: str,
    *,
    settling: bool = False,
    key: str = "",
) -> int:
    """Records the tie-breaker's own answer and, with `settling`, the decision."""
    with open_coding(study) as coding:

        def act(state: State) -> list[NewAct]:
            facet_id = _find_facet(state, name, facet)
            payload = _set_key(build_tie_act(state, name, actor, item, facet_id, answer, text), key)
            if not settling:
                return [payload]
            return [
                payload,
                build_decision_act(state, name, actor, item, facet_id, answer, TIE_BREAKER, text, lead=coding.lead),
            ]

        def same(state: State, known: Act) -> bool:
            facet_id = _find_facet(state, name, facet)
            value = _check_answer(state, name, facet_id, answer)
            payload = {"round": name, "item": item, "facet": facet_id, "answer": value, "text": text}
            expected = (known.number + 1, actor, TIE_BREAKER)
            decisions = [
                decision
                for decision in state.round(name).decisions.get((item, facet_id), ())
                if (decision.number, decision.actor, decision.how) == expected
            ]
            return _is_repeat(known, "tie.comment", actor, payload, bool(decisions) is settling)

        return coding.act(act, key, same)[0].number


def settle_item(
    study: StudyOrSession,
    name: str,
    actor: str | None,
    item: str,
    facet: str | None,
    answer: Any,
    how: str,
    reason: str,
    *,
    seen: int | None = None,
    key: str = "",
) -> int:
    """Settles a disagreement; raises StateError if the case has more decisions than the `seen` ones."""
    with open_coding(study) as coding:
        who = actor or coding.lead

        def act(state: State) -> NewAct:
            facet_id = _find_facet(state, name, facet)
            decision = state.round(name).decisions.get((item, facet_id))
            if seen is not None and decision and len(decision) > seen:
                raise StateError(
                    "Somebody settled this case in the meantime: read the decision, and settle the case again if you "
                    "disagree."
                )
            return _set_key(
                build_decision_act(state, name, who, item, facet_id, answer, how, reason, lead=coding.lead), key
            )

        def same(state: State, known: Act) -> bool:
            facet_id = _find_facet(state, name, facet)
            entry = {
                "item": item,
                "facet": facet_id,
                "answer": _check_answer(state, name, facet_id, answer),
                "how": how,
            }
            payload = {"round": name, "decisions": [entry], **({"reason": reason} if reason else {})}
            return _is_repeat(known, "decision", who, payload)

        acts = coding.act(act, key, same)
        record_view(coding, name, who)
        return acts[0].number


def _set_key(act: NewAct, key: str) -> NewAct:
    return replace(act, key=key) if key else act


def _is_repeat(known: Act, kind: str, actor: str, payload: Mapping[str, Any], same_decision: bool = True) -> bool:
    """Returns whether a recorded act is the one that is sent again; keys belong to their sender."""
    if known.actor != actor:
        return False
    if known.kind != kind or known.payload != payload or not same_decision:
        raise StateError(
            "This form was already sent with different content: check what was saved, "
            "and send it again from a new page if it is wrong."
        )
    return True


def _check_answer(state: State, name: str, facet: str, answer: Any) -> Any:
    plan = state.round(name).plan
    return check_answer(plan.facet(facet), state.history.at(plan.codebook), answer)


def _find_facet(state: State, name: str, facet: str | None) -> str:
    names = [facet_plan.id for facet_plan in state.round(name).plan.facets]
    if facet is None and len(names) > 1:
        raise InputError(f"the round {name!r} has several facets: name one with --facet: {join_with_or(names)}")
    return facet or names[0]

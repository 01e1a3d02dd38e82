"""Lists, comments on and settles disagreements; each person gets only what they may see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or
from quaestor.coding.model.answers import check_answer, write_cell
from quaestor.coding.model.conditions import has_conditions
from quaestor.coding.model.decisions import (
    build_agreed_act,
    is_simulated,
    list_dependent_cases,
    list_disagreements,
    list_not_asked,
    list_word_differences,
)
from quaestor.coding.model.facet_kinds.passages import require_passage_facet
from quaestor.coding.model.passage_choices import PassageChoice, align_passages, build_chosen_answer
from quaestor.coding.model.records import Decision, RoundPlan, TieCase
from quaestor.coding.model.settlement import (
    DISCUSSION,
    TIE_BREAKER,
    TOGETHER,
    build_assent_acts,
    build_comment_act,
    build_settling_acts,
    build_tie_act,
)
from quaestor.coding.model.state import State
from quaestor.coding.model.views import list_tie_cases, list_visible_cases
from quaestor.coding.rating_files import record_view
from quaestor.coding.session import CodingSession, StudyOrSession, open_coding, require_lead
from quaestor.store.records import Act, NewAct
from quaestor.study.features import open_known_names


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
            cases = list_visible_cases(state, name, who, coding.lead)
            record_view(coding, name, who)
            rows = [
                {
                    "item": case.item,
                    "facet": case.facet,
                    "answers": [
                        (rater, write_cell(plan.facet(case.facet), given_answer))
                        for rater, given_answer in case.answers
                    ],
                    "not_asked": list_not_asked(state.round(name), case.item, plan.facet(case.facet)),
                    "simulated": is_simulated(state.round(name), case.item),
                    "comments": [
                        {"actor": comment.actor, "text": comment.text, "time": comment.time}
                        for comment in case.comments
                    ],
                    "tie_comment": write_cell(plan.facet(case.facet), case.tie_comment.answer)
                    if case.tie_comment
                    else "",
                    "tie_text": case.tie_comment.text if case.tie_comment else "",
                    "proposal": write_cell(plan.facet(case.facet), case.proposal.answer) if case.proposal else "",
                    "assents": list(case.proposal.assents) if case.proposal else [],
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
        for disagreement in [*list_disagreements(state, name), *list_dependent_cases(state, name)]
    }
    return [
        {
            "item": case.item,
            "facet": case.facet,
            "answers": [("", write_cell(plan.facet(case.facet), answer)) for answer in case.answers],
            "not_asked": [],
            "simulated": is_simulated(state.round(name), case.item),
            "comments": [],
            "tie_comment": write_cell(plan.facet(case.facet), case.comment.answer) if case.comment else "",
            "tie_text": case.comment.text if case.comment else "",
            "proposal": "",
            "assents": [],
            **_build_outcome(plan, decisions[case.item, case.facet] if case.comment else None),
        }
        for case in list_recorded_tie_cases(coding, name, who)
    ]


def _build_outcome(plan: RoundPlan, decision: Decision | None) -> dict[str, str]:
    if decision is None:
        return {"decision": "", "how": ""}
    answer = write_cell(plan.facet(decision.facet), decision.answer)
    return {"decision": answer, "how": decision.how + (", simulated" if decision.simulated else "")}


def settle_agreed(study: StudyOrSession, name: str, actor: str | None, incomplete: str = "") -> int:
    """Decides what raters agree on and returns how many; `incomplete` is the reason to decide single ratings too."""
    with open_coding(study) as coding:
        who = actor or coding.lead
        if incomplete:
            require_lead(coding, actor, "decide answers that fewer raters gave than planned")
        return _record_agreed(coding, name, who, incomplete=incomplete)


def _record_agreed(coding: CodingSession, name: str, actor: str, *, incomplete: str = "", item: str = "") -> int:
    """Records the answers on which the raters agree, then those that these decisions require; returns how many."""
    count = 0
    while acts := coding.act(lambda state: build_agreed_act(state, name, actor, incomplete=incomplete, item=item)):
        count += sum(len(act.payload["decisions"]) for act in acts)
    return count


def _record_dependent_answers(coding: CodingSession, name: str, actor: str, item: str) -> None:
    """Decides the agreed answers of an item that count because of the decision just recorded on another facet."""
    if has_conditions(coding.state.round(name).plan):
        _record_agreed(coding, name, actor, item=item)


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
                *build_settling_acts(state, name, actor, item, facet_id, answer, TIE_BREAKER, text, lead=coding.lead),
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

        number = coding.act(act, key, same)[0].number
        _record_dependent_answers(coding, name, actor, item)
        return number


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
    """Settles a disagreement, or proposes how if others must assent; returns the number of the first act.

    Raises StateError if the case has more decisions than the `seen` ones.
    """
    with open_coding(study) as coding:
        who = actor or coding.lead

        def act(state: State) -> list[NewAct]:
            facet_id = _find_facet(state, name, facet)
            decision = state.round(name).decisions.get((item, facet_id))
            if seen is not None and decision and len(decision) > seen:
                raise StateError(
                    "Somebody settled this case in the meantime: read the decision, and settle the case again if you "
                    "disagree."
                )
            acts = build_settling_acts(state, name, who, item, facet_id, answer, how, reason, lead=coding.lead)
            return [_set_key(acts[0], key), *acts[1:]]

        def same(state: State, known: Act) -> bool:
            facet_id = _find_facet(state, name, facet)
            entry = {
                "item": item,
                "facet": facet_id,
                "answer": _check_answer(state, name, facet_id, answer),
                "how": how,
            }
            more = {"reason": reason} if reason else {}
            if how in (DISCUSSION, TOGETHER):
                return _is_repeat(known, "decision.propose", who, {"round": name, **entry, **more})
            return _is_repeat(known, "decision", who, {"round": name, "decisions": [entry], **more})

        acts = coding.act(act, key, same)
        _record_dependent_answers(coding, name, who, item)
        record_view(coding, name, who)
        return acts[0].number


def assent_to_proposal(
    study: StudyOrSession,
    name: str,
    actor: str,
    item: str,
    facet: str | None,
    *,
    proposal: int | None = None,
    key: str = "",
) -> bool:
    """Records an assent to a proposed decision; returns whether it was the last one, which settles the case."""
    with open_coding(study) as coding:

        def act(state: State) -> list[NewAct]:
            acts = build_assent_acts(state, name, actor, item, _find_facet(state, name, facet), proposal)
            return [_set_key(acts[0], key), *acts[1:]]

        def same(state: State, known: Act) -> bool:
            facet_id = _find_facet(state, name, facet)
            sent = {"round": name, "item": item, "facet": facet_id, "proposal": known.payload.get("proposal")}
            return _is_repeat(known, "decision.assent", actor, sent)

        coding.act(act, key, same)
        _record_dependent_answers(coding, name, actor, item)
        record_view(coding, name, actor)
        return (item, _find_facet(coding.state, name, facet)) not in coding.state.round(name).proposals


def list_aligned_passages(
    study: StudyOrSession, name: str, actor: str | None, item: str, facet: str | None = None
) -> list[dict[str, Any]]:
    """Returns the raters' passages of a disputed item next to each other and records the view."""
    with open_coding(study) as coding, open_known_names(coding) as mask:
        answered = _list_visible_answers(coding, name, actor or coding.lead, item, facet)
        rows = align_passages([answer for _, answer in answered])
        spans = [(version.passage.start, version.passage.end) for row in rows for version in row.versions]
        words = iter(mask.passages(item, spans) or [""] * len(spans))
        return [
            {
                "passage": number,
                "agreed": row.agreed,
                "versions": [
                    {
                        "version": version.letter,
                        "raters": [answered[answer][0] for answer in version.answers if answered[answer][0]],
                        **version.passage.payload(),
                        "words": next(words),
                    }
                    for version in row.versions
                ],
            }
            for number, row in enumerate(rows, start=1)
        ]


def build_answer_by_passage(
    study: StudyOrSession,
    name: str,
    actor: str | None,
    item: str,
    facet: str | None,
    choices: Mapping[int, PassageChoice],
) -> list[dict[str, Any]]:
    """Returns the answer of a disputed item that the choices for its passages lead to."""
    with open_coding(study) as coding, open_known_names(coding) as mask:
        answered = _list_visible_answers(coding, name, actor or coding.lead, item, facet)
        return build_chosen_answer(
            align_passages([answer for _, answer in answered]), choices, partial(mask.locate, item)
        )


def _list_visible_answers(
    coding: CodingSession, name: str, who: str, item: str, facet: str | None
) -> list[tuple[str, Any]]:
    """Returns the answers of a disputed item with their raters, whom a tie-breaker does not see."""
    require_passage_facet(coding.state.round(name).plan)
    facet_id = _find_facet(coding.state, name, facet)
    if who == coding.state.round(name).plan.tie_breaker:
        ties = list_recorded_tie_cases(coding, name, who)
        answers = [
            [("", answer) for answer in tie.answers] for tie in ties if (tie.item, tie.facet) == (item, facet_id)
        ]
    else:
        cases = [
            *list_visible_cases(coding.state, name, who, coding.lead),
            *list_word_differences(coding.state, name),
        ]
        record_view(coding, name, who)
        answers = [list(case.answers) for case in cases if (case.item, case.facet) == (item, facet_id)]
    if not answers:
        raise InputError(f"the raters of {name!r} do not differ on {item!r}: run `quaestor decisions list {name}`")
    return answers[0]


def is_proposed(study: StudyOrSession, name: str, item: str, facet: str | None) -> bool:
    """Returns whether a case has a proposal that waits for assents."""
    with open_coding(study) as coding:
        return (item, _find_facet(coding.state, name, facet)) in coding.state.round(name).proposals


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

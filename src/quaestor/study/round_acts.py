"""What the lead does with rounds, and what a rater sees of them, one act a function."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from quaestor.coding.rounds import close_round, next_set, reopen_round, replace_rater, set_deadline, waive_gate
from quaestor.coding.state import State
from quaestor.coding.views import rater_view
from quaestor.store.records import NewAct
from quaestor.study.coding import Coding, Decide, Where, open_coding, require_lead, require_part
from quaestor.study.moments import in_utc
from quaestor.study.rounds import open_named, summary


def all_rounds(study: Where) -> list[dict[str, Any]]:
    """The rounds of the study file and the journal, and where each stands."""
    with open_coding(study) as coding:
        state = coding.state
        found = []
        for one in coding.study.settings.rounds:
            if one.round in state.rounds:
                found.append(summary(state.rounds[one.round]))
            else:
                raters = list(one.raters)
                found.append(_unopened(one.round, one.kind, raters))
        named = {one.round for one in coding.study.settings.rounds}
        return found + [summary(one) for name, one in state.rounds.items() if name not in named]


def _unopened(name: str, kind: str, raters: list[str]) -> dict[str, Any]:
    nothing = {"items": 0, "set": 0, "sets": 0, "codebook": 0, "missing": 0, "ratings": 0, "hours": {}}
    words = {"deadline": "", "waived": "", "incomplete": "", "final": False, "blindness": ""}
    return {
        "round": name, "kind": kind, "status": "not opened", "raters": raters, "simulated": False, **nothing, **words
    }  # fmt: skip


def open_by_name(study: Where, name: str, actor: str | None) -> dict[str, Any]:
    """Open a round; others go on while its items are chosen."""
    with nullcontext(study) if isinstance(study, Coding) else open_coding(study) as coding:
        open_named(coding, name, require_lead(coding, actor, "open rounds"))
        with coding.looking() as state:
            return summary(state.round(name))


def close_by_name(
    study: Where, name: str, actor: str | None, incomplete: str = "", *, final: bool = False
) -> dict[str, Any]:
    def decide(coding: Coding) -> Decide:
        lead = require_lead(coding, actor, "change rounds")
        return lambda state: close_round(state, name, lead, incomplete, final=final)

    return _act(study, name, decide)


def reopen_by_name(
    study: Where, name: str, actor: str | None, reason: str, *, not_blind: bool = False
) -> dict[str, Any]:
    def decide(coding: Coding) -> Decide:
        lead = require_lead(coding, actor, "change rounds")
        return lambda state: reopen_round(state, name, lead, reason, not_blind=not_blind)

    return _act(study, name, decide)


def waive_by_name(study: Where, name: str, actor: str | None, reason: str) -> dict[str, Any]:
    return _act(
        study,
        name,
        lambda coding: lambda state: waive_gate(state, name, require_lead(coding, actor, "change rounds"), reason),
    )


def replace_by_name(study: Where, name: str, actor: str | None, rater: str, by: str, reason: str) -> dict[str, Any]:
    return _act(
        study,
        name,
        lambda coding: (
            lambda state: replace_rater(state, name, require_lead(coding, actor, "change rounds"), rater, by, reason)
        ),
    )


def next_set_by_name(study: Where, name: str, actor: str | None) -> dict[str, Any]:
    return _act(study, name, lambda coding: _next_set(coding, name, actor))


def _next_set(coding: Coding, name: str, actor: str | None) -> Decide:
    who = require_part(coding, name, actor or coding.lead)
    return lambda state: next_set(state, name, who)


def deadline_by_name(study: Where, name: str, actor: str | None, until: str) -> dict[str, Any]:
    moment = in_utc(until)

    def decide(coding: Coding) -> Decide:
        def act(state: State) -> NewAct:
            return set_deadline(state, name, require_lead(coding, actor, "change rounds"), moment)

        return act

    return _act(study, name, decide)


def items_for(study: Where, name: str, rater: str, *, left_only: bool) -> list[dict[str, Any]]:
    """A rater's items in the rater's own order."""
    with open_coding(study) as coding:
        view = rater_view(coding.state, name, rater)
    return [{"item": item, "rated": item not in view.left} for item in view.items if item in view.left or not left_only]


def _act(study: Where, name: str, decide: Any) -> dict[str, Any]:
    with open_coding(study) as coding:
        coding.act(decide(coding))
        return summary(coding.state.round(name))

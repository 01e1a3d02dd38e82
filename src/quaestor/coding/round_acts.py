"""Opens, closes and changes rounds by name, and summarises them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from quaestor.base.clock import parse_utc
from quaestor.base.errors import SettingsError, StateError
from quaestor.base.names import suggest
from quaestor.coding.agreement import find_estimate
from quaestor.coding.agreement_cache import find_agreement
from quaestor.coding.model.answers import write_cell
from quaestor.coding.model.closing import build_close_acts, build_reopen_act
from quaestor.coding.model.decisions import find_decisions
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.phrases import list_agreed_phrases
from quaestor.coding.model.ratings import count_hours
from quaestor.coding.model.records import Facet, Practice, RoundPlan
from quaestor.coding.model.rounds import (
    build_deadline_act,
    build_next_set_act,
    build_open_act,
    build_replace_act,
    build_waive_act,
    count_left_by_rater,
)
from quaestor.coding.model.state import CLOSED, RoundState, State
from quaestor.coding.model.views import build_rater_view
from quaestor.coding.round_items import ChosenItems, choose_items, find_earlier_items, find_strand
from quaestor.coding.session import CodingSession, StudyOrSession, open_coding, require_lead, require_part
from quaestor.evidence.erasure import drop_withdrawn, find_origin
from quaestor.measures.records import Agreement
from quaestor.store.records import NewAct
from quaestor.study.folder import Study, open_study
from quaestor.study.session import BuildAct, Session
from quaestor.study.settings.coding import RoundSettings


def find_round_settings(study: Study, name: str) -> RoundSettings:
    for round_settings in study.settings.rounds:
        if round_settings.round == name:
            return round_settings
    options = suggest(name, [settings.round for settings in study.settings.rounds]) or "none: no rounds are defined"
    raise SettingsError(f"{study.file}: there is no round {name!r}; choose from: {options}")


def build_plan(
    study: Study,
    round_settings: RoundSettings,
    chosen: ChosenItems,
    codebook: int,
    proposals: Mapping[str, Mapping[str, str]] | None = None,
    origin: str = "",
) -> RoundPlan:
    """Builds the plan of a round of the study file for these items."""
    return RoundPlan(
        round=round_settings.round,
        kind=round_settings.kind,
        items=chosen.items,
        facets=tuple(_build_facet(study, facet) for facet in round_settings.facets),
        raters=round_settings.raters,
        codebook=codebook,
        overlap=round_settings.overlap,
        seed=round_settings.seed if round_settings.seed is not None else study.settings.study.seed,
        blind=round_settings.blind,
        statistic=round_settings.statistic,
        measured=round_settings.measured or round_settings.facets[0],
        threshold=round_settings.threshold,
        after=round_settings.after or "",
        tie_breaker=round_settings.tie_breaker or "",
        settle=round_settings.settle,
        instructions=round_settings.instructions,
        practice=tuple(
            Practice(exercise.item, exercise.answers, exercise.feedback)
            for exercise in round_settings.practice
            if drop_withdrawn(study, [exercise.item], origin)
        ),
        deadline=parse_utc(round_settings.deadline.isoformat()) if round_settings.deadline else "",
        set_size=round_settings.items.set_size or 0,
        proposals=proposals or {},
        origin=origin,
        selection=chosen.selection,
    )


def _build_facet(study: Study, name: str) -> Facet:
    settings = study.settings.facets[name]
    return Facet(
        name,
        settings.kind,
        settings.question,
        settings.codes or "",
        settings.level or "",
        settings.options,
        settings.reasons,
        settings.scale,
        settings.required,
        tuple(settings.fields.items()),
        tuple(settings.ask_if.items()),
    )


def _list_proposals(state: State, round_settings: RoundSettings, items: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Returns for each item the decisions of the earlier rounds that this round confirms."""
    proposals: dict[str, dict[str, str]] = {item: {} for item in items} if round_settings.confirms else {}
    for name in round_settings.confirms:
        before = state.round(name)
        if before.status != CLOSED:
            raise StateError(
                f"{round_settings.round!r} confirms what {name!r} decides, which is still open: close that round first"
            )
        for facet in before.plan.facets:
            answers: Mapping[str, Any]
            if find_kind(facet).unifies_words:
                phrases = list_agreed_phrases(before)
                answers = {item: {"verb": verb, "object": object_} for item, (verb, object_) in phrases.items()}
            else:
                answers = {item: decision.answer for item, decision in find_decisions(state, name, facet.id).items()}
            for item in items:
                if item in answers:
                    proposals[item][facet.id] = write_cell(facet, answers[item])
                    if find_kind(facet).unifies_words:
                        proposals[item]["object"] = answers[item]["object"]
    return proposals


def open_round(coding: CodingSession, name: str, actor: str) -> RoundState:
    """Fixes the plan of a round and opens it if the previous round allows that.

    Items are chosen without the lock, so that others can go on rating. If what they depend on changed meanwhile, the
    round is not opened.
    """
    study = coding.study
    settings = find_round_settings(study, name)
    with coding.locked_state() as state:
        known, before = find_earlier_items(study, state, settings), _build_stamp(state, settings.after)
    chosen = choose_items(study, settings, known)
    items = chosen.items
    passed = check_gate(coding, str(settings.after))[1] if before and not before.waived else None

    def build_act(state: State) -> NewAct:
        if (find_earlier_items(study, state, settings), _build_stamp(state, settings.after)) != (known, before):
            raise StateError(f"a round that {name!r} builds on has changed meanwhile: open it again")
        if find_round_settings(open_study(study.root), name) != settings:
            raise StateError(f"{name!r} has been changed in {study.file} meanwhile: look at it and open it again")
        if len(drop_withdrawn(study, items, known.origin)) < len(items):
            raise StateError(f"{name!r} has items of somebody who has withdrawn meanwhile: open it again")
        version, proposals = state.history.latest.version, _list_proposals(state, settings, items)
        origin = find_origin(find_strand(study, settings)) if known.origin is None else known.origin
        plan = build_plan(study, settings, chosen, version, proposals, origin)
        return build_open_act(state, plan, actor, passed)

    coding.act(build_act)
    return coding.state.round(name)


@dataclass(frozen=True)
class _RoundStamp:
    """What the agreement of a round, and thus its gate, depends on."""

    status: str
    closed: str
    waived: str
    unifications: int


def _build_stamp(state: State, name: str | None) -> _RoundStamp | None:
    round_state = state.rounds.get(name or "")
    return (
        _RoundStamp(round_state.status, round_state.closed, round_state.waived, len(round_state.unifications))
        if round_state
        else None
    )


def check_gate(coding: CodingSession, name: str) -> tuple[Agreement | None, bool | None]:
    """Returns the agreement of a closed round, and whether the planned statistic reached its threshold."""
    round_state = coding.state.round(name)
    if round_state.status != CLOSED or not find_kind(round_state.plan.facet(round_state.plan.measured)).is_compared:
        return None, None
    cached = find_agreement(coding, name, round_state.plan.measured)
    if cached is None:
        return None, None
    agreement = cached.agreement
    if round_state.plan.threshold is None:
        return agreement, None
    value = find_estimate(agreement, round_state.plan.statistic).value
    return agreement, value is not None and value >= round_state.plan.threshold


def summarise_round(round_state: RoundState) -> dict[str, Any]:
    """Returns the status and the counts of a round as JSON fields."""
    return {
        "round": round_state.plan.round,
        "kind": round_state.plan.kind,
        "status": round_state.status,
        "items": len(round_state.items_left()),
        "selection": round_state.plan.selection,
        "raters": [slot.label for slot in round_state.slots],
        "set": round_state.set,
        "sets": len(round_state.sets),
        "codebook": round_state.plan.codebook,
        "missing": sum(count_left_by_rater(round_state).values()),
        "ratings": round_state.rating_count,
        "hours": {rater: round(spent, 3) for rater, spent in count_hours(round_state).items()}
        if round_state.status == CLOSED
        else {},
        "simulated": round_state.simulated,
        "deadline": round_state.deadline,
        "waived": round_state.waived,
        "incomplete": round_state.incomplete,
        "final": round_state.final,
        "blindness": round_state.blindness,
    }


def list_rounds(study: StudyOrSession) -> list[dict[str, Any]]:
    """Returns the status of all rounds of the study file and the journal."""
    with open_coding(study) as coding:
        state = coding.state
        summaries = []
        for settings in coding.study.settings.rounds:
            if settings.round in state.rounds:
                summaries.append(summarise_round(state.rounds[settings.round]))
            else:
                raters = list(settings.raters)
                summaries.append(_summarise_unopened(settings.round, settings.kind, raters))
        configured = {round_state.round for round_state in coding.study.settings.rounds}
        return summaries + [
            summarise_round(round_state) for name, round_state in state.rounds.items() if name not in configured
        ]


def _summarise_unopened(name: str, kind: str, raters: list[str]) -> dict[str, Any]:
    counts = {"items": 0, "set": 0, "sets": 0, "codebook": 0, "missing": 0, "ratings": 0, "hours": {}}
    texts = {"selection": "", "deadline": "", "waived": "", "incomplete": "", "final": False, "blindness": ""}
    return {
        "round": name, "kind": kind, "status": "not opened", "raters": raters, "simulated": False, **counts, **texts
    }  # fmt: skip


def open_by_name(study: StudyOrSession, name: str, actor: str | None) -> dict[str, Any]:
    """Opens a round; the session is not locked while its items are chosen."""
    with nullcontext(study) if isinstance(study, Session) else open_coding(study) as coding:
        open_round(coding, name, require_lead(coding, actor, "open rounds"))
        with coding.locked_state() as state:
            return summarise_round(state.round(name))


def close_by_name(
    study: StudyOrSession, name: str, actor: str | None, incomplete: str = "", *, final: bool = False
) -> dict[str, Any]:
    def prepare(coding: CodingSession) -> BuildAct[State]:
        lead = require_lead(coding, actor, "change rounds")
        return lambda state: build_close_acts(state, name, lead, incomplete, final=final)

    return _record(study, name, prepare)


def reopen_by_name(
    study: StudyOrSession, name: str, actor: str | None, reason: str, *, not_blind: bool = False
) -> dict[str, Any]:
    def prepare(coding: CodingSession) -> BuildAct[State]:
        lead = require_lead(coding, actor, "change rounds")
        return lambda state: build_reopen_act(state, name, lead, reason, not_blind=not_blind)

    return _record(study, name, prepare)


def waive_by_name(study: StudyOrSession, name: str, actor: str | None, reason: str) -> dict[str, Any]:
    return _record(
        study,
        name,
        lambda coding: lambda state: build_waive_act(state, name, require_lead(coding, actor, "change rounds"), reason),
    )


def replace_by_name(
    study: StudyOrSession, name: str, actor: str | None, rater: str, by: str, reason: str
) -> dict[str, Any]:
    return _record(
        study,
        name,
        lambda coding: (
            lambda state: build_replace_act(
                state, name, require_lead(coding, actor, "change rounds"), rater, by, reason
            )
        ),
    )


def next_set_by_name(study: StudyOrSession, name: str, actor: str | None) -> dict[str, Any]:
    return _record(study, name, lambda coding: _build_next_set(coding, name, actor))


def _build_next_set(coding: CodingSession, name: str, actor: str | None) -> BuildAct[State]:
    who = require_part(coding, name, actor or coding.lead)
    return lambda state: build_next_set_act(state, name, who)


def deadline_by_name(study: StudyOrSession, name: str, actor: str | None, until: str) -> dict[str, Any]:
    moment = parse_utc(until)

    def prepare(coding: CodingSession) -> BuildAct[State]:
        def act(state: State) -> NewAct:
            return build_deadline_act(state, name, require_lead(coding, actor, "change rounds"), moment)

        return act

    return _record(study, name, prepare)


def list_rater_items(study: StudyOrSession, name: str, rater: str, *, left_only: bool) -> list[dict[str, Any]]:
    """Returns a rater's items in the rater's own order."""
    with open_coding(study) as coding:
        view = build_rater_view(coding.state, name, rater)
    return [{"item": item, "rated": item not in view.left} for item in view.items if item in view.left or not left_only]


def _record(study: StudyOrSession, name: str, prepare: Any) -> dict[str, Any]:
    with open_coding(study) as coding:
        coding.act(prepare(coding))
        return summarise_round(coding.state.round(name))

"""Phrases of a study: words, curves, and core objects for the codebook."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or, sort_by_similarity
from quaestor.coding.model.decisions import find_decisions
from quaestor.coding.model.phrases import (
    build_compare_act,
    build_curves,
    build_reread_act,
    build_unify_act,
    count_words,
    find_phrase_facet,
    find_words_before,
    list_agreed_phrases,
    propose_objects,
)
from quaestor.coding.model.rounds import list_missing
from quaestor.coding.model.state import CLOSED, OPEN, RoundState, State
from quaestor.coding.model.views import needs_consent, require_lead_view
from quaestor.coding.rating_files import record_view
from quaestor.coding.session import CodingSession, Where, open_coding, require_lead, require_part
from quaestor.render.figures.records import SetCurve
from quaestor.store.records import NewAct


@dataclass(frozen=True)
class ProposedObject:
    """A core object that the phrases of a phase suggest."""

    phase: str
    object: str
    count: int
    known: bool
    simulated: bool


def is_simulated(round_state: RoundState) -> bool:
    return any(rating.simulated for rating in round_state.all_ratings())


def list_words(study: Where, name: str, part: str, actor: str | None) -> list[dict[str, Any]]:
    """Every word with its count; seen by raters only when their set is complete."""
    with open_coding(study) as coding:
        one = _require_complete_set(coding, name, actor or coding.lead)
        if part not in ("verb", "object"):
            raise InputError(f"--part is {part!r}, allowed: verb or object")
        known = find_words_before(one, one.set + 1)[part]
        simulated = is_simulated(one)
        return [
            {"word": word, "count": count, "to": known.get(word, word), "simulated": simulated}
            for word, count in count_words(one, part).most_common()
        ]


def begin_comparing(study: Where, name: str, actor: str) -> None:
    """Put on record that somebody now sees the words of the others, where they may."""
    with open_coding(study) as coding:
        _require_complete_set(coding, name, actor)


def _require_complete_set(coding: CodingSession, name: str, actor: str) -> RoundState:
    """A round whose present set all have rated: only then may words be compared, and that is put on record."""
    one = coding.state.round(name)
    find_phrase_facet(one)
    require_part(coding, name, actor)
    part = one.slot_of(actor) or actor == one.plan.tie_breaker
    if part and one.plan.blind and one.status == OPEN:
        if not one.plan.set_size:
            raise StateError(f"{actor!r} rates in {name!r} and sees the others' words when it is closed")
        if list_missing(one):
            raise StateError(f"set {one.set} of {name!r} is not complete: words are compared when all have rated it")
    if part and one.status == OPEN:
        coding.act(lambda state: build_compare_act(state, name, actor))
    else:
        record_view(coding, name, actor)
    return coding.state.round(name)


def unify_words(
    study: Where, name: str, actor: str | None, part: str, words: Sequence[str], to: str, rule: str, reason: str
) -> int:
    with open_coding(study) as coding:
        who = actor or coding.lead

        def act(state: State) -> NewAct:
            require_part(coding, name, who)
            return build_unify_act(state, name, who, part, words, to, rule, reason)

        return coding.act(act)[0].number


def request_reread(study: Where, name: str, actor: str | None, item: str) -> int:
    with open_coding(study) as coding:
        who = require_part(coding, name, actor or coding.lead)
        return coding.act(lambda state: build_reread_act(state, name, who, item))[0].number


def draw_curves(study: Where, name: str, actor: str | None) -> tuple[list[SetCurve], Path]:
    """The two curves, drawn in published/."""
    from quaestor.render.figures.discrepancy import draw_round_curves  # loading what draws takes half a second
    from quaestor.render.figures.export import write_svg

    with open_coding(study) as coding:
        one = _require_complete_set(coding, name, actor or coding.lead)
        found = build_curves(one)
        simulated = is_simulated(one)
        blindness = one.blindness
    figure = draw_round_curves(found, name, simulated=simulated, blindness=blindness)
    return found, write_svg(figure, coding.study.published)


def list_proposed_objects(
    study: Where, name: str, phases: str, at_least: int, actor: str | None
) -> list[ProposedObject]:
    with open_coding(study) as coding:
        found = _list_proposals(coding.state, name, phases, at_least)
        for seen in (name, phases):
            require_lead_view(coding.state, seen, actor or coding.lead, coding.lead)
            record_view(coding, seen, actor or coding.lead)
        return found


def list_objects_by_round(study: Where, name: str, actor: str) -> dict[str, list[ProposedObject]]:
    """What the phrases of a closed round propose, by each round that decided codes; only what needs no record."""
    with open_coding(study) as coding:
        state, lead = coding.state, coding.lead
        if actor != lead or not _is_visible_to_lead(state, name, lead):
            return {}
        deciding = [
            round_state.plan.round
            for round_state in state.rounds.values()
            if any(facet.codes and facet.kind == "single" for facet in round_state.plan.facets)
            and round_state.status == CLOSED
        ]
        return {
            phases: _list_proposals(state, name, phases, 1)
            for phases in deciding
            if _is_visible_to_lead(state, phases, lead)
        }


def _is_visible_to_lead(state: State, name: str, lead: str) -> bool:
    """Whether the lead sees a closed round whole, and looking puts nothing on record."""
    if state.round(name).status != CLOSED or needs_consent(state, name, lead):
        return False
    try:
        require_lead_view(state, name, lead, lead)
    except StateError:
        return False
    return True


def _list_proposals(state: State, name: str, phases: str, at_least: int) -> list[ProposedObject]:
    one, sorted_into = state.round(name), state.round(phases)
    for round_, called in ((one, name), (sorted_into, phases)):
        if round_.status != CLOSED:
            raise StateError(f"the round {called!r} is open: objects are proposed when it is closed")
    facet = next((facet for facet in sorted_into.plan.facets if facet.codes), None)
    if facet is None:
        raise InputError(f"the round {phases!r} decides no code of the codebook")
    rows = propose_objects(list_agreed_phrases(one), find_decisions(state, phases, facet.id), at_least)
    book, simulated = state.history.latest, is_simulated(one)
    return [
        ProposedObject(
            phase,
            thing,
            count,
            any(thing == child.name.casefold() for child in book.children(phase)),
            simulated,
        )
        for phase, thing, count in rows
    ]


def adopt_objects(study: Where, name: str, phases: str, chosen: Sequence[str], actor: str | None) -> int:
    """Add proposed objects to the codebook, each below its phase."""
    with open_coding(study) as coding:
        who = require_lead(coding, actor, "change the codebook")

        def acts(state: State) -> list[NewAct]:
            proposed = {f"{one.phase}={one.object}": one for one in _list_proposals(state, name, phases, 1)}
            made = []
            for number, text in enumerate(chosen, start=1):
                one = proposed.get(text)
                if one is None:
                    options = join_with_or(sort_by_similarity(text, proposed)[:3])
                    raise InputError(f"{text!r} is not proposed, nearest: {options}")
                if one.known:
                    raise StateError(f"{one.object!r} is below {one.phase!r} already")
                book = state.history.latest
                slug = re.sub(r"[^a-z0-9]+", "-", one.object).strip("-")
                payload = {
                    "id": f"{one.phase}/{slug}",
                    "facet": book.codes[one.phase].facet,
                    "parent": one.phase,
                    "name": one.object,
                    "definition": f"Proposed from {one.count} phrases of the round {name}.",
                }
                state.history.preview_change("codebook.add", payload)
                made.append(NewAct("codebook.add", who, payload, book.version + number))
            return made

        coding.act(acts)
        return coding.state.history.latest.version

"""Phrase rounds of a study: words, curves, and objects to add to the codebook."""

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
from quaestor.coding.session import CodingSession, StudyOrSession, open_coding, require_lead, require_part
from quaestor.render.figures.records import SetCurve
from quaestor.store.records import NewAct


@dataclass(frozen=True)
class ProposedObject:
    """An object that the phrases of a phase suggest for the codebook."""

    phase: str
    object: str
    count: int
    known: bool
    simulated: bool


def is_simulated(round_state: RoundState) -> bool:
    return any(rating.simulated for rating in round_state.all_ratings())


def list_words(study: StudyOrSession, name: str, part: str, actor: str | None) -> list[dict[str, Any]]:
    """Returns every word with its count; refused for raters until their set is complete."""
    with open_coding(study) as coding:
        round_state = _require_complete_set(coding, name, actor or coding.lead)
        if part not in ("verb", "object"):
            raise InputError(f"--kind is {part!r}; choose from: verb or object")
        known = find_words_before(round_state, round_state.set + 1)[part]
        simulated = is_simulated(round_state)
        return [
            {"word": word, "count": count, "to": known.get(word, word), "simulated": simulated}
            for word, count in count_words(round_state, part).most_common()
        ]


def begin_comparing(study: StudyOrSession, name: str, actor: str) -> None:
    """Records that somebody sees the words of other raters; raises StateError if they may not."""
    with open_coding(study) as coding:
        _require_complete_set(coding, name, actor)


def _require_complete_set(coding: CodingSession, name: str, actor: str) -> RoundState:
    """Returns the round if the actor may compare words, and records it; a rater must wait until the set is complete."""
    round_state = coding.state.round(name)
    find_phrase_facet(round_state)
    require_part(coding, name, actor)
    part = round_state.slot_of(actor) or actor == round_state.plan.tie_breaker
    if part and round_state.plan.blind and round_state.status == OPEN:
        if not round_state.plan.set_size:
            raise StateError(f"{actor!r} rates in {name!r}: the words of others are shown once it is closed")
        if list_missing(round_state):
            raise StateError(
                f"set {round_state.set} of {name!r} is not complete: "
                "words can be compared once all raters have finished it"
            )
    if part and round_state.status == OPEN:
        coding.act(lambda state: build_compare_act(state, name, actor))
    else:
        record_view(coding, name, actor)
    return coding.state.round(name)


def unify_words(
    study: StudyOrSession,
    name: str,
    actor: str | None,
    part: str,
    words: Sequence[str],
    to: str,
    rule: str,
    reason: str,
) -> int:
    with open_coding(study) as coding:
        who = actor or coding.lead

        def act(state: State) -> NewAct:
            require_part(coding, name, who)
            return build_unify_act(state, name, who, part, words, to, rule, reason)

        return coding.act(act)[0].number


def request_reread(study: StudyOrSession, name: str, actor: str | None, item: str) -> int:
    with open_coding(study) as coding:
        who = require_part(coding, name, actor or coding.lead)
        return coding.act(lambda state: build_reread_act(state, name, who, item))[0].number


def draw_curves(study: StudyOrSession, name: str, actor: str | None) -> tuple[list[SetCurve], Path]:
    """Computes the two curves and draws them into published/."""
    from quaestor.render.figures.discrepancy import draw_round_curves  # importing the figures takes half a second
    from quaestor.render.figures.export import write_svg

    with open_coding(study) as coding:
        round_state = _require_complete_set(coding, name, actor or coding.lead)
        curves = build_curves(round_state)
        simulated = is_simulated(round_state)
        blindness = round_state.blindness
    figure = draw_round_curves(curves, name, simulated=simulated, blindness=blindness)
    return curves, write_svg(figure, coding.study.published)


def list_proposed_objects(
    study: StudyOrSession, name: str, phases: str, at_least: int, actor: str | None
) -> list[ProposedObject]:
    with open_coding(study) as coding:
        proposals = _list_proposals(coding.state, name, phases, at_least)
        for round_name in (name, phases):
            require_lead_view(coding.state, round_name, actor or coding.lead, coding.lead)
            record_view(coding, round_name, actor or coding.lead)
        return proposals


def list_objects_by_round(study: StudyOrSession, name: str, actor: str) -> dict[str, list[ProposedObject]]:
    """Returns proposed objects by each closed round that decided codes; only where the view needs no record."""
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
    """Returns whether the lead sees a closed round completely without a new record."""
    if state.round(name).status != CLOSED or needs_consent(state, name, lead):
        return False
    try:
        require_lead_view(state, name, lead, lead)
    except StateError:
        return False
    return True


def _list_proposals(state: State, name: str, phases: str, at_least: int) -> list[ProposedObject]:
    round_state, sorted_into = state.round(name), state.round(phases)
    for round_, round_name in ((round_state, name), (sorted_into, phases)):
        if round_.status != CLOSED:
            raise StateError(f"the round {round_name!r} is open: close it to get proposed objects")
    facet = next((facet for facet in sorted_into.plan.facets if facet.codes), None)
    if facet is None:
        raise InputError(f"the round {phases!r} has no facet with codes of the codebook")
    rows = propose_objects(list_agreed_phrases(round_state), find_decisions(state, phases, facet.id), at_least)
    book, simulated = state.history.latest, is_simulated(round_state)
    return [
        ProposedObject(
            phase,
            object_,
            count,
            any(object_ == child.name.casefold() for child in book.children(phase)),
            simulated,
        )
        for phase, object_, count in rows
    ]


def adopt_objects(study: StudyOrSession, name: str, phases: str, chosen: Sequence[str], actor: str | None) -> int:
    """Adds proposed objects to the codebook, each below its phase."""
    with open_coding(study) as coding:
        who = require_lead(coding, actor, "change the codebook")

        def acts(state: State) -> list[NewAct]:
            proposed = {
                f"{proposal.phase}={proposal.object}": proposal for proposal in _list_proposals(state, name, phases, 1)
            }
            new_acts = []
            for number, text in enumerate(chosen, start=1):
                proposal = proposed.get(text)
                if proposal is None:
                    options = join_with_or(sort_by_similarity(text, proposed)[:3])
                    raise InputError(f"{text!r} is not a proposed object; most similar: {options}")
                if proposal.known:
                    raise StateError(f"{proposal.object!r} is already a code below {proposal.phase!r}")
                book = state.history.latest
                slug = re.sub(r"[^a-z0-9]+", "-", proposal.object).strip("-")
                payload = {
                    "id": f"{proposal.phase}/{slug}",
                    "facet": book.codes[proposal.phase].facet,
                    "parent": proposal.phase,
                    "name": proposal.object,
                    "definition": f"Proposed from {proposal.count} phrases of the round {name}.",
                }
                state.history.preview_change("codebook.add", payload)
                new_acts.append(NewAct("codebook.add", who, payload, book.version + number))
            return new_acts

        coding.act(acts)
        return coding.state.history.latest.version

"""Phrases of a study: words, curves, and core objects for the codebook."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import listed, nearest_first
from quaestor.coding.decisions import decided
from quaestor.coding.phrases import (
    agreed_phrases,
    ask_to_reread,
    curves,
    propose_objects,
    unify,
    word_counts,
    words_before,
)
from quaestor.coding.records import SetCurve
from quaestor.coding.rounds import missing
from quaestor.coding.state import CLOSED, RoundState, State
from quaestor.publish.curves import save_curves
from quaestor.store.records import NewAct
from quaestor.study.coding import open_coding
from quaestor.study.folder import Study


@dataclass(frozen=True)
class ProposedObject:
    """A core object that the phrases of a phase suggest."""

    phase: str
    object: str
    count: int
    known: bool


def words_of(study: Study, name: str, part: str, actor: str | None) -> list[dict[str, Any]]:
    """Every word with its count; seen by raters only when their set is complete."""
    with open_coding(study) as coding:
        one = _complete(coding.state, name, actor or coding.lead)
        if part not in ("verb", "object"):
            raise InputError(f"--part is {part!r}, allowed: verb or object")
        known = words_before(one, one.set + 1)[part]
        return [
            {"word": word, "count": count, "to": known.get(word, word)}
            for word, count in word_counts(one, part).most_common()
        ]


def _complete(state: State, name: str, actor: str) -> RoundState:
    """A round whose present set all have rated: only then may words be compared."""
    one = state.round(name)
    left = missing(one)
    if left and one.plan.blind and (one.seat_of(actor) or actor == one.plan.tie_breaker):
        raise StateError(f"set {one.set} of {name!r} is not complete: words are compared when all have rated it")
    return one


def unify_words(
    study: Study, name: str, actor: str | None, part: str, words: Sequence[str], to: str, rule: str, reason: str
) -> int:
    with open_coding(study) as coding:
        who = actor or coding.lead

        def act(state: State) -> NewAct:
            _complete(state, name, who)
            return unify(state, name, who, part, words, to, rule, reason)

        return coding.act(act)[0].number


def ask_reread(study: Study, name: str, actor: str | None, item: str) -> int:
    with open_coding(study) as coding:
        return coding.act(lambda state: ask_to_reread(state, name, actor or coding.lead, item))[0].number


def curves_of(study: Study, name: str, actor: str | None) -> tuple[list[SetCurve], Path]:
    """The two curves, drawn in published/."""
    with open_coding(study) as coding:
        one = _complete(coding.state, name, actor or coding.lead)
        found = curves(one)
        simulated = any(rating.simulated for rating in one.all_ratings())
    return found, save_curves(found, study.published, name, simulated=simulated)


def proposed_objects(study: Study, name: str, phases: str, at_least: int, actor: str | None) -> list[ProposedObject]:
    with open_coding(study) as coding:
        state = coding.state
        return _proposed(state, name, phases, at_least)


def _proposed(state: State, name: str, phases: str, at_least: int) -> list[ProposedObject]:
    one, sorted_into = state.round(name), state.round(phases)
    for round_, called in ((one, name), (sorted_into, phases)):
        if round_.status != CLOSED:
            raise StateError(f"the round {called!r} is open: objects are proposed when it is closed")
    facet = next((facet for facet in sorted_into.plan.facets if facet.codes), None)
    if facet is None:
        raise InputError(f"the round {phases!r} decides no code of the codebook")
    rows = propose_objects(agreed_phrases(one), decided(state, phases, facet.id), at_least)
    book = state.history.latest
    return [
        ProposedObject(phase, thing, count, any(thing == child.name.casefold() for child in book.children(phase)))
        for phase, thing, count in rows
    ]


def adopt_objects(study: Study, name: str, phases: str, chosen: Sequence[str], actor: str | None) -> int:
    """Add proposed objects to the codebook, each below its phase."""
    with open_coding(study) as coding:
        who = actor or coding.lead

        def acts(state: State) -> list[NewAct]:
            proposed = {f"{one.phase}={one.object}": one for one in _proposed(state, name, phases, 1)}
            made = []
            for number, text in enumerate(chosen, start=1):
                one = proposed.get(text)
                if one is None:
                    options = listed(nearest_first(text, proposed)[:3])
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
                state.history.then("codebook.add", payload)
                made.append(NewAct("codebook.add", who, payload, book.version + number))
            return made

        coding.act(acts)
        return coding.state.history.latest.version

"""The items that round, code and disagreement leave, as far as the viewer may see."""

from __future__ import annotations

from collections.abc import Iterable

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import listed, nearest_first
from quaestor.coding.decisions import differing
from quaestor.coding.state import State
from quaestor.study.search.outcomes import Outcomes
from quaestor.study.search.wanted import Wanted


def chosen_items(outcomes: Outcomes, wanted: Wanted) -> set[str] | None:
    """None where neither round, nor code, nor disagreement is asked for."""
    found: list[set[str]] = []
    if wanted.disagreement:
        found.append(_in_dispute(outcomes, wanted))
    if wanted.code or (wanted.facet and not wanted.disagreement):
        found.append(_with_code(outcomes, wanted))
    if wanted.round and not found:
        found.append(set(_items_of(outcomes.state, wanted.round)))
    return set.intersection(*found) if found else None


def unseen(outcomes: Outcomes, wanted: Wanted) -> list[str]:
    """Why rounds are left out of what was asked for."""
    sight = outcomes.sight
    found = []
    for name in sight.state.rounds:
        if wanted.disagreement:
            found.append(sight.why_no_disagreements(name))
        elif wanted.code or wanted.facet:
            found.append(sight.why_no_decisions(name))
    return [why for why in found if why]


def _items_of(state: State, name: str) -> Iterable[str]:
    if name in state.published:
        return {item for item, _ in state.published[name]}
    return state.round(name).plan.items


def _in_dispute(outcomes: Outcomes, wanted: Wanted) -> set[str]:
    sight = outcomes.sight
    found: set[str] = set()
    for name in [wanted.round] if wanted.round else list(sight.state.rounds):
        if name in sight.state.published:
            continue  # nobody knows who differed
        why = sight.why_no_disagreements(name)
        if why and wanted.round:
            raise StateError(why)
        if not why:
            pairs, decided = differing(sight.state, name), sight.state.round(name).decisions.keys()
            chosen = {"any": pairs, "open": pairs - decided, "settled": pairs & decided}[wanted.disagreement]
            found |= {item for item, facet in chosen if wanted.facet in ("", facet)}
    return found


def _with_code(outcomes: Outcomes, wanted: Wanted) -> set[str]:
    why = outcomes.sight.why_no_decisions(wanted.round) if wanted.round else ""
    if why:
        raise StateError(why)
    if wanted.facet and wanted.facet not in outcomes.facets:
        options = listed(nearest_first(wanted.facet[:60], outcomes.facets)) or "none"
        raise InputError(f"nothing is decided on {wanted.facet[:60]!r}, allowed: {options}")
    found: set[str] = set()
    for facet in [wanted.facet] if wanted.facet else outcomes.facets:
        labels = outcomes.labels_on(facet)
        accepted = {label for label in labels if not wanted.code or outcomes.means(label, wanted.code)}
        found |= outcomes.items_with(facet, accepted, wanted.round)
    if not found:
        _require_known(outcomes, wanted.code)
    return found


def _require_known(outcomes: Outcomes, code: str) -> None:
    """A code of the codebook may have no items yet; a word that means nothing is answered with the nearest."""
    codes = outcomes.book.codes.values()
    known = {*(one.id for one in codes), *(one.name for one in codes)}
    known.update(label for facet in outcomes.facets for label in outcomes.labels_on(facet))
    if code and code.casefold() not in {one.casefold() for one in known}:
        options = listed(nearest_first(code[:60], known)[:5]) or "none yet"
        raise InputError(f"nothing is decided to be {code[:60]!r}, nearest: {options}")

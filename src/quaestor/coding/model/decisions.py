"""Disagreements and how they are settled; a decision is one more record and changes no rating."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or
from quaestor.coding.model.answers import checked_answer
from quaestor.coding.model.facet_kinds import kind_of
from quaestor.coding.model.facet_kinds.keep import Keep
from quaestor.coding.model.facet_kinds.passages import differing_fields, own_words
from quaestor.coding.model.phrases import all_words
from quaestor.coding.model.records import CANNOT_JUDGE, KEEP, Comment, Decision, Disagreement, Facet, RoundPlan
from quaestor.coding.model.rounds import is_complete
from quaestor.coding.model.state import CLOSED, RoundState, State
from quaestor.store.records import NewAct

AGREEMENT, SINGLE, DISCUSSION, TIE_BREAKER, TOGETHER = "agreement", "single", "discussion", "tie-breaker", "together"
_WAYS = {
    "agreement": (DISCUSSION,),
    "discussion": (DISCUSSION, TIE_BREAKER, TOGETHER),
    "tie-breaker": (TIE_BREAKER,),
    "two-step": (DISCUSSION, TOGETHER),
}
WORDS_WAYS = (DISCUSSION,)
"""How it is settled what is said of codes on which raters agree."""


def answers_of(round_state: RoundState, item: str, facet: str) -> list[tuple[str, Any]]:
    """What each seat said about an item."""
    found = []
    for seat in round_state.slots:
        rating = round_state.rating_in_slot(seat, item)
        if rating is not None and facet in rating.answers:
            found.append((rating.rater, own_words(rating.answers[facet])))
    return found


def _same(round_state: RoundState, facet: Facet, answers: Iterable[Any]) -> bool:
    """Whether all say the same; of phrases, once their words are unified."""
    kind, words = kind_of(facet), all_words(round_state)
    compared = {CANNOT_JUDGE if answer == CANNOT_JUDGE else kind.compared(facet, answer, words) for answer in answers}
    return len(compared) == 1 and CANNOT_JUDGE not in compared


@dataclass(frozen=True)
class _Comparison:
    """What comparing the seats of a round gave: where they differ, with the answers, and on how much they agree."""

    differing: Mapping[tuple[str, str], tuple[tuple[str, Any], ...]]
    agreed: int


def _comparison(round_state: RoundState) -> _Comparison:
    """Worked out once for a closed round, whose ratings stand."""
    key = ("comparison", round_state.closed, len(round_state.unifications), len(round_state.gone))
    if round_state.status == CLOSED and key in round_state.memory:
        known: _Comparison = round_state.memory[key]
        return known
    differing: dict[tuple[str, str], tuple[tuple[str, Any], ...]] = {}
    agreed = 0
    for facet in round_state.plan.facets:
        if not kind_of(facet).is_compared:
            continue
        for item in round_state.items_left():
            answers = answers_of(round_state, item, facet.id)
            if answers and not _same(round_state, facet, (answer for _, answer in answers)):
                differing[item, facet.id] = tuple(answers)
            else:
                agreed += bool(answers)
    comparison = _Comparison(differing, agreed)
    if round_state.status == CLOSED:
        round_state.memory[key] = comparison
    return comparison


def differing(state: State, name: str) -> Set[tuple[str, str]]:
    """(item, facet) on which the raters of a round differ, settled or not."""
    return _comparison(state.round(name)).differing.keys()


def disagreements(state: State, name: str) -> list[Disagreement]:
    """Every item and facet on which raters differ, or could not judge, settled or not."""
    one = state.round(name)
    return _told(one, _comparison(one).differing)


def differing_words(state: State, name: str) -> list[Disagreement]:
    """Items whose raters gave the same codes and say different things of them, settled or not."""
    one = state.round(name)
    found = {}
    for facet in one.plan.facets:
        for item in one.items_left() if kind_of(facet).has_words else ():
            answers = answers_of(one, item, facet.id)
            if _in_other_words(one, item, facet, [answer for _, answer in answers]):
                found[item, facet.id] = tuple(answers)
    return _told(one, found, words_only=True)


def is_settled(case: Disagreement) -> bool:
    """Whether it was decided; that raters agree on codes does not settle what they say of them."""
    decision = case.decision
    return decision is not None and not (case.words_only and differing_fields(decision.answer))


def _in_other_words(round_state: RoundState, item: str, facet: Facet, values: list[Any]) -> bool:
    """Whether all gave the same codes, and they or what is decided have different words for what a code asks for."""
    kind = kind_of(facet)
    if not kind.has_words or not _same(round_state, facet, values):
        return False
    decisions = round_state.decisions.get((item, facet.id), [])
    decided_last = [decision.answer for decision in decisions[-1:]]
    return any(kind.differing_words(answers) for answers in (values, decided_last))


def _told(
    round_state: RoundState, cases: Mapping[tuple[str, str], tuple[tuple[str, Any], ...]], *, words_only: bool = False
) -> list[Disagreement]:
    said: dict[str, list[Comment]] = {}
    for comment in round_state.comments:
        said.setdefault(comment.item, []).append(comment)
    found = []
    for (item, facet), answers in cases.items():
        decision = round_state.decisions.get((item, facet))
        comments = tuple(comment for comment in said.get(item, ()) if comment.facet in (facet, ""))
        tie = round_state.tie_comments.get((item, facet))
        found.append(Disagreement(item, facet, answers, comments, tie, decision[-1] if decision else None, words_only))
    return found


def agreed_left(state: State, name: str) -> int:
    """How many answers of a closed round need no discussion and are not yet on record as decided."""
    one = _closed(state, name)
    found = _comparison(one)
    made = one.decisions.keys() - found.differing.keys()
    return found.agreed - sum(item not in one.gone for item, _ in made)


def ways_of(plan: RoundPlan) -> tuple[str, ...]:
    """How the disagreements of a round may be settled."""
    return _WAYS[plan.settle]


def settled(state: State, name: str) -> bool:
    """Whether no rating is missing (unless the round is final) and every disagreement is decided.

    A rating that may still come can still differ, so an incomplete round that can be reopened is never settled.
    """
    one = state.round(name)
    return (one.final or is_complete(one)) and _comparison(one).differing.keys() <= one.decisions.keys()


def decide_agreed(state: State, name: str, actor: str) -> NewAct | None:
    """Put on record what needs no discussion: where all who rated an item say the same. None where that is done."""
    one = _closed(state, name)
    entries = []
    for facet in one.plan.facets:
        for item in one.items_left():
            answers = answers_of(one, item, facet.id)
            if not answers or (item, facet.id) in one.decisions or not kind_of(facet).is_compared:
                continue
            values = [answer for _, answer in answers]
            if _same(one, facet, values):
                how = AGREEMENT if len(values) > 1 else SINGLE
                entry = {
                    "item": item,
                    "facet": facet.id,
                    "answer": kind_of(facet).combine(values, all_words(one)),
                    "how": how,
                }
                entries.append(entry | ({"simulated": True} if is_simulated(one, item) else {}))
    return NewAct("decision", actor, {"round": name, "decisions": entries}, one.plan.codebook) if entries else None


def is_simulated(round_state: RoundState, item: str) -> bool:
    """Whether a simulated rater rated an item."""
    ratings = (round_state.rating_in_slot(seat, item) for seat in round_state.slots)
    return any(rating.simulated for rating in ratings if rating)


def comment_on(state: State, name: str, actor: str, item: str, facet: str, text: str, *, lead: str = "") -> NewAct:
    """Say something about a disagreement, on the record."""
    one = _closed(state, name)
    _require_part(one, actor, lead)
    if actor == one.plan.tie_breaker and not _decided(one, item, facet):
        raise StateError(f"{actor!r} breaks ties: record the independent comment with `quaestor decisions tie`")
    if not text.strip():
        raise InputError("a comment needs words")
    _dispute(state, name, item, facet)
    payload = {"round": name, "item": item, "facet": facet, "text": text}
    return NewAct("comment", actor, payload, one.plan.codebook)


def tie_comment(
    state: State,
    name: str,
    actor: str,
    item: str,
    facet: str,
    answer: Any,
    text: str = "",
    *,
    simulated: bool = False,
) -> NewAct:
    """The tie-breaker's own answer, given without knowing who said what."""
    one = _closed(state, name)
    if actor != one.plan.tie_breaker:
        named = repr(one.plan.tie_breaker) if one.plan.tie_breaker else "nobody"
        raise StateError(f"{actor!r} does not break the ties of {name!r}: {named} does")
    _dispute(state, name, item, facet, words_too=False)
    if _decided(one, item, facet):
        raise StateError(f"{item!r} is settled: a comment now would not be independent")
    if (item, facet) in one.tie_comments:
        raise StateError(f"the comment on {item!r} is on record and stays as it is")
    value = checked_answer(one.plan.facet(facet), state.history.at(one.plan.codebook), answer)
    payload = {"round": name, "item": item, "facet": facet, "answer": value, "text": text}
    payload |= {"simulated": True} if simulated else {}
    return NewAct("tie.comment", actor, payload, one.plan.codebook)


def decide(
    state: State,
    name: str,
    actor: str,
    item: str,
    facet: str,
    answer: Any,
    how: str,
    reason: str = "",
    *,
    lead: str = "",
    simulated: bool = False,
) -> NewAct:
    """Settle a disagreement in one of the ways the round allows; who has no part in the round may only be its lead.

    Where raters gave the same codes and say different things of them, that can be settled by discussion, at any time.
    """
    one = _closed(state, name)
    _require_part(one, actor, lead)
    words_only = _dispute(state, name, item, facet)
    ways = WORDS_WAYS if words_only else ways_of(one.plan)
    if how not in ways:
        settled_by = "discussion of its words" if words_only else one.plan.settle
        raise InputError(f"{name!r} is settled by {settled_by}, allowed: {join_with_or(ways)}")
    tie_comment = one.tie_comments.get((item, facet))
    if how == TIE_BREAKER:
        if actor != one.plan.tie_breaker:
            raise StateError(
                f"only {one.plan.tie_breaker or 'a tie-breaker'} decides alone in {name!r}: discuss instead"
            )
    elif actor == one.plan.tie_breaker and how == DISCUSSION:
        raise StateError(f"{actor!r} breaks ties and takes no part in the pair's discussion of {item!r}")
    if how == TOGETHER and tie_comment is None:
        raise StateError(f"the tie-breaker has not commented on {item!r} yet: that comes first, blind")
    value = checked_answer(one.plan.facet(facet), state.history.at(one.plan.codebook), answer)
    if value == CANNOT_JUDGE:
        raise InputError(f"{item!r} cannot be settled with {CANNOT_JUDGE!r}: decide what it is, or exclude it")
    if words_only and not _same(one, one.plan.facet(facet), [value, answers_of(one, item, facet)[0][1]]):
        raise StateError(f"the raters agree on the codes of {item!r}: settle what is said of them, and leave the codes")
    entry = {"item": item, "facet": facet, "answer": value, "how": how}
    payload: dict[str, Any] = {"round": name, "decisions": [entry]}
    payload |= {"reason": reason} if reason else {}
    payload |= {"simulated": True} if simulated else {}
    return NewAct("decision", actor, payload, one.plan.codebook)


def import_published(name: str, actor: str, source: str, entries: list[dict[str, Any]], codebook: int) -> NewAct:
    """Decisions that were published without their raters, marked as such."""
    return NewAct("decision.import", actor, {"name": name, "source": source, "decisions": entries}, codebook)


def decided(state: State, name: str, facet: str) -> dict[str, Decision]:
    """The final answers of a round, or of published decisions of that name."""
    if name in state.rounds:
        return state.rounds[name].decided(facet)
    if name in state.published:
        return {item: made for (item, asked), made in state.published[name].items() if asked == facet}
    state.round(name)
    return {}


def kept(state: State, name: str) -> set[str] | None:
    """The items a round decided to keep; None as long as it is not closed and settled."""
    round_state = state.rounds.get(name)
    if round_state is None or round_state.status != CLOSED:
        return None
    facet = next((facet for facet in round_state.plan.facets if facet.kind == Keep.name), None)
    if facet is None:
        raise StateError(f"the round {name!r} does not ask what to keep: a funnel step cannot go by it")
    known = round_state.memory.get("kept")
    if known is None or known[0] != (round_state.closed, round_state.decided_at, len(round_state.gone)):
        known = round_state.memory["kept"] = (
            (round_state.closed, round_state.decided_at, len(round_state.gone)),
            _kept(round_state, facet),
        )
    found: set[str] | None = known[1]
    return None if found is None else set(found)


def _kept(round_state: RoundState, facet: Facet) -> set[str] | None:
    made = round_state.decided(facet.id)
    rated = {item for item in round_state.items_left() if answers_of(round_state, item, facet.id)}
    if not rated or rated - set(made):
        return None
    return {
        item for item, decision in made.items() if decision.answer != CANNOT_JUDGE and decision.answer["answer"] == KEEP
    }


def _dispute(state: State, name: str, item: str, facet: str, *, words_too: bool = True) -> bool:
    """Refuse what is not in dispute; whether what is said of codes is, and not the codes."""
    one = state.round(name)
    names = [asked.id for asked in one.plan.facets]
    if facet not in names:
        raise InputError(f"the round {name!r} asks no {facet!r}, allowed: {join_with_or(names)}")
    answers = [answer for _, answer in answers_of(one, item, facet)]
    if not answers:
        raise InputError(f"the item {item!r} has no ratings in {name!r}")
    asked = one.plan.facet(facet)
    if words_too and _in_other_words(one, item, asked, answers):
        return True
    if _same(one, asked, answers):
        raise StateError(f"the raters agree on {item!r}: there is nothing to settle")
    return False


def _require_part(round_state: RoundState, actor: str, lead: str) -> None:
    if round_state.slot_of(actor) is None and actor not in (round_state.plan.tie_breaker, lead):
        people = join_with_or(rater for seat in round_state.slots for rater in seat.raters)
        raise StateError(f"{actor!r} has no part in {round_state.plan.round!r}: its raters are {people}")


def _decided(round_state: RoundState, item: str, facet: str) -> bool:
    return (item, facet) in round_state.decisions


def _closed(state: State, name: str) -> RoundState:
    one = state.round(name)
    if one.status != CLOSED:
        raise StateError(f"the round {name!r} is open: close it before anything is settled")
    return one

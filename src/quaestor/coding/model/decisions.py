"""Finds disagreements and builds the acts that settle them; a decision never changes a rating."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or
from quaestor.coding.model.answers import check_answer
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.keep import KeepKind
from quaestor.coding.model.facet_kinds.passages import differing_fields, replace_separator
from quaestor.coding.model.phrases import find_all_words
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
WORD_METHODS = (DISCUSSION,)
"""How differences in the fields of passages are settled when raters agree on the codes."""


def list_answers(round_state: RoundState, item: str, facet: str) -> list[tuple[str, Any]]:
    """Returns (rater, answer) for each slot that answered a facet of an item."""
    answers = []
    for slot in round_state.slots:
        rating = round_state.rating_in_slot(slot, item)
        if rating is not None and facet in rating.answers:
            answers.append((rating.rater, replace_separator(rating.answers[facet])))
    return answers


def _all_agree(round_state: RoundState, facet: Facet, answers: Iterable[Any]) -> bool:
    """Returns whether all answers are equal; phrases are compared after unifying their words."""
    kind, words = find_kind(facet), find_all_words(round_state)
    compared = {
        CANNOT_JUDGE if answer == CANNOT_JUDGE else kind.comparison_key(facet, answer, words) for answer in answers
    }
    return len(compared) == 1 and CANNOT_JUDGE not in compared


@dataclass(frozen=True)
class _Comparison:
    """Where the raters of a round differ, with their answers, and the number of agreements."""

    differing: Mapping[tuple[str, str], tuple[tuple[str, Any], ...]]
    agreed: int


def _compare_slots(round_state: RoundState) -> _Comparison:
    """Compares all ratings of a round; cached for a closed round, whose ratings cannot change."""
    key = ("comparison", round_state.closed, len(round_state.unifications), len(round_state.gone))
    if round_state.status == CLOSED and key in round_state.cache:
        known: _Comparison = round_state.cache[key]
        return known
    differing: dict[tuple[str, str], tuple[tuple[str, Any], ...]] = {}
    agreed = 0
    for facet in round_state.plan.facets:
        if not find_kind(facet).is_compared:
            continue
        for item in round_state.items_left():
            answers = list_answers(round_state, item, facet.id)
            if answers and not _all_agree(round_state, facet, (answer for _, answer in answers)):
                differing[item, facet.id] = tuple(answers)
            else:
                agreed += bool(answers)
    comparison = _Comparison(differing, agreed)
    if round_state.status == CLOSED:
        round_state.cache[key] = comparison
    return comparison


def list_differing(state: State, name: str) -> Set[tuple[str, str]]:
    """Returns the (item, facet) pairs on which the raters of a round differ, settled or not."""
    return _compare_slots(state.round(name)).differing.keys()


def list_disagreements(state: State, name: str) -> list[Disagreement]:
    """Returns every disagreement of a round, settled or not; an answer "cannot judge" counts as one."""
    round_state = state.round(name)
    return _build_disagreements(round_state, _compare_slots(round_state).differing)


def list_word_differences(state: State, name: str) -> list[Disagreement]:
    """Returns items whose raters gave the same codes but filled in different fields, settled or not."""
    round_state = state.round(name)
    cases = {}
    for facet in round_state.plan.facets:
        for item in round_state.items_left() if find_kind(facet).has_fields else ():
            answers = list_answers(round_state, item, facet.id)
            if _differ_in_words(round_state, item, facet, [answer for _, answer in answers]):
                cases[item, facet.id] = tuple(answers)
    return _build_disagreements(round_state, cases, words_only=True)


def is_settled(case: Disagreement) -> bool:
    """Returns whether a case is decided; agreement on the codes does not settle different fields."""
    decision = case.decision
    return decision is not None and not (case.words_only and differing_fields(decision.answer))


def _differ_in_words(round_state: RoundState, item: str, facet: Facet, values: list[Any]) -> bool:
    """Returns whether the codes are equal while the fields of the ratings or of the decision differ."""
    kind = find_kind(facet)
    if not kind.has_fields or not _all_agree(round_state, facet, values):
        return False
    decisions = round_state.decisions.get((item, facet.id), [])
    decided_last = [decision.answer for decision in decisions[-1:]]
    return any(kind.list_differing_fields(answers) for answers in (values, decided_last))


def _build_disagreements(
    round_state: RoundState, cases: Mapping[tuple[str, str], tuple[tuple[str, Any], ...]], *, words_only: bool = False
) -> list[Disagreement]:
    comments_by_item: dict[str, list[Comment]] = {}
    for comment in round_state.comments:
        comments_by_item.setdefault(comment.item, []).append(comment)
    disagreements = []
    for (item, facet), answers in cases.items():
        decision = round_state.decisions.get((item, facet))
        comments = tuple(comment for comment in comments_by_item.get(item, ()) if comment.facet in (facet, ""))
        tie = round_state.tie_comments.get((item, facet))
        disagreements.append(
            Disagreement(item, facet, answers, comments, tie, decision[-1] if decision else None, words_only)
        )
    return disagreements


def count_undecided_agreements(state: State, name: str) -> int:
    """Returns how many answers of a closed round all raters agree on without a recorded decision."""
    round_state = _require_closed(state, name)
    comparison = _compare_slots(round_state)
    decided = round_state.decisions.keys() - comparison.differing.keys()
    return comparison.agreed - sum(item not in round_state.gone for item, _ in decided)


def list_settlement_methods(plan: RoundPlan) -> tuple[str, ...]:
    """Returns how the disagreements of a round may be settled."""
    return _WAYS[plan.settle]


def is_settled_round(state: State, name: str) -> bool:
    """Returns whether no rating is missing (unless the round is final) and every disagreement is decided.

    A later rating could still differ, so an incomplete round that can be reopened is never settled.
    """
    round_state = state.round(name)
    return (round_state.final or is_complete(round_state)) and _compare_slots(
        round_state
    ).differing.keys() <= round_state.decisions.keys()


def build_agreed_act(state: State, name: str, actor: str) -> NewAct | None:
    """Builds the act that decides all answers on which the raters agree; None if none is left."""
    round_state = _require_closed(state, name)
    entries = []
    for facet in round_state.plan.facets:
        for item in round_state.items_left():
            answers = list_answers(round_state, item, facet.id)
            if not answers or (item, facet.id) in round_state.decisions or not find_kind(facet).is_compared:
                continue
            values = [answer for _, answer in answers]
            if _all_agree(round_state, facet, values):
                how = AGREEMENT if len(values) > 1 else SINGLE
                entry = {
                    "item": item,
                    "facet": facet.id,
                    "answer": find_kind(facet).combine(values, find_all_words(round_state)),
                    "how": how,
                }
                entries.append(entry | ({"simulated": True} if is_simulated(round_state, item) else {}))
    return (
        NewAct("decision", actor, {"round": name, "decisions": entries}, round_state.plan.codebook) if entries else None
    )


def is_simulated(round_state: RoundState, item: str) -> bool:
    """Returns whether a simulated rater rated an item."""
    ratings = (round_state.rating_in_slot(slot, item) for slot in round_state.slots)
    return any(rating.simulated for rating in ratings if rating)


def build_comment_act(
    state: State, name: str, actor: str, item: str, facet: str, text: str, *, lead: str = ""
) -> NewAct:
    """Builds the act that comments on a disagreement."""
    round_state = _require_closed(state, name)
    _require_part(round_state, actor, lead)
    if actor == round_state.plan.tie_breaker and not _is_decided(round_state, item, facet):
        raise StateError(f"{actor!r} is the tie-breaker: record the independent comment with `quaestor decisions tie`")
    if not text.strip():
        raise InputError("the comment is empty: write something")
    _require_dispute(state, name, item, facet)
    payload = {"round": name, "item": item, "facet": facet, "text": text}
    return NewAct("comment", actor, payload, round_state.plan.codebook)


def build_tie_act(
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
    """Builds the act of the tie-breaker's own answer, given without knowing who answered what."""
    round_state = _require_closed(state, name)
    if actor != round_state.plan.tie_breaker:
        tie_breaker = repr(round_state.plan.tie_breaker) if round_state.plan.tie_breaker else "nobody"
        raise StateError(f"{actor!r} is not the tie-breaker of {name!r}: {tie_breaker} is")
    _require_dispute(state, name, item, facet, words_too=False)
    if _is_decided(round_state, item, facet):
        raise StateError(f"{item!r} is already settled: a comment would no longer be independent")
    if (item, facet) in round_state.tie_comments:
        raise StateError(f"the comment on {item!r} is already recorded and cannot be changed")
    value = check_answer(round_state.plan.facet(facet), state.history.at(round_state.plan.codebook), answer)
    payload = {"round": name, "item": item, "facet": facet, "answer": value, "text": text}
    payload |= {"simulated": True} if simulated else {}
    return NewAct("tie.comment", actor, payload, round_state.plan.codebook)


def build_decision_act(
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
    """Builds the act that settles a disagreement by a method that the round allows.

    Only raters, the tie-breaker and the lead may decide. If raters agree on the codes and differ in the fields, the
    fields can be settled by discussion at any time.
    """
    round_state = _require_closed(state, name)
    _require_part(round_state, actor, lead)
    words_only = _require_dispute(state, name, item, facet)
    methods = WORD_METHODS if words_only else list_settlement_methods(round_state.plan)
    if how not in methods:
        settled_by = "discussion of its fields" if words_only else round_state.plan.settle
        raise InputError(f"{name!r} is settled by {settled_by}; choose from: {join_with_or(methods)}")
    tie_comment = round_state.tie_comments.get((item, facet))
    if how == TIE_BREAKER:
        if actor != round_state.plan.tie_breaker:
            raise StateError(
                f"only {round_state.plan.tie_breaker or 'a tie-breaker'} may decide alone in {name!r}: "
                "settle it by discussion"
            )
    elif actor == round_state.plan.tie_breaker and how == DISCUSSION:
        raise StateError(f"{actor!r} is the tie-breaker and takes no part in the discussion of {item!r}")
    if how == TOGETHER and tie_comment is None:
        raise StateError(f"the tie-breaker has not commented on {item!r} yet: wait for the independent comment")
    value = check_answer(round_state.plan.facet(facet), state.history.at(round_state.plan.codebook), answer)
    if value == CANNOT_JUDGE:
        raise InputError(f"{item!r} cannot be settled with {CANNOT_JUDGE!r}: decide what it is, or exclude it")
    if words_only and not _all_agree(
        round_state, round_state.plan.facet(facet), [value, list_answers(round_state, item, facet)[0][1]]
    ):
        raise StateError(f"the raters agree on the codes of {item!r}: settle the fields and leave the codes unchanged")
    entry = {"item": item, "facet": facet, "answer": value, "how": how}
    payload: dict[str, Any] = {"round": name, "decisions": [entry]}
    payload |= {"reason": reason} if reason else {}
    payload |= {"simulated": True} if simulated else {}
    return NewAct("decision", actor, payload, round_state.plan.codebook)


def build_published_act(name: str, actor: str, source: str, entries: list[dict[str, Any]], codebook: int) -> NewAct:
    """Builds the act that imports decisions published without their ratings."""
    return NewAct("decision.import", actor, {"name": name, "source": source, "decisions": entries}, codebook)


def find_decisions(state: State, name: str, facet: str) -> dict[str, Decision]:
    """Returns the final answers of a round, or of published decisions of that name."""
    if name in state.rounds:
        return state.rounds[name].last_decisions(facet)
    if name in state.published:
        return {
            item: decision
            for (item, decided_facet), decision in state.published[name].items()
            if decided_facet == facet
        }
    state.round(name)
    return {}


def list_kept(state: State, name: str) -> set[str] | None:
    """Returns the items that a round keeps; None until the round is closed and settled."""
    round_state = state.rounds.get(name)
    if round_state is None or round_state.status != CLOSED:
        return None
    facet = next((facet for facet in round_state.plan.facets if facet.kind == KeepKind.name), None)
    if facet is None:
        raise StateError(f"the round {name!r} has no facet of the kind keep: a funnel step cannot use it")
    known = round_state.cache.get("kept")
    if known is None or known[0] != (round_state.closed, round_state.decided_at, len(round_state.gone)):
        known = round_state.cache["kept"] = (
            (round_state.closed, round_state.decided_at, len(round_state.gone)),
            _list_kept(round_state, facet),
        )
    items: set[str] | None = known[1]
    return None if items is None else set(items)


def _list_kept(round_state: RoundState, facet: Facet) -> set[str] | None:
    decisions = round_state.last_decisions(facet.id)
    rated = {item for item in round_state.items_left() if list_answers(round_state, item, facet.id)}
    if not rated or rated - set(decisions):
        return None
    return {
        item
        for item, decision in decisions.items()
        if decision.answer != CANNOT_JUDGE and decision.answer["answer"] == KEEP
    }


def _require_dispute(state: State, name: str, item: str, facet: str, *, words_too: bool = True) -> bool:
    """Raises unless raters disagree on an item; returns whether they differ only in the fields of passages."""
    round_state = state.round(name)
    names = [facet_plan.id for facet_plan in round_state.plan.facets]
    if facet not in names:
        raise InputError(f"the round {name!r} has no facet {facet!r}; choose from: {join_with_or(names)}")
    answers = [answer for _, answer in list_answers(round_state, item, facet)]
    if not answers:
        raise InputError(f"the item {item!r} has no ratings in {name!r}")
    facet_plan = round_state.plan.facet(facet)
    if words_too and _differ_in_words(round_state, item, facet_plan, answers):
        return True
    if _all_agree(round_state, facet_plan, answers):
        raise StateError(f"the raters agree on {item!r}: there is nothing to settle")
    return False


def _require_part(round_state: RoundState, actor: str, lead: str) -> None:
    if round_state.slot_of(actor) is None and actor not in (round_state.plan.tie_breaker, lead):
        people = join_with_or(rater for slot in round_state.slots for rater in slot.raters)
        raise StateError(f"{actor!r} does not rate in {round_state.plan.round!r}: its raters are {people}")


def _is_decided(round_state: RoundState, item: str, facet: str) -> bool:
    return (item, facet) in round_state.decisions


def _require_closed(state: State, name: str) -> RoundState:
    round_state = state.round(name)
    if round_state.status != CLOSED:
        raise StateError(f"the round {name!r} is open: close it before settling disagreements")
    return round_state

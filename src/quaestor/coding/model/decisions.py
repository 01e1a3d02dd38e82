"""Compares the ratings of a round, decides what all raters agree on, and lists what is still undecided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import StateError
from quaestor.coding.model.conditions import find_asked, has_conditions
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.keep import KeepKind
from quaestor.coding.model.facet_kinds.passages import differing_fields, replace_separator
from quaestor.coding.model.phrases import find_all_words
from quaestor.coding.model.records import CANNOT_JUDGE, DRIFT, KEEP, Comment, Decision, Disagreement, Facet, RoundPlan
from quaestor.coding.model.rounds import is_complete
from quaestor.coding.model.state import AGREEMENT, CLOSED, SINGLE, RoundState, State
from quaestor.store.records import NewAct


def list_answers(round_state: RoundState, item: str, facet: str) -> list[tuple[str, Any]]:
    """Returns (rater, answer) for each slot that answered a facet of an item."""
    answers = []
    for slot in round_state.slots:
        rating = round_state.rating_in_slot(slot, item)
        if rating is not None and facet in rating.answers:
            answers.append((rating.rater, replace_separator(rating.answers[facet])))
    return answers


def list_not_asked(round_state: RoundState, item: str, facet: Facet) -> list[str]:
    """Returns the raters of an item whose own answers to other facets did not lead to this one."""
    ratings = (round_state.rating_in_slot(slot, item) for slot in round_state.slots) if facet.ask_if else ()
    return [rating.rater for rating in ratings if rating and not find_asked(round_state.plan, facet, rating.answers)]


def all_agree(round_state: RoundState, facet: Facet, answers: Iterable[Any]) -> bool:
    """Returns whether all answers are equal; phrases are compared after unifying their words."""
    kind, words = find_kind(facet), find_all_words(round_state)
    compared = {
        CANNOT_JUDGE if answer == CANNOT_JUDGE else kind.comparison_key(facet, answer, words) for answer in answers
    }
    return len(compared) == 1 and CANNOT_JUDGE not in compared


Case = tuple[str, str]
"""An item and a facet."""
CaseAnswers = Mapping[Case, tuple[tuple[str, Any], ...]]
"""By item and facet: the (rater, answer) pairs."""


AGREED, DIFFERING, INCOMPLETE, UNRATED, WAITING = "agreed", "differing", "incomplete", "unrated", "waiting"


@dataclass(frozen=True)
class ItemComparison:
    """How the answers to each facet of an item compare, and what is decided or agreed so far."""

    status: Mapping[str, str]
    """By facet: agreed, differing, incomplete, unrated or waiting; none for a facet that needs no decision."""
    answers: Mapping[str, tuple[tuple[str, Any], ...]]
    outcome: Mapping[str, Any]
    """By facet: the decided or agreed answer; None if nobody answers an optional facet."""

    def find_asked(self, plan: RoundPlan, facet: Facet) -> bool | None:
        """Returns whether the outcome fulfils the condition of a facet; None while that is undecided."""
        return find_asked(plan, facet, self.outcome)


def compare_item(round_state: RoundState, item: str, assigned: int | None = None) -> ItemComparison:
    """Compares the answers to each facet of an item; `assigned` is the number of its raters, if known.

    Where a facet is asked under a condition, the outcome of other facets decides whether it needs an answer. Raters
    who were not asked then count as raters whose answer is missing.
    """
    plan, outcome = round_state.plan, dict[str, Any]()
    status: dict[str, str] = {}
    answers_by_facet: dict[str, tuple[tuple[str, Any], ...]] = {}
    if assigned is None:
        assigned = sum(slot.has(slot.raters[0], item) for slot in round_state.slots)
    for facet in plan.facets:
        is_asked = find_asked(plan, facet, outcome) if facet.ask_if else True
        if is_asked is False or not find_kind(facet).is_compared:
            continue
        answers = tuple(list_answers(round_state, item, facet.id))
        if not answers and not any(round_state.rating_in_slot(slot, item) for slot in round_state.slots):
            status[facet.id] = UNRATED
        elif is_asked is None:
            status[facet.id] = WAITING
        elif answers or facet.required:
            status[facet.id] = _find_status(round_state, facet, answers, assigned)
        else:
            outcome[facet.id] = None
        if status.get(facet.id) == AGREED:
            outcome[facet.id] = answers[0][1]
        if decisions := round_state.decisions.get((item, facet.id)):
            outcome[facet.id] = decisions[-1].answer
        answers_by_facet[facet.id] = answers
    return ItemComparison(status, answers_by_facet, outcome)


def _find_status(round_state: RoundState, facet: Facet, answers: tuple[tuple[str, Any], ...], assigned: int) -> str:
    if not answers:  # nobody was asked, and a decision on another facet now requires an answer
        return INCOMPLETE if facet.ask_if else UNRATED
    if not all_agree(round_state, facet, (answer for _, answer in answers)):
        return DIFFERING
    return INCOMPLETE if len(answers) < assigned else AGREED


@dataclass(frozen=True)
class _Comparison:
    """The answers of a round by whether its raters agree on them."""

    agreed: CaseAnswers
    """Equal answers of every rater that the item is assigned to."""
    differing: CaseAnswers
    incomplete: CaseAnswers
    """Equal answers of fewer raters than the item is assigned to; they do not count as agreement."""
    unrated: Set[Case]
    """Required answers that nobody gave."""
    waiting: Set[Case]
    """Answers that may be needed, depending on the decision on another facet."""


def _compare_slots(round_state: RoundState) -> _Comparison:
    """Compares all ratings of a round; cached for a closed round, whose ratings cannot change."""
    decided_at = round_state.decided_at if has_conditions(round_state.plan) else 0
    stamp = (round_state.closed, len(round_state.unifications), len(round_state.gone), decided_at)
    cached = round_state.cache.get("comparison")
    if round_state.status == CLOSED and cached is not None and cached[0] == stamp:
        known: _Comparison = cached[1]
        return known
    assigned = Counter(item for slot in round_state.slots for item in slot.items[0])
    items = {item: compare_item(round_state, item, assigned[item]) for item in round_state.items_left()}
    cases: dict[str, dict[Case, tuple[tuple[str, Any], ...]]] = {
        status: {} for status in (AGREED, DIFFERING, INCOMPLETE, UNRATED, WAITING)
    }
    for facet in round_state.plan.facets:
        for item, compared in items.items():
            if facet.id in compared.status:
                cases[compared.status[facet.id]][item, facet.id] = compared.answers[facet.id]
    comparison = _Comparison(
        cases[AGREED], cases[DIFFERING], cases[INCOMPLETE], cases[UNRATED].keys(), cases[WAITING].keys()
    )
    if round_state.status == CLOSED:
        round_state.cache["comparison"] = stamp, comparison
    return comparison


def list_differing(state: State, name: str) -> Set[Case]:
    """Returns the (item, facet) pairs on which the raters of a round differ, settled or not."""
    return _compare_slots(state.round(name)).differing.keys()


def list_disagreements(state: State, name: str) -> list[Disagreement]:
    """Returns every disagreement of a round, settled or not; an answer "cannot judge" counts as one."""
    round_state = state.round(name)
    return _build_disagreements(round_state, _compare_slots(round_state).differing)


def list_incomplete_cases(state: State, name: str) -> list[Disagreement]:
    """Returns the answers that fewer raters gave than planned, settled or not; none of excluded items."""
    round_state = state.round(name)
    excluded = list_excluded(round_state)
    cases = {
        case: answers for case, answers in _compare_slots(round_state).incomplete.items() if case[0] not in excluded
    }
    return _build_disagreements(round_state, cases)


def list_word_differences(state: State, name: str) -> list[Disagreement]:
    """Returns items whose raters gave the same codes but filled in different fields, settled or not."""
    round_state = state.round(name)
    cases = {}
    for facet in round_state.plan.facets:
        for item in round_state.items_left() if find_kind(facet).has_fields else ():
            answers = list_answers(round_state, item, facet.id)
            if differ_in_words(round_state, item, facet, [answer for _, answer in answers]):
                cases[item, facet.id] = tuple(answers)
    return _build_disagreements(round_state, cases, words_only=True)


def is_settled(case: Disagreement) -> bool:
    """Returns whether a case is decided; agreement on the codes does not settle different fields."""
    decision = case.decision
    return decision is not None and not (case.words_only and differing_fields(decision.answer))


def differ_in_words(round_state: RoundState, item: str, facet: Facet, values: list[Any]) -> bool:
    """Returns whether the codes are equal while the fields of the ratings or of the decision differ."""
    kind = find_kind(facet)
    if not kind.has_fields or not all_agree(round_state, facet, values):
        return False
    decisions = round_state.decisions.get((item, facet.id), [])
    decided_last = [decision.answer for decision in decisions[-1:]]
    return any(kind.list_differing_fields(answers) for answers in (values, decided_last))


def _build_disagreements(
    round_state: RoundState, cases: CaseAnswers, *, words_only: bool = False
) -> list[Disagreement]:
    comments_by_item: dict[str, list[Comment]] = {}
    for comment in round_state.comments:
        comments_by_item.setdefault(comment.item, []).append(comment)
    disagreements = []
    for (item, facet), answers in cases.items():
        decision = round_state.decisions.get((item, facet))
        comments = tuple(comment for comment in comments_by_item.get(item, ()) if comment.facet in (facet, ""))
        tie = round_state.tie_comments.get((item, facet))
        proposal = round_state.proposals.get((item, facet))
        disagreements.append(
            Disagreement(item, facet, answers, comments, tie, decision[-1] if decision else None, words_only, proposal)
        )
    return disagreements


@dataclass(frozen=True)
class Undecided:
    """The (item, facet) pairs of a closed round that have no decision, by the reason."""

    round: str
    disagreements: frozenset[Case] = frozenset()
    incomplete: frozenset[Case] = frozenset()
    """Answered by fewer raters than planned."""
    agreed: frozenset[Case] = frozenset()
    """The raters agree, but nobody recorded it: closed by an older version, or an item counts again since."""
    unrated: frozenset[Case] = frozenset()
    waiting: frozenset[Case] = frozenset()
    """Asked only if another facet, which is not decided yet, gets a certain answer."""

    def __bool__(self) -> bool:
        return bool(self.items)

    @property
    def items(self) -> frozenset[str]:
        return frozenset(item for cases in self._parts for item, _ in cases)

    @property
    def _parts(self) -> tuple[frozenset[Case], ...]:
        return self.disagreements, self.incomplete, self.agreed, self.unrated, self.waiting

    def without(self, items: Set[str]) -> Undecided:
        """Returns what is undecided about other items."""
        return self._select(lambda item, _: item not in items)

    def about(self, facet: str) -> Undecided:
        """Returns what is undecided on one facet."""
        return self._select(lambda _, of: of == facet)

    def _select(self, is_chosen: Callable[[str, str], bool]) -> Undecided:
        return Undecided(self.round, *(frozenset(case for case in part if is_chosen(*case)) for part in self._parts))

    def describe(self) -> str:
        """Returns the counts by reason, as in `3 items with a disagreement, 2 not rated`."""
        reasons = (
            (self.disagreements, "with an open disagreement"),
            (self.incomplete, "answered by fewer raters than planned"),
            (self.agreed, "agreed on but not recorded"),
            (self.unrated, "not rated"),
        )
        counts = [(len({item for item, _ in cases}), words) for cases, words in reasons]
        others = {item for cases, _ in reasons for item, _ in cases}
        counts.append((len({item for item, _ in self.waiting} - others), "waiting for another decision"))
        return ", ".join(f"{count:,} {words}" for count, words in counts if count)


def find_undecided(state: State, name: str) -> Undecided:
    """Returns what a closed round still has to decide; other facets of an excluded item need no decision."""
    round_state = require_closed(state, name)
    key = (
        "undecided",
        round_state.decided_at,
        round_state.closed,
        len(round_state.unifications),
        len(round_state.gone),
    )
    if key not in round_state.cache:
        comparison, excluded = _compare_slots(round_state), list_excluded(round_state)

        def left(cases: Iterable[Case]) -> frozenset[Case]:
            return frozenset(case for case in cases if case not in round_state.decisions and case[0] not in excluded)

        parts = (
            comparison.differing, comparison.incomplete, comparison.agreed, comparison.unrated, comparison.waiting
        )  # fmt: skip
        round_state.cache[key] = Undecided(name, *map(left, parts))
    undecided: Undecided = round_state.cache[key]
    return undecided


def count_undecided_agreements(state: State, name: str) -> int:
    """Returns how many answers of a closed round all raters agree on without a recorded decision."""
    round_state = require_closed(state, name)
    return len(_compare_slots(round_state).agreed.keys() - round_state.decisions.keys())


def is_settled_round(state: State, name: str) -> bool:
    """Returns whether no rating is missing (unless the round is final) and every disagreement is decided.

    A later rating could still differ, so an incomplete round that can be reopened is never settled.
    """
    round_state = state.round(name)
    if not (round_state.final or is_complete(round_state)):
        return False
    incomplete = {(case.item, case.facet) for case in list_incomplete_cases(state, name)}
    return _compare_slots(round_state).differing.keys() | incomplete <= round_state.decisions.keys()


def list_dependent_cases(state: State, name: str) -> list[Disagreement]:
    """Returns the answers that some raters were not asked for, but that a decision on another facet requires."""
    plan = state.round(name).plan
    return [case for case in list_incomplete_cases(state, name) if plan.facet(case.facet).ask_if]


def build_agreed_act(
    state: State, name: str, actor: str, *, closing: bool = False, incomplete: str = "", item: str = ""
) -> NewAct | None:
    """Builds the act that decides all answers on which the raters agree, or those of one item; None if none is left.

    `closing` builds it for a round that the same transaction closes. With a reason in `incomplete`, it also decides
    the answers that fewer raters gave than planned; they are recorded as `single`, never as agreement.
    """
    round_state = state.round(name) if closing else require_closed(state, name)
    comparison, excluded = _compare_slots(round_state), list_excluded(round_state) if incomplete else frozenset()
    fewer = {
        case: answers
        for case, answers in comparison.incomplete.items()
        if incomplete and answers and case[0] not in excluded
    }
    entries = []
    for case, answers in {**comparison.agreed, **fewer}.items():
        if case in round_state.decisions or item not in ("", case[0]):
            continue
        values = [answer for _, answer in answers]
        kind = find_kind(round_state.plan.facet(case[1]))
        entry = {
            "item": case[0],
            "facet": case[1],
            "answer": kind.combine(values, find_all_words(round_state)),
            "how": AGREEMENT if len(values) > 1 and case not in fewer else SINGLE,
        }
        entries.append(entry | ({"simulated": True} if is_simulated(round_state, case[0]) else {}))
    payload: dict[str, Any] = {"round": name, "decisions": entries}
    payload |= {"reason": incomplete} if fewer else {}
    return NewAct("decision", actor, payload, round_state.plan.codebook) if entries else None


def is_simulated(round_state: RoundState, item: str) -> bool:
    """Returns whether a simulated rater rated an item."""
    ratings = (round_state.rating_in_slot(slot, item) for slot in round_state.slots)
    return any(rating.simulated for rating in ratings if rating)


def build_published_act(name: str, actor: str, source: str, entries: list[dict[str, Any]], codebook: int) -> NewAct:
    """Builds the act that imports decisions made outside Quaestor, without their ratings."""
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
    facet = _find_keep_facet(round_state)
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


def list_rated(round_state: RoundState) -> frozenset[str]:
    """Returns the items that somebody answered whether to keep, without those that no longer count."""
    facet = _find_keep_facet(round_state)
    items = round_state.items_left() if facet else ()
    return frozenset(item for item in items if facet and list_answers(round_state, item, facet.id))


def _list_kept(round_state: RoundState, facet: Facet) -> set[str] | None:
    decisions, rated = round_state.last_decisions(facet.id), list_rated(round_state)
    undecided = rated - set(decisions)
    if not rated or any(
        compare_item(round_state, item).find_asked(round_state.plan, facet) is not False for item in undecided
    ):
        return None
    return {item for item, decision in decisions.items() if _keeps(decision)}


def find_excluded_items(state: State) -> frozenset[str]:
    """Returns the items whose last decision on keeping them, in any closed round, is to exclude them.

    A drift round rates items again only to compare raters with themselves, so its decisions exclude nothing.
    """
    last: dict[str, Decision] = {}
    for round_state in state.rounds.values():
        facet = _find_keep_facet(round_state)
        if facet is None or round_state.status != CLOSED or round_state.plan.kind == DRIFT:
            continue
        for item, decision in round_state.last_decisions(facet.id).items():
            if item not in last or decision.number > last[item].number:
                last[item] = decision
    return frozenset(item for item, decision in last.items() if not _keeps(decision))


def list_excluded(round_state: RoundState) -> frozenset[str]:
    """Returns the items that the decisions of this round exclude."""
    facet = _find_keep_facet(round_state)
    decisions = round_state.last_decisions(facet.id) if facet else {}
    return frozenset(item for item, decision in decisions.items() if not _keeps(decision))


def _keeps(decision: Decision) -> bool:
    return bool(decision.answer != CANNOT_JUDGE and decision.answer["answer"] == KEEP)


def _find_keep_facet(round_state: RoundState) -> Facet | None:
    return next((facet for facet in round_state.plan.facets if facet.kind == KeepKind.name), None)


def require_closed(state: State, name: str) -> RoundState:
    """Returns a closed round; raises StateError for an open one."""
    round_state = state.round(name)
    if round_state.status != CLOSED:
        raise StateError(f"the round {name!r} is open: close it before settling disagreements")
    return round_state

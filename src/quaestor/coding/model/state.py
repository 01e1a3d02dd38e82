"""Folds the acts of the journal, in order, into the state of codebook, rounds and decisions.

This module does not check whether an act is allowed (`rounds`, `ratings` and `decisions` do, before it is recorded), so
the same acts always give the same state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from quaestor.base.errors import StateError
from quaestor.base.names import suggest
from quaestor.coding.model.assignment import ItemQueue, assign_items, order_items
from quaestor.coding.model.codebook.history import History
from quaestor.coding.model.conditions import find_asked, has_conditions
from quaestor.coding.model.records import (
    ActSummary,
    CodeProposal,
    Comment,
    Decision,
    Facet,
    Practice,
    ProposedDecision,
    Rating,
    RoundPlan,
    Unification,
)
from quaestor.store.records import Act

OPEN, CLOSED = "open", "closed"
AGREEMENT, SINGLE = "agreement", "single"
"""How the answers are decided that need no discussion, when a round closes; undone if it is reopened."""
OUTSIDE = "decided outside Quaestor"
"""How imported decisions were made; their ratings are unknown."""
_LATEST_ACTS = 400
"""How many of the latest acts are kept for the activity list."""


@dataclass
class RaterSlot:
    """A rater slot of a round: its raters, each replacing the one before, and the items of each."""

    raters: list[str]
    items: list[tuple[str, ...]]
    _members: list[frozenset[str]] = field(default_factory=list, compare=False)

    @property
    def rater(self) -> str:
        return self.raters[-1]

    def items_of(self, rater: str) -> tuple[str, ...]:
        return self.items[self.raters.index(rater)]

    def has(self, rater: str, item: str) -> bool:
        """Returns whether an item is assigned to a rater."""
        self._members += [frozenset(items) for items in self.items[len(self._members) :]]
        return item in self._members[self.raters.index(rater)]

    def forget_members(self) -> None:
        self._members.clear()

    @property
    def label(self) -> str:
        return " then ".join(self.raters)


@dataclass
class RoundState:
    """The current state of a round."""

    plan: RoundPlan
    slots: list[RaterSlot]
    sets: list[tuple[str, ...]] = field(default_factory=list)
    status: str = OPEN
    set: int = 1
    deadline: str = ""
    opened: str = ""
    closed: str = ""
    incomplete: str = ""
    final: bool = False
    """Whether the round can no longer be reopened, so that missing ratings stay missing."""
    not_blind: bool = False
    """Whether the round was reopened after somebody had seen ratings of others."""
    waived: str = ""
    unblinded: list[str] = field(default_factory=list)
    ratings: dict[str, dict[str, list[Rating]]] = field(default_factory=dict)
    """rater → item → ratings, the last of which counts."""
    comments: list[Comment] = field(default_factory=list)
    tie_comments: dict[tuple[str, str], Comment] = field(default_factory=dict)
    decisions: dict[tuple[str, str], list[Decision]] = field(default_factory=dict)
    proposals: dict[tuple[str, str], ProposedDecision] = field(default_factory=dict)
    """By item and facet: the decision that waits for assents."""
    code_proposals: dict[int, CodeProposal] = field(default_factory=dict)
    """By act number: the codes that raters proposed."""
    unifications: list[Unification] = field(default_factory=list)
    reread: dict[str, int] = field(default_factory=dict)
    """Items to rate again, each with the number of the act that requested it."""
    gone: frozenset[str] = frozenset()
    """Items that no longer count, because they were withdrawn or turned out not to be evidence."""
    compared: list[int] = field(default_factory=list)
    """Sets whose raters have seen each other's words."""
    practised: dict[str, list[str]] = field(default_factory=dict)
    rating_count: int = 0
    """The number of ratings, including superseded ones."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Working time by rater."""
    simulated: bool = False
    """Whether a simulated rater rated here."""
    decided_at: int = 0
    """The last act that decided anything."""
    first_names: dict[str, str] = field(default_factory=dict)
    """By renamed rater, the name under which the round was opened: it determines the order of their items."""
    _set_numbers: dict[str, int] = field(default_factory=dict, compare=False)
    cache: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)
    """Results computed from the round; a key contains everything that its result depends on."""

    _progress: dict[str, ItemQueue] = field(default_factory=dict, compare=False, repr=False)
    _item_numbers: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    def progress(self, slot: RaterSlot, rater: str) -> ItemQueue:
        """Returns a rater's progress through the open items; computed once, then updated with each rating."""
        if rater not in self._progress:
            if not self._item_numbers:
                self._item_numbers.update({item: number for number, item in enumerate(self.plan.items)})
            now = set(self.open_items())
            order = self.order_items(rater, [item for item in slot.items_of(rater) if item in now])
            progress = ItemQueue(self.plan.items, self._item_numbers, order)
            for item in self.ratings.get(rater, {}):
                if self.is_rated(slot, item):
                    progress.mark_rated(item)
            self._progress[rater] = progress
        return self._progress[rater]

    def order_items(self, rater: str, items: Sequence[str]) -> tuple[str, ...]:
        """Returns items in a rater's own order, which a new name does not change."""
        return order_items(self.plan, self.first_names.get(rater, rater), items)

    def rename_person(self, old: str, new: str) -> None:
        """Replaces the name of a rater or tie-breaker everywhere; nothing else changes."""

        def rename(name: str) -> str:
            return new if name == old else name

        def rename_all(names: Iterable[str]) -> tuple[str, ...]:
            return tuple(map(rename, names))

        plan = self.plan
        self.plan = replace(plan, raters=rename_all(plan.raters), tie_breaker=rename(plan.tie_breaker))
        if self.slot_of(old):
            self.first_names[new] = self.first_names.pop(old, old)
        for slot in self.slots:
            slot.raters = list(rename_all(slot.raters))
        self.unblinded = list(rename_all(self.unblinded))
        self.practised = {rename(name): items for name, items in self.practised.items()}
        self.seconds = {rename(name): seconds for name, seconds in self.seconds.items()}
        if old in self.ratings:
            renamed = {
                item: [replace(rating, rater=new) for rating in ratings] for item, ratings in self.ratings[old].items()
            }
            self.ratings = {rename(name): renamed if name == old else own for name, own in self.ratings.items()}
        self.comments = [replace(comment, actor=rename(comment.actor)) for comment in self.comments]
        self.tie_comments = {
            key: replace(comment, actor=rename(comment.actor)) for key, comment in self.tie_comments.items()
        }
        self.decisions = {
            key: [
                replace(decision, actor=rename(decision.actor), assents=rename_all(decision.assents))
                for decision in decisions
            ]
            for key, decisions in self.decisions.items()
        }
        self.proposals = {
            key: replace(proposal, actor=rename(proposal.actor), assents=rename_all(proposal.assents))
            for key, proposal in self.proposals.items()
        }
        self.code_proposals = {
            number: replace(proposal, actor=rename(proposal.actor)) for number, proposal in self.code_proposals.items()
        }
        self.unifications = [replace(words, actor=rename(words.actor)) for words in self.unifications]
        self._forget_computed()

    def record_rating(self, rating: Rating) -> None:
        self.ratings.setdefault(rating.rater, {}).setdefault(rating.item, []).append(rating)
        self.rating_count += 1
        self.seconds[rating.rater] = self.seconds.get(rating.rater, 0.0) + rating.seconds
        self.simulated = self.simulated or rating.simulated
        if rating.rater in self._progress:
            self._progress[rating.rater].mark_rated(rating.item)

    def forget_progress(self) -> None:
        """Drops the cached progress after the assignment of items changed."""
        self._progress.clear()

    def drop_items(self, is_gone: Callable[[str], object]) -> None:
        """Removes items that no longer count from the assignments; existing ratings are kept."""
        self.gone |= {item for item in self.plan.items if is_gone(item)}
        for slot in self.slots:
            rated = {item for rater in slot.raters for item in self.ratings.get(rater, ())}
            slot.items = [tuple(item for item in items if item in rated or not is_gone(item)) for items in slot.items]
            slot.forget_members()
        self.reread = {item: number for item, number in self.reread.items() if not is_gone(item)}
        self._forget_computed()

    def restore_items(self, is_back: Callable[[str], object]) -> None:
        """Counts dropped items again; those that nobody rated are assigned to the current rater of their slot."""
        self.gone = frozenset(item for item in self.gone if not is_back(item))
        for slot, planned in zip(self.slots, assign_items(self.plan), strict=True):
            present = {item for items in slot.items for item in items}
            back = {item for item in planned if item not in present and is_back(item)}
            if not back:
                continue
            slot.items[0] = tuple(item for item in planned if item in back or item in slot.items[0])
            if len(slot.items) > 1:
                slot.items[-1] = (*slot.items[-1], *(item for item in planned if item in back))
            slot.forget_members()
        self._forget_computed()

    def _forget_computed(self) -> None:
        self.cache.clear()
        self.forget_progress()

    @property
    def blindness(self) -> str:
        """A note on blindness for every result of the round; empty if its raters were blind."""
        if not self.plan.blind:
            return "not blind"
        return "not blind: reopened after ratings had been seen" if self.not_blind else ""

    @property
    def pending_codes_note(self) -> str:
        """A note for every result of the round if proposed codes are undecided; empty otherwise."""
        pending = [each for each in self.code_proposals.values() if not each.outcome and each.item not in self.gone]
        items = len({proposal.item for proposal in pending})
        if not items:
            return ""
        subject = "1 item has a proposed code" if items == 1 else f"{items:,} items have proposed codes"
        return f"{subject} that nobody has decided about yet; they are not counted"

    def items_left(self) -> tuple[str, ...]:
        """Returns the items of the round that still count."""
        return tuple(item for item in self.plan.items if item not in self.gone) if self.gone else self.plan.items

    def slot_of(self, rater: str) -> RaterSlot | None:
        return next((slot for slot in self.slots if rater in slot.raters), None)

    def current(self, rater: str, item: str) -> Rating | None:
        ratings = self.ratings.get(rater, {}).get(item)
        return ratings[-1] if ratings else None

    def rating_in_slot(self, slot: RaterSlot, item: str) -> Rating | None:
        """Returns the rating that counts for a slot: the one of the last rater who rated the item."""
        for rater in reversed(slot.raters):
            ratings = self.ratings.get(rater)
            if ratings is not None and (ratings_of_item := ratings.get(item)):
                return ratings_of_item[-1]
        return None

    def rated_by(self, slot: RaterSlot) -> int:
        """Returns how many items of a slot are rated; a new rater takes over only unrated items."""
        return sum(len(self.ratings.get(rater, ())) for rater in slot.raters)

    def is_rated(self, slot: RaterSlot, item: str) -> bool:
        """Returns whether an item is rated in a slot, and rated again if that was requested."""
        rating = self.rating_in_slot(slot, item)
        return rating is not None and rating.number > self.reread.get(item, 0)

    def all_ratings(self) -> list[Rating]:
        ratings = [
            rating
            for items in self.ratings.values()
            for ratings_of_item in items.values()
            for rating in ratings_of_item
        ]
        return sorted(ratings, key=lambda rating: rating.number)

    def open_items(self) -> tuple[str, ...]:
        """Returns the items that may be rated now."""
        return self.sets[self.set - 1]

    def set_of(self, item: str) -> int:
        """Returns the number of an item's set."""
        if not self._set_numbers:
            self._set_numbers.update(
                {member: number for number, items in enumerate(self.sets, start=1) for member in items}
            )
        return self._set_numbers[item]

    def counted_decisions(self) -> list[Decision]:
        """Returns the last decision on each facet of each item that still counts.

        A decision on a facet that is asked under a condition counts while the decisions on other facets fulfil it.
        """
        last = [decisions[-1] for (item, _), decisions in self.decisions.items() if item not in self.gone]
        if not has_conditions(self.plan):
            return last
        return [decision for decision in last if self.find_asked(decision.item, decision.facet)]

    def find_asked(self, item: str, facet: str) -> bool | None:
        """Returns whether the decisions on an item fulfil the condition of a facet; None while one is missing."""
        facet_plan = self.plan.facet(facet)
        if not facet_plan.ask_if:
            return True
        answers = {
            other.id: self.decisions[item, other.id][-1].answer
            for other in self.plan.facets
            if (item, other.id) in self.decisions
        }
        return find_asked(self.plan, facet_plan, answers)

    def last_decisions(self, facet: str) -> dict[str, Decision]:
        """Returns the last decision on a facet of each item that still counts."""
        return {decision.item: decision for decision in self.counted_decisions() if decision.facet == facet}


@dataclass(frozen=True)
class ItemRemoval:
    """Which items a kind of act of another feature removes from rounds, and which it restores."""

    origin: str
    """The feature that the items come from."""
    removed_by: Callable[[Mapping[str, Any]], Callable[[str], object]]
    """Returns a test for their ids, given the payload of an act."""
    restored_by: Callable[[Mapping[str, Any]], Callable[[str], object]] | None = None
    """Returns a test for the ids of items that count again."""


@dataclass
class State:
    """Everything coding knows, derived from the journal alone."""

    head: int = 0
    changed: int = 0
    """The last act that can change a result; ratings count only once their round is closed."""
    history: History = field(default_factory=History)
    rounds: dict[str, RoundState] = field(default_factory=dict)
    published: dict[str, dict[tuple[str, str], Decision]] = field(default_factory=dict)
    new_names: dict[str, str] = field(default_factory=dict)
    """The current names of renamed people, by each earlier name."""
    latest: deque[ActSummary] = field(default_factory=lambda: deque(maxlen=_LATEST_ACTS))
    """The latest acts without their content."""
    unhandled_acts: list[Act] = field(default_factory=list)
    """Acts of other features, such as surveys, in order."""
    removals: Mapping[str, ItemRemoval] = field(default_factory=dict, compare=False, repr=False)
    """By act kind, how acts of other features remove items; passed in because coding imports no other feature."""

    def current_name(self, name: str) -> str:
        """Returns what a person is called now; acts of the journal have the name of their time."""
        return self.new_names.get(name, name)

    def round(self, name: str) -> RoundState:
        if name not in self.rounds:
            options = suggest(name, self.rounds) or "none"
            raise StateError(f"the round {name!r} has not been opened, opened so far: {options}")
        return self.rounds[name]

    def fold(self, acts: Iterable[Act]) -> None:
        """Folds all acts after `head` into the state."""
        newest: deque[Act] = deque(maxlen=_LATEST_ACTS)  # summarised at the end: only the last acts are needed
        try:
            for act in acts:
                if act.number <= self.head:
                    continue
                self.head = act.number
                if act.kind not in _QUIET:
                    self.changed = act.number
                fold_act = _FOLDS.get(act.kind)
                if fold_act is not None:
                    fold_act(self, act)
                elif act.kind.startswith("codebook."):
                    self.history.record(act.kind, act.payload)
                else:
                    self.unhandled_acts.append(act)
                    for round_state in self.rounds.values():
                        self._remove_items(round_state, act)
                newest.append(act)
        finally:
            self.latest.extend(map(_summarise_act, newest))
            if any(act.kind == "person.rename" for act in newest):
                latest = [replace(summary, actor=self.current_name(summary.actor)) for summary in self.latest]
                self.latest = deque(latest, maxlen=_LATEST_ACTS)

    def _remove_items(self, round_state: RoundState, act: Act) -> None:
        """Removes and restores the items of a round that an act of another feature is about."""
        removal = self.removals.get(act.kind)
        # Other items may have such ids too. A plan that was made before plans recorded an origin goes by ids.
        if removal is None or round_state.plan.origin not in (removal.origin, ""):
            return
        round_state.drop_items(removal.removed_by(act.payload))
        if removal.restored_by is not None:
            round_state.restore_items(removal.restored_by(act.payload))

    def remove_items_of_earlier_acts(self, round_state: RoundState) -> None:
        """Applies the removals recorded before a round was opened: its evidence may be older than they are."""
        for act in self.unhandled_acts:
            self._remove_items(round_state, act)


def _summarise_act(act: Act) -> ActSummary:
    payload = act.payload
    plan = payload.get("plan")
    where = plan["round"] if isinstance(plan, dict) else payload.get("round") or payload.get("name") or ""
    survey = str(payload.get("survey", ""))
    return ActSummary(act.number, act.time, act.kind, act.actor, str(where), len(payload.get("decisions", ())), survey)


def write_plan(plan: RoundPlan) -> dict[str, Any]:
    return asdict(plan)


def read_plan(payload: dict[str, Any]) -> RoundPlan:
    facets = tuple(_read_facet(facet) for facet in payload["facets"])
    practice = tuple(Practice(**entry) for entry in payload["practice"])
    lists = {"items": tuple(payload["items"]), "raters": tuple(payload["raters"])}
    return RoundPlan(**{**payload, **lists, "facets": facets, "practice": practice})


def _read_facet(payload: dict[str, Any]) -> Facet:
    lists = {name: tuple(payload[name]) for name in ("options", "reasons")}
    pairs = {
        name: tuple((key, tuple(values)) for key, values in payload.get(name, ())) for name in ("fields", "ask_if")
    }
    return Facet(**{**payload, **lists, **pairs})


def _fold_open(state: State, act: Act) -> None:
    plan = read_plan(act.payload["plan"])
    slots = [RaterSlot([rater], [items]) for rater, items in zip(plan.raters, assign_items(plan), strict=True)]
    round_state = RoundState(plan, slots, plan.sets(), deadline=plan.deadline, opened=act.time)
    state.rounds[plan.round] = round_state
    state.remove_items_of_earlier_acts(round_state)


def _fold_close(state: State, act: Act) -> None:
    round_state = state.rounds[act.payload["round"]]
    round_state.final = bool(act.payload.get("final"))
    if round_state.status == OPEN:  # a closed round can be declared final later, which leaves the rest as it was
        round_state.status, round_state.closed, round_state.incomplete = (
            CLOSED,
            act.time,
            act.payload.get("incomplete", ""),
        )


def _fold_reopen(state: State, act: Act) -> None:
    round_state = state.rounds[act.payload["round"]]
    round_state.status, round_state.closed, round_state.incomplete, round_state.waived = OPEN, "", "", ""
    round_state.not_blind = round_state.not_blind or bool(act.payload.get("not_blind"))
    if round_state.decisions:
        round_state.decided_at = act.number
        round_state.decisions.clear()  # only decisions by agreement: a discussed round cannot be reopened


def _fold_waive(state: State, act: Act) -> None:
    state.rounds[act.payload["round"]].waived = act.payload["reason"]


def _fold_replace(state: State, act: Act) -> None:
    round_state = state.rounds[act.payload["round"]]
    slot = round_state.slot_of(act.payload["rater"])
    if slot is not None:
        slot.raters.append(act.payload["by"])
        slot.items.append(tuple(act.payload["items"]))
    round_state.forget_progress()


def _fold_deadline(state: State, act: Act) -> None:
    state.rounds[act.payload["round"]].deadline = act.payload["deadline"]


def _fold_next_set(state: State, act: Act) -> None:
    round_state = state.rounds[act.payload["round"]]
    round_state.set = act.payload["set"]
    round_state.forget_progress()


def _fold_unblind(state: State, act: Act) -> None:
    state.rounds[act.payload["round"]].unblinded.append(act.actor)


def _fold_rating(state: State, act: Act) -> None:
    payload = act.payload
    rating = Rating(
        act.number,
        payload["round"],
        payload["item"],
        act.actor,
        payload["answers"],
        payload.get("time") or act.time,
        act.codebook,
        tuple(payload.get("unsure", ())),
        payload.get("memo", ""),
        float(payload.get("seconds", 0)),
        bool(payload.get("simulated")),
        bool(payload.get("imported")),
    )
    state.rounds[rating.round].record_rating(rating)


def _fold_comment(state: State, act: Act) -> None:
    payload = act.payload
    comment = Comment(
        act.number,
        payload["item"],
        payload["facet"],
        act.actor,
        payload["text"],
        act.time,
        payload.get("answer"),
        bool(payload.get("simulated")),
    )
    round_state = state.rounds[payload["round"]]
    if act.kind == "tie.comment":
        round_state.tie_comments[payload["item"], payload["facet"]] = comment
    else:
        round_state.comments.append(comment)


def _fold_decision(state: State, act: Act) -> None:
    payload = act.payload
    round_state = state.rounds[payload["round"]]
    round_state.decided_at = act.number
    decisions = round_state.decisions
    for entry in payload["decisions"]:
        decision = Decision(
            act.number,
            entry["item"],
            entry["facet"],
            entry["answer"],
            entry["how"],
            act.actor,
            act.time,
            payload.get("reason", ""),
            simulated=bool(payload.get("simulated") or entry.get("simulated")),
            assents=tuple(payload.get("assents", ())),
        )
        decisions.setdefault((decision.item, decision.facet), []).append(decision)
        round_state.proposals.pop((decision.item, decision.facet), None)


def _fold_proposal(state: State, act: Act) -> None:
    payload = act.payload
    state.rounds[payload["round"]].proposals[payload["item"], payload["facet"]] = ProposedDecision(
        act.number,
        payload["answer"],
        payload["how"],
        payload.get("reason", ""),
        act.actor,
        act.time,
        bool(payload.get("simulated")),
        (act.actor,),
    )


def _fold_code_proposal(state: State, act: Act) -> None:
    payload = act.payload
    texts = (payload["name"], payload.get("definition", ""), payload.get("parent", ""))
    state.rounds[payload["round"]].code_proposals[act.number] = CodeProposal(
        act.number, payload["item"], payload["facet"], act.actor, act.time, *texts
    )


def _fold_code_settlement(state: State, act: Act) -> None:
    payload = act.payload
    proposals = state.rounds[payload["round"]].code_proposals
    for number in payload["proposals"]:
        proposals[number] = replace(
            proposals[number],
            outcome=payload["outcome"],
            code=payload.get("code", ""),
            reason=payload.get("reason", ""),
        )


def _fold_assent(state: State, act: Act) -> None:
    payload = act.payload
    proposals = state.rounds[payload["round"]].proposals
    proposal = proposals[payload["item"], payload["facet"]]
    proposals[payload["item"], payload["facet"]] = replace(proposal, assents=(*proposal.assents, act.actor))


def _fold_published(state: State, act: Act) -> None:
    payload = act.payload
    decisions = state.published.setdefault(payload["name"], {})
    for entry in payload["decisions"]:
        item, facet = entry["item"], entry["facet"]
        decisions[item, facet] = Decision(
            act.number, item, facet, entry["answer"], OUTSIDE, act.actor, act.time, source=payload["source"]
        )


def _fold_unify(state: State, act: Act) -> None:
    payload = act.payload
    state.rounds[payload["round"]].unifications.append(
        Unification(
            act.number,
            payload["set"],
            payload["part"],
            tuple(payload["words"]),
            payload["to"],
            payload["rule"],
            act.actor,
            payload.get("reason", ""),
            bool(payload.get("simulated")),
        )
    )
    _fold_compare(state, act)


def _fold_reread(state: State, act: Act) -> None:
    payload = act.payload
    round_state = state.rounds[payload["round"]]
    round_state.reread[payload["item"]] = act.number
    round_state.forget_progress()
    _fold_compare(state, act)


def _fold_compare(state: State, act: Act) -> None:
    round_state = state.rounds[act.payload["round"]]
    if act.payload["set"] not in round_state.compared:
        round_state.compared.append(act.payload["set"])


def _fold_rename(state: State, act: Act) -> None:
    old, new = act.payload["person"], act.payload["to"]
    state.new_names = {first: new if last == old else last for first, last in state.new_names.items()} | {old: new}
    for round_state in state.rounds.values():
        round_state.rename_person(old, new)


def _fold_practice(state: State, act: Act) -> None:
    state.rounds[act.payload["round"]].practised.setdefault(act.actor, []).append(act.payload["item"])


_QUIET = (
    "rating", "ratings.import", "practice", "comment", "tie.comment", "decision.propose", "decision.assent",
    "code.propose", "round.unblind", "round.deadline",
    "survey.invite",
)  # fmt: skip
_FOLDS: dict[str, Callable[[State, Act], None]] = {
    "round.open": _fold_open,
    "round.close": _fold_close,
    "round.reopen": _fold_reopen,
    "round.waive": _fold_waive,
    "round.replace": _fold_replace,
    "round.deadline": _fold_deadline,
    "round.set": _fold_next_set,
    "round.unblind": _fold_unblind,
    "rating": _fold_rating,
    "practice": _fold_practice,
    "comment": _fold_comment,
    "tie.comment": _fold_comment,
    "decision": _fold_decision,
    "decision.propose": _fold_proposal,
    "decision.assent": _fold_assent,
    "code.propose": _fold_code_proposal,
    "code.settle": _fold_code_settlement,
    "decision.import": _fold_published,
    "words.unify": _fold_unify,
    "words.reread": _fold_reread,
    "words.compare": _fold_compare,
    "person.rename": _fold_rename,
}

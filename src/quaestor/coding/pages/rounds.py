"""The lead's overview of rounds: status, progress of each rater, and possible actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quaestor.base.clock import parse_utc
from quaestor.base.errors import StateError
from quaestor.base.names import count_of, fits_url
from quaestor.coding.model.closing import build_reopen_act
from quaestor.coding.model.conditions import describe_condition
from quaestor.coding.model.facet_kinds.passages import PassagesKind
from quaestor.coding.model.facet_kinds.phrase import PhraseKind
from quaestor.coding.model.rounds import is_complete
from quaestor.coding.model.settlement import TOGETHER
from quaestor.coding.model.state import CLOSED, OPEN, RaterSlot, RoundState, State
from quaestor.coding.pages.disagreements import METHOD_WORDS
from quaestor.coding.round_acts import find_round_settings
from quaestor.coding.round_setup import is_editable
from quaestor.coding.session import CodingSession
from quaestor.store.records import Act
from quaestor.study.folder import Study
from quaestor.study.settings.coding import RoundSettings

NOT_OPENED = "not opened"


@dataclass(frozen=True)
class SlotProgress:
    """The progress of one rater slot through the open items."""

    rater: str
    label: str
    done: int
    total: int

    @property
    def left(self) -> int:
        return self.total - self.done


@dataclass(frozen=True)
class RoundOverview:
    """The plan and the counts of a round, without any answers."""

    round: str
    kind: str
    status: str  # not opened, open, closed
    items: int
    selection: str
    """How its items were selected; empty before it is opened."""
    facets: tuple[str, ...]
    slots: tuple[SlotProgress, ...]
    acts: tuple[str, ...]
    """What the lead can do now: open, change, close, next set, deadline, replace, waive, reopen (as not blind) or make
    final."""
    set: int = 0
    sets: int = 0
    complete: bool = False
    """Whether the round can be closed without a reason."""
    codebook: int = 0
    overlap: float = 1.0
    blind: bool = True
    statistic: str = ""
    measured: str = ""
    threshold: float | None = None
    after: str = ""
    tie_breaker: str = ""
    settle: str = ""
    instructions: str = ""
    practice: int = 0
    deadline: str = ""
    opened: str = ""
    closed: str = ""
    waived: str = ""
    incomplete: str = ""
    final: bool = False
    blindness: str = ""
    """Empty if its raters were blind."""
    simulated: bool = False
    phrases: bool = False
    codes_passages: bool = False
    """Whether raters code passages of transcripts."""
    conditions: tuple[str, ...] = ()
    """The facets that are asked only under a condition, each with its condition."""
    has_page: bool = True
    """False for a round of an older version whose name does not fit into a URL."""

    @property
    def missing(self) -> int:
        return sum(slot.left for slot in self.slots)


def list_round_overviews(study: Study, state: State) -> list[RoundOverview]:
    """Returns the rounds of the study file in its order, then those only in the journal."""
    configured = [round_state.round for round_state in study.settings.rounds]
    return [build_round_overview(study, state, name) for name in [*configured, *(set(state.rounds) - set(configured))]]


def build_round_overview(study: Study, state: State, name: str) -> RoundOverview:
    round_state = state.rounds.get(name)
    return (
        _build_unopened(study, find_round_settings(study, name))
        if round_state is None
        else _build_opened(study, state, round_state)
    )


def _build_unopened(study: Study, round_settings: RoundSettings) -> RoundOverview:
    return RoundOverview(
        round=round_settings.round,
        kind=round_settings.kind,
        status=NOT_OPENED,
        items=0,
        selection="",
        facets=round_settings.facets,
        slots=tuple(SlotProgress(rater, rater, 0, 0) for rater in round_settings.raters),
        acts=("open", "change") if is_editable(study, round_settings.round) else ("open",),
        overlap=round_settings.overlap,
        blind=round_settings.blind,
        statistic=round_settings.statistic,
        measured=round_settings.measured or round_settings.facets[0],
        threshold=round_settings.threshold,
        after=round_settings.after or "",
        tie_breaker=round_settings.tie_breaker or "",
        settle=round_settings.settle,
        instructions=round_settings.instructions,
        practice=len(round_settings.practice),
        deadline=parse_utc(round_settings.deadline.isoformat()) if round_settings.deadline else "",
        phrases=any(study.settings.facets[facet].kind == PhraseKind.name for facet in round_settings.facets),
        codes_passages=any(study.settings.facets[facet].kind == PassagesKind.name for facet in round_settings.facets),
        conditions=_list_conditions(
            (facet, tuple(study.settings.facets[facet].ask_if.items())) for facet in round_settings.facets
        ),
    )


def _list_conditions(facets: Iterable[tuple[str, Iterable[tuple[str, Sequence[str]]]]]) -> tuple[str, ...]:
    conditions = ((name, describe_condition(ask_if)) for name, ask_if in facets)
    return tuple(f"{name} only if {condition}" for name, condition in conditions if condition)


def _build_opened(study: Study, state: State, round_state: RoundState) -> RoundOverview:
    plan, lead = round_state.plan, study.settings.study.lead
    slots = tuple(_build_slot(round_state, slot) for slot in round_state.slots)
    rated = not any(slot.left for slot in slots)
    return RoundOverview(
        round=plan.round,
        kind=plan.kind,
        status=round_state.status,
        items=len(round_state.items_left()),
        selection=plan.selection,
        facets=tuple(facet.id for facet in plan.facets),
        slots=slots,
        acts=_list_acts(state, round_state, lead, rated),
        set=round_state.set,
        sets=len(round_state.sets),
        complete=rated and round_state.set == len(round_state.sets),
        codebook=plan.codebook,
        overlap=plan.overlap,
        blind=plan.blind,
        statistic=plan.statistic,
        measured=plan.measured,
        threshold=plan.threshold,
        after=plan.after,
        tie_breaker=plan.tie_breaker,
        settle=plan.settle,
        instructions=plan.instructions,
        practice=len(plan.practice),
        deadline=round_state.deadline,
        opened=round_state.opened,
        closed=round_state.closed,
        waived=round_state.waived,
        incomplete=round_state.incomplete,
        final=round_state.final,
        blindness=round_state.blindness,
        simulated=_is_simulated(round_state),
        phrases=any(facet.kind == PhraseKind.name for facet in plan.facets),
        codes_passages=any(facet.kind == PassagesKind.name for facet in plan.facets),
        conditions=_list_conditions((facet.id, facet.ask_if) for facet in plan.facets),
        has_page=fits_url(plan.round),
    )


def _list_acts(state: State, round_state: RoundState, lead: str, rated: bool) -> tuple[str, ...]:
    if round_state.status == OPEN:
        further = ("next set",) if rated and round_state.set < len(round_state.sets) else ()
        return (*further, "close", "deadline", "replace")
    acts = []
    if round_state.plan.threshold is not None and not round_state.waived:
        acts.append("waive")
    try:
        act = build_reopen_act(state, round_state.plan.round, lead, "only to check", not_blind=True)
        acts.append("reopen as not blind" if act.payload.get("not_blind") else "reopen")
    except StateError:
        pass
    if not round_state.final and not is_complete(round_state):
        acts.append("make final")
    return tuple(acts)


def _build_slot(round_state: RoundState, slot: RaterSlot) -> SlotProgress:
    """Builds the progress of a slot from running counts, since a round may have very many ratings."""
    if round_state.status == CLOSED:
        total = len(slot.items[0])
        done = min(total, sum(len(round_state.ratings.get(rater, {})) for rater in slot.raters))
        return SlotProgress(slot.rater, slot.label, done, total)
    whole = len(round_state.sets) == 1
    total = len(slot.items[0]) if whole else sum(slot.has(slot.raters[0], item) for item in round_state.open_items())
    own = round_state.progress(slot, slot.rater)
    return SlotProgress(slot.rater, slot.label, total - (len(own) - own.done), total)


def _is_simulated(round_state: RoundState) -> bool:
    """Returns whether a rater is simulated; checks one rating of each, since all of a rater's are or none."""
    return any(next(iter(rating.values()))[-1].simulated for rating in round_state.ratings.values() if rating)


@dataclass(frozen=True)
class RoundEvent:
    """One act of a round."""

    number: int
    time: str
    actor: str
    words: str
    reason: str = ""


def list_round_events(coding: CodingSession, name: str) -> list[RoundEvent]:
    """Returns the acts of a round in order, without ratings and comments."""
    acts = coding.read_acts(list(_WORDS))
    state = coding.state
    return [_build_event(state, act) for act in acts if _find_round(act) == name]


def _find_round(act: Act) -> str:
    plan: Mapping[str, Any] = act.payload.get("plan", {})
    return str(plan.get("round") or act.payload.get("round", ""))


def _build_event(state: State, act: Act) -> RoundEvent:
    reason = str(act.payload.get("reason") or act.payload.get("incomplete") or "")
    payload = dict(act.payload)
    for key in ("rater", "by"):
        if key in payload:
            payload[key] = state.current_name(payload[key])
    words = _WORDS[act.kind](payload)
    return RoundEvent(act.number, act.time, state.current_name(act.actor), words, reason)


_METHODS = METHOD_WORDS | {TOGETHER: "made by all together"}


def _describe_decisions(payload: Mapping[str, Any]) -> str:
    methods = Counter(decision["how"] for decision in payload["decisions"])
    counts = [f"{count_of(number, 'decision')} {_METHODS.get(how, how)}" for how, number in methods.items()]
    return f"recorded {', '.join(counts) or 'no decision'}"


def _describe_closing(payload: Mapping[str, Any]) -> str:
    if "incomplete" not in payload:
        return "declared it final"
    words = "closed it with ratings missing" if payload["incomplete"] else "closed it"
    return f"{words}, as final" if payload.get("final") else words


_WORDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "round.open": lambda payload: f"opened it with {count_of(len(payload['plan']['items']), 'item')}",
    "round.close": _describe_closing,
    "round.reopen": lambda payload: "reopened it as not blind" if payload.get("not_blind") else "reopened it",
    "round.waive": lambda payload: "waived its threshold",
    "round.replace": lambda payload: (
        f"gave {count_of(len(payload['items']), 'item')} of {payload['rater']} to {payload['by']}"
    ),
    "round.deadline": lambda payload: f"set its deadline to {payload['deadline'][:16].replace('T', ' ')} UTC",
    "round.set": lambda payload: f"opened set {payload['set']}",
    "round.unblind": lambda payload: "viewed its ratings",
    "ratings.import": lambda payload: f"imported {count_of(payload['rows'], 'rating')} from {payload['file']}",
    "words.compare": lambda payload: f"compared the words of set {payload['set']}",
    "words.unify": lambda payload: f"unified words after set {payload['set']}",
    "words.reread": lambda payload: f"requested another rating of an item of set {payload['set']}",
    "decision.propose": lambda payload: "proposed a decision",
    "decision.assent": lambda payload: "assented to a decision",
    "decision": _describe_decisions,
}

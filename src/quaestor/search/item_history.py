"""The history of an item that a viewer may see: evidence, funnel, rounds, ratings and decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from quaestor.base.errors import StateError
from quaestor.base.names import build_page_names
from quaestor.coding.coded_items import CodedAnswer, VisibleDecisions, format_decision
from quaestor.coding.model.answers import write_cell
from quaestor.coding.model.facet_kinds.base import NOTHING_CODED
from quaestor.coding.model.facet_kinds.passages import list_codes
from quaestor.coding.model.records import Codebook, Comment, Decision, Facet, Rating
from quaestor.coding.model.state import RoundState, State
from quaestor.coding.session import CodingSession
from quaestor.coding.visibility import ASKER, Viewer, Visibility, list_raters
from quaestor.evidence.item_texts import ItemText, mask_item_text, read_item_texts
from quaestor.evidence.step_items import trace_item
from quaestor.search.index_query import open_state
from quaestor.store.records import NewAct
from quaestor.study.contributions import TextMask
from quaestor.study.folder import Study

RATING, COMMENT, TIE, DECISION = "rating", "comment", "tie-breaker's comment", "decision"


@dataclass(frozen=True)
class ItemEvent:
    """A recorded rating, comment or decision on the item."""

    kind: str
    time: str
    actor: str
    answers: tuple[tuple[str, str], ...] = ()
    """Pairs of facet and answer, as shown."""
    text: str = ""
    how: str = ""
    decision: str = ""
    """For a decision: the value of the query parameter `code` that finds items with the same answer."""
    handbook: str = ""
    """For a decision: the path of its code's page in the handbook, if the handbook is published."""
    unsure: tuple[str, ...] = ()
    superseded: bool = False
    simulated: bool = False


@dataclass(frozen=True)
class RoundHistory:
    """The events of one round on the item."""

    round: str
    kind: str
    status: str
    opened: str = ""
    closed: str = ""
    blindness: str = ""
    """Why its raters were not blind; empty if they were."""
    events: tuple[ItemEvent, ...] = ()
    hidden_reason: str = ""
    """Why events may be hidden; empty if none are."""


@dataclass(frozen=True)
class ItemHistory:
    """An item, its path through the funnel, and the rounds it was part of."""

    item: str
    item_text: ItemText | None
    """None if the evidence only records that the item was dropped."""
    funnel_path: Mapping[str, Any] | None
    no_path_reason: str = ""
    """Why its path through the funnel is unknown."""
    decided: tuple[CodedAnswer, ...] = ()
    rounds: tuple[RoundHistory, ...] = ()


def build_item_history(
    study: Study, coding: CodingSession | None, item: str, viewer: Viewer, mask: TextMask | None = None
) -> ItemHistory:
    """Returns all that a viewer may see of an item, with known names masked; raises StateError for an unknown item."""
    item_text = read_item_texts(study, [item]).get(item)
    if item_text is not None and item_text.author and not viewer.sees_names:
        item_text = replace(item_text, author=ASKER)
    funnel_path, no_path_reason = None, ""
    try:
        funnel_path = trace_item(study, item, coding)
    except StateError as refusal:
        if item_text is None:
            raise
        no_path_reason = str(refusal)
    if coding is not None:
        _record_views(coding, item, viewer)
    with open_state(coding) as state:
        sight = Visibility(state, study.settings.study.lead, viewer)
        decided = VisibleDecisions(sight).list_answers(item)
        rounds = list_rounds(study, sight, item)
    history = ItemHistory(item, item_text, funnel_path, no_path_reason, decided, rounds)
    return _mask_history(history, mask) if mask else history  # outside the lock: finding names takes time


def _mask_history(history: ItemHistory, mask: TextMask) -> ItemHistory:
    decided = (
        replace(answer, label=mask.mask(answer.label), decision=mask.mask(answer.decision))
        for answer in history.decided
    )
    rounds = (replace(part, events=tuple(_mask_event(event, mask) for event in part.events)) for part in history.rounds)
    item_text = mask_item_text(mask, history.item_text) if history.item_text else None
    return replace(history, item_text=item_text, decided=tuple(decided), rounds=tuple(rounds))


def _mask_event(event: ItemEvent, mask: TextMask) -> ItemEvent:
    answers = tuple((facet, mask.mask(answer)) for facet, answer in event.answers)
    return replace(event, answers=answers, text=mask.mask(event.text), decision=mask.mask(event.decision))


def _record_views(coding: CodingSession, item: str, viewer: Viewer) -> None:
    """Records that the viewer is about to see other raters' ratings of an item, which ends their blindness.

    The acts are built again under the journal's lock, because a round may have been reopened in the meantime: it then
    shows nothing, and no view is recorded.
    """

    def build_views(state: State) -> list[NewAct]:
        rated = [
            round_state.plan.round
            for round_state in state.rounds.values()
            if any(item in ratings for rater, ratings in round_state.ratings.items() if rater != viewer.name)
        ]
        return Visibility(state, coding.lead, viewer).build_view_acts(rated)

    with coding.locked_state() as state:
        has_views = bool(build_views(state))
    if has_views:
        coding.act(build_views)


def list_rounds(study: Study, sight: Visibility, item: str) -> tuple[RoundHistory, ...]:
    """Returns the rounds with the item in the order in which they were opened, then published decisions."""
    state = sight.state
    rounds = [
        _build_round(study, sight, round_state, item)
        for round_state in state.rounds.values()
        if item in _get_items(round_state)
    ]
    for name, published in state.published.items():
        decisions = [decision for (decided, _), decision in published.items() if decided == item]
        if decisions:
            events = tuple(_build_decision(study, sight, name, decision, last=True) for decision in decisions)
            rounds.append(RoundHistory(name, "published", "published", closed=decisions[-1].time, events=events))
    return tuple(rounds)


def _get_items(round_state: RoundState) -> frozenset[str]:
    """Returns the items of a round as a set, cached with the round."""
    if "members" not in round_state.cache:
        round_state.cache["members"] = frozenset(round_state.plan.items)
    items: frozenset[str] = round_state.cache["members"]
    return items


def _build_round(study: Study, sight: Visibility, round_state: RoundState, item: str) -> RoundHistory:
    plan = round_state.plan
    name = plan.round
    no_ratings, no_decisions = sight.why_no_ratings(name), sight.why_no_decisions(name)
    book = sight.state.history.at(plan.codebook)
    events: list[tuple[int, ItemEvent]] = []
    for rater in list_raters(round_state):
        if not no_ratings or rater == sight.viewer.name:
            ratings = round_state.ratings.get(rater, {}).get(item, [])
            events += [
                (rating.number, _build_rating(sight, name, book, rating, rating is ratings[-1])) for rating in ratings
            ]
    if not no_ratings:
        comments = [comment for comment in round_state.comments if comment.item == item]
        events += [(comment.number, _build_comment(sight, name, comment, COMMENT)) for comment in comments]
        ties = [round_state.tie_comments.get((item, facet.id)) for facet in plan.facets]
        events += [
            (comment.number, _build_comment(sight, name, comment, TIE)) for comment in ties if comment is not None
        ]
    if not no_decisions:
        for facet in plan.facets:
            decisions = round_state.decisions.get((item, facet.id), [])
            events += [
                (decision.number, _build_decision(study, sight, name, decision, last=counts))
                for decision in decisions
                for counts in [decision is decisions[-1] and round_state.find_asked(item, facet.id) is True]
            ]
    return RoundHistory(
        name,
        plan.kind,
        round_state.status,
        round_state.opened,
        round_state.closed,
        round_state.blindness,
        tuple(event for _, event in sorted(events, key=lambda pair: pair[0])),
        no_ratings or no_decisions,
    )


def _build_rating(sight: Visibility, name: str, book: Codebook, rating: Rating, counts: bool) -> ItemEvent:
    facets = [facet for facet in sight.state.round(name).plan.facets if facet.id in rating.answers]
    return ItemEvent(
        RATING,
        rating.time,
        sight.name_actor(name, rating.rater),
        tuple((facet.id, _format_answer(facet, book, rating.answers[facet.id])) for facet in facets),
        sight.mask_people(name, rating.memo),
        unsure=rating.unsure,
        superseded=not counts,
        simulated=rating.simulated,
    )


def _format_answer(facet: Facet, book: Codebook, answer: Any) -> str:
    if isinstance(answer, list | tuple):
        return "; ".join(_format_answer(facet, book, code) for code in list_codes(answer)) or NOTHING_CODED
    return book.path_name(answer) if isinstance(answer, str) and answer in book.codes else write_cell(facet, answer)


def _build_comment(sight: Visibility, name: str, comment: Comment, kind: str) -> ItemEvent:
    plan = sight.state.round(name).plan
    book, answer = sight.state.history.at(plan.codebook), comment.answer
    answers = ((comment.facet, _format_answer(plan.facet(comment.facet), book, answer)),) if answer is not None else ()
    text = sight.mask_people(name, comment.text)
    return ItemEvent(
        kind, comment.time, sight.name_actor(name, comment.actor), answers, text, simulated=comment.simulated
    )


def _build_decision(study: Study, sight: Visibility, name: str, decision: Decision, *, last: bool) -> ItemEvent:
    state = sight.state
    answer = format_decision(state, state.history.latest, decision)
    code = answer.decision.partition(":")[2]
    return ItemEvent(
        DECISION,
        decision.time,
        ", ".join(sight.name_actor(name, person) for person in decision.assents or (decision.actor,)),
        ((decision.facet, answer.label),),
        sight.mask_people(name, decision.reason) or decision.source,
        decision.how,
        answer.decision,
        _find_handbook_page(study, state.history.latest, code),
        superseded=not last,
        simulated=decision.simulated,
    )


def _find_handbook_page(study: Study, book: Codebook, code: str) -> str:
    """Returns the path of a code's page in the published handbook; empty if there is none."""
    if code not in book.codes:
        return ""
    facet = book.codes[code].facet
    active = (entry.id for entry in book.codes.values() if entry.active and entry.facet == facet)
    name = build_page_names(active).get(code, "")
    page = f"codes/{name}.html"
    return page if name and (study.published / "handbook" / page).is_file() else ""

"""All that happened to one item, as far as the viewer may see: evidence, funnel, rounds, ratings, decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from quaestor.base.errors import StateError
from quaestor.base.names import build_page_names
from quaestor.coding.model.answers import write_cell
from quaestor.coding.model.facet_kinds.passages import codes_in
from quaestor.coding.model.records import Codebook, Comment, Decision, Facet, Rating
from quaestor.coding.model.state import RoundState, State
from quaestor.coding.session import CodingSession
from quaestor.coding.visibility import ASKER, Sight, Viewer, raters_of
from quaestor.evidence.item_texts import ItemText, mask_item_text, read_item_texts
from quaestor.evidence.step_items import trace_item
from quaestor.search.coded_items import CodedAnswer, VisibleDecisions, format_decision
from quaestor.search.index_query import open_state
from quaestor.store.records import NewAct
from quaestor.study.contributions import TextMask
from quaestor.study.folder import Study

RATING, COMMENT, TIE, DECISION = "rating", "comment", "tie-breaker's comment", "decision"


@dataclass(frozen=True)
class ItemEvent:
    """One thing that somebody said about the item, on record."""

    kind: str
    time: str
    actor: str
    answers: tuple[tuple[str, str], ...] = ()
    """Facet and answer, in words."""
    text: str = ""
    how: str = ""
    decision: str = ""
    """Of a decision: what finds the items with the same answer."""
    handbook: str = ""
    """Of a decision: the page of its code, from the root of the handbook, where it is published."""
    unsure: tuple[str, ...] = ()
    superseded: bool = False
    simulated: bool = False


@dataclass(frozen=True)
class RoundHistory:
    """What one round has on record about the item."""

    round: str
    kind: str
    status: str
    opened: str = ""
    closed: str = ""
    blindness: str = ""
    """Empty where its raters were blind."""
    events: tuple[ItemEvent, ...] = ()
    hidden_reason: str = ""
    """Why there may be more than is shown."""


@dataclass(frozen=True)
class ItemHistory:
    """An item and its way through the study."""

    item: str
    item_text: ItemText | None
    """None where evidence holds only that it was left out."""
    funnel_path: Mapping[str, Any] | None
    no_path_reason: str = ""
    """Why its way through the funnel cannot be told."""
    decided: tuple[CodedAnswer, ...] = ()
    rounds: tuple[RoundHistory, ...] = ()


def build_item_history(
    study: Study, coding: CodingSession | None, item: str, viewer: Viewer, mask: TextMask | None = None
) -> ItemHistory:
    """Returns all that a viewer may see of an item, without known names; raises StateError where there is none."""
    reading = read_item_texts(study, [item]).get(item)
    if reading is not None and reading.author and not viewer.sees_names:
        reading = replace(reading, author=ASKER)
    way, no_way = None, ""
    try:
        way = trace_item(study, item, coding)
    except StateError as refusal:
        if reading is None:
            raise
        no_way = str(refusal)
    if coding is not None:
        _record_views(coding, item, viewer)
    with open_state(coding) as state:
        sight = Sight(state, study.settings.study.lead, viewer)
        decided = VisibleDecisions(sight).list_answers(item)
        rounds = list_rounds(study, sight, item)
    history = ItemHistory(item, reading, way, no_way, decided, rounds)
    return _masked(history, mask) if mask else history  # not under the lock: looking for names takes a while


def _masked(history: ItemHistory, mask: TextMask) -> ItemHistory:
    decided = (
        replace(answer, label=mask.mask(answer.label), decision=mask.mask(answer.decision))
        for answer in history.decided
    )
    rounds = (
        replace(part, events=tuple(_masked_event(event, mask) for event in part.events)) for part in history.rounds
    )
    item_text = mask_item_text(mask, history.item_text) if history.item_text else None
    return replace(history, item_text=item_text, decided=tuple(decided), rounds=tuple(rounds))


def _masked_event(event: ItemEvent, mask: TextMask) -> ItemEvent:
    answers = tuple((facet, mask.mask(words)) for facet, words in event.answers)
    return replace(event, answers=answers, text=mask.mask(event.text), decision=mask.mask(event.decision))


def _record_views(coding: CodingSession, item: str, viewer: Viewer) -> None:
    """Put on record whose ratings of an item the viewer is about to see; decided again under the journal's lock.

    A round that is reopened first shows nothing afterwards; one whose view is recorded first is no longer blind.
    """

    def views(state: State) -> list[NewAct]:
        rated = [
            one.plan.round
            for one in state.rounds.values()
            if any(item in given for rater, given in one.ratings.items() if rater != viewer.name)
        ]
        return Sight(state, coding.lead, viewer).views_to_record(rated)

    with coding.locked_state() as state:
        due = bool(views(state))
    if due:
        coding.act(views)


def list_rounds(study: Study, sight: Sight, item: str) -> tuple[RoundHistory, ...]:
    """The rounds that had the item, in the order in which they were opened, then published decisions."""
    state = sight.state
    found = [_part(study, sight, one, item) for one in state.rounds.values() if item in _members(one)]
    for name, published in state.published.items():
        made = [one for (about, _), one in published.items() if about == item]
        if made:
            events = tuple(_decision(study, sight, name, one, last=True) for one in made)
            found.append(RoundHistory(name, "published", "published", closed=made[-1].time, events=events))
    return tuple(found)


def _members(one: RoundState) -> frozenset[str]:
    if "members" not in one.memory:
        one.memory["members"] = frozenset(one.plan.items)
    found: frozenset[str] = one.memory["members"]
    return found


def _part(study: Study, sight: Sight, one: RoundState, item: str) -> RoundHistory:
    name = one.plan.round
    no_ratings, no_decisions = sight.why_no_ratings(name), sight.why_no_decisions(name)
    book = sight.state.history.at(one.plan.codebook)
    seen = [rater for rater in raters_of(one) if not no_ratings or rater == sight.viewer.name]
    given = [(rating, rating is ratings[-1]) for rater in seen if (ratings := one.ratings.get(rater, {}).get(item))
             for rating in ratings]  # fmt: skip
    numbered = [(rating.number, _rating(sight, name, book, rating, counts)) for rating, counts in given]
    if not no_ratings:
        numbered += [(said.number, _comment(sight, name, said, COMMENT)) for said in one.comments if said.item == item]
        ties = [one.tie_comments.get((item, facet.id)) for facet in one.plan.facets]
        numbered += [(said.number, _comment(sight, name, said, TIE)) for said in ties if said is not None]
    if not no_decisions:
        for facet in one.plan.facets:
            made = one.decisions.get((item, facet.id), [])
            numbered += [(each.number, _decision(study, sight, name, each, last=each is made[-1])) for each in made]
    events = tuple(event for _, event in sorted(numbered, key=lambda pair: pair[0]))
    why = no_ratings or no_decisions
    return RoundHistory(name, one.plan.kind, one.status, one.opened, one.closed, one.blindness, events, why)


def _rating(sight: Sight, name: str, book: Codebook, rating: Rating, counts: bool) -> ItemEvent:
    facets = [facet for facet in sight.state.round(name).plan.facets if facet.id in rating.answers]
    said = tuple((facet.id, _words(facet, book, rating.answers[facet.id])) for facet in facets)
    return ItemEvent(
        RATING,
        rating.time,
        sight.shown(name, rating.rater),
        said,
        sight.text(name, rating.memo),
        unsure=rating.unsure,
        superseded=not counts,
        simulated=rating.simulated,
    )


def _words(facet: Facet, book: Codebook, answer: Any) -> str:
    if isinstance(answer, list | tuple):
        return "; ".join(_words(facet, book, one) for one in codes_in(answer)) or "nothing coded"
    return book.path_name(answer) if isinstance(answer, str) and answer in book.codes else write_cell(facet, answer)


def _comment(sight: Sight, name: str, comment: Comment, what: str) -> ItemEvent:
    plan = sight.state.round(name).plan
    book, answer = sight.state.history.at(plan.codebook), comment.answer
    said = ((comment.facet, _words(plan.facet(comment.facet), book, answer)),) if answer is not None else ()
    text = sight.text(name, comment.text)
    return ItemEvent(what, comment.time, sight.shown(name, comment.actor), said, text, simulated=comment.simulated)


def _decision(study: Study, sight: Sight, name: str, made: Decision, *, last: bool) -> ItemEvent:
    state = sight.state
    answer = format_decision(state, state.history.latest, made)
    code = answer.decision.partition(":")[2]
    return ItemEvent(
        DECISION,
        made.time,
        sight.shown(name, made.actor),
        ((made.facet, answer.label),),
        sight.text(name, made.reason) or made.source,
        made.how,
        answer.decision,
        _handbook_page(study, state.history.latest, code),
        superseded=not last,
        simulated=made.simulated,
    )


def _handbook_page(study: Study, book: Codebook, code: str) -> str:
    """Where the handbook explains a code, if it has been published and does."""
    if code not in book.codes:
        return ""
    facet = book.codes[code].facet
    name = build_page_names(one.id for one in book.codes.values() if one.active and one.facet == facet).get(code, "")
    page = f"codes/{name}.html"
    return page if name and (study.published / "handbook" / page).is_file() else ""

"""The rating sheets of a study with an open journal: the next item of each rater."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from quaestor.base.errors import StateError
from quaestor.coding.model.answers import check_answer, summarise_answer
from quaestor.coding.model.code_proposals import NewCode, list_coded_facets, list_own_proposals, list_parents
from quaestor.coding.model.conditions import has_conditions, matches_condition
from quaestor.coding.model.facet_kinds import FACET_KINDS, find_kind
from quaestor.coding.model.facet_kinds.base import AnswerChoice
from quaestor.coding.model.facet_kinds.passages import find_passage_facet
from quaestor.coding.model.ratings import list_untried_practice
from quaestor.coding.model.records import CANNOT_JUDGE, CodeProposal, Facet, Rating
from quaestor.coding.model.state import OPEN, State
from quaestor.coding.model.views import RaterPosition, build_rater_position, build_rater_view
from quaestor.coding.rating import list_choices, record_practice
from quaestor.coding.rating_files import NewRating, queue_rating
from quaestor.coding.session import coding_session
from quaestor.evidence.item_text_cache import BATCH, ItemTexts
from quaestor.evidence.item_texts import ItemText, Prepare
from quaestor.store.records import new_key
from quaestor.study.contributions import NoNames, TextMask
from quaestor.study.folder import Study, open_journal
from quaestor.study.session import PendingAct

_RECENT = 30


@dataclass(frozen=True)
class SheetFacet:
    """One facet on a rating sheet."""

    facet: str
    kind: str
    question: str
    choices: tuple[AnswerChoice, ...] = ()
    proposed: tuple[tuple[str, str], ...] = ()
    answer: Any = None
    """This rater's earlier answer."""
    unsure: bool = False
    required: bool = True
    ask_if: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """By earlier facet: the choices under which this one is asked."""
    is_asked: bool = True

    def list_chosen(self) -> tuple[str, ...]:
        """Returns the choices that are ticked on the sheet."""
        return () if self.answer is None else FACET_KINDS[self.kind].chosen_values(self.answer)


@dataclass(frozen=True)
class ProposableFacet:
    """A facet for which a rater can propose a code, and the codes that it can be below."""

    facet: str
    question: str
    parents: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class RatingSheet:
    """The page of one item to rate; it contains nothing from other raters."""

    round: str
    kind: str
    rater: str
    instructions: str
    item: str
    item_text: ItemText
    facets: tuple[SheetFacet, ...]
    memo: str
    rated: bool
    practice: bool
    before: str
    after: str
    done: int
    total: int
    set: int
    sets: int
    queue: str
    """The name under which the browser keeps unsaved ratings; a rater who is renamed keeps it."""
    opened: str
    """When the round was opened; distinguishes it from a round of the same name in another study."""
    seconds: tuple[float, ...]
    """The time spent on each of the latest ratings."""
    counted: bool
    """Whether the item is already among those done."""
    proposable: tuple[ProposableFacet, ...] = ()
    """The facets for which the rater can propose a code."""
    proposed: tuple[CodeProposal, ...] = ()
    """The codes that this rater proposed for this item."""
    typed: NewCode = NewCode("")  # noqa: RUF009 - it cannot change
    """A proposed code that was not saved yet."""

    @property
    def pace(self) -> float | None:
        """Median seconds per item of the latest ratings."""
        return statistics.median(self.seconds) if self.seconds else None


@dataclass(frozen=True)
class OwnRatings:
    """A rater's ratings in one round, and the codes that they proposed."""

    round: str
    is_open: bool
    ratings: tuple[Rating, ...]
    proposals: tuple[CodeProposal, ...] = ()
    has_spreadsheet: bool = True
    """Whether the round can be rated in a spreadsheet."""
    untried: int = 0
    """Practice items that are left."""


class Desk:
    """The study behind the pages; its journal stays open while the server runs."""

    def __init__(self, study: Study, prepare: Prepare | None = None, mask: Callable[[], TextMask] = NoNames) -> None:
        self.study = study
        self.journal = open_journal(study)
        self.coding = coding_session(study, self.journal)
        self.item_texts = ItemTexts(study, prepare, mask)

    def reload(self, study: Study) -> None:
        """Switches to the reloaded study file."""
        self.study = self.coding.study = study
        self.item_texts.reload(study)

    def warm_up(self) -> None:
        """Computes in advance what the first page of each rater needs."""
        with self.coding.locked_state() as state:
            opened = [round_state for round_state in state.rounds.values() if round_state.status == OPEN]
        for round_state in opened:
            self.item_texts.prepare(round_state.plan.round, round_state.plan.items)
            for slot in round_state.slots:
                with self.coding.locked_state() as state:
                    build_rater_position(state, round_state.plan.round, slot.rater)
                    slot.has(slot.rater, "")

    def close(self) -> None:
        self.item_texts.close()
        self.coding.close()
        self.journal.close()

    def build_sheet(self, name: str, rater: str, item: str = "") -> RatingSheet | None:
        """Returns a rater's sheet of an item, by default the next unrated one; None if none is left."""
        with self.coding.locked_state() as state:
            position = build_rater_position(state, name, rater)
            trying = [practice.item for practice in list_untried_practice(state.round(name), rater)]
            item_id = item or next(iter(trying), "") or next(position.progress.iterate_waiting(0), "")
            if not item_id:
                return None
            if position.progress.turn_of(item_id) < 0 and item_id not in trying:
                raise StateError(f"the item {item_id!r} is not among yours in {name!r}")
            blank = SheetBuilder(position).build_sheet(item_id, practice=item_id in trying)
            following = position.progress.list_from(position.progress.turn_of(item_id) + 1, BATCH)
        self.item_texts.prepare(name, position.plan.items)
        return self._add_texts([blank], following)[0]

    def list_next_sheets(self, name: str, rater: str, after: str, most: int) -> list[RatingSheet]:
        """Returns the sheets of the unrated items after an item, then of those skipped before it."""
        with self.coding.locked_state() as state:
            position = build_rater_position(state, name, rater)
            turn = position.progress.turn_of(after) + 1
            waiting = (item for item in position.progress.iterate_waiting(turn) if item != after)
            following = list(islice(waiting, max(most, BATCH)))
            blanks = SheetBuilder(position)
            blank = [blanks.build_sheet(item) for item in following[:most]]
        return self._add_texts(blank, following[most:])

    def _add_texts(self, blank: Sequence[RatingSheet], ahead: Sequence[str]) -> list[RatingSheet]:
        """Adds the item texts; reads them without holding the lock."""
        texts = self.item_texts.get([sheet.item for sheet in blank], ahead)
        return [replace(sheet, item_text=texts[sheet.item]) for sheet in blank]

    def has_conditions(self, name: str) -> bool:
        """Returns whether the sheets of a round show some questions only after certain answers."""
        with self.coding.locked_state() as state:
            return has_conditions(state.round(name).plan)

    def queue_rating(self, name: str, rater: str, rating: NewRating) -> PendingAct[State]:
        """Queues a rating for the next group commit."""
        pending = queue_rating(self.coding, name, rater, rating)
        self.coding.pending.add(pending)
        return pending

    def practise(self, name: str, rater: str, item: str, answers: Mapping[str, Any]) -> dict[str, Any]:
        """Records an answer to a practice item; returns the feedback."""
        return record_practice(self.coding, name, rater, item, answers)

    def list_own_ratings(self, name: str, rater: str) -> OwnRatings:
        """Returns a rater's own ratings, each answer as one line of text, newest first."""
        with self.coding.locked_state() as state:
            view = build_rater_view(state, name, rater)
            proposals = tuple(list_own_proposals(state.round(name), rater))
            has_spreadsheet = find_passage_facet(state.round(name).plan) is None
            untried = len(list_untried_practice(state.round(name), rater))
        facets = {facet.id: facet for facet in view.facets}
        ratings = [
            replace(
                rating,
                answers={name: summarise_answer(facets[name], answer) for name, answer in rating.answers.items()},
            )
            for rating in view.ratings.values()
        ]
        newest_first = tuple(sorted(ratings, key=lambda rating: -rating.number))
        return OwnRatings(name, view.status == OPEN, newest_first, proposals, has_spreadsheet, untried)


class SheetBuilder:
    """Builds the sheets of one rater without the item texts."""

    def __init__(self, position: RaterPosition) -> None:
        self._place = position
        self._seconds = tuple(rating.seconds for rating in position.recent(_RECENT) if rating.seconds > 0)
        self._choices = {facet.id: list_choices(facet, position.codebook) for facet in position.plan.facets}
        self._conditions = {facet.id: self._list_conditions(facet) for facet in position.plan.facets}
        self._unrated = self._build_facets("", None)
        self._proposable = tuple(
            ProposableFacet(facet.id, facet.question or facet.id, tuple(list_parents(position.codebook, facet)))
            for facet in list_coded_facets(position.plan)
        )
        self._same_for_all = all(not find_kind(facet).confirms_proposal for facet in position.plan.facets)

    def build_sheet(self, item: str, *, practice: bool = False) -> RatingSheet:
        position, progress, plan = self._place, self._place.progress, self._place.plan
        turn = progress.turn_of(item)
        rating = position.rating(item)
        facets = self._unrated if rating is None and self._same_for_all else self._build_facets(item, rating)
        return RatingSheet(
            round=plan.round,
            kind=plan.kind,
            rater=position.rater,
            instructions=plan.instructions,
            item=item,
            item_text=ItemText(item, item),
            facets=facets,
            memo=rating.memo if rating else "",
            rated=rating is not None,
            practice=practice,
            before=progress.item(turn - 1) if turn > 0 else "",
            after=next((other for other in progress.iterate_waiting(turn + 1) if other != item), ""),
            done=progress.done,
            total=len(progress),
            set=position.set,
            sets=position.sets,
            queue=position.first_name,
            opened=position.opened,
            seconds=self._seconds,
            counted=progress.is_rated(item),
            proposable=() if practice else self._proposable,
            proposed=tuple(proposal for proposal in position.own_proposals if proposal.item == item),
        )

    def _list_conditions(self, facet: Facet) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Returns the condition of a facet in terms of the choices on the sheet."""
        conditions = []
        for name, accepted in facet.ask_if:
            earlier, book = self._place.plan.facet(name), self._place.codebook
            choices = [choice.value for choice in self._choices[name]]
            fitting = (
                value for value in choices if matches_condition(earlier, check_answer(earlier, book, value), accepted)
            )
            conditions.append((name, tuple(fitting)))
        return tuple(conditions)

    def _build_facets(self, item: str, rating: Rating | None) -> tuple[SheetFacet, ...]:
        return _mark_asked([self._build_facet(facet, item, rating) for facet in self._place.plan.facets])

    def _build_facet(self, facet: Facet, item: str, rating: Rating | None) -> SheetFacet:
        proposed = self._place.proposals(item) if find_kind(facet).confirms_proposal else {}
        answer = rating.answers.get(facet.id) if rating else None
        return SheetFacet(
            facet.id,
            facet.kind,
            facet.question,
            self._choices[facet.id],
            tuple(sorted(proposed.items())),
            CANNOT_JUDGE if answer == CANNOT_JUDGE else answer,
            rating is not None and facet.id in rating.unsure,
            facet.required,
            self._conditions[facet.id],
        )


def _mark_asked(facets: Sequence[SheetFacet]) -> tuple[SheetFacet, ...]:
    """Returns the facets of a sheet, each with whether it is asked, given what is chosen in those before it."""
    marked: dict[str, SheetFacet] = {}
    for facet in facets:
        is_asked = all(
            marked[name].is_asked and not set(choices).isdisjoint(marked[name].list_chosen())
            for name, choices in facet.ask_if
        )
        marked[facet.facet] = replace(facet, is_asked=is_asked)
    return tuple(marked.values())


def list_unseen_questions(sheet: RatingSheet, seen: Collection[str]) -> list[str]:
    """Returns the questions that a filled-in sheet asks although the form that was sent did not show them."""
    return [
        facet.question or facet.facet
        for facet in sheet.facets
        if facet.ask_if and facet.is_asked and facet.facet not in seen
    ]


def restore_sheet(
    sheet: RatingSheet, answers: Mapping[str, Any], unsure: Sequence[str], memo: str, typed: NewCode | None = None
) -> RatingSheet:
    """Returns a sheet with the entries of a refused form, so that the rater need not type them again."""
    facets = [
        replace(facet, answer=answers.get(facet.facet, facet.answer), unsure=facet.facet in unsure)
        for facet in sheet.facets
    ]
    return replace(sheet, facets=_mark_asked(facets), memo=memo, typed=typed or sheet.typed)


def build_form_key() -> str:
    """Returns a new form key; a form sent twice with the same key is recorded once."""
    return new_key()

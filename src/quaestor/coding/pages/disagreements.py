"""The disagreements of a closed round as those with a part in it see them: side by side, discussed, settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quaestor.base.errors import InputError, StateError
from quaestor.coding.decisions import agreed_left, answers_of, differing_words, is_settled, settled
from quaestor.coding.records import Disagreement, Facet
from quaestor.coding.state import CLOSED, RoundState, State
from quaestor.coding.views import asks_first, disagreements_for
from quaestor.study.cases import Filter, Outcome, Remark, Row, Step, Teller
from quaestor.study.coding import Coding, Where, open_coding, require_lead
from quaestor.study.decisions import comment_on_item, settle_agreed, settle_item
from quaestor.study.folder import Study
from quaestor.study.opinions import Chosen, Question, chosen_answer
from quaestor.study.ratings import note_view
from quaestor.study.sight import Sight, Viewer

Key = tuple[str, str]
"""An item and a facet."""


@dataclass(frozen=True)
class Listing:
    """The disagreements of a round and how far they are settled."""

    round: str
    people: tuple[str, ...]
    facets: tuple[str, ...]
    rows: tuple[Row, ...]
    said: tuple[tuple[str, str], ...]
    """The answers in dispute with their words, to choose from."""
    settled: int
    total: int
    first_open: Key | None
    agreed_left: int
    is_lead: bool
    following: tuple[str, ...]
    """What comes next, a sentence each, once all is settled."""
    in_words: tuple[Row, ...] = ()
    """Where raters gave the same codes and say different things of them, and nobody has settled that."""


@dataclass(frozen=True)
class Case:
    """One disagreement with all that belongs on its page."""

    round: str
    item: str
    question: Question
    remarks: tuple[Remark, ...]
    outcomes: tuple[Outcome, ...]
    ways: tuple[tuple[str, str], ...]
    steps: tuple[Step, ...]
    before: Key | None
    after: Key | None
    settled: int
    total: int
    in_words: bool = False
    """Whether the raters gave the same codes and what they say of them is not settled yet."""

    @property
    def outcome(self) -> Outcome | None:
        """How it was settled, where it is."""
        return self.outcomes[-1] if self.outcomes else None


def has_desk_without_names(where: Where, name: str, viewer: Viewer) -> bool:
    """Whether somebody breaks the ties of a round in which some are left."""
    with open_coding(where) as coding:
        one = coding.state.round(name)
        return viewer.name == one.plan.tie_breaker and not (one.status == CLOSED and settled(coding.state, name))


def is_asked_first(where: Where, name: str, viewer: Viewer) -> bool:
    """Whether somebody would see for the first time what the others said, which is theirs to say; else they may now."""
    with open_coding(where) as coding:
        disagreements_for(coding.state, name, viewer.name, coding.lead)
        return asks_first(coding.state, name, viewer.name)


def look_at_disagreements(where: Where, name: str, viewer: Viewer) -> None:
    """Put on record that somebody now sees the disagreements of a closed round, where they may."""
    with open_coding(where) as coding:
        disagreements_for(coding.state, name, viewer.name, coding.lead)
        note_view(coding, name, viewer.name)


def listing_of(where: Where, name: str, viewer: Viewer, wanted: Filter) -> Listing:
    """The disagreements that are wanted, for those who need not say first that they look."""
    with open_coding(where) as coding:
        found, teller = _looked_at(coding, name, viewer)
        given = [(case.facet, answer) for case in found for _, answer in case.answers]
        said = {teller.asked_for(*one): teller.words(*one) for one in given}
        left = [(case.item, case.facet) for case in found if case.decision is None]
        return Listing(
            name,
            tuple(teller.seat(seat) for seat in teller.one.seats),
            tuple(facet.id for facet in teller.one.plan.facets),
            tuple(teller.row(case) for case in found if teller.is_wanted(case, wanted)),
            tuple(sorted(said.items(), key=lambda pair: pair[1].casefold())),
            len(found) - len(left),
            len(found),
            left[0] if left else None,
            agreed_left(teller.state, name),
            viewer.name == coding.lead,
            () if left else following(coding.study, teller.state, name),
            tuple(teller.row(case) for case in differing_words(teller.state, name) if not is_settled(case)),
        )


def case_of(where: Where, name: str, viewer: Viewer, item: str, facet: str, wanted: Filter) -> Case:
    """One disagreement, with the open ones before and after it."""
    with open_coding(where) as coding:
        found, teller = _looked_at(coding, name, viewer)
        place = _place_of(found, item, facet)
        if place is None:
            found = differing_words(teller.state, name)
            place = _place_of(found, item, facet)
        if place is None:
            raise InputError(f"The raters of {name!r} do not differ on {item!r}: choose a case from the list.")
        case = found[place]
        going = [
            ((one.item, one.facet), at < place)
            for at, one in enumerate(found)
            if at != place and not is_settled(one) and teller.is_wanted(one, wanted)
        ]
        earlier, later = ([key for key, is_earlier in going if is_earlier is wanted] for wanted in (True, False))
        return Case(
            name,
            case.item,
            teller.question(case),
            teller.remarks(case),
            teller.outcomes(case),
            teller.ways(case),
            teller.steps(case),
            earlier[-1] if earlier else None,
            next(iter([*later, *earlier]), None),
            sum(is_settled(one) for one in found),
            len(found),
            case.words_only and not is_settled(case),
        )


def _place_of(found: Sequence[Disagreement], item: str, facet: str) -> int | None:
    return next((at for at, one in enumerate(found) if one.item == item and facet in ("", one.facet)), None)


def settle_case(
    where: Where,
    name: str,
    viewer: Viewer,
    item: str,
    facet: str,
    chosen: Chosen,
    how: str,
    reason: str,
    *,
    seen: int,
    key: str,
) -> int:
    """Settle a case as a form says; the number of the act."""
    with open_coding(where) as coding:
        _require_looked(coding, name, viewer)
        one = coding.state.round(name)
        asked = facet_of(one, facet)
        given = [answer for _, answer in answers_of(one, item, asked.id)]
        tie_comment = one.tie_comments.get((item, asked.id))
        given += [tie_comment.answer] if tie_comment is not None else []
        answer = chosen_answer(asked, chosen, given)
        return settle_item(coding, name, viewer.name, item, asked.id, answer, how, reason, seen=seen, key=key)


def comment_case(where: Where, name: str, viewer: Viewer, item: str, facet: str, text: str, *, key: str) -> int:
    """Say something about a case; the number of the act."""
    with open_coding(where) as coding:
        _require_looked(coding, name, viewer)
        return comment_on_item(coding, name, viewer.name, item, facet, text, key=key)


def settle_all_agreed(where: Where, name: str, viewer: Viewer) -> int:
    """Put on record what all raters agree on; how many decisions that made."""
    with open_coding(where) as coding:
        require_lead(coding, viewer.name, "put on record what raters agree on")
        _require_looked(coding, name, viewer)
        return settle_agreed(coding, name, viewer.name)


def without_names(where: Where, name: str, viewer: Viewer, words: str) -> str:
    """A sentence about a round, with no name in it that the viewer may not read."""
    with open_coding(where) as coding:
        return Sight(coding.state, coding.lead, viewer).text(name, words)


def following(study: Study, state: State, name: str) -> tuple[str, ...]:
    """What the decisions of a round are waited for."""
    left = agreed_left(state, name)
    agreed = [f"{left:,} answers on which all raters agree are to be put on record by the lead."] if left else []
    steps = [
        f"The step {step.step!r} of the funnel goes by this round: run the funnel again."
        for step in study.settings.funnel.steps
        if step.round == name
    ]
    rounds = [
        f"The round {one.round!r} waits for this one: the lead can open it."
        for one in study.settings.rounds
        if one.round not in state.rounds and name in (one.items.kept_by, *one.confirms)
    ]
    return (*agreed, *steps, *rounds)


def facet_of(one: RoundState, facet: str) -> Facet:
    """A facet of a round; the only one need not be named."""
    if not facet and len(one.plan.facets) == 1:
        return one.plan.facets[0]
    found = next((known for known in one.plan.facets if known.id == facet), None)
    if found is None:
        raise InputError(f"The round {one.plan.round!r} asks no {facet!r}: choose a case from the list.")
    return found


def _looked_at(coding: Coding, name: str, viewer: Viewer) -> tuple[list[Disagreement], Teller]:
    state = coding.state
    found = disagreements_for(state, name, viewer.name, coding.lead)
    _require_looked(coding, name, viewer)
    return found, Teller(state, Sight(state, coding.lead, viewer), state.round(name))


def _require_looked(coding: Coding, name: str, viewer: Viewer) -> None:
    """Refuse those who have to agree first that their look goes on record; record the look of everybody else."""
    if coding.state.round(name).status != CLOSED:
        return
    if asks_first(coding.state, name, viewer.name):
        raise StateError(f"The disagreements of {name!r} are seen by those who say so: open their page and look.")
    note_view(coding, name, viewer.name)

"""Themes of open answers, counted by participants: mentioning a theme twice counts once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or
from quaestor.coding.model.decisions import find_decisions, find_excluded_items, find_undecided
from quaestor.coding.model.records import SURVEYS, Decision, Facet
from quaestor.coding.model.rounds import list_round_notes
from quaestor.coding.model.state import CLOSED, State
from quaestor.coding.model.views import require_lead_view
from quaestor.coding.rating_files import record_view
from quaestor.coding.session import CodingSession
from quaestor.measures.descriptive import share
from quaestor.measures.records import Share
from quaestor.render.number_format import whole
from quaestor.render.table_model import Cell, Column, Group, Row, Table
from quaestor.study.folder import Study
from quaestor.surveys.lifecycle import answers_path
from quaestor.surveys.model.question_results import SHARE_COLUMNS, share_cells
from quaestor.surveys.open_answers import find_excluded_answers, parse_item, parse_response
from quaestor.surveys.store.answers import AnswerFile

_COLUMNS = (Column("participants", "participants"), *SHARE_COLUMNS[1:], Column("answers", "answers"))

_CODED = ("single", "multiple")
"""Kinds of facets whose answers are codes."""


@dataclass(frozen=True)
class Theme:
    """A code and the responses that have it."""

    code: str
    name: str
    responses: frozenset[str]
    items: int

    @property
    def participants(self) -> int:
        return len(self.responses)


@dataclass(frozen=True)
class SurveyThemes:
    """The decided codes of open answers in a round."""

    round: str
    facet: str
    participants: int
    """Number of participants with decided answers."""
    themes: tuple[Theme, ...]
    """Most frequent first."""
    uncoded: int = 0
    """Number of answers whose code was split later without a decision on the part."""
    simulated: bool = False
    blindness: tuple[str, ...] = ()
    """A note if the raters were not blind."""
    withdrawn: int = 0
    """Number of participants who withdrew after the decision; they are not counted."""
    dropped: int = 0
    """Number of participants whose responses the lead excluded; they are not counted."""
    unrated: int = 0
    """Number of answers that no rater rated; they are not counted."""
    respondents: frozenset[str] = frozenset()
    """The responses with decided answers."""
    surveys: tuple[str, ...] = ()
    """The surveys that these responses belong to."""

    def share_of(self, theme: Theme) -> Share:
        """Returns the share of participants with a theme, with Wilson's interval."""
        return share(theme.participants, self.participants)


def find_coded_facets(state: State, survey: str) -> Iterator[tuple[str, str]]:
    """Yields round and facet of every closed main round that coded open answers to a survey."""
    for round_state in list(state.rounds.values()):
        plan = round_state.plan
        is_about = plan.origin == SURVEYS and any(parse_item(item)[0] == survey for item in plan.items)
        if is_about and round_state.status == CLOSED and plan.kind == "main":
            yield from ((plan.round, facet.id) for facet in plan.facets if facet.kind in _CODED)


def count_themes(coding: CodingSession, name: str, facet: str | None = None, actor: str | None = None) -> SurveyThemes:
    """Returns the themes of a closed and settled round under the latest codebook, counted once per participant."""
    state = coding.state
    if state.round(name).status != CLOSED:
        raise StateError(f"the round {name!r} is still open: close and settle it first")
    require_lead_view(state, name, actor or coding.lead, coding.lead)
    record_view(coding, name, actor or coding.lead)
    with coding.locked_state() as state:
        return _read_themes(coding.study, state, name, facet)


def _read_themes(study: Study, state: State, name: str, facet: str | None) -> SurveyThemes:
    round_state = state.round(name)
    coded_facet = _facet(round_state.plan.facets, name, facet)
    undecided = find_undecided(state, name).about(coded_facet.id)
    left, excluded = len(undecided.disagreements), find_excluded_items(state)
    made = find_decisions(state, name, coded_facet.id)
    decisions = {item: decision for item, decision in made.items() if item not in excluded}
    if left or undecided.incomplete or undecided.agreed or undecided.waiting or not decisions:
        unsettled = "1 disagreement is" if left == 1 else f"{left:,} disagreements are"
        what = f"{unsettled} not settled" if left else undecided.describe() or "nothing is decided"
        raise StateError(f"{what} in the round {name!r}: run `quaestor decisions agree {name}`, then settle the rest")
    gone = _withdrawn(study, {parse_response(item) for item in decisions})
    dropped = {parse_response(item) for item in find_excluded_answers(state, decisions)} - gone
    counted = {item: decision for item, decision in decisions.items() if parse_response(item) not in gone | dropped}
    themes = _counted(state, name, coded_facet, counted)
    return replace(themes, withdrawn=len(gone), dropped=len(dropped))


def themes_table(themes: SurveyThemes) -> Table:
    """Returns the themes as a table: participants, their share with its interval, and answers."""
    rows = []
    for theme in themes.themes:
        cells = (*share_cells(themes.share_of(theme)), Cell((whole(theme.items),), (theme.items,)))
        rows.append(Row(theme.code, theme.name, cells))
    notes = [f"Of {themes.participants:,} participants whose answers were coded; each counts once per theme."]
    if themes.withdrawn:
        who = "1 participant has" if themes.withdrawn == 1 else f"{themes.withdrawn:,} participants have"
        notes.append(f"{who} withdrawn since and {'is' if themes.withdrawn == 1 else 'are'} not counted.")
    if themes.dropped:
        who = "1 participant was" if themes.dropped == 1 else f"{themes.dropped:,} participants were"
        notes.append(f"{who} excluded by the lead and {'is' if themes.dropped == 1 else 'are'} not counted.")
    if themes.uncoded:
        notes.append(f"{themes.uncoded:,} answers have no theme: their code was split without a rule for them.")
    if themes.unrated:
        notes.append(
            f"{themes.unrated:,} {'answer was' if themes.unrated == 1 else 'answers were'} not rated and "
            f"{'is' if themes.unrated == 1 else 'are'} not counted."
        )
    if themes.simulated:
        notes.append("The raters were simulated.")
    notes += themes.blindness
    return Table(f"themes-{themes.round}", "Themes", "", _COLUMNS, (Group("", tuple(rows)),), notes=tuple(notes))


def _facet(facets: tuple[Facet, ...], name: str, facet_id: str | None) -> Facet:
    coded = [facet for facet in facets if facet.kind in _CODED]
    matches = [candidate for candidate in coded if facet_id in (None, candidate.id)]
    if len(matches) == 1:
        return matches[0]
    options = join_with_or([candidate.id for candidate in coded]) or "none"
    if facet_id is None:
        raise InputError(f"the round {name!r} has {len(coded)} facets with codes: name one; choose from: {options}")
    raise InputError(f"the round {name!r} has no facet {facet_id!r} with codes; choose from: {options}")


def _withdrawn(study: Study, responses: Collection[str]) -> set[str]:
    """Returns which of these responses were erased."""
    path = answers_path(study)
    if not path.exists():
        return set()
    with AnswerFile(path) as answers:
        return {response for response in responses if answers.is_erased(response)}


def _counted(state: State, name: str, facet: Facet, decisions: Mapping[str, Decision]) -> SurveyThemes:
    responses: dict[str, set[str]] = {}
    items: dict[str, int] = {}
    people, surveys = set(), set()
    uncoded = 0
    for item, decision in decisions.items():
        codes = list(dict.fromkeys(_codes(state, facet, item, decision)))
        people.add(parse_response(item))
        surveys.add(parse_item(item)[0])
        uncoded += not codes
        for code in codes:
            responses.setdefault(code, set()).add(parse_response(item))
            items[code] = items.get(code, 0) + 1
    book = state.history.latest
    themes = [
        Theme(code, book.path_name(code) if facet.codes else code, frozenset(response), items[code])
        for code, response in responses.items()
    ]
    ordered = sorted(themes, key=lambda theme: (-theme.participants, theme.name.casefold()))
    simulated = any(decision.simulated for decision in decisions.values())
    blindness = tuple(list_round_notes([state.round(name)]))
    unrated = len(find_undecided(state, name).about(facet.id).unrated)
    return SurveyThemes(
        name, facet.id, len(people), tuple(ordered), uncoded, simulated, blindness, unrated=unrated,
        respondents=frozenset(people), surveys=tuple(sorted(surveys)),
    )  # fmt: skip


def _codes(state: State, facet: Facet, item: str, decision: Decision) -> Iterator[str]:
    """Yields the decided codes, as in the latest codebook."""
    answer: Any = decision.answer
    for code in [answer] if isinstance(answer, str) else answer:
        if not facet.codes:
            yield str(code)
            continue
        reading = state.history.find_code(str(code), state.history.latest.version, item, {facet.id: answer})
        if reading.code is not None:
            yield reading.code

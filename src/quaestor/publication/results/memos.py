"""The appendix of memos: what raters noted on items and passages, without the names of raters and known people."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from quaestor.base.errors import SettingsError
from quaestor.base.names import strip_strand, suggest
from quaestor.coding.model.closing import can_reopen_blind
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.passages import is_passages
from quaestor.coding.model.records import Rating, read_passages
from quaestor.coding.model.state import CLOSED, RoundState, State
from quaestor.coding.session import CodingSession
from quaestor.evidence.erasure import drop_withdrawn
from quaestor.interviews.model.records import find_participant
from quaestor.render.report_parts import Section
from quaestor.render.table_model import Cell, Column, Group, Row, Table
from quaestor.study.contributions import ReportPart
from quaestor.study.features import open_known_names
from quaestor.surveys.lifecycle import fieldings
from quaestor.surveys.open_answers import find_excluded_answers

_WORDS = (
    "What raters noted while they coded, on a whole item or on a passage of it. Raters are numbered, and known names "
    "are replaced. Memos are working notes, not findings."
)


@dataclass(frozen=True)
class ReportedMemo:
    """A memo, and what it is about."""

    round: str
    about: str
    codes: str
    rater: str
    text: str


def build_memos_part(
    coding: CodingSession, used_names: Collection[str], notify: Callable[[str], None]
) -> ReportPart | None:
    """Builds the appendix; None if study.toml asks for none, or if there are no memos."""
    rounds = _list_rounds(coding)
    blind = [name for name in rounds if can_reopen_blind(coding.state, name)]
    for name in blind:
        notify(f"left out: the memos of {name}, because it can still be reopened as blind")
    memos = list(_list_memos(coding, [name for name in rounds if name not in blind]))
    if not memos:
        return None
    name = "memos"
    while name in used_names:
        name = f"report-{name}"
    table = _build_table(name, memos, coding.state)
    notify(f"table {table.id}: {table.title} ({table.size})")
    count = f"{len(memos):,} {'memo' if len(memos) == 1 else 'memos'}"
    return ReportPart((Section("Memos", _WORDS, folded=(table,)),), count)


def _list_rounds(coding: CodingSession) -> list[str]:
    """Returns the closed rounds whose memos are reported."""
    chosen, state = coding.study.settings.report.memos, coding.state
    if isinstance(chosen, bool):
        return [name for name, round_state in state.rounds.items() if chosen and round_state.status == CLOSED]
    for name in chosen:
        if name not in state.rounds:
            options = suggest(name, state.rounds) or "none yet"
            raise SettingsError(f"{coding.study.file}: report.memos names the round {name!r}; choose from: {options}")
    return [name for name in chosen if state.round(name).status == CLOSED]


def _list_memos(coding: CodingSession, rounds: list[str]) -> Iterator[ReportedMemo]:
    state = coding.state
    raters = dict.fromkeys(rater for name in rounds for slot in state.round(name).slots for rater in slot.raters)
    numbers = {rater: f"rater {number}" for number, rater in enumerate(raters, start=1)}
    surveys = frozenset(fieldings(state.unhandled_acts))
    with open_known_names(coding) as names:
        for name in rounds:
            round_state = state.round(name)
            for item in _list_items(coding, round_state):
                for slot in round_state.slots:
                    rating = round_state.rating_in_slot(slot, item)
                    if rating is None:
                        continue
                    for codes, text in _list_texts(state, round_state, rating):
                        words, about = " ".join(names.mask(text).split()), _describe_item(item, surveys)
                        yield ReportedMemo(name, about, names.mask(codes), numbers[rating.rater], words)


def _list_items(coding: CodingSession, round_state: RoundState) -> list[str]:
    """Returns the items of a round without those of people who withdrew or declined, or whom the lead excluded."""
    items = [item for item in round_state.plan.items if item not in round_state.gone]
    excluded = find_excluded_answers(coding.state, items)
    return [item for item in drop_withdrawn(coding.study, items, round_state.plan.origin) if item not in excluded]


def _list_texts(state: State, round_state: RoundState, rating: Rating) -> Iterator[tuple[str, str]]:
    """Yields (codes, memo) of the item, then of each passage."""
    book = state.history.at(rating.codebook)
    facets = [facet for facet in round_state.plan.facets if facet.codes and facet.id in rating.answers]
    if rating.memo.strip():
        yield (
            "; ".join(find_kind(facet).name_codes(facet, book, rating.answers[facet.id]) for facet in facets),
            rating.memo,
        )
    for facet in facets:
        answer = rating.answers[facet.id]
        for passage in read_passages(answer) if is_passages(answer) else ():
            if passage.memo.strip():
                yield book.path_name(passage.code) if passage.code else "in vivo", passage.memo


def _describe_item(item: str, surveys: Collection[str]) -> str:
    """Describes an item; an answer without the id of its response, so that answers of one person are not linked."""
    survey, *rest = strip_strand(item).split("/")
    if survey in surveys and rest:
        return f"an answer to {rest[-1]}"
    participant = find_participant(item)
    return f"{participant}, turn {int(rest[-1])}" if participant else item


def _build_table(name: str, memos: list[ReportedMemo], state: State) -> Table:
    groups = []
    for round_name in dict.fromkeys(memo.round for memo in memos):
        rows = tuple(
            Row(f"{round_name}-{number}", memo.about, (Cell((memo.codes,)), Cell((memo.rater,)), Cell((memo.text,))))
            for number, memo in enumerate((memo for memo in memos if memo.round == round_name), start=1)
        )
        groups.append(Group(f"Round {round_name}", rows))
    columns = tuple(Column(key, key, numeric=False) for key in ("codes", "rater", "memo"))
    simulated = [memo.round for memo in memos if state.round(memo.round).simulated]
    notes = ["Memos of the last rating of each item; those on what withdrawn participants said are erased."]
    notes += [f"The raters of {round_name} were simulated." for round_name in dict.fromkeys(simulated)]
    return Table(name, "Memos of raters", "about", columns, tuple(groups), notes=tuple(notes))

"""Adds, changes and removes rounds in the study file without touching anything else in it; previews their plans."""

from __future__ import annotations

import re
import statistics
import tomllib
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any

import tomlkit
from pydantic import ValidationError

from quaestor.base.errors import InputError, QuaestorError, SettingsError, StateError
from quaestor.coding.model.assignment import assign_items
from quaestor.coding.model.facet_kinds.keep import KeepKind
from quaestor.coding.model.records import RoundPlan
from quaestor.coding.model.rounds import build_open_act
from quaestor.coding.model.state import CLOSED, State
from quaestor.coding.round_acts import build_plan, find_round_settings
from quaestor.coding.round_items import choose_items, find_earlier_items
from quaestor.coding.session import CodingSession, StudyOrSession, find_study, open_coding
from quaestor.measures.agreement.statistics import list_reportable
from quaestor.people.membership import list_people
from quaestor.people.roles import Role
from quaestor.study.folder import (
    Study,
    append_tables,
    edit_study_file,
    has_journal,
    read_study_text,
    toml_table,
    use_line_endings,
)
from quaestor.study.settings.coding import RoundSettings
from quaestor.study.settings.schema import StudySettings, explain


def check_round(settings: Mapping[str, Any]) -> RoundSettings:
    """Validates the settings of one round by themselves; raises InputError with the first mistake."""
    try:
        round_settings = RoundSettings.model_validate(settings)
    except ValidationError as error:
        raise InputError(explain(error.errors()[0], RoundSettings)) from None
    if round_settings.round != round_settings.round.strip():
        raise InputError(f"the name {round_settings.round!r} begins or ends with a space: remove it")
    return round_settings


def preview_study(study: Study, settings: Mapping[str, Any], instead_of: str = "") -> tuple[Study, RoundSettings]:
    """Returns the study with one more round, or one replaced, without writing anything."""
    round_settings, text = check_round(settings), read_study_text(study)
    changed = (
        _replace_block(study, text, instead_of, write_block(round_settings))
        if instead_of
        else append_tables(text, write_block(round_settings))
    )
    return replace(study, settings=_read_settings(study, changed, round_settings)), round_settings


def add_round(study: Study, settings: Mapping[str, Any], actor: str | None = None) -> RoundSettings:
    """Appends a round to study.toml; the file is replaced atomically and only if the result is valid."""
    _require_lead(study, actor)
    round_settings = check_round(settings)

    def change(text: str) -> str:
        changed = append_tables(text, write_block(round_settings))
        parsed = _read_settings(study, changed, round_settings)
        if parsed.rounds[-1] != round_settings:
            raise SettingsError(
                f"{study.file}: the round {round_settings.round!r} cannot be added automatically: add it by hand"
            )
        return changed

    edit_study_file(study, change)
    return round_settings


def change_round(
    study_or_session: StudyOrSession, name: str, settings: Mapping[str, Any], actor: str | None = None
) -> RoundSettings:
    """Replaces the definition of an unopened round that `add_round` wrote."""
    round_settings = check_round(settings)
    _replace(study_or_session, name, write_block(round_settings), actor, round_settings)
    return round_settings


def remove_round(study_or_session: StudyOrSession, name: str, actor: str | None = None) -> None:
    """Removes the definition of an unopened round that `add_round` wrote."""
    _replace(study_or_session, name, "", actor, None)


def read_round_settings(study: Study, name: str) -> dict[str, Any]:
    """Returns the settings of a round of the study file as `change_round` takes them."""
    return find_round_settings(study, name).model_dump(exclude_defaults=True)


def is_editable(study: Study, name: str) -> bool:
    """Returns whether the definition of a round is unchanged since `add_round` wrote it."""
    settings = next((round_state for round_state in study.settings.rounds if round_state.round == name), None)
    return settings is not None and bool(_find_block(read_study_text(study), settings))


def _replace(
    study_or_session: StudyOrSession, name: str, block: str, actor: str | None, round_settings: RoundSettings | None
) -> None:
    with open_coding(study_or_session) as coding:
        study = find_study(study_or_session)
        _require_lead(study, actor)
        if name in coding.state.rounds:
            raise StateError(f"the round {name!r} has been opened: its plan can no longer change")

        def change(text: str) -> str:
            changed = _replace_block(study, text, name, block)
            parsed = _read_settings(study, changed, round_settings)
            expected = [
                round_state if round_state.round != name else round_settings for round_state in study.settings.rounds
            ]
            if list(parsed.rounds) != [settings for settings in expected if settings is not None]:
                raise StateError(f"{study.file} has changed meanwhile: load the page again")
            return changed

        edit_study_file(study, change)


def _replace_block(study: Study, text: str, name: str, block: str) -> str:
    """Returns the text with the block of a round replaced; raises StateError if the block was edited by hand."""
    old = _find_block(text, find_round_settings(study, name))
    if not old:
        raise StateError(f"the round {name!r} was written or changed by hand: edit it in {study.file}")
    gap = use_line_endings(text, "\n")
    if not block and gap + gap + old in text:  # remove the empty line that was added with it
        return text.replace(gap + old, "")
    return text.replace(old, use_line_endings(text, block))


_STRING = re.compile(r'"""(?:\\.|[^\\])*?"{3,5}|"(?:\\.|[^"\\])*"', re.DOTALL)


def _find_block(text: str, round_settings: RoundSettings) -> str:
    """Returns the block of a round in a study file; empty if Quaestor did not add it or it was edited by hand."""
    first, last = (use_line_endings(text, marker) for marker in _build_markers(round_settings))
    if first not in text:  # as earlier versions wrote it
        first = first.replace(_ADDED, "added from the desk")
    start, end = text.find(first), text.find(last)
    if not 0 <= start < end:
        return ""
    block = text[start : end + len(last)]
    try:
        is_same = tomllib.loads(block) == tomllib.loads(write_block(round_settings))
    except tomllib.TOMLDecodeError:
        return ""
    is_commented = "#" in _STRING.sub("", block[len(first) : -len(last)])
    return block if is_same and not is_commented and text.count(block) == 1 else ""


_ADDED = "added by Quaestor"


def _build_markers(round_settings: RoundSettings) -> tuple[str, str]:
    """Returns the comments before and after an added round."""
    name = tomlkit.string(round_settings.round).as_string()
    return f"# Round {name}, {_ADDED}.\n", f"# End of round {name}.\n"


def write_block(round_settings: RoundSettings) -> str:
    """Returns a round as text for the study file; the same settings always give the same text."""
    first, last = _build_markers(round_settings)
    rounds = tomlkit.aot()
    rounds.append(toml_table(round_settings.model_dump(exclude_defaults=True)))
    return f"{first}{tomlkit.dumps({'rounds': rounds})}{last}"


def _read_settings(study: Study, text: str, round_settings: RoundSettings | None) -> StudySettings:
    """Parses a text as a study file; an error message is about the new round."""
    try:
        return StudySettings.model_validate(tomllib.loads(text.removeprefix("\ufeff")))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"{study.file}: a round cannot be added because of a syntax error, {error}: "
            "write each round as its own [[rounds]]"
        ) from None
    except ValidationError as error:
        problem = explain(error.errors()[0], StudySettings)
        if round_settings is None:
            raise SettingsError(f"the study file would be invalid without this round: {problem}") from None
        position = next(
            (n for n, round_state in enumerate(study.settings.rounds) if round_state.round == round_settings.round),
            None,
        )
        number = position if position is not None and f"rounds[{position}]" in problem else len(study.settings.rounds)
        raise SettingsError(problem.removeprefix(f"rounds[{number}]").lstrip(".: ")) from None


def _require_lead(study: Study, actor: str | None) -> None:
    lead = study.settings.study.lead
    if actor not in (None, lead):
        raise StateError(f"{actor!r} is not the lead of the study: only {lead!r} can set up rounds")


@dataclass(frozen=True)
class FacetChoice:
    facet: str
    kind: str
    question: str


@dataclass(frozen=True)
class RoundChoices:
    """Everything that a new round may refer to."""

    facets: tuple[FacetChoice, ...]
    steps: tuple[str, ...]
    strands: tuple[str, ...]
    samples: tuple[str, ...]
    rounds: tuple[str, ...]
    keeping: tuple[str, ...]
    """Rounds that keep or exclude items."""
    families: tuple[str, ...]
    attributes: tuple[str, ...]
    people: tuple[str, ...]
    """Raters and tie-breakers of any round, and accounts that can become one."""
    kinds: tuple[str, ...] = ("pilot", "main", "drift")
    statistics: tuple[tuple[str, str], ...] = field(default_factory=lambda: tuple(list_reportable().items()))
    methods: tuple[tuple[str, str], ...] = (
        ("discussion", "the raters discuss each disagreement"),
        ("two-step", "a tie-breaker comments first, then all decide together"),
        ("tie-breaker", "a tie-breaker decides alone"),
        ("agreement", "only what the raters agree on is decided"),
    )


def list_round_choices(study: Study, without: str = "") -> RoundChoices:
    """Returns what a new or changed round may refer to; nothing that comes after it in the file."""
    study_settings = study.settings
    names = [round_state.round for round_state in study_settings.rounds]
    earlier = study_settings.rounds[: names.index(without)] if without in names else study_settings.rounds
    joined = [
        account.name
        for account in list_people(study).accounts
        if account.role in (Role.RATER, Role.TIE_BREAKER, Role.LEAD)
    ]
    mentioned = [
        name for round_state in study_settings.rounds for name in (*round_state.raters, round_state.tie_breaker or "")
    ]
    lead = study_settings.study.lead
    people = dict.fromkeys(name for name in [*mentioned, *joined] if name and name != lead)
    return RoundChoices(
        facets=tuple(FacetChoice(name, facet.kind, facet.question) for name, facet in study_settings.facets.items()),
        steps=tuple(step.step for strand in study.in_each_strand() for step in strand.funnel.steps),
        strands=tuple(study_settings.strands),
        samples=tuple(study_settings.samples),
        rounds=tuple(settings.round for settings in earlier),
        keeping=tuple(
            settings.round
            for settings in earlier
            if any(study_settings.facets[f].kind == KeepKind.name for f in settings.facets)
        ),
        families=tuple(study_settings.families),
        attributes=tuple(study_settings.attributes),
        people=(*people, lead),
    )


_RECENT = 200
"""Latest ratings of each rater used to estimate the time per item."""


@dataclass(frozen=True)
class RaterShare:
    """One rater's part of a round; `hours` is known if earlier rounds show how long an item takes."""

    rater: str
    items: int
    hours: float | None = None


@dataclass(frozen=True)
class RoundPreview:
    """A plan before it is fixed; `obstacle` is the reason why it cannot open yet."""

    items: int = 0
    selection: str = ""
    """How the items are selected."""
    shares: tuple[RaterShare, ...] = ()
    shared: int = 0
    """Items that all raters get."""
    sets: int = 1
    codebook: int = 0
    pace: float | None = None
    """Median seconds per item in earlier rounds."""
    like: tuple[str, ...] = ()
    """The rounds that the pace comes from."""
    obstacle: str = ""

    def as_json(self) -> dict[str, Any]:
        """Returns the fields for `--json`, in which `obstacle` keeps its older name `hindrance`."""
        fields = asdict(self)
        fields["hindrance"] = fields.pop("obstacle")
        return fields


def preview_round(study: Study, coding: CodingSession | None, round_settings: RoundSettings) -> RoundPreview:
    """Returns the plan of a round without fixing or writing anything."""
    with coding.locked_state() if coding else nullcontext(State()) as state:
        version = state.history.latest.version
        pace, like = _find_pace(state, round_settings)
        try:
            known = find_earlier_items(study, state, round_settings)
            _require_closed(state, round_settings)
        except QuaestorError as refusal:
            return RoundPreview(codebook=version, pace=pace, like=like, obstacle=str(refusal))
    try:
        plan = build_plan(study, round_settings, choose_items(study, round_settings, known), version)
    except QuaestorError as refusal:
        return RoundPreview(codebook=version, pace=pace, like=like, obstacle=str(refusal))
    with coding.locked_state() if coding else nullcontext(State()) as state:
        obstacle = _find_obstacle(state, plan, study.settings.study.lead)
    own = assign_items(plan)
    shares = tuple(
        RaterShare(rater, len(items), None if pace is None else len(items) * pace / 3600)
        for rater, items in zip(plan.raters, own, strict=True)
    )
    everybody = set(plan.items).intersection(*map(set, own)) if len(own) > 1 else set()
    return RoundPreview(
        len(plan.items), plan.selection, shares, len(everybody), len(plan.sets()), version, pace, like, obstacle
    )


def preview_planned_round(study: Study, name: str) -> RoundPreview:
    """Previews a round of a study whose journal is not open; does not create a journal."""
    settings = find_round_settings(study, name)
    if not has_journal(study):
        return preview_round(study, None, settings)
    with open_coding(study) as coding:
        return preview_round(study, coding, settings)


def _require_closed(state: State, round_settings: RoundSettings) -> None:
    for name in round_settings.confirms:
        if state.round(name).status != CLOSED:
            raise StateError(
                f"{round_settings.round!r} confirms what {name!r} decides, which is still open: close that first"
            )


def _find_obstacle(state: State, plan: RoundPlan, lead: str) -> str:
    """Returns why a round cannot open now; ignores the threshold of the previous round, which opening checks."""
    try:
        build_open_act(state, plan, lead, passed=True)
    except QuaestorError as refusal:
        return str(refusal)
    return ""


def _find_pace(state: State, round_settings: RoundSettings) -> tuple[float | None, tuple[str, ...]]:
    """Returns the median seconds per item in rounds with one of the same facets, else in any round."""
    spent: dict[str, list[float]] = {}
    for name, round_state in state.rounds.items():
        latest = [
            ratings[-1]
            for items in round_state.ratings.values()
            for ratings in islice(reversed(items.values()), _RECENT)
        ]
        seconds = [rating.seconds for rating in latest if rating.seconds > 0 and not rating.simulated]
        if seconds:
            spent[name] = seconds
    alike = {
        name: seconds
        for name, seconds in spent.items()
        if {facet.id for facet in state.rounds[name].plan.facets} & set(round_settings.facets)
    }
    chosen = alike or spent
    all_seconds = [value for seconds in chosen.values() for value in seconds]
    return (statistics.median(all_seconds) if all_seconds else None), tuple(chosen)

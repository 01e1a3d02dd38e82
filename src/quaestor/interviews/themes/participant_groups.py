"""Themes by role, or by any other attribute of participants.

A group with very few participants can identify a person, because the published matrix shows what each participant
mentions. In whatever leaves the study, small groups are therefore shown as one, and their numbers open no quotations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.names import slugify, suggest
from quaestor.interviews.model.records import Participant
from quaestor.interviews.themes.records import (
    CODE,
    PARTICIPANT,
    THEME,
    InterviewThemes,
    ParticipantAttribute,
    Quotation,
    select_by,
)
from quaestor.interviews.themes.tables import build_row_key, by_theme
from quaestor.measures.descriptive import share
from quaestor.measures.records import Share
from quaestor.render.number_format import percent, whole
from quaestor.render.table_model import Cell, Column, Group, Row, Selection, Table
from quaestor.study.settings.publication import PARTICIPANT_ATTRIBUTES, InterviewSettings

NOT_KNOWN, OTHERS = "not known", "other or not known"
TABLES = "themes-by-"
"""The beginning of the names of these tables."""
_YEARS = ((5, "under 5 years"), (10, "5 to 9 years"), (1_000, "10 years or more"))


def list_attributes(
    participants: Sequence[Participant], settings: InterviewSettings
) -> tuple[ParticipantAttribute, ...]:
    """Returns the attributes for which at least one of the participants has a value."""
    attributes = []
    for name in (*PARTICIPANT_ATTRIBUTES, *settings.attributes):
        spelled: dict[str, str] = {value.casefold(): value for value in settings.attributes.get(name, ())}
        order = [title for _, title in _YEARS] if name == "years" else list(spelled.values())
        values = {}
        for participant in participants:
            if value := _find_value(participant, name):
                values[participant.pseudonym] = spelled.setdefault(value.casefold(), value)
        others = sorted(set(values.values()) - set(order), key=str.casefold)
        used = [value for value in (*order, *others) if value in values.values()]
        if used:
            attributes.append(ParticipantAttribute(name, tuple(used), values))
    return tuple(attributes)


def _find_value(participant: Participant, name: str) -> str:
    if name == "years":
        years = participant.years
        return "" if years is None else next(title for below, title in _YEARS if years < below)
    return {"role": participant.role, "field": participant.field}.get(name) or participant.attributes.get(name, "")


@dataclass(frozen=True)
class ParticipantGroup:
    """Participants with the same value of an attribute."""

    key: str
    title: str
    participants: tuple[str, ...]


def find_groups(themes: InterviewThemes, name: str) -> list[ParticipantGroup]:
    """Returns the groups of an attribute; with a smallest group, smaller ones are one group, and none if one is left.

    The joined group grows by the next larger one until it is large enough, so that nobody is found by subtraction.
    """
    attribute = _require_attribute(themes, name)
    by_value: dict[str, list[str]] = {value: [] for value in attribute.values}
    unknown = [participant for participant in themes.participants if participant not in attribute.by_participant]
    for participant in themes.participants:
        if participant in attribute.by_participant:
            by_value[attribute.by_participant[participant]].append(participant)
    sizes = {value: len(several) for value, several in by_value.items() if several}
    joined = {value for value, size in sizes.items() if size < themes.smallest_group}
    if themes.smallest_group and (joined or unknown):
        while sum(sizes[value] for value in joined) + len(unknown) < themes.smallest_group and sizes.keys() - joined:
            joined.add(min(sizes.keys() - joined, key=lambda value: (sizes[value], attribute.values.index(value))))
        unknown = [p for p in themes.participants if p in unknown or attribute.by_participant[p] in joined]
    rest = OTHERS if joined else NOT_KNOWN
    groups = [
        ParticipantGroup(f"{name}={value}", value, tuple(several))
        for value, several in by_value.items()
        if several and value not in joined
    ]
    groups += [ParticipantGroup(f"{name} {rest}", rest, tuple(unknown))] if unknown else []
    return groups if not themes.smallest_group or len(groups) > 1 else []


def _require_attribute(themes: InterviewThemes, name: str) -> ParticipantAttribute:
    attribute = next((attribute for attribute in themes.attributes if attribute.name == name), None)
    if attribute is None:
        options = suggest(name, [attribute.name for attribute in themes.attributes])
        known = f"choose from: {options}" if options else "describe participants with `quaestor interview participant`"
        raise InputError(f"no coded participant has the attribute {name[:60]!r}; {known}")
    return attribute


def build_attribute_tables(themes: InterviewThemes, names: Iterable[str] | None = None) -> list[Table]:
    """Returns the tables of themes by these attributes, by default by those that study.toml compares."""
    known = {attribute.name for attribute in themes.attributes}
    chosen = [name for name in themes.compared if name in known] if names is None else names
    return [table for name in chosen if (table := _build_table(themes, name)) is not None]


def explain_missing_tables(themes: InterviewThemes) -> tuple[str, ...]:
    """Returns why attributes that study.toml compares have no table."""
    known = {attribute.name for attribute in themes.attributes}
    return tuple(explain_missing_groups(themes, name) for name in themes.compared
                 if name not in known or not find_groups(themes, name))  # fmt: skip


def explain_missing_groups(themes: InterviewThemes, name: str) -> str:
    """Returns why there are no groups by an attribute."""
    if name not in {attribute.name for attribute in themes.attributes}:
        return f"Themes by {name} are not shown: no coded participant has this attribute."
    return (
        f"Themes by {name} are not shown: they could identify a participant, because there are no two groups of at "
        f"least {themes.smallest_group:,} participants."
    )


def _build_table(themes: InterviewThemes, name: str) -> Table | None:
    groups = find_groups(themes, name)
    if not groups:
        return None
    sections = []
    for theme, title, codes in by_theme(themes):
        own = themes.of(theme)
        rows = []
        if [code.id for code in codes] != [theme]:
            cells = _build_cells(themes, groups, own, select_by(THEME, theme))
            rows.append(Row(theme, "any of these", cells, total=True))
        for code in codes:
            quotations = [quotation for quotation in own if quotation.code == code.id]
            cells = _build_cells(themes, groups, quotations, select_by(CODE, code.id))
            row_title = code.name if code.id != theme else f"{title}, no further"
            rows.append(Row(build_row_key(code, codes), row_title, cells))
        sections.append(Group(title, tuple(rows)))
    columns = tuple(
        Column(key, f"{title} (n = {len(several):,})", ("", "share", "interval"), numbers=("", "share", "low", "high"))
        for key, title, several in ((group.key, group.title, group.participants) for group in groups)
    )
    notes = ["Participants of each group who mention a code, of the n in the group; shares with 95% intervals."]
    if any(group.title == OTHERS for group in groups):
        notes.append(
            f"{OTHERS[:1].upper()}{OTHERS[1:]}: groups of fewer than {themes.smallest_group:,} participants are shown "
            "as one, because a small group could identify a person."
        )
    table = Table(
        f"{TABLES}{slugify(name) or 'attribute'}",
        f"Themes by {name}",
        "code",
        columns,
        tuple(sections),
        notes=tuple(notes),
    )
    return table.without_selections() if themes.smallest_group else table


def _build_cells(
    themes: InterviewThemes, groups: Sequence[ParticipantGroup], quotations: Sequence[Quotation], selection: Selection
) -> tuple[Cell, ...]:
    cells = []
    for group in groups:
        counted = _count_group(group, quotations)
        interval = f"{percent(counted.low)} to {percent(counted.high)}"
        behind = selection.narrow(PARTICIPANT, *group.participants) if counted.count else None
        values = (counted.count, counted.value, counted.low, counted.high)
        cells.append(Cell((whole(counted.count), percent(counted.value), interval), values, behind))
    return tuple(cells)


def _count_group(group: ParticipantGroup, quotations: Sequence[Quotation]) -> Share:
    mentioning = {quotation.participant for quotation in quotations} & set(group.participants)
    return share(len(mentioning), len(group.participants))


def groups_json(themes: InterviewThemes, name: str) -> dict[str, Any]:
    """Returns the groups of an attribute, and for each code and theme the participants of each group."""
    groups = find_groups(themes, name)

    def counted(quotations: Sequence[Quotation]) -> dict[str, Any]:
        shares = {group.title: _count_group(group, quotations) for group in groups}
        return {
            title: {
                "participants": found.count, "of": found.of, "share": found.value, "low": found.low, "high": found.high
            }
            for title, found in shares.items()
        }  # fmt: skip

    return {
        "attribute": name,
        "groups": {group.title: len(group.participants) for group in groups},
        "themes": [{"theme": theme, "name": title, "by": counted(themes.of(theme))}
                   for theme, title, _ in by_theme(themes)],
        "codes": [
            {
                "code": code.id,
                "name": code.name,
                "theme": code.theme,
                "by": counted([quotation for quotation in themes.quotations if quotation.code == code.id]),
            }
            for code in themes.codes
        ],
    }  # fmt: skip

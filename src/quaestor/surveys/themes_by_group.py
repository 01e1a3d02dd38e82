"""Themes of open answers crossed by groups of participants, with shares of rows and columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quaestor.base.errors import InputError
from quaestor.measures.records import Share
from quaestor.measures.survey_answers import GroupDifference, adjust_p_values, compare_groups, share_among
from quaestor.render.number_format import percent, whole
from quaestor.render.table_model import Cell, Column, Group, Row, Table
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.question_results import Groups, association_json, share_cell, share_interval, share_json
from quaestor.surveys.results.counting import CountingCache, group_responses
from quaestor.surveys.results.sentences import OVERLAPPING, ComparisonInWords, test_in_words, write_doubts
from quaestor.surveys.themes import SurveyThemes, Theme, themes_table


@dataclass(frozen=True)
class ThemeInGroups:
    """A theme in each group of participants."""

    theme: Theme
    share: Share
    by: tuple[Share, ...]
    """The share of each group that has the theme."""
    test: GroupDifference | None = None
    """None if a participant can be in several groups."""

    def row_share(self, place: int) -> float | None:
        """Returns the share of the participants with the theme who are in a group."""
        return self.by[place].count / self.theme.participants if self.theme.participants else None


@dataclass(frozen=True)
class ThemesByGroup:
    """Themes crossed by the answers to a question, or by stratum, version or language."""

    themes: SurveyThemes
    groups: Groups
    sizes: tuple[int, ...]
    """Number of coded participants in each group."""
    rows: tuple[ThemeInGroups, ...]
    without_group: int
    """Number of coded participants in no group."""


def cross_themes(surveys: Surveys, themes: SurveyThemes, by: str, room: CountingCache | None = None) -> ThemesByGroup:
    """Returns the themes in each group that `survey results --by` would compare."""
    if len(themes.surveys) > 1:
        names = ", ".join(themes.surveys)
        raise InputError(f"the round {themes.round!r} coded answers to several surveys ({names}), which have no groups")
    (survey,) = themes.surveys
    counted = (room or CountingCache()).counted(surveys, survey)
    groups = group_responses(counted, by)
    ids = np.array(counted.columns.ids, np.str_)
    coded = np.isin(ids, list(themes.respondents))
    members = groups.members[coded].T
    rows = []
    for theme in themes.themes:
        has_theme = np.isin(ids[coded], list(theme.responses))
        shares = tuple(share_among(has_theme, member) for member in members)
        rows.append(ThemeInGroups(theme, themes.share_of(theme), shares))
    if not groups.overlapping:
        seed = surveys.study.settings.study.seed
        tests = [compare_groups(_count_with_and_without(row), seed) for row in rows]
        rows = [replace(row, test=test) for row, test in zip(rows, adjust_p_values(tests), strict=True)]
    in_a_group = int(members.any(axis=0).sum())
    sizes = tuple(int(member.sum()) for member in members)
    return ThemesByGroup(themes, groups, sizes, tuple(rows), themes.participants - in_a_group)


def _count_with_and_without(row: ThemeInGroups) -> list[list[int]]:
    return [[share.count for share in row.by], [share.of - share.count for share in row.by]]


def list_tests(crossed: ThemesByGroup) -> list[ComparisonInWords]:
    """Returns the comparison of groups for each theme."""
    return [
        ComparisonInWords(row.theme.name, test_in_words(row.test), row.test.doubts)
        for row in crossed.rows
        if row.test is not None
    ]


def themes_by_group_table(crossed: ThemesByGroup) -> Table:
    """Returns themes × groups: count and column share, and on demand row share and interval."""
    groups = crossed.groups
    columns = [Column("participants", "participants", ("", "share"))]
    for key, label, size in zip(groups.keys, groups.labels, crossed.sizes, strict=True):
        heading = f"{label} (n = {size:,})"
        more = ("row share", "95% interval")
        columns.append(Column(f"group-{key}", heading, ("", "column share"), spanner=groups.label, more=more))
    rows = []
    for row in crossed.rows:
        cells = [share_cell(row.share, None)]
        for place, share in enumerate(row.by):
            in_theme = row.row_share(place)
            texts = percent(in_theme), share_interval(share)
            values = (share.count, share.value, in_theme)
            cells.append(Cell((whole(share.count), percent(share.value)), values, more=texts))
        rows.append(Row(row.theme.code, row.theme.name, tuple(cells)))
    base = themes_table(crossed.themes)
    name = f"{base.id}-by-{groups.name}"
    return Table(name, f"Themes by {groups.label}", "", tuple(columns), (Group("", tuple(rows)),),
                 notes=(*base.notes, *_write_notes(crossed)))  # fmt: skip


def _write_notes(crossed: ThemesByGroup) -> Iterator[str]:
    yield (
        "In each group: participants, column share (of the group), row share (of all participants with the theme), and "
        "Wilson's interval of the column share."
    )
    if crossed.without_group:
        who = "1 participant is" if crossed.without_group == 1 else f"{crossed.without_group:,} participants are"
        yield f"{who} in no group."
    if crossed.groups.overlapping:
        yield OVERLAPPING
    tests = list_tests(crossed)
    yield from (f"{test.label}: {test.words}." for test in tests)
    yield from write_doubts(tests)


def themes_json(themes: SurveyThemes, crossed: ThemesByGroup | None = None) -> dict[str, Any]:
    """Returns the themes, and what they are crossed by, unrounded."""
    in_groups = {row.theme.code: row for row in crossed.rows} if crossed is not None else {}
    rows = []
    for theme in themes.themes:
        share = themes.share_of(theme)
        row: dict[str, Any] = {
            "code": theme.code, "name": theme.name, "participants": theme.participants, "answers": theme.items,
            "share": share.value, "low": share.low, "high": share.high,
        }  # fmt: skip
        if crossed is not None:
            in_group = in_groups[theme.code]
            row["groups"] = [
                {**_share_json(share), "row_share": in_group.row_share(place)}
                for place, share in enumerate(in_group.by)
            ]
            row["test"] = association_json(in_group.test)
        rows.append(row)
    by = None
    if crossed is not None:
        groups = crossed.groups
        named = zip(groups.keys, groups.labels, crossed.sizes, strict=True)
        by = {
            "question": groups.name,
            "label": groups.label,
            "overlapping": groups.overlapping,
            "without_group": crossed.without_group,
            "groups": [{"group": key, "label": label, "participants": size} for key, label, size in named],
        }
    return {
        "round": themes.round, "facet": themes.facet, "participants": themes.participants,
        "withdrawn": themes.withdrawn, "dropped": themes.dropped, "uncoded": themes.uncoded,
        "simulated": themes.simulated, "blindness": list(themes.blindness), "by": by, "themes": rows,
    }  # fmt: skip


def _share_json(share: Share) -> dict[str, Any]:
    return {key: value for key, value in share_json(share).items() if key != "weighted"}

"""Themes by an attribute of participants: counts, order of values, and groups that are too small to publish."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.coded_interviews import copy_of
from tests.support.command_line import in_this_process
from tests.support.themed_interviews import themed_study

from quaestor.base.errors import InputError, SettingsError, StateError
from quaestor.coding.session import open_coding
from quaestor.interviews.model.records import Participant
from quaestor.interviews.names.known_names import add_name
from quaestor.interviews.names.remaining import refuse_names_in
from quaestor.interviews.names.rewording import replace_names_in_texts
from quaestor.interviews.participants.people import change_participant
from quaestor.interviews.report_section import InterviewSection
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.themes.cells import build_interview_tables, find_quotations_behind
from quaestor.interviews.themes.participant_groups import (
    NOT_KNOWN,
    OTHERS,
    build_attribute_tables,
    explain_missing_tables,
    find_groups,
    list_attributes,
)
from quaestor.interviews.themes.quotations import guard_groups, read_themes
from quaestor.interviews.themes.records import InterviewThemes
from quaestor.study.folder import Study, open_study
from quaestor.study.settings.publication import InterviewSettings

SETTINGS = '\n[interviews]\nthemes_by = ["role"]\nsmallest_group = 2\n[interviews.attributes]\nlevel = ["new", "old"]\n'


def themes_of(roles: list[str], smallest: int = 0) -> InterviewThemes:
    """Results without quotations, of participants with these roles."""
    people = [Participant(f"P{number}", role) for number, role in enumerate(roles, start=1)]
    order = tuple((person.pseudonym, person.pseudonym) for person in people)
    attributes = list_attributes(people, InterviewSettings())
    return InterviewThemes((), (), (), order, attributes=attributes, compared=("role",), smallest_group=smallest)


@given(st.lists(st.sampled_from(["", "engineer", "manager", "Manager", "tester", "student"]), max_size=14))
@settings(deadline=None)
def test_published_groups_are_never_small_and_contain_everybody(roles: list[str]) -> None:
    themes = themes_of(roles, smallest=3)
    if not themes.attributes:
        return
    groups = find_groups(themes, "role")
    assert len(groups) != 1
    assert all(len(group.participants) >= 3 for group in groups)
    if groups:
        assert sorted(who for group in groups for who in group.participants) == sorted(themes.participants)
    else:
        assert "they could identify a participant" in explain_missing_tables(themes)[0]


def test_the_lead_sees_every_group_in_one_spelling() -> None:
    themes = themes_of(["manager", "Manager", "", "engineer"])
    groups = [(group.title, group.participants) for group in find_groups(themes, "role")]
    assert groups == [("engineer", ("P4",)), ("manager", ("P1", "P2")), (NOT_KNOWN, ("P3",))]


def test_a_small_group_is_joined_with_the_next_larger_one() -> None:
    roles = ["a"] * 5 + ["b"] * 3 + ["c"]
    groups = {group.title: len(group.participants) for group in find_groups(themes_of(roles, smallest=3), "role")}
    assert groups == {"a": 5, OTHERS: 4}


def test_values_have_the_declared_order_and_years_are_in_bands() -> None:
    declared = InterviewSettings(attributes={"level": ("new", "old")})
    people = [
        Participant("P1", years=12, attributes={"level": "old"}),
        Participant("P2", years=4.5, attributes={"level": "Old"}),
        Participant("P3", years=5, attributes={"level": "new"}),
    ]
    years, level = list_attributes(people, declared)
    assert years.values == ("under 5 years", "5 to 9 years", "10 years or more")
    assert (level.values, level.by_participant["P2"]) == (("new", "old"), "old")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[interviews.attributes]\nrole = []", "attributes.role is known for every participant"),
        ('[interviews.attributes]\nlevel = ["new", "New"]', "names a value twice"),
        ('[interviews]\nthemes_by = ["rank"]', "themes_by names 'rank'; choose from: role, years, field"),
        ("[interviews]\nsmallest_group = 1", "interviews.smallest_group is 1"),
    ],
)
def test_wrong_settings_are_refused_in_a_sentence(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "study.toml").write_text(f'[study]\nname = "talks"\n{text}\n', "utf-8")
    with pytest.raises(SettingsError, match=message):
        open_study(tmp_path)


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Six coded participants: P1 to P3 are engineers, P4 and P5 managers, P6 a student."""
    study = themed_study(tmp_path_factory.mktemp("described"))
    study.file.write_text(study.file.read_text("utf-8") + SETTINGS, "utf-8")
    study = open_study(study.root)
    with open_interviews(study) as interviews:
        for number, role in enumerate(["engineer"] * 3 + ["manager"] * 2 + ["student"], start=1):
            level = "Old" if number < 3 else ""
            change_participant(interviews, f"P{number}", role, attributes={"level": level})
    return study


def test_participants_of_each_group_are_counted_and_open_their_quotations(described: Study) -> None:
    with open_interviews(described) as interviews:
        themes = read_themes(interviews)
    (table,) = build_attribute_tables(themes, ["role"])
    cell = table.cell("data", "role=engineer")
    assert cell is not None
    assert (cell.parts[0], cell.values[:2]) == ("2", (2, 2 / 3)), "P1 and P2 of three engineers"
    behind = find_quotations_behind(themes, "themes-by-role:factors:role=manager")
    assert {quotation.participant for quotation in behind.quotations} == {"P4", "P5"}
    level = find_quotations_behind(themes, "themes-by-level:data:level=old")
    assert {quotation.participant for quotation in level.quotations} == {"P1", "P2"}
    with pytest.raises(InputError, match="no coded participant has the attribute 'rank'; choose from: "):
        build_attribute_tables(themes, ["rank"])


def test_a_published_table_joins_small_groups_and_opens_nothing(described: Study) -> None:
    with open_interviews(described) as interviews:
        themes = guard_groups(interviews, read_themes(interviews))
    tables = {table.id: table for table in build_interview_tables(themes)}
    table = tables["themes-by-role"]
    assert [column.title for column in table.columns] == ["engineer (n = 3)", "other or not known (n = 3)"]
    assert "could identify a person" in table.notes[1]
    with pytest.raises(StateError, match="there is no list behind it"):
        find_quotations_behind(themes, "themes-by-role:factors:role=engineer")
    with open_coding(described) as coding:
        (section,) = InterviewSection().build(coding, (), lambda words: None).sections
    assert "themes-by-role" in {table.id for table in section.tables}
    assert "Numbers by an attribute of participants link to none" in section.words
    larger = replace(themes, smallest_group=4)
    ids = {table.id: table.notes for table in build_interview_tables(larger)}
    assert "themes-by-role" not in ids
    assert any("no two groups of at least 4 participants" in note for note in ids["themes"])


def test_an_attribute_must_be_declared_and_have_a_declared_value(described: Study) -> None:
    with open_interviews(described) as interviews:
        assert interviews.participant("P1").attributes == {"level": "old"}
        with pytest.raises(InputError, match="no attribute 'rank'; choose from: level, or declare it"):
            change_participant(interviews, "P1", attributes={"rank": "high"})
        with pytest.raises(InputError, match="level is 'middle'; choose from: new or old"):
            change_participant(interviews, "P1", attributes={"level": "middle"})
    wrong = in_this_process("interview", "participant", "add", "--attribute", "level", "--study", described.root)
    assert "write NAME=VALUE" in str(wrong.exception)


def test_a_name_in_an_attribute_stops_publication_until_it_is_replaced(described: Study, tmp_path: Path) -> None:
    study = copy_of(described, tmp_path)
    text = study.file.read_text("utf-8").replace('level = ["new", "old"]', "level = []")
    study.file.write_text(text, "utf-8")
    with open_interviews(open_study(tmp_path)) as interviews:
        change_participant(interviews, "P1", attributes={"level": "lead at Brimmlow"})
        add_name(interviews, "organisation", ["Brimmlow"], "[a company]")
        with pytest.raises(StateError, match="the level of P1"):
            refuse_names_in(interviews)
        replace_names_in_texts(interviews)
        refuse_names_in(interviews)
        assert interviews.participant("P1").attributes == {"level": "lead at [a company]"}

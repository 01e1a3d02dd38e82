"""The guides of a study: their current files and the versions used by interviews."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.small_interviews import SMALL, a_study, with_interview, with_participant, with_transcript

from quaestor.base.errors import InputError
from quaestor.interviews.guide_versions import build_guide_sheet, find_guide_path, list_guides, require_only_guide
from quaestor.interviews.items import make_items
from quaestor.interviews.repository import Interviews, interviews_path, open_interviews
from quaestor.study.features import study_status
from quaestor.study.folder import Study, open_study

NEWER = SMALL.replace("Which stages does your work have?", "How do you work?")
BROKEN = SMALL.replace("minutes = 10", "minutes = 11")


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return a_study(tmp_path / "study")


@pytest.fixture
def room(study: Study) -> Iterator[Interviews]:
    with open_interviews(study) as opened:
        yield opened


def write(study: Study, text: str, name: str = "guide") -> Path:
    path = study.root / "instruments" / f"{name}.md"
    path.write_text(text, "utf-8")
    return path


def test_each_guide_version_lists_its_interviews(study: Study, room: Interviews) -> None:
    with_interview(room)
    with_interview(room)
    write(study, NEWER)
    with_interview(room)
    with_interview(room, "P1")
    (line,) = list_guides(study, room)
    assert [(one.number, one.interviews) for one in line.versions] == [(1, ("P1", "P2")), (2, ("P1-2", "P3"))]
    assert not line.changed
    write(study, SMALL)
    assert list_guides(study, room)[0].changed


def test_a_guide_page_shows_the_current_file_or_a_used_version(study: Study, room: Interviews) -> None:
    with_interview(room)
    write(study, NEWER)
    assert next(build_guide_sheet(study, room, "guide").guide.questions()).text == "How do you work?"
    before = build_guide_sheet(study, room, "guide", 1)
    assert next(before.guide.questions()).text == "Which stages does your work have?"
    assert (before.version, before.problems) == (1, ())
    with pytest.raises(InputError, match="no version 2 of the guide 'guide'; versions: 1"):
        build_guide_sheet(study, room, "guide", 2)
    with pytest.raises(InputError, match="no interview guide 'gide'; guides: guide"):
        build_guide_sheet(study, room, "gide")


def test_sections_are_consecutive_in_time(study: Study) -> None:
    sheet = build_guide_sheet(study, None, "guide")
    assert [(section.begins, section.ends) for section in sheet.sections] == [(0, 1), (1, 6), (6, 9), (9, 10)]
    assert sum(section.share for section in sheet.sections) == pytest.approx(1)
    assert sheet.touching("practice") == ["stages", "factors"]
    assert not interviews_path(study).exists(), "to look makes no files"


def test_a_guide_with_a_serious_problem_cannot_be_used(study: Study, room: Interviews) -> None:
    write(study, BROKEN)
    with pytest.raises(InputError, match="the sections take 10 minutes in total, but the guide says 11"):
        with_interview(room)
    assert room.interviews() == []
    assert room.guide_versions("guide") == []


def test_an_unreadable_guide_does_not_affect_others(study: Study, room: Interviews) -> None:
    (study.root / "instruments" / "odd.md").write_bytes(b"+++\n\xff")
    (study.root / "instruments" / "folder.md").mkdir()
    lines = {guide.name: guide for guide in list_guides(study, room)}
    assert list(lines) == ["guide", "odd"]
    assert "not a UTF-8 text" in lines["odd"].why
    assert with_interview(room).guide == "guide"
    with pytest.raises(InputError, match="not a UTF-8 text"):
        room.plan("P1", "odd", "lead")


def test_a_study_with_several_guides_needs_the_name_of_one(study: Study, tmp_path: Path) -> None:
    assert require_only_guide(study) == "guide"
    other = write(study, SMALL, "other")
    with pytest.raises(InputError, match="guides: guide or other"):
        require_only_guide(study)
    assert find_guide_path(study, "other") == other
    assert find_guide_path(None, str(other)) == other
    with pytest.raises(InputError, match="there is no file"):
        find_guide_path(study, str(tmp_path / "none.md"))


SOURCE_AND_FUNNEL = """
[sources.turns]
kind = "interviews"
[funnel]
source = "turns"
[[funnel.steps]]
step = "turns"
body_at_least = 1
"""
STRETCHES = """
[facets.themes]
kind = "stretches"
codes = "themes"
"""


def test_the_next_step_of_a_study_leads_from_guide_to_items(tmp_path: Path) -> None:
    """A source that is made of transcripts is not asked for before there are any."""
    study = a_study(tmp_path / "study", BROKEN, SOURCE_AND_FUNNEL + STRETCHES)
    assert study_status(study).next == "quaestor interview check"
    write(study, SMALL)
    assert study_status(study).next == "quaestor interview participant add"
    with open_interviews(study) as room:
        with_participant(room)
        assert study_status(study, room.coding).next == "quaestor interview list"
        with_transcript(room, with_interview(room, "P1").id)
        assert study_status(study, room.coding).next == "quaestor funnel"
        study.file.write_text(study.file.read_text("utf-8").replace(SOURCE_AND_FUNNEL, ""), "utf-8")
        study = open_study(study.root)
        assert study_status(study, room.coding).next == "quaestor interview items"
        make_items(room)
        assert study_status(open_study(study.root), room.coding).next == "quaestor funnel"

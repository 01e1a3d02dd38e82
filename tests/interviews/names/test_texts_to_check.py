"""Known names are found in all published texts other than transcripts and can be removed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.coded_interviews import coded_study
from tests.support.small_interviews import SMALL, a_study, with_transcript

from quaestor.base.errors import StateError
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import open_by_name
from quaestor.coding.round_setup import add_round
from quaestor.interviews.items import SOURCE, STEP, TurnSource, make_items
from quaestor.interviews.names.known_names import add_name
from quaestor.interviews.names.remaining import find_remaining_names, refuse_names
from quaestor.interviews.names.rewording import replace_names_in_texts
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.study.folder import Study, open_study

NAMING = (
    SMALL.replace("How developers judge models", "How Grelvan judges models")
    .replace("Thank you for your time.", "Thank you, Grelvan.")
    .replace("Which stages does your work have? {#stages", "Which stages does work at Grelvan have? {#at-grelvan")
    .replace("Which one takes longest?", "Which one takes Grelvan longest?")
    .replace("Training time {#time}", "Training time at Grelvan {#time}")
)
REMARK = """
[facets.remark]
kind = "text"
question = "What is odd here?"
"""


def places_of_names(room: Interviews, kind: str) -> list[str]:
    return [remaining_name.where for remaining_name in find_remaining_names(room) if remaining_name.kind == kind]


def test_a_name_in_a_used_guide_is_found_and_can_be_removed(tmp_path: Path) -> None:
    study = a_study(tmp_path, NAMING)
    with open_interviews(study) as room:
        with_transcript(room, matched={0: "at-grelvan"})
        make_items(room)
        add_name(room, "organisation", ["Grelvan"])
        assert places_of_names(room, "guide") == [
            "the title of the guide 'guide', version 1",
            "the words before the section 'welcome' of the guide 'guide', version 1",
            "the question 'at-grelvan' of the guide 'guide', version 1",
            "the question 'at-grelvan' of the guide 'guide', version 1",
            "the question 'factors' of the guide 'guide', version 1",
        ]
        with pytest.raises(StateError, match=r"the title of the guide .*remove them from the guide"):
            make_items(room)
        assert replace_names_in_texts(room) == 1
        assert places_of_names(room, "guide") == []
        guide = room.guide("guide", 1)
        assert [question.id for question in guide.questions()] == ["at-grelvan", "factors", "illegal"], "ids stay"
        assert next(iter(guide.questions())).text == "Which stages does work at [organisation A] have?"
        make_items(room)
        assert find_remaining_names(room) == []
    assert "Grelvan" not in str(TurnSource().read_rows(open_study(tmp_path), SOURCE))


def test_a_name_in_the_study_file_is_found(tmp_path: Path) -> None:
    study = a_study(tmp_path)
    text = study.file.read_text("utf-8").replace("framework developers", "people at Grelvan")
    study.file.write_text(text + 'description = "Of Grelvan, see https://example.org"\n', "utf-8")
    with open_interviews(open_study(tmp_path)) as room:
        with_transcript(room)
        assert find_remaining_names(room) == []
        add_name(room, "organisation", ["Grelvan"])
        assert places_of_names(room, "study") == ["the title of the study", "the description of the study"]
    with pytest.raises(StateError, match=r"To fix it: change study\.toml"):
        refuse_names(open_study(tmp_path))


def with_remarks(folder: Path) -> Study:
    """A second round over the same turns, in which people answer in words of their own."""
    study = coded_study(folder)
    study.file.write_text(study.file.read_text("utf-8") + REMARK, "utf-8")
    study = open_study(folder)
    wanted = {"round": "remarks", "items": {"after": STEP}, "facets": ["remark"], "raters": ["rater-1", "rater-2"]}
    add_round(study, wanted)
    study = open_study(folder)
    open_by_name(study, "remarks", None)
    return study


def test_texts_in_rounds_without_passages_are_checked_for_names(tmp_path: Path) -> None:
    study = with_remarks(tmp_path)
    with open_interviews(study) as room:
        add_name(room, "organisation", ["Grelvan"])
        assert find_remaining_names(room) == []
        rate(room.coding, "remarks", "rater-1", "P1/00001", {"remark": "as at Grelvan"}, memo="Grelvan again")
        where = "what rater-1 wrote about P1/00001 in the round 'remarks'"
        assert places_of_names(room, "memo") == [where, where]
        assert replace_names_in_texts(room) == 2
    with open_interviews(study) as room:
        assert find_remaining_names(room) == []

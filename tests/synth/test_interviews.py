"""Synthetic interviews: readable conversations in every format, with planted content at the stated positions."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from quaestor.base.errors import InputError
from quaestor.interviews.model.guide_file import parse_guide
from quaestor.interviews.model.question_matching import match_questions
from quaestor.interviews.model.records import Guide, Voice
from quaestor.interviews.transcript_formats import read_transcript
from quaestor.study.templates import template_folder
from quaestor.synth.interview_truth import STUDY, InterviewTruth, read_interview_plan, read_truth, write_interviews
from quaestor.synth.interviews import InterviewPlan, generate_interviews, parse_plan
from quaestor.synth.transcript_files import FORMATS

SEED = 7


@pytest.fixture(scope="module")
def guide() -> Guide:
    return parse_guide((template_folder(STUDY) / "instruments" / "guide.md").read_text("utf-8"), "guide")


@pytest.fixture(scope="module")
def plan() -> InterviewPlan:
    return read_interview_plan(STUDY)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, guide: Guide, plan: InterviewPlan) -> Path:
    made = tmp_path_factory.mktemp("talks")
    write_interviews(made, generate_interviews(guide, plan, seed=SEED), SEED, guide.id)
    return made


@pytest.fixture(scope="module")
def truth(folder: Path) -> InterviewTruth:
    return read_truth(folder)


def test_each_format_is_written_and_read_back_word_by_word(folder: Path, truth: InterviewTruth) -> None:
    assert [interview.format for interview in truth.interviews] == list(FORMATS)
    for one in truth.interviews:
        read = read_transcript((folder / one.file).read_bytes(), one.file)
        assert [turn.text for turn in read.turns] == [turn.text for turn in one.interview.turns], one.file
        assert len(read.speakers) == 2


def test_interviews_have_some_length_and_say_that_they_are_synthetic(truth: InterviewTruth) -> None:
    for interview in truth.interviews:
        turns = interview.interview.turns
        assert 60 <= len(turns) <= 120
        assert "this interview is synthetic" in turns[0].text
        voices = [turn.voice for turn in turns]
        assert voices[::2] == [Voice.INTERVIEWER] * len(voices[::2])
        assert voices[1::2] == [Voice.PARTICIPANT] * len(voices[1::2])
        said = [turn.text for turn in turns if turn.passages]
        assert len(said) == len(set(said)), "nobody says the same twice"
        assert not any(re.search(r"[{}]|  ", turn.text) for turn in turns)


def test_passages_and_names_are_where_the_truth_says(truth: InterviewTruth, plan: InterviewPlan) -> None:
    for one in truth.interviews:
        for turn in one.interview.turns:
            for stretch in turn.passages:
                words = turn.text[stretch.start : stretch.end]
                assert turn.voice is Voice.PARTICIPANT
                assert turn.question in [name for name, codes in plan.answers.items() if stretch.code in codes]
                assert words == words.strip()
                assert turn.text[stretch.end] == "."
                assert all(field in words or field[1:] in words for field in stretch.fields.values())
            for name in turn.names:
                assert turn.text[name.start : name.end] in name.name
        assert one.interview.codes == set(one.interview.plan.codes)
        kinds = {name.kind for turn in one.interview.turns for name in turn.names}
        assert kinds == {"person", "organisation", "product", "url", "email", "phone"}
    assert any(interview.interview.skipped for interview in truth.interviews)


def test_the_curve_of_new_codes_becomes_flat(truth: InterviewTruth) -> None:
    assert truth.new_codes == (20, 8, 5, 3, 0, 0)
    assert len(truth.codes) == 36
    assert [field["threshold"] for field in truth.list_fields("indicator")][:2] == ["above 10", "above 100"]
    assert len(truth.list_fields("indicator")) == 9
    assert all(field["measure"] for field in truth.list_fields("crash"))


def test_the_planted_codes_are_in_the_bundled_codebook(plan: InterviewPlan) -> None:
    book = tomllib.loads((template_folder(STUDY) / "codebook.toml").read_text("utf-8"))
    assert set(plan.sentences) == {code["id"] for code in book["code"] if "parent" in code}
    study = tomllib.loads((template_folder(STUDY) / "study.toml").read_text("utf-8"))
    asked = study["facets"]["themes"]["fields"]
    for talk in plan.talks:
        for code, told in talk.details.items():
            assert all(sorted(line) == sorted(asked[code]) for line in told), code
        assert not set(asked) & set(talk.codes) - set(talk.details), "a code that asks for more is told more of"


def test_the_questions_of_the_guide_are_found_in_the_interviews(guide: Guide, truth: InterviewTruth) -> None:
    for one in truth.interviews:
        asking = [
            (place, turn.text) for place, turn in enumerate(one.interview.turns) if turn.voice is Voice.INTERVIEWER
        ]
        found = {match.turn: match.question for match in match_questions(asking, guide)}
        asked = {place: turn.question for place, turn in enumerate(one.interview.turns) if turn.asks}
        assert asked.items() <= found.items()
        assert not set(asked.values()) & set(one.interview.skipped)


def test_the_same_seed_gives_the_same_files_and_another_seed_different_ones(
    folder: Path, tmp_path: Path, guide: Guide, plan: InterviewPlan
) -> None:
    write_interviews(tmp_path / "again", generate_interviews(guide, plan, seed=SEED), SEED, guide.id)
    write_interviews(tmp_path / "other", generate_interviews(guide, plan, seed=SEED + 1), SEED + 1, guide.id)
    for path in sorted(folder.iterdir()):
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes(), path.name
        assert (tmp_path / "other" / path.name).read_bytes() != path.read_bytes(), path.name


def test_interviews_beyond_the_plan_add_no_new_codes(guide: Guide, plan: InterviewPlan) -> None:
    talks = list(generate_interviews(guide, plan, seed=SEED, interviews=9, words=6_000))
    assert all(6_000 <= talk.words < 7_500 for talk in talks)
    seen = frozenset().union(*(talk.codes for talk in talks[:6]))
    assert all(talk.codes <= seen for talk in talks[6:])
    assert len({talk.plan.name for talk in talks}) == 9


def test_a_wrong_truth_file_is_refused(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(InputError, match=r"does not exist: name the folder"):
        read_truth(tmp_path)
    (tmp_path / "truth.json").write_text('{"seed": 1}', "utf-8")
    with pytest.raises(InputError, match="create it again"):
        read_truth(tmp_path)
    assert json.loads((folder / "truth.json").read_text("utf-8"))["synthetic"] is True


def test_an_impossible_interview_plan_is_refused(guide: Guide, plan: InterviewPlan) -> None:
    said = tomllib.loads((template_folder(STUDY) / "synthetic.toml").read_text("utf-8"))["interviews"]
    with pytest.raises(InputError, match="without a sentence or a question"):
        parse_plan({**said, "sentences": {"dataset": ["what decides is the data"]}}, "here")
    with pytest.raises(InputError, match="lacks 'note'"):
        parse_plan({key: value for key, value in said.items() if key != "note"}, "here")
    strange = parse_plan({**said, "plain": {"weather": ["It rains."]}}, "here")
    with pytest.raises(InputError, match="answers 'weather', which is not in the guide 'guide'"):
        next(generate_interviews(guide, strange, seed=1))
    with pytest.raises(InputError, match="--words is 0"):
        next(generate_interviews(guide, plan, seed=1, words=0))

"""Every mistake in a study file gives one sentence with file, key, value and allowed values."""

from __future__ import annotations

from pathlib import Path

import pytest

from quaestor.base.errors import SettingsError, StateError
from quaestor.study.folder import open_study
from quaestor.study.settings.schema import read_settings
from quaestor.study.templates import new_study, template_names

GOOD = """
[study]
name = "x"
[sources.so]
kind = "stackexchange"
path = "dump"
tags = ["a"]
[sources.sheet]
kind = "table"
path = "posts.csv"
item = "x/{id}"
columns.id = { type = "whole" }
[funnel]
source = "so"
[[funnel.steps]]
step = "one"
kind = "how-to"
[samples.pilot]
after = "one"
size = 10
"""


def refusal(tmp_path: Path, text: str) -> str:
    path = tmp_path / "study.toml"
    path.write_text(text)
    with pytest.raises(SettingsError) as refused:
        read_settings(path)
    message = str(refused.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


def test_a_valid_file_is_parsed(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(GOOD)
    settings = read_settings(tmp_path / "study.toml")
    assert list(settings.sources) == ["so", "sheet"]
    assert settings.funnel.steps[0].kind == "how-to"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('name = "x"', 'nam = "x"', "study.name is missing"),
        ('kind = "how-to"', 'kin = "how-to"', "funnel.steps[0].kin is not a known key, allowed here: kind"),
        ('kind = "how-to"', 'kind = "howto"', "funnel.steps[0].kind is 'howto'; choose from: how-to"),
        ('kind = "how-to"', "kind = 5", "funnel.steps[0].kind is 5: write a text in quotes"),
        ('kind = "how-to"', 'closed = "maybe"', "funnel.steps[0].closed is 'maybe': write true or false"),
        ('kind = "how-to"', "", "the step 'one' has no condition"),
        ('kind = "how-to"', 'round = "r"\nclosed = true', "decided by a round"),
        (
            'kind = "stackexchange"',
            'kind = "stackechange"',
            "sources.so.kind is 'stackechange'; choose from: stackexchange",
        ),
        ('kind = "stackexchange"', "", "sources.so.kind is missing"),
        ('tags = ["a"]', "tags = 5", "sources.so.tags is 5: write a list in square brackets"),
        ('tags = ["a"]', 'tag = ["a"]', "sources.so.tag is not a known key, allowed here: tags"),
        ('source = "so"', 'source = "sso"', "funnel.source is 'sso'; choose from: so"),
        ('after = "one"', 'after = "on"', "samples.pilot.after is 'on'; choose from: one"),
        ("size = 10", "size = 0", "samples.pilot.size is 0"),
        ('type = "whole"', 'type = "hole"', "sources.sheet.columns.id.type is 'hole'; choose from: whole"),
        ("[funnel]", "[funel]\n[funnel]", "funel is not a known key, allowed here: funnel"),
        ("[study]", "[study", "is not valid TOML"),
        ("[sources.so]", '[sources."../so"]', "sources.../so"),
        ("[funnel]", "[families]\nempty = []\n[funnel]", "families.empty is []"),
        ("[funnel]", "[kinds.look]\ntitle = ['(?=x)']\n[funnel]", "uses lookaround or backreferences"),
        ("[funnel]", "[kinds.none]\nunless_title = ['x']\n[funnel]", "at least one pattern"),
    ],
)
def test_a_mistake_gives_a_one_sentence_error(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert expected in refusal(tmp_path, GOOD.replace(old, new))


@pytest.mark.parametrize("name", ["a/b", "a\\\\b", "why?", "#1", "50%", "new", ".", ".."])
def test_a_round_name_that_cannot_be_part_of_a_url_is_refused(tmp_path: Path, name: str) -> None:
    more = '[facets.keep]\nkind = "keep"\n[[rounds]]\nround = "{}"\nitems = {{ after = "one" }}\n'
    more += 'facets = ["keep"]\nraters = ["rater-1"]\n'
    said = refusal(tmp_path, GOOD + more.format(name))
    assert "study.toml: rounds[0].round: " in said
    assert "cannot be the name of a round" in said
    assert "avoid / \\ ? # %" in said


def test_two_steps_with_the_same_name_are_refused(tmp_path: Path) -> None:
    assert "two steps are called 'one'" in refusal(tmp_path, GOOD + '[[funnel.steps]]\nstep = "one"\nclosed = true\n')


def test_an_invalid_pattern_is_refused(tmp_path: Path) -> None:
    assert "is not a regular expression" in refusal(tmp_path, GOOD + "[kinds.odd]\ntitle = ['(']\n")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match="is not UTF-8"):
        read_settings(tmp_path / "study.toml")


def test_a_study_is_found_from_any_folder_inside_it(tmp_path: Path) -> None:
    new_study(tmp_path / "mine", "blank")
    (tmp_path / "mine" / "a" / "b").mkdir(parents=True)
    assert open_study(tmp_path / "mine" / "a" / "b").root == (tmp_path / "mine").resolve()
    with pytest.raises(StateError, match=r"no study\.toml in"):
        open_study(tmp_path)


@pytest.mark.parametrize("name", template_names())
def test_every_bundled_study_can_be_created_and_opened(tmp_path: Path, name: str) -> None:
    assert open_study(new_study(tmp_path / "new", name)).settings.study.name


def test_a_new_study_never_changes_existing_files(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(Exception, match="already exists and is not empty"):
        new_study(tmp_path / "mine", "blank")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"
    with pytest.raises(Exception, match="unknown bundled study 'blnk'; choose from: blank"):
        new_study(tmp_path / "other", "blnk")
    assert not (tmp_path / "other").exists()


CONDITIONS = """
[facets.relevance]
kind = "keep"
[facets.topic]
kind = "single"
options = ["a", "b"]
ask_if = { relevance = "keep" }
[facets.part]
kind = "single"
codes = "issue"
ask_if = { topic = ["a", "b"], relevance = "keep" }
[facets.why]
kind = "text"
[[rounds]]
round = "main"
items = { after = "one" }
facets = ["relevance", "topic", "part", "why"]
raters = ["rater-1"]
"""


def test_a_condition_is_one_answer_or_a_list(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(GOOD + CONDITIONS, "utf-8")
    facets = read_settings(tmp_path / "study.toml").facets
    assert facets["relevance"].ask_if == {}
    assert facets["topic"].ask_if == {"relevance": ("keep",)}
    assert facets["part"].ask_if == {"topic": ("a", "b"), "relevance": ("keep",)}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('{ relevance = "keep" }', '{ relevanc = "keep" }', "facets.topic.ask_if names 'relevanc'; choose from: rel"),
        ('{ relevance = "keep" }', '{ topic = "a" }', "facets.topic.ask_if names 'topic'; choose from: "),
        ('{ relevance = "keep" }', '{ why = "x" }', "facets.topic.ask_if names 'why', a facet of kind text"),
        (
            '{ relevance = "keep" }',
            '{ relevance = "kept" }',
            "ask_if.relevance is 'kept'; choose from: keep or exclude",
        ),
        ('topic = ["a", "b"]', 'topic = ["a", "c"]', "facets.part.ask_if.topic is 'c'; choose from: a or b"),
        ('topic = ["a", "b"]', "topic = []", "facets.part.ask_if.topic is []"),
        ('topic = ["a", "b"]', "topic = 1", "facets.part.ask_if.topic is 1: write a list"),
        ('["relevance", "topic",', '["topic", "relevance",', "list 'relevance' before 'topic'"),
        ('["relevance", "topic",', '["topic",', "'topic' is asked only if 'relevance' has a certain answer"),
    ],
)
def test_a_condition_that_can_never_hold_is_refused(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert expected in refusal(tmp_path, GOOD + CONDITIONS.replace(old, new))

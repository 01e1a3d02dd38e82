"""Rounds are added to study.toml and removed: all other bytes stay, and nothing unreadable is written."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.small_study import STUDY, small_study

from quaestor.base.errors import InputError, QuaestorError, SettingsError, StateError
from quaestor.coding.codebook import import_codebook
from quaestor.coding.round_acts import open_by_name
from quaestor.coding.round_setup import add_round, change_round, is_editable, read_round_settings, remove_round
from quaestor.study.folder import Study, open_study, toml_table

WANTED: dict[str, Any] = {
    "round": "second pilot", "kind": "pilot", "items": {"sample": "pilot"}, "facets": ["relevance"],
    "raters": ["rater-1", "rater-3"], "threshold": 0.6, "instructions": 'Read "all"\nof it \\ twice.\n',
}  # fmt: skip
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=30) | st.sampled_from(
    [
        '"',
        "'",
        '"""',
        "'''",
        "]]\n[[rounds]]",
        "\\",
        "a\nb",
        "\r\n",
        "\x7f",
        "\x00",
        "# End",
        "= 1",
        '"]\nx = "',
        "\u2028",
    ]
)


def written(folder: Path, text: str = STUDY) -> Study:
    (folder / "study.toml").write_bytes(text.encode("utf-8"))
    return open_study(folder)


@pytest.mark.parametrize(
    "text", [STUDY, STUDY.rstrip("\n"), STUDY.replace("\n", "\r\n"), f"\ufeff{STUDY}", STUDY + "# x"]
)
def test_adding_a_round_keeps_every_other_byte_of_the_file(tmp_path: Path, text: str) -> None:
    study = written(tmp_path, text)
    before = study.file.read_bytes()
    one = add_round(study, WANTED)
    assert study.file.read_bytes().startswith(before)
    again = open_study(tmp_path)
    assert again.settings.rounds == (*study.settings.rounds, one)
    assert again.settings.model_copy(update={"rounds": study.settings.rounds}) == study.settings
    assert one.instructions == WANTED["instructions"]


@settings(max_examples=60, deadline=None)
@given(name=TEXTS, raters=st.lists(TEXTS, min_size=1, max_size=3), instructions=TEXTS, deadline=st.datetimes())
def test_any_added_round_is_read_back_unchanged_or_refused(
    name: str, raters: list[str], instructions: str, deadline: Any
) -> None:
    with TemporaryDirectory() as folder:
        study = written(Path(folder))
        before = study.file.read_bytes()
        wanted = {**WANTED, "round": name, "raters": raters, "instructions": instructions, "deadline": deadline}
        try:
            one = add_round(study, wanted)
        except QuaestorError:
            assert study.file.read_bytes() == before
            return
        read = tomllib.loads(study.file.read_text("utf-8"))["rounds"]
        assert len(read) == len(study.settings.rounds) + 1
        assert (read[-1]["round"], read[-1]["raters"]) == (name, raters)
        assert read[-1].get("instructions", "") == instructions
        assert read[-1]["deadline"] == deadline
        remove_round(open_study(Path(folder)), one.round)
        assert study.file.read_bytes() == before


PLAIN = TEXTS | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=60, deadline=None)
@given(st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner), max_leaves=8))
def test_a_value_written_as_toml_is_read_back_unchanged(value: Any) -> None:
    assert tomllib.loads(toml_table({"a key": value}).as_string()) == {"a key": value}


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(InputError, match="lone surrogate"):
        toml_table({"a": ["\ud800"]})


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"round": "pilot"}, "two rounds are called 'pilot', give each a different name"),
        ({"round": "a/b"}, "cannot be the name of a round"),
        ({"round": "new"}, "cannot be the name of a round"),
        ({"round": " x"}, "begins or ends with a space"),
        ({"round": ""}, "round is ''"),
        ({"facets": []}, "facets is"),
        ({"facets": ["relevant"]}, "^facets is 'relevant'; choose from: relevance"),
        ({"raters": ["a", "a"]}, "a rater is listed twice"),
        ({"items": {"after": "how"}}, "items.after is 'how'; choose from: how-to"),
        ({"items": {}}, "items need exactly one of"),
        ({"settle": "two-step"}, "needs a tie_breaker"),
        ({"overlap": 2}, "overlap is 2"),
        ({"threshold": float("nan")}, "threshold is nan"),
        ({"colour": "red"}, "colour is not a known key"),
    ],
)
def test_an_invalid_round_is_refused_and_nothing_is_written(tmp_path: Path, more: dict[str, Any], words: str) -> None:
    study = written(tmp_path)
    before = study.file.read_bytes()
    with pytest.raises((InputError, SettingsError), match=words):
        add_round(study, {**WANTED, **more})
    assert study.file.read_bytes() == before


def test_a_round_cannot_be_added_to_an_inline_list(tmp_path: Path) -> None:
    study = written(tmp_path, '[study]\nname = "x"\n[facets.relevance]\nkind = "keep"\n')
    (tmp_path / "study.toml").write_text("rounds = []\n" + study.file.read_text("utf-8"), "utf-8")
    with pytest.raises(SettingsError, match=r"write each round as its own \[\[rounds\]\]"):
        add_round(open_study(tmp_path), {**WANTED, "items": {"after": "x"}})


def test_only_the_lead_adds_and_removes_rounds(tmp_path: Path) -> None:
    study = written(tmp_path)
    for act in (lambda: add_round(study, WANTED, "rater-1"), lambda: remove_round(study, "pilot", "rater-1")):
        with pytest.raises(StateError, match="is not the lead of the study"):
            act()


def test_adding_a_round_keeps_concurrent_changes_of_the_file(tmp_path: Path) -> None:
    study = written(tmp_path)
    text = STUDY.replace('instructions = "Read the title."', 'instructions = "Read it all."')
    study.file.write_text(text, "utf-8")
    add_round(study, WANTED)
    assert study.file.read_text("utf-8").startswith(text)


def test_a_symbolic_link_and_file_permissions_are_kept(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "study").mkdir()
    real = tmp_path / "kept" / "study.toml"
    real.write_text(STUDY, "utf-8")
    real.chmod(0o640)
    (tmp_path / "study" / "study.toml").symlink_to(real)
    add_round(open_study(tmp_path / "study"), WANTED)
    assert (tmp_path / "study" / "study.toml").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert "second pilot" in real.read_text("utf-8")


@pytest.mark.parametrize("text", [STUDY, STUDY.replace("\n", "\r\n")])
def test_an_added_round_can_be_changed_and_removed_until_it_opens(tmp_path: Path, text: str) -> None:
    study = written(tmp_path, text)
    before = study.file.read_bytes()
    add_round(study, WANTED)
    study = open_study(tmp_path)
    assert '# Round "second pilot", added by Quaestor.' in study.file.read_text("utf-8")
    assert is_editable(study, "second pilot")
    change_round(study, "second pilot", {**read_round_settings(study, "second pilot"), "raters": ["rater-7"]})
    study = open_study(tmp_path)
    assert study.settings.rounds[-1].raters == ("rater-7",)
    assert study.settings.rounds[-1].instructions == WANTED["instructions"]
    remove_round(study, "second pilot")
    assert study.file.read_bytes() == before


OLDER = """
# Round "second pilot", added from the desk.
[[rounds]]
round = "second pilot"
items = { sample = "pilot" }
facets = ["relevance"]
raters = ["rater-1"]
instructions = \"\"\"
Read \\"all\\" # of it
twice.\"\"\"
# End of round "second pilot".
"""


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_round_added_by_an_earlier_version_can_be_changed_and_removed(tmp_path: Path, ending: str) -> None:
    before = STUDY.replace("\n", ending)
    study = written(tmp_path, before + OLDER.replace("\n", ending))
    assert is_editable(study, "second pilot")
    change_round(study, "second pilot", {**read_round_settings(study, "second pilot"), "raters": ["rater-7"]})
    study = open_study(tmp_path)
    assert study.settings.rounds[-1].raters == ("rater-7",)
    remove_round(study, "second pilot")
    assert study.file.read_bytes() == before.encode()


def test_a_round_with_foreign_content_in_its_block_is_not_editable(tmp_path: Path) -> None:
    study = written(tmp_path, STUDY + OLDER.replace("# End", "[samples.more]\nsize = 2\nafter = 'how-to'\n# End"))
    assert not is_editable(study, "second pilot")


def test_a_round_written_or_changed_by_hand_is_not_editable(tmp_path: Path) -> None:
    study = written(tmp_path)
    assert not is_editable(study, "pilot")
    with pytest.raises(StateError, match="by hand: edit it in"):
        remove_round(study, "pilot")
    add_round(study, WANTED)
    changed = study.file.read_text("utf-8").replace("threshold = 0.6", "threshold = 0.7 # higher")
    study.file.write_text(changed, "utf-8")
    with pytest.raises(StateError, match="by hand: edit it in"):
        remove_round(open_study(tmp_path), "second pilot")
    assert study.file.read_text("utf-8") == changed


def test_a_round_that_another_needs_cannot_be_removed(tmp_path: Path) -> None:
    study = written(tmp_path)
    add_round(study, WANTED)
    add_round(open_study(tmp_path), {**WANTED, "round": "third", "items": {"again": "second pilot"}})
    with pytest.raises(SettingsError, match="would be invalid without this round"):
        remove_round(open_study(tmp_path), "second pilot")
    remove_round(open_study(tmp_path), "third")
    remove_round(open_study(tmp_path), "second pilot")


def test_an_opened_round_cannot_be_changed(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    import_codebook(study)
    add_round(study, WANTED)
    study = open_study(study.root)
    open_by_name(study, "second pilot", None)
    before = study.file.read_bytes()
    with pytest.raises(StateError, match="has been opened: its plan can no longer change"):
        remove_round(study, "second pilot")
    with pytest.raises(StateError, match="has been opened: its plan can no longer change"):
        change_round(study, "second pilot", WANTED)
    assert study.file.read_bytes() == before

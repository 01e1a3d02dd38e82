"""Every command of the interview tutorial prints the output shown on the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import quaestor
from tests.support.tutorials import Tutorial

TUTORIAL = Tutorial("tutorial-interviews.md")


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder after every command was run in its turn."""
    return TUTORIAL.follow(tmp_path_factory.mktemp("tutorial"))


def test_every_command_prints_the_output_shown_on_the_page(followed: Path) -> None:
    assert len(list(TUTORIAL.commands())) >= 25
    assert (followed / "published" / "report" / "index.html").exists()


def test_no_file_contains_the_withdrawn_participant_and_no_published_file_a_name(followed: Path) -> None:
    (followed / "talk.txt").unlink()
    kept = [path for path in followed.rglob("*") if path.is_file() and "talks" not in path.relative_to(followed).parts]
    assert len(kept) > 20
    for path in kept:
        held = path.read_bytes()
        assert b"wrote, at Krelltek" not in held, path
        assert b"Brastick" not in held, path


def test_synthetic_interviews_print_a_summary_as_json(tmp_path: Path) -> None:
    done = quaestor("synth", "interviews", "--out", "few", "--interviews", "2", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert '"new_codes": [' in done.stdout
    assert sorted(path.name for path in (tmp_path / "few").iterdir()) == [
        "interview-1.vtt",
        "interview-2.vtt",
        "truth.json",
    ]
    again = quaestor("synth", "interviews", "--out", "few", cwd=tmp_path)
    assert (again.returncode, "not empty" in again.stderr) == (2, True)

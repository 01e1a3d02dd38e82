"""Every command of the survey tutorial prints the output shown on the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import quaestor
from tests.support.tutorials import Tutorial

TUTORIAL = Tutorial("tutorial-survey.md")


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder after every command was run in its turn."""
    return TUTORIAL.follow(tmp_path_factory.mktemp("tutorial"))


def test_every_command_prints_the_output_shown_on_the_page(followed: Path) -> None:
    assert len(list(TUTORIAL.commands())) >= 10
    for name in ("figures/met.svg", "figures/met.pdf", "figures/met.png", "tables/table-met.tex", "results.json"):
        assert (followed / "published" / "deploying" / name).stat().st_size > 500, name
    assert (followed / "answers.codebook.csv").exists()


def test_the_mistake_described_in_the_tutorial_is_found(followed: Path) -> None:
    file = followed / "instruments" / "deploying.toml"
    before, _, after = file.read_text("utf-8").rpartition("regularly")
    (followed / "instruments" / "broken.toml").write_text(f"{before}always{after}", "utf-8")
    done = quaestor("survey", "check", "broken", cwd=followed)
    assert done.returncode == 1
    assert "looks for 'always', which is no step of 'met'" in " ".join(done.stdout.split())

"""The tutorial on surveys, followed to the letter: every command is run, and what it is said to print is printed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import quaestor

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
PAGE = (Path(__file__).parents[1] / "docs" / "tutorial-survey.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return [text for kind, text in _FENCE.findall(PAGE) if kind == language]


def commands() -> Iterator[tuple[str, list[str]]]:
    """Each command with the lines that are shown below it."""
    for block in blocks(""):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            yield command, [line for line in shown if line.strip() not in ("", "…")]


def plain(text: str) -> str:
    return re.sub(r"[ \t]+", " ", text)


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder after every command was run in its turn."""
    here = tmp_path_factory.mktemp("tutorial")
    [questionnaire] = blocks("toml")
    for command, shown in commands():
        words = shlex.split(command)
        if words[0] == "cd":
            here = here / words[1]
            (here / "instruments").mkdir(exist_ok=True)
            (here / "instruments" / "deploying.toml").write_text(questionnaire, "utf-8")
            continue
        assert words[0] == "quaestor", command
        done = quaestor(*words[1:], cwd=here)
        assert done.returncode == 0, (command, done.stderr)
        said = plain(done.stdout + done.stderr)
        for line in shown:
            assert plain(line).strip() in said, (command, line, said)
    return here


def test_every_command_prints_what_the_page_shows(followed: Path) -> None:
    assert len(list(commands())) >= 10
    for name in ("figures/met.svg", "figures/met.pdf", "figures/met.png", "tables/table-met.tex", "results.json"):
        assert (followed / "published" / "deploying" / name).stat().st_size > 500, name
    assert (followed / "answers.codebook.csv").exists()


def test_the_mistake_it_tells_of_is_found(followed: Path) -> None:
    file = followed / "instruments" / "deploying.toml"
    before, _, after = file.read_text("utf-8").rpartition("regularly")
    (followed / "instruments" / "broken.toml").write_text(f"{before}always{after}", "utf-8")
    done = quaestor("survey", "check", "broken", cwd=followed)
    assert done.returncode == 1
    assert "looks for 'always', which is no step of 'met'" in " ".join(done.stdout.split())

"""The tutorial on interviews, followed to the letter: every command is run, and what it is said to print is printed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import quaestor

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "tutorial-interviews.md").read_text("utf-8")


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
    [talk] = blocks("text")
    for command, shown in commands():
        words = shlex.split(command)
        if words[0] == "cd":
            here = here / words[1]
            (here / "talk.txt").write_text(talk, "utf-8")
            continue
        assert words[0] == "quaestor", command
        done = quaestor(*words[1:], cwd=here)
        assert done.returncode == 0, (command, done.stderr)
        said = plain(done.stdout + done.stderr)
        for line in shown:
            assert plain(line).strip() in said, (command, line, said)
    return here


def test_every_command_prints_what_the_page_shows(followed: Path) -> None:
    assert len(list(commands())) >= 25
    assert (followed / "published" / "report" / "index.html").exists()


def test_who_withdrew_is_nowhere_and_no_name_is_in_what_is_published(followed: Path) -> None:
    (followed / "talk.txt").unlink()
    kept = [path for path in followed.rglob("*") if path.is_file() and "talks" not in path.relative_to(followed).parts]
    assert len(kept) > 20
    for path in kept:
        held = path.read_bytes()
        assert b"wrote, at Krelltek" not in held, path
        assert b"Brastick" not in held, path


def test_a_seed_of_ones_own_gives_a_summary_as_json(tmp_path: Path) -> None:
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

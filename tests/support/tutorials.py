"""Run the commands of a tutorial and compare their output with the page."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from tests.support.command_line import quaestor
from tests.support.paths import DOCS

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"\b(as|to)\s+`([^`]+)`[^`]*:\s*$")
"""The end of a paragraph such as: Save this as `talk.txt`: or: Append this to `study.toml`:"""


class Tutorial:
    """One page of the docs."""

    def __init__(self, name: str) -> None:
        self.page = (DOCS / name).read_text("utf-8")

    def blocks(self, language: str) -> list[str]:
        return [text for kind, text in _FENCE.findall(self.page) if kind == language]

    def commands(self) -> Iterator[tuple[str, list[str]]]:
        """Each command with the lines that are shown below it."""
        for block in self.blocks(""):
            yield from _commands_in(block)

    def follow(self, here: Path) -> Path:
        """The folder after the files were saved and every command was run, in the order of the page."""
        for fence in _FENCE.finditer(self.page):
            language, text = fence.groups()
            if language:
                self._save(here, self.page[: fence.start()], text)
                continue
            for command, shown in _commands_in(text):
                words = shlex.split(command)
                if words[0] == "cd":
                    here = here / words[1]
                    continue
                assert words[0] == "quaestor", command
                done = quaestor(*words[1:], cwd=here)
                assert done.returncode == 0, (command, done.stderr)
                output = plain(done.stdout + done.stderr)
                for line in shown:
                    assert plain(line).strip() in output, (command, line, output)
        return here

    def _save(self, here: Path, before: str, text: str) -> None:
        """Saves a block as the file that the sentence before it names, or appends it to that file."""
        named = _FILE.search(before)
        assert named, before[-200:]
        path = here / named[2]
        path.parent.mkdir(exist_ok=True)
        old = f"{path.read_text('utf-8')}\n" if named[1] == "to" else ""
        path.write_text(f"{old}{text}", "utf-8")


def _commands_in(block: str) -> Iterator[tuple[str, list[str]]]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        yield command, [line for line in shown if line.strip() not in ("", "…")]


def plain(text: str) -> str:
    return re.sub(r"[ \t]+", " ", text)

"""Run the commands of a tutorial and compare their output with the page."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.support.command_line import quaestor
from tests.support.paths import DOCS

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)


class Tutorial:
    """One page of the docs."""

    def __init__(self, name: str) -> None:
        self.page = (DOCS / name).read_text("utf-8")

    def blocks(self, language: str) -> list[str]:
        return [text for kind, text in _FENCE.findall(self.page) if kind == language]

    def commands(self) -> Iterator[tuple[str, list[str]]]:
        """Each command with the lines that are shown below it."""
        for block in self.blocks(""):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, *shown = part.splitlines()
                yield command, [line for line in shown if line.strip() not in ("", "…")]

    def follow(self, here: Path, entered: Callable[[Path], None]) -> Path:
        """The folder after every command was run in its turn; `entered` does what the reader does in a new folder."""
        for command, shown in self.commands():
            words = shlex.split(command)
            if words[0] == "cd":
                here = here / words[1]
                entered(here)
                continue
            assert words[0] == "quaestor", command
            done = quaestor(*words[1:], cwd=here)
            assert done.returncode == 0, (command, done.stderr)
            said = plain(done.stdout + done.stderr)
            for line in shown:
                assert plain(line).strip() in said, (command, line, said)
        return here


def plain(text: str) -> str:
    return re.sub(r"[ \t]+", " ", text)

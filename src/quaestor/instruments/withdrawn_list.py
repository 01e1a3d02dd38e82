"""The list of responses that were withdrawn: beside the answers, so that it is there when they are not.

A backup knows what was withdrawn before it was made. Whoever brings one back needs to know of those since, also where
the file of answers is lost or was moved away. The list holds the hash of each random id, its survey and the day, a line
each, in the order of the hashes; it may be copied anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.base.files import write_whole

WITHDRAWN_LIST = "withdrawn.txt"
_LINE = re.compile(r"([0-9a-f]{64})\t([^\t]*)\t([^\t]*)")


@dataclass(frozen=True, order=True)
class Withdrawal:
    """That a response is gone: the hash by which it is known should it come again."""

    response: str
    survey: str
    day: str


@dataclass(frozen=True)
class WithdrawnList:
    """Whoever adds to it holds the write lock of the answers."""

    path: Path

    @classmethod
    def beside(cls, answers: Path) -> WithdrawnList:
        return cls(answers.with_name(WITHDRAWN_LIST))

    def read(self) -> set[Withdrawal]:
        """All of them; a line that is none is refused, since it may have been one."""
        found = set()
        for number, line in enumerate(self._lines(), start=1):
            read = _LINE.fullmatch(line)
            if read is None:
                raise InputError(f"{self.path}, line {number} is no withdrawal: bring back a copy of it, or remove it")
            found.add(Withdrawal(*read.groups()))
        return found

    def add(self, new: Iterable[Withdrawal]) -> None:
        """On the disk when this returns; whatever else stands there stays, so that nobody is hindered by it."""
        known = set(self._lines())
        together = known | {f"{one.response}\t{' '.join(one.survey.split())}\t{one.day}" for one in new}
        if together != known:
            write_whole(
                self.path,
                "".join(f"{line}\n" for line in sorted(together)).encode("utf-8", "surrogateescape"),
                private=True,
            )

    def _lines(self) -> list[str]:
        try:
            return self.path.read_text("utf-8", "surrogateescape").splitlines()
        except FileNotFoundError:
            return []

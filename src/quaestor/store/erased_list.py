"""The list of participants who withdrew: beside the sealed files, so that it is there when they are not.

A backup knows who withdrew before it was made. Whoever brings one back needs to know of those since. The list holds a
pseudonym and a day in each line, nobody's name and no word of what was said; it may be copied anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.base.files import write_whole

ERASED_LIST = "withdrawn-participants.txt"
PSEUDONYM = re.compile(r"P[0-9]{1,9}")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LINE = re.compile(rf"({PSEUDONYM.pattern})\t({DAY.pattern})")


@dataclass(frozen=True)
class ErasedList:
    """Whoever adds to it holds the write lock of the file beside which it lies."""

    path: Path

    @classmethod
    def beside(cls, file: Path) -> ErasedList:
        return cls(file.with_name(ERASED_LIST))

    def read(self) -> dict[str, str]:
        """Who withdrew, and the first day of it; a line that is none is refused, since it may have been one."""
        found: dict[str, str] = {}
        for number, line in enumerate(self._lines(), start=1):
            read = _LINE.fullmatch(line)
            if read is None:
                raise InputError(f"{self.path}, line {number} is no withdrawal: bring back a copy of it, or remove it")
            found[read[1]] = min(read[2], found.get(read[1], read[2]))
        return found

    def names(self) -> set[str]:
        """Whoever may stand there, whatever else does."""
        return {line.partition("\t")[0] for line in self._lines()}

    def add(self, new: Mapping[str, str]) -> None:
        """On the disk when this returns; whatever else stands there stays, so that nobody is hindered by it."""
        lines, known = self._lines(), self.names()
        added = [f"{participant}\t{day}" for participant, day in new.items() if participant not in known]
        if added:
            text = "".join(f"{line}\n" for line in [*lines, *added])
            write_whole(self.path, text.encode("utf-8", "surrogateescape"), private=True)

    def _lines(self) -> list[str]:
        try:
            return self.path.read_text("utf-8", "surrogateescape").splitlines()
        except FileNotFoundError:
            return []

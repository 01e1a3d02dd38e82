"""The file of an interview guide, read and checked, as its author asks and as whoever plans an interview needs it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.instruments.interviews.guide_checks import problems_of
from quaestor.instruments.interviews.guide_file import guide_from, guide_text_in
from quaestor.instruments.interviews.records import Guide
from quaestor.instruments.records import Problem


@dataclass(frozen=True)
class CheckedGuide:
    """A guide as its file says it, and what is wrong with it."""

    file: Path
    text: str
    guide: Guide
    problems: tuple[Problem, ...]

    @property
    def grave(self) -> tuple[Problem, ...]:
        return tuple(one for one in self.problems if one.grave)


def check_guide(path: Path) -> CheckedGuide:
    """Everything that is wrong with the guide of a file; raises InputError where it cannot be read at all."""
    text = guide_text_in(path)
    guide = guide_from(text, path.stem)
    return CheckedGuide(path, text, guide, tuple(problems_of(guide, files_beside(path))))


def usable_guide(path: Path) -> CheckedGuide:
    """A guide by which an interview can be held; one with a grave problem is refused."""
    found = check_guide(path)
    if found.grave:
        first, more = found.grave[0], len(found.grave) - 1
        also = f" (and {more} more)" if more else ""
        raise InputError(
            f"{path.name} cannot be used: {first.where}: {first.words}{also}; see `quaestor interview check`"
        )
    return found


def files_beside(path: Path) -> frozenset[str]:
    return frozenset(one.name for one in path.parent.iterdir() if one.is_file())

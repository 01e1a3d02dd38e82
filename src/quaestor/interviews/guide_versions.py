"""The interview guides of a study: their current text, the versions in use, and the interviews by each version."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from quaestor.base.errors import InputError, Problem
from quaestor.base.names import join_with_or, suggest
from quaestor.interviews.model.guide_checks import WORDS_A_MINUTE, check_guide, find_problems
from quaestor.interviews.model.guide_file import parse_guide
from quaestor.interviews.model.records import Guide, GuideSection
from quaestor.interviews.repository import Interviews, find_guide_file, list_guide_files
from quaestor.store.text_versions import TextVersion
from quaestor.study.folder import Study


@dataclass(frozen=True)
class GuideVersion:
    """A text by which interviews were planned; it is kept whatever happens to the file."""

    number: int
    day: str
    interviews: tuple[str, ...]


@dataclass(frozen=True)
class GuideLine:
    """A guide in a list."""

    name: str
    guide: Guide | None
    """Its current file, or the last used version if there is no file; None if the file cannot be read."""
    versions: tuple[GuideVersion, ...]
    problems: tuple[Problem, ...] = ()
    changed: bool = False
    """Whether the file differs from the last used version."""
    why: str = ""
    """Why its file cannot be read, or that it is missing."""

    @property
    def grave(self) -> int:
        return sum(problem.grave for problem in self.problems)

    @property
    def words(self) -> str:
        """The status in a few words."""
        if self.why:
            return self.why
        if self.grave:
            return f"cannot be used yet: {_count(self.grave, 'grave problem')}"
        return f"{_count(len(self.problems), 'suggestion')}" if self.problems else "no problems"


@dataclass(frozen=True)
class PlannedSection:
    """A section with its position in the time of an interview."""

    section: GuideSection
    begins: float
    """Minutes after the start of the interview."""
    share: float
    """The share of the whole interview, between 0 and 1."""
    reading: float
    """Approximate minutes for reading its script aloud."""

    @property
    def ends(self) -> float:
        return self.begins + self.section.minutes


@dataclass(frozen=True)
class GuideSheet:
    """A guide to read, print and review."""

    name: str
    guide: Guide
    sections: tuple[PlannedSection, ...]
    versions: tuple[GuideVersion, ...]
    version: int | None = None
    """The number of this version; None for the current file."""
    changed: bool = False
    problems: tuple[Problem, ...] = ()

    @property
    def grave(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.grave)

    def touching(self, research: str) -> list[str]:
        """Returns the ids of the questions about a research question."""
        return [question.id for question in self.guide.questions() if research in question.research]


def find_guide_path(study: Study | None, name: str) -> Path:
    """Returns the file of a guide: one of the study by name, or any by path."""
    path = Path(name)
    if path.suffix == ".md" or study is None:
        if not path.is_file():
            raise InputError(f"there is no file {path}: name a guide of the study, or an .md file")
        return path
    return find_guide_file(study, name)


def require_only_guide(study: Study) -> str:
    """Returns the name of the study's only guide; raises InputError if there are several or none."""
    names = list(list_guide_files(study))
    if len(names) != 1:
        options = join_with_or(names) or "none: write instruments/NAME.md"
        raise InputError(f"name the guide with --guide; guides: {options}")
    return names[0]


def list_guides(study: Study, interviews: Interviews | None) -> list[GuideLine]:
    """Returns every guide that has a file or was used."""
    files = list_guide_files(study)
    return [_line(files.get(name), name, interviews) for name in dict.fromkeys([*files, *_used(interviews)])]


def build_guide_sheet(study: Study, interviews: Interviews | None, name: str, version: int | None = None) -> GuideSheet:
    """Returns a guide's current file or a version; without a file, the last used version."""
    files, kept = list_guide_files(study), _stored_versions(interviews, name)
    if name not in files and not kept:
        options = suggest(name, [*files, *_used(interviews)]) or "none: write instruments/NAME.md"
        raise InputError(f"there is no interview guide {name!r}; guides: {options}")
    versions, newest = _list_versions(interviews, name), kept[-1] if kept else None
    if version is None and name in files:
        checked_guide = check_guide(files[name])
        changed = newest is not None and newest.text != checked_guide.text
        return GuideSheet(
            name, checked_guide.guide, _planned(checked_guide.guide), versions, None, changed, checked_guide.problems
        )
    chosen = (
        newest
        if version is None
        else next((guide_version for guide_version in kept if guide_version.version == version), None)
    )
    if chosen is None:
        options = (
            join_with_or([str(guide_version.version) for guide_version in kept])
            or "none: no interview was planned by it"
        )
        raise InputError(f"there is no version {version} of the guide {name!r}; versions: {options}")
    guide = parse_guide(chosen.text, name)
    problems = tuple(find_problems(guide, {guide.agreement}))
    return GuideSheet(name, guide, _planned(guide), versions, chosen.version, problems=problems)


def _line(path: Path | None, name: str, interviews: Interviews | None) -> GuideLine:
    kept, versions = _stored_versions(interviews, name), _list_versions(interviews, name)
    if path is None:
        return GuideLine(
            name, parse_guide(kept[-1].text, name), versions, why="its file is missing; its versions are kept"
        )
    try:
        checked_guide = check_guide(path)
    except InputError as error:
        return GuideLine(name, None, versions, why=str(error))
    return GuideLine(
        name, checked_guide.guide, versions, checked_guide.problems, bool(kept) and kept[-1].text != checked_guide.text
    )


def _used(interviews: Interviews | None) -> Iterator[str]:
    return iter(dict.fromkeys(interview.guide for interview in interviews.interviews())) if interviews else iter(())


def _stored_versions(interviews: Interviews | None, name: str) -> list[TextVersion]:
    return interviews.guide_versions(name) if interviews else []


def _list_versions(interviews: Interviews | None, name: str) -> tuple[GuideVersion, ...]:
    if interviews is None:
        return ()
    used = [(interview.version, interview.id) for interview in interviews.interviews() if interview.guide == name]
    return tuple(
        GuideVersion(
            guide_version.version,
            guide_version.day,
            tuple(interview for version, interview in used if version == guide_version.version),
        )
        for guide_version in interviews.guide_versions(name)
    )


def _planned(guide: Guide) -> tuple[PlannedSection, ...]:
    lines, begins = [], 0.0
    for section in guide.sections:
        reading = len(section.script.split()) / WORDS_A_MINUTE
        lines.append(PlannedSection(section, begins, section.minutes / guide.minutes, reading))
        begins += section.minutes
    return tuple(lines)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"

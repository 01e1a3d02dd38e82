"""`quaestor interview check`, `guide` and `guides`: what is asked, in which time, and what is wrong with it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, print_json, print_problems, say

if TYPE_CHECKING:
    from quaestor.interviews.guide_versions import GuideSheet, PlannedSection
    from quaestor.interviews.model.guide_checks import CheckedGuide
    from quaestor.interviews.repository import Interviews
    from quaestor.study.folder import Study

GuideArgument = Annotated[str, typer.Argument(metavar="GUIDE", help="A guide of the study, by its name.")]
FileArgument = Annotated[
    str, typer.Argument(metavar="GUIDE", help="A guide of the study by its name, or any .md file; default: all.")
]


def add_to(group: typer.Typer) -> None:
    group.command()(check)
    group.command()(guide)
    group.command()(guides)


def check(name: FileArgument = "", study: StudyOption = None, json: JsonOption = False) -> None:
    """Find what is wrong with an interview guide before anybody is asked; exit 1 where it could not be used.

    Example: quaestor interview check guide
    """
    from quaestor.base.errors import InputError
    from quaestor.interviews.guide_versions import guide_path
    from quaestor.interviews.model.guide_checks import check_guide
    from quaestor.interviews.repository import guide_files

    if name:
        files = [guide_path(None if name.endswith(".md") else chosen_study(study), name)]
    else:
        opened = chosen_study(study)
        files = list(guide_files(opened).values())
        if not files:
            raise InputError(f"there is no interview guide in {opened.root / 'instruments'}: write NAME.md there")
    checked, unread = [], {}
    for path in files:
        try:
            checked.append(check_guide(path))
        except InputError as error:
            unread[path] = str(error)
    if json:
        told = [{"guide": path.stem, "file": str(path), "unread": words} for path, words in unread.items()]
        print_json([*(_checked_json(one) for one in checked), *told])
    else:
        for one in checked:
            asked = one.guide
            counts = ((len(asked.sections), "section"), (len(list(asked.questions())), "question"))
            parts = [f"{count} {what if count == 1 else what + 's'}" for count, what in counts]
            size = f"{', '.join(parts)}, {asked.minutes:g} minutes"
            print_problems(asked.title, size, one.problems, "used")
    if unread:
        raise InputError("; ".join(unread.values()))
    if any(one.grave for one in checked):
        raise typer.Exit(1)


def guide(
    name: GuideArgument,
    version: Annotated[
        int | None, typer.Option(help="As interviews used it; default: as its file says now.", show_default=False)
    ] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Print a guide as a person reads it: what to say and to ask, and from which minute to which.

    Examples:
      quaestor interview guide guide
      quaestor interview guide guide --version 1
    """
    from quaestor.interviews.guide_versions import guide_sheet

    opened = chosen_study(study)
    with _looking(opened) as interviews:
        found = guide_sheet(opened, interviews, name, version)
    if json:
        told = {"guide": name, "version": found.version, "changed": found.changed}
        sections = [{**asdict(one.section), "begins": one.begins} for one in found.sections]
        more = {"minutes": found.guide.minutes, "agreement": found.guide.agreement, "language": found.guide.language}
        print_json(
            {**told, "title": found.guide.title, **more, "research": dict(found.guide.research), "sections": sections}
        )
        return
    _print_guide(found)


def guides(study: StudyOption = None, json: JsonOption = False) -> None:
    """List the guides of the study, their versions, and which interview used which.

    Example: quaestor interview guides
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.interviews.guide_versions import guide_lines

    opened = chosen_study(study)
    with _looking(opened) as interviews:
        found = guide_lines(opened, interviews)
    if json:
        print_json(
            [
                {
                    "guide": one.name,
                    "title": one.guide.title if one.guide else "",
                    "minutes": one.guide.minutes if one.guide else None,
                    "changed": one.changed,
                    "grave": one.grave,
                    "problems": len(one.problems),
                    "why": one.why,
                    "versions": [asdict(version) for version in one.versions],
                }
                for one in found
            ]
        )
        return
    if not found:
        say("No interview guides yet: write instruments/NAME.md, as docs/reference/interview-guide.md says")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("guide", "version", "since", "interviews"):
        table.add_column(heading, overflow="fold")
    for one in found:
        table.add_row(escape(one.name), "file" + (", changed" if one.changed else ""), "", escape(one.words))
        for version in reversed(one.versions):
            table.add_row("", str(version.number), version.day, ", ".join(version.interviews) or "none")
    console().print(table)


@contextmanager
def _looking(study: Study) -> Iterator[Interviews | None]:
    """The interviews, where there are any; to look makes no files."""
    from quaestor.interviews.repository import interviews_path, open_interviews

    if not interviews_path(study).exists():
        yield None
        return
    with open_interviews(study) as interviews:
        yield interviews


def _checked_json(found: CheckedGuide) -> dict[str, Any]:
    return {
        "guide": found.guide.id,
        "file": str(found.file),
        "sections": len(found.guide.sections),
        "questions": len(list(found.guide.questions())),
        "minutes": found.guide.minutes,
        "grave": len(found.grave),
        "problems": [asdict(problem) for problem in found.problems],
    }


def _print_guide(found: GuideSheet) -> None:
    from rich.markup import escape

    screen, one = console(), found.guide
    which = f"version {found.version}" if found.version else "as its file says now"
    screen.print(f"[bold]{escape(one.title)}[/bold], {one.minutes:g} minutes, {which}", soft_wrap=True)
    for planned in found.sections:
        screen.print()
        _print_section(planned)
    if found.changed:
        say(f"Interviews used version {found.versions[-1].number}: the file has changed since")


def _print_section(planned: PlannedSection) -> None:
    from rich.markup import escape

    section, time = planned.section, f"{planned.begins:g}–{planned.ends:g}"
    console().print(f"[cyan]{time}[/cyan] [bold]{escape(section.title)}[/bold]", soft_wrap=True)
    _print_lines(section.script, 2)
    _print_lines(section.note, 2, "Note: ", "dim")
    for question in section.questions:
        about = f"{question.id}, {question.asks}{', optional' if question.optional else ''}"
        _print_lines(f"{question.text} ({about})", 2, "• ")
        _print_lines(question.note, 6, "Note: ", "dim")
        for probe in question.probes:
            _print_lines(probe, 6, "– ")
        for label in (*(item.label for item in question.items), *(["other: ____"] if question.other else ())):
            _print_lines(label, 6, "[ ] ")


def _print_lines(words: str, indent: int, first: str = "", style: str = "") -> None:
    """Lines that keep their indent where a screen is narrow, and end where their words end."""
    screen = console()
    before, below = " " * indent + first, " " * (indent + len(first))
    for line in words.splitlines():
        wrapped = textwrap.wrap(line, max(screen.width, 40), initial_indent=before, subsequent_indent=below)
        screen.print("\n".join(wrapped), markup=False, soft_wrap=True, style=style)
        before = below

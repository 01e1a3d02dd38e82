"""`quaestor interview check`, `guide` and `guides`: check, print and list interview guides."""

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

GuideArgument = Annotated[str, typer.Argument(metavar="GUIDE", help="The name of a guide.")]
FileArgument = Annotated[
    str, typer.Argument(metavar="GUIDE", help="The name of a guide, or any .md file; default: all guides.")
]


def add_to(group: typer.Typer) -> None:
    group.command()(check)
    group.command()(guide)
    group.command()(guides)


def check(name: FileArgument = "", study: StudyOption = None, json: JsonOption = False) -> None:
    """Check interview guides before they are used; exit 1 if one has errors.

    Example: quaestor interview check guide
    """
    from quaestor.base.errors import InputError
    from quaestor.interviews.guide_versions import find_guide_path
    from quaestor.interviews.model.guide_checks import check_guide
    from quaestor.interviews.repository import list_guide_files

    if name:
        files = [find_guide_path(None if name.endswith(".md") else chosen_study(study), name)]
    else:
        opened = chosen_study(study)
        files = list(list_guide_files(opened).values())
        if not files:
            folder = opened.root / "instruments"
            raise InputError(f"there is no interview guide in {folder}: write {folder / 'NAME.md'}")
    checked, unread = [], {}
    for path in files:
        try:
            checked.append(check_guide(path))
        except InputError as problem:
            unread[path] = str(problem)
    if json:
        failed = [{"guide": path.stem, "file": str(path), "unread": error} for path, error in unread.items()]
        print_json([*(_checked_json(result) for result in checked), *failed])
    else:
        for result in checked:
            guide = result.guide
            counts = ((len(guide.sections), "section"), (len(list(guide.questions())), "question"))
            parts = [f"{count} {noun if count == 1 else noun + 's'}" for count, noun in counts]
            size = f"{', '.join(parts)}, {guide.minutes:g} minutes"
            print_problems(guide.title, size, result.problems, "used")
    if unread:
        raise InputError("; ".join(unread.values()))
    if any(result.grave for result in checked):
        raise typer.Exit(1)


def guide(
    name: GuideArgument,
    version: Annotated[
        int | None, typer.Option(help="A version that interviews used; default: the current file.", show_default=False)
    ] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Print a guide for reading: what to say, what to ask, and the planned minutes.

    Examples:
      quaestor interview guide guide
      quaestor interview guide guide --version 1
    """
    from quaestor.interviews.guide_versions import build_guide_sheet

    opened = chosen_study(study)
    with _open_existing_interviews(opened) as interviews:
        sheet = build_guide_sheet(opened, interviews, name, version)
    if json:
        sections = [{**asdict(planned.section), "begins": planned.begins} for planned in sheet.sections]
        print_json({
            "guide": name, "version": sheet.version, "changed": sheet.changed, "title": sheet.guide.title,
            "minutes": sheet.guide.minutes, "agreement": sheet.guide.agreement, "language": sheet.guide.language,
            "research": dict(sheet.guide.research), "sections": sections,
        })  # fmt: skip
        return
    _print_guide(sheet)


def guides(study: StudyOption = None, json: JsonOption = False) -> None:
    """List the guides of the study, their versions and the interviews that used each.

    Example: quaestor interview guides
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.interviews.guide_versions import list_guides

    opened = chosen_study(study)
    with _open_existing_interviews(opened) as interviews:
        lines = list_guides(opened, interviews)
    if json:
        print_json(
            [
                {
                    "guide": line.name,
                    "title": line.guide.title if line.guide else "",
                    "minutes": line.guide.minutes if line.guide else None,
                    "changed": line.changed,
                    "grave": line.grave,
                    "problems": len(line.problems),
                    "why": line.why,
                    "versions": [asdict(version) for version in line.versions],
                }
                for line in lines
            ]
        )
        return
    if not lines:
        say("No interview guides yet: write instruments/NAME.md, see `quaestor docs interview-guide`")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("guide", "version", "since", "interviews"):
        table.add_column(heading, overflow="fold")
    for line in lines:
        table.add_row(escape(line.name), "file" + (", changed" if line.changed else ""), "", escape(line.words))
        for version in reversed(line.versions):
            table.add_row("", str(version.number), version.day, ", ".join(version.interviews) or "none")
    console().print(table)


@contextmanager
def _open_existing_interviews(study: Study) -> Iterator[Interviews | None]:
    """Opens the interviews if there are any; does not create their files."""
    from quaestor.interviews.repository import interviews_path, open_interviews

    if not interviews_path(study).exists():
        yield None
        return
    with open_interviews(study) as interviews:
        yield interviews


def _checked_json(result: CheckedGuide) -> dict[str, Any]:
    return {
        "guide": result.guide.id,
        "file": str(result.file),
        "sections": len(result.guide.sections),
        "questions": len(list(result.guide.questions())),
        "minutes": result.guide.minutes,
        "grave": len(result.grave),
        "problems": [asdict(problem) for problem in result.problems],
    }


def _print_guide(sheet: GuideSheet) -> None:
    from rich.markup import escape

    screen, guide = console(), sheet.guide
    version = f"version {sheet.version}" if sheet.version else "current file"
    screen.print(f"[bold]{escape(guide.title)}[/bold], {guide.minutes:g} minutes, {version}", soft_wrap=True)
    for planned in sheet.sections:
        screen.print()
        _print_section(planned)
    if sheet.changed:
        say(f"The file has changed since version {sheet.versions[-1].number}, which interviews used")


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


def _print_lines(text: str, indent: int, first: str = "", style: str = "") -> None:
    """Prints lines wrapped to the screen, with their indent kept and without trailing spaces."""
    screen = console()
    before, below = " " * indent + first, " " * (indent + len(first))
    for line in text.splitlines():
        wrapped = textwrap.wrap(line, max(screen.width, 40), initial_indent=before, subsequent_indent=below)
        screen.print("\n".join(wrapped), markup=False, soft_wrap=True, style=style)
        before = below

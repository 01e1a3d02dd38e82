"""`quaestor interview`: plan, list and follow interviews; the other modules add their commands here."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from quaestor.cli.interviews import audio, coding, guides, names, participants, themes, transcripts
from quaestor.cli.interviews.consent import PseudonymArgument
from quaestor.cli.interviews.participants import interview_json
from quaestor.cli.interviews.transcripts import NameArgument
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, print_json, say

group = typer.Typer(help="Interviews: guides, participants, transcripts, themes.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    for part in (guides, participants):
        part.add_to(group)
    group.command()(protocol)
    for part in (transcripts, audio, names, coding, themes):
        part.add_to(group)
    app.add_typer(group, name="interview")


@group.callback()
def interviews() -> None:
    """Plan interviews with a guide, import transcripts, mask names and analyse themes."""


@group.command()
def plan(
    participant: PseudonymArgument,
    guide: Annotated[
        str, typer.Option(help="The guide to follow; default: the study's only guide.", show_default=False)
    ] = "",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Plan an interview with the current version of a guide; the interview keeps that version.

    Example: quaestor interview plan P1 --guide guide
    """
    from quaestor.interviews.guide_versions import require_only_guide
    from quaestor.interviews.repository import open_interviews

    opened = chosen_study(study)
    with open_interviews(opened) as interviews:
        planned = interviews.plan(participant, guide or require_only_guide(opened), actor or interviews.coding.lead)
    if json:
        print_json(asdict(planned))
        return
    print(planned.id)
    say(f"Interview {planned.id} is planned with {planned.guide}, version {planned.version}: conduct it at the desk")


@group.command()
def cancel(interview: NameArgument, actor: ActorOption = None, study: StudyOption = None) -> None:
    """Cancel a planned interview that has no records; its name is not used again.

    Example: quaestor interview cancel P1-2
    """
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        interviews.cancel(interview, actor or interviews.coding.lead)
    say(f"Interview {interview} is cancelled")


@group.command("list")
def list_all(study: StudyOption = None, json: JsonOption = False) -> None:
    """List interviews with participant, guide version, status and next step.

    Example: quaestor interview list
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.interviews.overview import read_overview

    overview = read_overview(chosen_study(study), leads=True)
    lines = [line for person in overview.people for line in person.interviews]
    if json:
        print_json([interview_json(line) for line in lines])
        return
    if not lines:
        say("No interviews yet: `quaestor interview plan P1 --guide NAME`")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("interview", "participant", "guide", "version", "status", "day", "minutes", "next"):
        table.add_column(heading, justify="right" if heading in ("version", "minutes") else "left", overflow="fold")
    for line in lines:
        interview, step = line.interview, line.next
        minutes = f"{interview.seconds / 60:.0f}" if interview.seconds else "–"
        cells = (
            interview.id,
            interview.participant,
            escape(interview.guide),
            str(interview.version),
            line.stage,
            interview.day or "–",
            minutes,
        )
        table.add_row(*cells, escape(f"{step.name}: {step.words}") if step else "done")
    console().print(table)


@group.command()
def status(study: StudyOption = None, json: JsonOption = False) -> None:
    """Show the status of participants, consent, interviews, transcripts and guides.

    Example: quaestor interview status
    """
    from quaestor.interviews.guide_versions import list_guides
    from quaestor.interviews.overview import read_overview

    opened = chosen_study(study)
    overview, lines = read_overview(opened), list_guides(opened, None)
    consent_form = overview.agreement.kept if overview.agreement else None
    if json:
        summary: dict[str, Any] = {"tally": dict(overview.tally), "withdrawn": overview.withdrawn}
        summary["agreement"] = {
            "version": consent_form.version if consent_form else None,
            "to_ask_again": overview.to_ask_again,
        }
        summary["guides"] = [{"guide": line.name, "grave": line.grave, "why": line.why} for line in lines]
        print_json(summary)
        return
    screen = console()
    for label, count in overview.tally:
        screen.print(f"{count:>6,} {label}")
    for line in lines:
        screen.print(f"Guide {line.name}: {line.words}", markup=False, soft_wrap=True)
    if not lines:
        say("No interview guide yet: write instruments/NAME.md, see `quaestor docs interview-guide`")
    screen.print(
        f"Consent form: version {consent_form.version} since {consent_form.day}"
        if consent_form
        else "Consent form: none in force yet"
    )
    if overview.why_no_agreement:
        say(overview.why_no_agreement)
    if overview.to_ask_again:
        say(f"{overview.to_ask_again} answered an earlier version of the consent form: their links ask them again")


OutOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write it to a file that only you can read.", show_default=False),
]


def protocol(
    name: Annotated[str, typer.Argument(metavar="NAME", help="An interview, such as P1.")],
    out: OutOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Print the protocol of an interview as Markdown: times, questions, notes and ticked items.

    Example: quaestor interview protocol P1 --out protocol-P1.md
    """
    from quaestor.interviews.conduct.protocol import build_protocol as protocol_of
    from quaestor.interviews.conduct.protocol import build_protocol_json, format_protocol, write_protocol
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        document = protocol_of(interviews, name)
    if out is not None:
        write_protocol(document, out)
        say(f"The protocol of {name} is in {out}: protect it like the interview itself")
    if json:
        print_json(build_protocol_json(document))
    elif out is None:
        print(format_protocol(document), end="")

"""`quaestor interview`: from the guide to what was said in interviews."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from quaestor.cli.interviews import coding, guides, names, participants, themes, transcripts
from quaestor.cli.interviews.consent import PseudonymArgument
from quaestor.cli.interviews.transcripts import NameArgument
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, print_json, say

group = typer.Typer(help="Interviews: guides, participants, transcripts.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    for part in (guides, participants):
        part.add_to(group)
    group.command()(protocol)
    for part in (transcripts, names, coding, themes):
        part.add_to(group)
    app.add_typer(group, name="interview")


@group.callback()
def interviews() -> None:
    """Hold interviews by a guide, bring transcripts in, protect who takes part."""


@group.command()
def plan(
    participant: PseudonymArgument,
    guide: Annotated[
        str, typer.Option(help="The guide to talk by; default: the only one there is.", show_default=False)
    ] = "",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Plan an interview by a guide as its file says now; that version stays with the interview.

    Example: quaestor interview plan P1 --guide guide
    """
    from quaestor.interviews.guide_versions import the_guide
    from quaestor.interviews.repository import open_interviews

    opened = chosen_study(study)
    with open_interviews(opened) as interviews:
        made = interviews.plan(participant, guide or the_guide(opened), actor or interviews.coding.lead)
    if json:
        print_json(asdict(made))
        return
    print(made.id)
    say(f"The interview {made.id} is planned by {made.guide}, version {made.version}: hold it at the desk")


@group.command()
def cancel(interview: NameArgument, actor: ActorOption = None, study: StudyOption = None) -> None:
    """Take back the plan of an interview of which nothing is on record; its name is not given again.

    Example: quaestor interview cancel P1-2
    """
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        interviews.cancel(interview, actor or interviews.coding.lead)
    say(f"The interview {interview} is cancelled")


@group.command("list")
def list_all(study: StudyOption = None, json: JsonOption = False) -> None:
    """List interviews: with whom, by which version of which guide, how far they are, and what comes next.

    Example: quaestor interview list
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.interviews.overview import interviews_if_any

    found = interviews_if_any(chosen_study(study))
    lines = [line for one in found.people for line in one.interviews]
    if json:
        print_json([{**asdict(one.interview), "next": one.next.name.lower() if one.next else None} for one in lines])
        return
    if not lines:
        say("No interviews yet: `quaestor interview plan P1 --guide NAME`")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("interview", "participant", "guide", "version", "status", "day", "minutes", "next"):
        table.add_column(heading, justify="right" if heading in ("version", "minutes") else "left", overflow="fold")
    for line in lines:
        one, following = line.interview, line.next
        minutes = f"{one.seconds / 60:.0f}" if one.seconds else "–"
        about = (one.id, one.participant, escape(one.guide), str(one.version), one.status, one.day or "–", minutes)
        table.add_row(*about, escape(f"{following.name}: {following.words}") if following else "all done")
    console().print(table)


@group.command()
def status(study: StudyOption = None, json: JsonOption = False) -> None:
    """Say how far the interviews are: who takes part and agreed, what was held and transcribed, how the guides stand.

    Example: quaestor interview status
    """
    from quaestor.interviews.guide_versions import guide_lines
    from quaestor.interviews.overview import interviews_if_any

    opened = chosen_study(study)
    found, lines = interviews_if_any(opened), guide_lines(opened, None)
    kept = found.agreement.kept if found.agreement else None
    if json:
        told: dict[str, Any] = {"tally": dict(found.tally), "withdrawn": found.withdrawn}
        told["agreement"] = {"version": kept.version if kept else None, "to_ask_again": found.to_ask_again}
        print_json({**told, "guides": [{"guide": one.name, "grave": one.grave, "why": one.why} for one in lines]})
        return
    screen = console()
    for words, count in found.tally:
        screen.print(f"{count:>6,} {words}")
    for one in lines:
        screen.print(f"Guide {one.name}: {one.words}", markup=False, soft_wrap=True)
    if not lines:
        say("No interview guide yet: write instruments/NAME.md, as docs/reference/interview-guide.md says")
    screen.print(f"Agreement: version {kept.version} since {kept.day}" if kept else "Agreement: nobody was asked yet")
    if found.why_no_agreement:
        say(found.why_no_agreement)
    if found.to_ask_again:
        say(f"{found.to_ask_again} answered an earlier version of the agreement: their links ask them again")


OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write it here, readable by you alone.", show_default=False)
]


def protocol(
    name: Annotated[str, typer.Argument(metavar="NAME", help="An interview, as in P1.")],
    out: OutOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Print the protocol of an interview as Markdown: times, questions asked, skipped and added, notes, ticks.

    Example: quaestor interview protocol P1 --out protocol-P1.md
    """
    from quaestor.interviews.conduct.protocol import protocol as protocol_of
    from quaestor.interviews.conduct.protocol import protocol_json, protocol_markdown, write_protocol
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        found = protocol_of(interviews, name)
    if out is not None:
        write_protocol(found, out)
        say(f"the protocol of {name} is in {out}: it holds what was said, keep it as you keep the interviews")
    if json:
        print_json(protocol_json(found))
    elif out is None:
        print(protocol_markdown(found), end="")

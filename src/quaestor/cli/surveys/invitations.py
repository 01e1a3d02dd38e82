"""`quaestor survey invite` and `rates`: create invitation links and show response rates."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, number, print_json, say

_THIS_MACHINE = "http://127.0.0.1:8321"
SurveyArgument = Annotated[str, typer.Argument(metavar="SURVEY", help="The name of a questionnaire.")]


def add_to(group: typer.Typer) -> None:
    group.command()(invite)
    group.command()(rates)


def invite(
    name: SurveyArgument,
    batch: Annotated[str, typer.Option(metavar="NAME", help="The batch these invitations belong to.")],
    count: Annotated[int | None, typer.Option(min=1, help="The number of links.", show_default=False)] = None,
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Create one link per line of this file.", show_default=False)
    ] = None,
    stratum: Annotated[str, typer.Option(metavar="NAME", help="One of the survey's strata.")] = "",
    address: Annotated[str, typer.Option(metavar="URL", help="The address of the desk.")] = _THIS_MACHINE,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write them to a new file that only you can read.", show_default=False),
    ] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
) -> None:
    """Create invitation links, each valid for one response, and print them as CSV: label, link.

    The links are shown only here. The study stores a hash of each link with its batch, its stratum and whether it was
    used. Labels, such as e-mail addresses, are printed next to the links and not stored. To send invitations and
    reminders by e-mail, use `survey recipients` and `survey mail`.

    Examples:
      quaestor survey invite protocol --batch first --stratum "PRO accounts" --count 50 --out links-pro.csv
      quaestor survey invite protocol --batch pilot --stratum "normal accounts" --labels people.txt --out links.csv
      quaestor survey invite protocol --batch next --stratum "PRO accounts" --count 9 --address https://study.example.org
    """
    from quaestor.base.errors import InputError
    from quaestor.base.files import create_private_text
    from quaestor.surveys.invitations import invite as invite_people
    from quaestor.surveys.invitations import links_csv
    from quaestor.surveys.lifecycle import open_surveys

    if not address.startswith(("http://", "https://")):
        raise InputError(f"--address is {address!r}: write it as http://HOST:PORT or https://HOST/PATH")
    names = _read_lines(labels) if labels else []
    output = create_private_text(out) if out else nullcontext(sys.stdout)
    with open_surveys(chosen_study(study)) as surveys, output as file:
        links = invite_people(surveys, name, batch, stratum, count, names, actor)
        file.write(links_csv(links, address))
    say(f"{number(len(links))} invitations created in the batch {batch}; the links are not shown again")
    if address == _THIS_MACHINE:
        say("The links point to port 8321 of this machine: for another address create them with --address URL")


def rates(name: SurveyArgument, study: StudyOption = None, json: JsonOption = False) -> None:
    """Show the response rate by stratum and by batch, and how many responses were finished.

    A person counts as having come once they begin. In an anonymous survey the study does not know which invited people
    finished, so finished responses are not shown by batch, and not at all if there is also a public link.

    Example: quaestor survey rates protocol
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.surveys.invitations import response_rates
    from quaestor.surveys.lifecycle import open_surveys

    with open_surveys(chosen_study(study)) as surveys:
        rates = response_rates(surveys, name)
    groups = (("all", (rates.whole,)), ("stratum", rates.by_stratum), ("batch", rates.by_batch))
    if json:
        parts: dict[str, Any] = {kind: [_rate_json(rate) for rate in group] for kind, group in groups[1:]}
        print_json({**_rate_json(rates.whole), **parts})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("by", "name", "invited", "came", "rate", "finished", "rate"):
        table.add_column(heading, justify="left" if heading in ("by", "name") else "right", overflow="fold")
    for kind, group in groups:
        for rate in group:
            shares = ("–" if share is None else f"{100 * share:.1f} %" for share in (rate.rate, rate.finished_rate))
            came, done = shares
            finished = "–" if rate.finished is None else number(rate.finished)
            table.add_row(kind, escape(rate.name), number(rate.sent), number(rate.used), came, finished, done)
    console().print(table)


def _rate_json(rate: Any) -> dict[str, Any]:
    return {
        "name": rate.name, "sent": rate.sent, "used": rate.used, "rate": rate.rate, "finished": rate.finished,
        "finished_rate": rate.finished_rate,
    }  # fmt: skip


def _read_lines(path: Path) -> list[str]:
    from quaestor.base.errors import InputError

    try:
        lines = [line.strip() for line in path.read_text("utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as lines of text ({error}): give a plain text file") from None
    if not lines:
        raise InputError(f"{path} has no lines: write one label per line")
    return lines

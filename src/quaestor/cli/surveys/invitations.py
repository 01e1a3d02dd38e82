"""`quaestor survey invite` and `rates`: links for those who are asked, and how many of them came."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, number, print_json, say

_THIS_MACHINE = "http://127.0.0.1:8321"
SurveyArgument = Annotated[str, typer.Argument(metavar="SURVEY", help="A questionnaire of the study, by its name.")]


def add_to(group: typer.Typer) -> None:
    group.command()(invite)
    group.command()(rates)


def invite(
    name: SurveyArgument,
    batch: Annotated[str, typer.Option(metavar="NAME", help="What these invitations are counted under.")],
    count: Annotated[int | None, typer.Option(min=1, help="How many links.", show_default=False)] = None,
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="One link for each line of a file.", show_default=False)
    ] = None,
    stratum: Annotated[str, typer.Option(metavar="NAME", help="One of the survey's strata.")] = "",
    address: Annotated[str, typer.Option(metavar="URL", help="Where the desk is reached.")] = _THIS_MACHINE,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write them into a new file that you alone can read.", show_default=False),
    ] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
) -> None:
    """Make links by which people answer, each once, as CSV: label, link. They are told here and kept nowhere else.

    Of a link only its hash is kept, with batch and stratum and whether it was used. Labels, such as the addresses to
    which you send them, stand beside the links and are not kept.

    Examples:
      quaestor survey invite protocol --batch first --stratum "PRO accounts" --count 50 --out links-pro.csv
      quaestor survey invite protocol --batch pilot --stratum "normal accounts" --labels people.txt --out links.csv
      quaestor survey invite protocol --batch next --stratum "PRO accounts" --count 9 --address https://study.example.org
    """
    from quaestor.base.errors import InputError
    from quaestor.base.files import new_private_text
    from quaestor.surveys.invitations import invite as invite_people
    from quaestor.surveys.invitations import links_csv
    from quaestor.surveys.lifecycle import open_surveys

    if not address.startswith(("http://", "https://")):
        raise InputError(f"--address is {address!r}: write it as http://HOST:PORT or https://HOST/PATH")
    named = _lines(labels) if labels else []
    place = new_private_text(out) if out else nullcontext(sys.stdout)
    with open_surveys(chosen_study(study)) as surveys, place as file:
        made = invite_people(surveys, name, batch, stratum, count, named, actor)
        file.write(links_csv(made, address))
    say(f"{number(len(made))} invitations of the batch {batch}: the links are not shown again")
    if address == _THIS_MACHINE:
        say("They name port 8321 of this machine: where the desk is reached elsewhere, make them with --address URL")


def rates(name: SurveyArgument, study: StudyOption = None, json: JsonOption = False) -> None:
    """Say how many of those who were invited came, by stratum and by batch, and how many of them finished.

    Who came counts from the moment they began. In an anonymous survey nobody knows which of them finished, so it is not
    told by batch; where the link is public too, not at all.

    Example: quaestor survey rates protocol
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.surveys.invitations import response_rates
    from quaestor.surveys.lifecycle import open_surveys

    with open_surveys(chosen_study(study)) as surveys:
        found = response_rates(surveys, name)
    groups = (("all", (found.whole,)), ("stratum", found.by_stratum), ("batch", found.by_batch))
    if json:
        told: dict[str, Any] = {of: [_told(one) for one in several] for of, several in groups[1:]}
        print_json({**_told(found.whole), **told})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("of", "name", "invited", "came", "rate", "finished", "rate"):
        table.add_column(heading, justify="left" if heading in ("of", "name") else "right", overflow="fold")
    for of, several in groups:
        for one in several:
            came, done = ("–" if rate is None else f"{100 * rate:.1f} %" for rate in (one.rate, one.finished_rate))
            finished = "–" if one.finished is None else number(one.finished)
            table.add_row(of, escape(one.name), number(one.sent), number(one.used), came, finished, done)
    console().print(table)


def _told(one: Any) -> dict[str, Any]:
    told = {"name": one.name, "sent": one.sent, "used": one.used, "rate": one.rate}
    return {**told, "finished": one.finished, "finished_rate": one.finished_rate}


def _lines(path: Path) -> list[str]:
    from quaestor.base.errors import InputError

    try:
        found = [line.strip() for line in path.read_text("utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as lines of text ({error}): give a plain text file") from None
    if not found:
        raise InputError(f"{path} has no lines: write one label a line")
    return found

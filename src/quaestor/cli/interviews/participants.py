"""`quaestor interview participant`: who takes part, how to reach them, and their way out."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.cli.interviews import consent as interview_consent
from quaestor.cli.interviews.consent import PseudonymArgument, consent_json
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, print_json, say

if TYPE_CHECKING:
    from quaestor.interviews.overview import PersonLine

group = typer.Typer(help="Participants of interviews, by their pseudonyms.", no_args_is_help=True)
contact_group = typer.Typer(help="How to reach a participant, for the lead alone.", no_args_is_help=True)

RoleOption = Annotated[str | None, typer.Option(help="What they do, in a word or two.", show_default=False)]
YearsOption = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="Years of experience; empty where unknown.", show_default=False)
]
FieldOption = Annotated[str | None, typer.Option(help="The field they work in.", show_default=False)]


def add_to(app: typer.Typer) -> None:
    group.add_typer(contact_group, name="contact")
    interview_consent.add_to(group)
    app.add_typer(group, name="participant")
    app.command("agreement")(interview_consent.agreement)


@group.callback()
def participants() -> None:
    """Add participants, record what they agree to, and erase those who withdraw."""


@contact_group.callback()
def contacts() -> None:
    """Keep and show how to reach a participant; nothing else prints it."""


@group.command()
def add(
    role: RoleOption = None,
    years: YearsOption = None,
    field: FieldOption = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Add a participant under the next pseudonym; say nothing here that tells who it is.

    Example: quaestor interview participant add --role "compiler engineer" --years 7 --field "model conversion"
    """
    from quaestor.interviews.participants.people import add_participant, years_from
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        made = add_participant(interviews, role or "", years_from(years or ""), field or "", actor or "")
    if json:
        print_json(asdict(made))
        return
    print(made.pseudonym)
    say(f"{made.pseudonym} takes part; next: `quaestor interview participant link {made.pseudonym}`")


@group.command("list")
def list_all(study: StudyOption = None, json: JsonOption = False) -> None:
    """List participants with what they agreed to and how far their interviews are; no name and no address.

    Example: quaestor interview participant list
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.interviews.overview import interviews_at_a_glance
    from quaestor.interviews.repository import open_interviews

    opened = chosen_study(study)
    with open_interviews(opened) as interviews:
        found = interviews_at_a_glance(opened, interviews, leads=False)
    if json:
        print_json({"participants": [_told(one) for one in found.people], "withdrawn": found.withdrawn})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("participant", "about", "consent", "interviews", "next"):
        table.add_column(heading, overflow="fold")
    for one in found.people:
        lines = one.interviews
        held = ", ".join(f"{line.interview.id} {line.interview.status}" for line in lines) or "none planned"
        following = next((line.next.words for line in lines if line.next), "" if lines else "plan an interview")
        table.add_row(one.participant.pseudonym, escape(one.about), one.consent.words, held, following)
    console().print(table)
    for name, day in found.withdrawn.items():
        say(f"{name} withdrew on {day}")
    if not found.people:
        say("Nobody takes part yet: `quaestor interview participant add`")


@group.command()
def change(
    pseudonym: PseudonymArgument,
    role: RoleOption = None,
    years: YearsOption = None,
    field: FieldOption = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Correct what is known about a participant; what is not named stays.

    Example: quaestor interview participant change P1 --years 8
    """
    from quaestor.interviews.participants.people import change_participant, years_from
    from quaestor.interviews.repository import open_interviews

    typed = None if years is None else "" if (known := years_from(years)) is None else known
    with open_interviews(chosen_study(study)) as interviews:
        made = change_participant(interviews, pseudonym, role, typed, field, actor or "")
    if json:
        print_json(asdict(made))
    else:
        say(f"{pseudonym} is changed")


@group.command()
def withdraw(
    pseudonym: PseudonymArgument,
    sure: Annotated[bool, typer.Option("--yes", help="You are sure; without it nothing is erased.")] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Erase for good all that a participant said and all that is known about them.

    The pseudonym, the day, and in the journal places and codes without words are what stays. Published results that may
    quote them are removed too. Recordings and files that lie elsewhere are yours to delete.

    Example: quaestor interview participant withdraw P1 --yes
    """
    from quaestor.base.errors import InputError
    from quaestor.interviews.repository import open_interviews
    from quaestor.interviews.withdrawal import withdraw as erase
    from quaestor.store.erasure import describe_pending_erasures

    opened = chosen_study(study)
    if not sure:
        raise InputError(f"nothing was erased, and nobody could bring it back: say --yes to erase {pseudonym}")
    with open_interviews(opened) as interviews:
        done = erase(interviews, pseudonym, actor)
    if json:
        print_json({**asdict(done), "interviews": list(done.interviews)})
    elif done.pending:
        pending = describe_pending_erasures(opened.root)
        say(f"{pseudonym} is no longer part of the study, but not fully erased yet. {pending}")
    else:
        say(f"{pseudonym} is erased; the pseudonym will not be given again")
    if done.published and not json:
        say("What was published may have quoted them and was removed: `quaestor report` makes it anew")
    if done.pending:
        raise typer.Exit(1)


@contact_group.command("set")
def set_one(
    pseudonym: PseudonymArgument,
    name: Annotated[str | None, typer.Option(help="Their name.", show_default=False)] = None,
    email: Annotated[str | None, typer.Option(help="Their e-mail address.", show_default=False)] = None,
    telephone: Annotated[str | None, typer.Option(help="Their telephone number.", show_default=False)] = None,
    more: Annotated[str | None, typer.Option(help="Anything else.", show_default=False)] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
) -> None:
    """Keep how to reach a participant; what is not named stays, and of what is replaced nothing is kept.

    What you type may stay in the history of your shell: the desk asks on a page of its own.

    Example: quaestor interview participant contact set P1 --email somebody@example.org
    """
    from quaestor.base.errors import InputError
    from quaestor.interviews.participants.people import Contact, contact_of, set_contact
    from quaestor.interviews.repository import open_interviews

    typed = {"name": name, "email": email, "telephone": telephone, "more": more}
    if all(value is None for value in typed.values()):
        raise InputError("nothing was given: add --name, --email, --telephone or --more")
    with open_interviews(chosen_study(study)) as interviews:
        known = asdict(contact_of(interviews, pseudonym, actor))
        said = {key: value for key, value in typed.items() if value is not None}
        set_contact(interviews, pseudonym, Contact(**{**known, **said}), actor)
    say(f"How to reach {pseudonym} is kept, under seal")


@contact_group.command("show")
def show(
    pseudonym: PseudonymArgument, actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False
) -> None:
    """Print how to reach a participant.

    Example: quaestor interview participant contact show P1
    """
    from quaestor.interviews.participants.people import contact_of
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        found = contact_of(interviews, pseudonym, actor)
    if json:
        print_json({"participant": pseudonym, **asdict(found)})
    elif found.is_empty:
        say(f"It is not known how to reach {pseudonym}")
    else:
        for key, value in asdict(found).items():
            if value:
                print(f"{key}: {value}")


@contact_group.command("forget")
def forget(pseudonym: PseudonymArgument, actor: ActorOption = None, study: StudyOption = None) -> None:
    """Erase for good how to reach a participant, and nothing else.

    Example: quaestor interview participant contact forget P1
    """
    from quaestor.interviews.participants.people import Contact, set_contact
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        set_contact(interviews, pseudonym, Contact(), actor)
    say(f"How to reach {pseudonym} is erased")


def _told(one: PersonLine) -> dict[str, Any]:
    return {
        **asdict(one.participant),
        "consent": consent_json(one.consent),
        "interviews": [
            {**asdict(line.interview), "next": line.next.name.lower() if line.next else None} for line in one.interviews
        ],
    }

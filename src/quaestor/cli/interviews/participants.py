"""`quaestor interview participant`: add participants, keep their contact details, and erase withdrawn ones."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.cli.interviews import consent as interview_consent
from quaestor.cli.interviews.consent import PseudonymArgument, consent_json
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, print_json, say

if TYPE_CHECKING:
    from quaestor.interviews.overview import InterviewLine, PersonLine

group = typer.Typer(help="Interview participants, identified by pseudonyms.", no_args_is_help=True)
contact_group = typer.Typer(help="Contact details of a participant; only for the lead.", no_args_is_help=True)

RoleOption = Annotated[str | None, typer.Option(help="Their role, in a word or two.", show_default=False)]
YearsOption = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="Years of experience; empty if unknown.", show_default=False)
]
FieldOption = Annotated[str | None, typer.Option(help="The field they work in.", show_default=False)]
AttributeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--attribute", metavar="NAME=VALUE", help="An attribute that study.toml declares; repeat for several."
    ),
]


def add_to(app: typer.Typer) -> None:
    group.add_typer(contact_group, name="contact")
    interview_consent.add_to(group)
    app.add_typer(group, name="participant")
    app.command("agreement")(interview_consent.agreement)


@group.callback()
def participants() -> None:
    """Add participants, record their consent, and erase participants who withdraw."""


@contact_group.callback()
def contacts() -> None:
    """Store and show contact details; no other command prints them."""


@group.command()
def add(
    role: RoleOption = None,
    years: YearsOption = None,
    field: FieldOption = None,
    attribute: AttributeOption = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Add a participant under the next pseudonym; do not enter anything that identifies them.

    Example: quaestor interview participant add --role "compiler engineer" --years 7 --field "model conversion"
    """
    from quaestor.interviews.participants.people import add_participant, parse_attributes, parse_years
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        participant = add_participant(
            interviews, role or "", parse_years(years or ""), field or "", actor or "",
            attributes=parse_attributes(attribute or ()),
        )  # fmt: skip
    if json:
        print_json(asdict(participant))
        return
    print(participant.pseudonym)
    name = participant.pseudonym
    say(f"{name} was added; next: get their consent with `quaestor interview participant link {name}`")


@group.command("list")
def list_all(study: StudyOption = None, json: JsonOption = False) -> None:
    """List participants with consent, interviews and next step; without names and addresses.

    Example: quaestor interview participant list
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.interviews.overview import build_overview
    from quaestor.interviews.repository import open_interviews

    opened = chosen_study(study)
    with open_interviews(opened) as interviews:
        overview = build_overview(opened, interviews, leads=True)
    if json:
        print_json(
            {"participants": [_person_json(person) for person in overview.people], "withdrawn": overview.withdrawn}
        )
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("participant", "about", "consent", "interviews", "next"):
        table.add_column(heading, overflow="fold")
    for person in overview.people:
        lines = person.interviews
        summary = ", ".join(f"{line.interview.id} {line.stage}" for line in lines) or "none planned"
        step = next((line.next.words for line in lines if line.next), "" if lines else "plan an interview")
        table.add_row(person.participant.pseudonym, escape(person.about), person.consent.words, summary, step)
    console().print(table)
    for name, day in overview.withdrawn.items():
        say(f"{name} withdrew on {day}")
    if not overview.people:
        say("No participants yet: add one with `quaestor interview participant add`")


@group.command()
def change(
    pseudonym: PseudonymArgument,
    role: RoleOption = None,
    years: YearsOption = None,
    field: FieldOption = None,
    attribute: AttributeOption = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Change a participant's details; options that you leave out stay unchanged.

    Examples:

        quaestor interview participant change P1 --years 8

        quaestor interview participant change P1 --attribute seniority=senior
    """
    from quaestor.interviews.participants.people import change_participant, parse_attributes, parse_years
    from quaestor.interviews.repository import open_interviews

    typed = None if years is None else "" if (known := parse_years(years)) is None else known
    with open_interviews(chosen_study(study)) as interviews:
        participant = change_participant(
            interviews, pseudonym, role, typed, field, actor or "", parse_attributes(attribute or ())
        )
    if json:
        print_json(asdict(participant))
    else:
        say(f"{pseudonym} was changed")


@group.command()
def withdraw(
    pseudonym: PseudonymArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Confirm; without it nothing is erased.")] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Erase permanently everything a participant said and everything known about them.

    Only the pseudonym, the day, and in the journal the positions and codes of passages without their text are kept.
    Published results that may quote the participant are removed. Delete recordings and files outside the study
    yourself.

    Example: quaestor interview participant withdraw P1 --yes
    """
    from quaestor.base.errors import InputError
    from quaestor.interviews.repository import open_interviews
    from quaestor.interviews.withdrawal import withdraw as erase
    from quaestor.store.erasure import describe_pending_erasures

    opened = chosen_study(study)
    if not yes:
        raise InputError(f"nothing was erased: this cannot be undone, so add --yes to erase {pseudonym}")
    with open_interviews(opened) as interviews:
        done = erase(interviews, pseudonym, actor)
    if json:
        print_json({**asdict(done), "interviews": list(done.interviews)})
    elif done.pending:
        pending = describe_pending_erasures(opened.root)
        say(f"{pseudonym} is no longer part of the study, but not fully erased yet. {pending}")
    else:
        say(f"{pseudonym} is erased; the pseudonym will not be used again")
    if done.published and not json:
        say("Published results may have quoted them and were removed: rebuild them with `quaestor report`")
    if done.pending:
        raise typer.Exit(1)


@contact_group.command("set")
def set_details(
    pseudonym: PseudonymArgument,
    name: Annotated[str | None, typer.Option(help="Their name.", show_default=False)] = None,
    email: Annotated[str | None, typer.Option(help="Their e-mail address.", show_default=False)] = None,
    telephone: Annotated[str | None, typer.Option(help="Their telephone number.", show_default=False)] = None,
    more: Annotated[str | None, typer.Option(help="Anything else.", show_default=False)] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
) -> None:
    """Store contact details; options that you leave out stay unchanged, and replaced values are erased.

    Your shell may keep the command in its history; the desk has a form that avoids this.

    Example: quaestor interview participant contact set P1 --email somebody@example.org
    """
    from quaestor.base.errors import InputError
    from quaestor.interviews.participants.people import Contact, read_contact, set_contact
    from quaestor.interviews.repository import open_interviews

    typed = {"name": name, "email": email, "telephone": telephone, "more": more}
    if all(value is None for value in typed.values()):
        raise InputError("nothing to store: add --name, --email, --telephone or --more")
    with open_interviews(chosen_study(study)) as interviews:
        known = asdict(read_contact(interviews, pseudonym, actor))
        changes = {key: value for key, value in typed.items() if value is not None}
        set_contact(interviews, pseudonym, Contact(**{**known, **changes}), actor)
    say(f"Contact details of {pseudonym} stored, encrypted")


@contact_group.command("show")
def show(
    pseudonym: PseudonymArgument, actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False
) -> None:
    """Print the contact details of a participant.

    Example: quaestor interview participant contact show P1
    """
    from quaestor.interviews.participants.people import read_contact
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        contact = read_contact(interviews, pseudonym, actor)
    if json:
        print_json({"participant": pseudonym, **asdict(contact)})
    elif contact.is_empty:
        say(f"No contact details of {pseudonym} are stored")
    else:
        for key, value in asdict(contact).items():
            if value:
                print(f"{key}: {value}")


@contact_group.command("forget")
def forget(pseudonym: PseudonymArgument, actor: ActorOption = None, study: StudyOption = None) -> None:
    """Erase the contact details of a participant permanently, and nothing else.

    Example: quaestor interview participant contact forget P1
    """
    from quaestor.interviews.participants.people import Contact, set_contact
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        set_contact(interviews, pseudonym, Contact(), actor)
    say(f"Contact details of {pseudonym} erased")


def _person_json(person: PersonLine) -> dict[str, Any]:
    return {
        **asdict(person.participant),
        "consent": consent_json(person.consent),
        "interviews": [interview_json(line) for line in person.interviews],
    }


def interview_json(line: InterviewLine) -> dict[str, Any]:
    """Returns the JSON of an interview, its stage and its next step."""
    return {**asdict(line.interview), "stage": line.stage, "next": line.next.name.lower() if line.next else None}

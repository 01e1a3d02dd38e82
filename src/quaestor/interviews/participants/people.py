"""Participants of interviews: a pseudonym from the start, and contact data in a separate file.

What is recorded here identifies nobody. Names and addresses are kept only in the identities file, are readable only
by the lead, and appear in no message and no journal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import suggest
from quaestor.coding.session import require_lead
from quaestor.deidentify.name_forms import is_searchable
from quaestor.interviews.free_text import WITHDRAW_ACT
from quaestor.interviews.model.records import Participant
from quaestor.interviews.repository import Interviews, build_next_pseudonym, read_participants
from quaestor.store.sealed_file import NewEntry, SealedEntry

_CONTACT = "contact"
_LONGEST = 200
_LONGEST_MORE = 4_000
_MOST_YEARS = 99
_EMAIL = re.compile(r"[^\s@,;<>\"]{1,64}@[^\s@,;<>\"]{1,190}")


@dataclass(frozen=True)
class Contact:
    """Contact data of a participant; excluded from `repr`, so that they appear in no log."""

    name: str = field(default="", repr=False)
    email: str = field(default="", repr=False)
    telephone: str = field(default="", repr=False)
    more: str = field(default="", repr=False)

    @property
    def is_empty(self) -> bool:
        return not any(asdict(self).values())


def add_participant(
    interviews: Interviews,
    role: str = "",
    years: float | None = None,
    domain: str = "",
    actor: str = "",
    synthetic: bool = False,
    key: str = "",
    attributes: Mapping[str, str] | None = None,
) -> Participant:
    """Adds a participant under the next unused pseudonym; the same key returns the same participant."""
    known = _check_attributes(interviews, {}, attributes or {})
    about = Participant(
        "", clean_line("role", role), _require_years(years), clean_line("field", domain), synthetic, known
    )
    gone = [*interviews.file.list_erased(), *interviews.file.list_withdrawn(), *list_withdrawn(interviews)]

    def first(known: Sequence[SealedEntry]) -> list[NewEntry]:
        sent = next((entry for entry in known if key and entry.key == key), None)
        name = sent.participant if sent else build_next_pseudonym([*(entry.participant for entry in known), *gone])
        return [_build_entry(interviews, replace(about, pseudonym=name), actor, key)]

    return read_participants(interviews.file.add_computed(first, about=""))[0]


def change_participant(
    interviews: Interviews,
    pseudonym: str,
    role: str | None = None,
    years: float | str | None = None,
    domain: str | None = None,
    actor: str = "",
    attributes: Mapping[str, str] | None = None,
) -> Participant:
    """Changes what is known about a participant; what is left out stays, and an empty text means unknown."""
    now = interviews.participant(pseudonym)
    changed = Participant(
        pseudonym,
        now.role if role is None else clean_line("role", role),
        now.years if years is None else _require_years(None if isinstance(years, str) else years),
        now.field if domain is None else clean_line("field", domain),
        now.synthetic,
        _check_attributes(interviews, now.attributes, attributes or {}),
    )
    interviews.file.add(_build_entry(interviews, changed, actor, ""))
    return changed


def list_withdrawn(interviews: Interviews) -> dict[str, str]:
    """Returns the withdrawn participants with the time of withdrawal, from the journal."""
    with interviews.coding.locked_state() as state:
        return {act.payload["participant"]: act.time for act in state.unhandled_acts if act.kind == WITHDRAW_ACT}


def set_contact(interviews: Interviews, pseudonym: str, contact: Contact, actor: str | None = None) -> None:
    """Replaces a participant's contact data; the earlier data are not kept."""
    lead = require_lead(interviews.coding, actor, "record contact data of participants")
    interviews.participant(pseudonym)
    content = asdict(_check_contact(contact))
    if not any(content.values()):
        interviews.identities.delete_entries(pseudonym, _CONTACT)
        return
    interviews.identities.replace_entry(NewEntry(_CONTACT, lead, content, pseudonym, "", interviews.now()))


def hand_over_contact(interviews: Interviews, pseudonym: str, contact: Contact, actor: str) -> None:
    """Adds contact data that an interviewer received to what the lead has; the interviewer cannot read them back."""
    interviews.participant(pseudonym)
    content = {name: words for name, words in asdict(_check_contact(contact)).items() if words}
    if not content:
        raise InputError("nothing was entered: give an e-mail address, a telephone number, or another contact")
    known = _find_contact(interviews, pseudonym)
    more = [text for text in (known.more, content.get("more", "")) if text]
    merged = {**asdict(known), **content, "more": "\n".join(dict.fromkeys(more))}
    interviews.identities.replace_entry(NewEntry(_CONTACT, actor, merged, pseudonym, "", interviews.now()))


def read_contact(interviews: Interviews, pseudonym: str, actor: str | None = None) -> Contact:
    """Returns a participant's contact data to the lead; empty if there are none."""
    require_lead(interviews.coding, actor, "see contact data of participants")
    interviews.participant(pseudonym)
    return _find_contact(interviews, pseudonym)


def _find_contact(interviews: Interviews, pseudonym: str) -> Contact:
    entries = [entry for entry in interviews.identities.read_entries(participant=pseudonym) if entry.kind == _CONTACT]
    return Contact(**entries[-1].content) if entries else Contact()


def list_reachable(interviews: Interviews) -> frozenset[str]:
    """Returns the pseudonyms of participants with contact data, but not the data."""
    return frozenset(
        entry.participant for entry in interviews.identities.read_entries(about="") if entry.kind == _CONTACT
    )


def _build_entry(interviews: Interviews, participant: Participant, actor: str, key: str) -> NewEntry:
    content = {
        "role": participant.role,
        "years": participant.years,
        "field": participant.field,
        "synthetic": participant.synthetic,
        **({"attributes": dict(participant.attributes)} if participant.attributes else {}),
    }
    by, now = actor or interviews.coding.lead, interviews.now()
    if key:
        return NewEntry("participant", by, content, participant.pseudonym, "", now, key)
    return NewEntry("participant", by, content, participant.pseudonym, "", now)


def _check_attributes(interviews: Interviews, known: Mapping[str, str], typed: Mapping[str, str]) -> dict[str, str]:
    """Returns the known attributes with the typed ones; raises InputError for what study.toml does not declare."""
    declared = interviews.study.settings.interviews.attributes
    attributes = dict(known)
    for name, text in typed.items():
        if name not in declared:
            options = f"choose from: {suggest(name, declared)}, or " if declared else ""
            raise InputError(
                f"participants have no attribute {name[:60]!r}; {options}declare it in [interviews.attributes] of "
                "study.toml"
            )
        value, values = clean_line(name, text), declared[name]
        spelled = {option.casefold(): option for option in values}
        if value and values and value.casefold() not in spelled:
            raise InputError(f"{name} is {value[:60]!r}; choose from: {suggest(value, values)}")
        attributes[name] = spelled.get(value.casefold(), value)
    return {name: value for name, value in attributes.items() if value}


def parse_attributes(typed: Sequence[str]) -> dict[str, str]:
    """Parses attributes as NAME=VALUE; an empty value means unknown."""
    attributes = {}
    for text in typed:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise InputError(f"{text[:60]!r} is not an attribute: write NAME=VALUE, such as seniority=senior")
        attributes[name.strip()] = value
    return attributes


def clean_line(what: str, text: str) -> str:
    """Returns a text as one line; raises InputError if it is too long or has unprintable characters."""
    words = " ".join(text.split())
    if not words.isprintable():  # a terminal would execute control sequences
        raise InputError(f"the {what} contains invisible characters: type it again")
    if len(words) > _LONGEST:
        raise InputError(f"the {what} has {len(words)} characters: use at most {_LONGEST}")
    return words


def _require_years(years: float | None) -> float | None:
    if years is not None and not 0 <= years <= _MOST_YEARS:
        raise InputError(
            f"{years:g} is out of range for years of experience: enter 0 to {_MOST_YEARS}, or leave it out"
        )
    return years


def _check_contact(contact: Contact) -> Contact:
    """Returns tidied contact data; an error names the field and never quotes its content."""
    more = contact.more.strip()
    name, email = clean_line("name", contact.name), clean_line("e-mail address", contact.email)
    checked = Contact(name, email, clean_line("telephone number", contact.telephone), more)
    if checked.name and not is_searchable(checked.name):
        raise InputError(
            "the name has fewer than two letters, digits or symbols, or only symbols, so it cannot be searched for in "
            "transcripts: write more of it, or leave it out"
        )
    if checked.email and not _EMAIL.fullmatch(checked.email):
        raise InputError("this is not a valid e-mail address: write it as somebody@example.org")
    if len(more) > _LONGEST_MORE:
        raise InputError(f"the further notes have {len(more):,} characters: use fewer than {_LONGEST_MORE:,}")
    return checked


def parse_years(text: str) -> float | None:
    """Parses years of experience as typed; None for an empty text."""
    words = text.strip().replace(",", ".")
    if not words:
        return None
    try:
        return float(words)
    except ValueError:
        raise InputError(f"{text.strip()[:40]!r} is not a number of years: enter digits, such as 7") from None


def require_participant(interviews: Interviews | None, pseudonym: str) -> Interviews:
    """Returns the interviews if they have a participant of this pseudonym; raises an error otherwise."""
    if interviews is None:
        raise StateError("there are no participants yet: add one first")
    interviews.participant(pseudonym)
    return interviews

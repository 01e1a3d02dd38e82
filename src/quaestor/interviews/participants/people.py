"""Who takes part in interviews: a pseudonym from the first moment, and how to reach them in a file of its own.

What is written about somebody here names nobody. Names and addresses go to the file of identities alone, are read by
the lead alone, and stand in no message and no journal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from quaestor.base.errors import InputError, StateError
from quaestor.coding.session import require_lead
from quaestor.deidentify.name_forms import is_searchable
from quaestor.interviews.free_text import WITHDRAW_ACT
from quaestor.interviews.model.records import Participant
from quaestor.interviews.repository import Interviews, next_pseudonym, participants_in
from quaestor.store.sealed_file import Entry, NewEntry

_CONTACT = "contact"
_LONGEST = 200
_LONGEST_MORE = 4_000
_MOST_YEARS = 99
_EMAIL = re.compile(r"[^\s@,;<>\"]{1,64}@[^\s@,;<>\"]{1,190}")


@dataclass(frozen=True)
class Contact:
    """How to reach a participant; its text says nothing of it, so that it ends up in no log."""

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
) -> Participant:
    """Somebody new, under the next pseudonym, which nobody had before; asked again with the same key, the same one."""
    about = Participant("", _line("role", role), _years(years), _line("field", domain), synthetic)
    gone = [*interviews.file.erased(), *interviews.file.listed(), *withdrawn(interviews)]

    def first(known: Sequence[Entry]) -> list[NewEntry]:
        sent = next((entry for entry in known if key and entry.key == key), None)
        name = sent.participant if sent else next_pseudonym([*(entry.participant for entry in known), *gone])
        return [_entry(interviews, Participant(name, about.role, about.years, about.field, synthetic), actor, key)]

    return participants_in(interviews.file.decide(first, about=""))[0]


def change_participant(
    interviews: Interviews,
    pseudonym: str,
    role: str | None = None,
    years: float | str | None = None,
    domain: str | None = None,
    actor: str = "",
) -> Participant:
    """What is known about somebody, corrected: what is not named stays; years as an empty text are unknown."""
    now = interviews.participant(pseudonym)
    changed = Participant(
        pseudonym,
        now.role if role is None else _line("role", role),
        now.years if years is None else _years(None if isinstance(years, str) else years),
        now.field if domain is None else _line("field", domain),
        now.synthetic,
    )
    interviews.file.add(_entry(interviews, changed, actor, ""))
    return changed


def withdrawn(interviews: Interviews) -> dict[str, str]:
    """Who withdrew, and when, as the journal of the study has it for ever."""
    with interviews.coding.locked_state() as state:
        return {act.payload["participant"]: act.time for act in state.unhandled_acts if act.kind == WITHDRAW_ACT}


def set_contact(interviews: Interviews, pseudonym: str, contact: Contact, actor: str | None = None) -> None:
    """How to reach somebody from now on; of what was known before nothing stays."""
    lead = require_lead(interviews.coding, actor, "keep how to reach participants")
    interviews.participant(pseudonym)
    content = asdict(_checked(contact))
    if not any(content.values()):
        interviews.identities.drop(pseudonym, _CONTACT)
        return
    interviews.identities.put(NewEntry(_CONTACT, lead, content, pseudonym, "", interviews.now()))


def hand_over_contact(interviews: Interviews, pseudonym: str, contact: Contact, actor: str) -> None:
    """What an interviewer was told about how to reach somebody, put beside what the lead knows; it is not read back."""
    interviews.participant(pseudonym)
    content = {name: words for name, words in asdict(_checked(contact)).items() if words}
    if not content:
        raise InputError("nothing was given: write an e-mail address, a telephone number, or how else to reach them")
    known = _known_contact(interviews, pseudonym)
    more = [text for text in (known.more, content.get("more", "")) if text]
    merged = {**asdict(known), **content, "more": "\n".join(dict.fromkeys(more))}
    interviews.identities.put(NewEntry(_CONTACT, actor, merged, pseudonym, "", interviews.now()))


def contact_of(interviews: Interviews, pseudonym: str, actor: str | None = None) -> Contact:
    """How to reach somebody, for the lead; empty where nothing is known."""
    require_lead(interviews.coding, actor, "see how to reach participants")
    interviews.participant(pseudonym)
    return _known_contact(interviews, pseudonym)


def _known_contact(interviews: Interviews, pseudonym: str) -> Contact:
    entries = [entry for entry in interviews.identities.entries(participant=pseudonym) if entry.kind == _CONTACT]
    return Contact(**entries[-1].said) if entries else Contact()


def reachable(interviews: Interviews) -> frozenset[str]:
    """Of whom the lead knows how to reach them, and nothing of it."""
    return frozenset(entry.participant for entry in interviews.identities.entries(about="") if entry.kind == _CONTACT)


def _entry(interviews: Interviews, participant: Participant, actor: str, key: str) -> NewEntry:
    content = {
        "role": participant.role,
        "years": participant.years,
        "field": participant.field,
        "synthetic": participant.synthetic,
    }
    by, now = actor or interviews.coding.lead, interviews.now()
    if key:
        return NewEntry("participant", by, content, participant.pseudonym, "", now, key)
    return NewEntry("participant", by, content, participant.pseudonym, "", now)


def _line(what: str, text: str) -> str:
    """One line of words about a participant."""
    words = " ".join(text.split())
    if not words.isprintable():  # a terminal would obey what stands in it
        raise InputError(f"the {what} has characters that cannot be seen: type it anew")
    if len(words) > _LONGEST:
        raise InputError(f"the {what} has {len(words)} characters: say it in at most {_LONGEST}")
    return words


def _years(years: float | None) -> float | None:
    if years is not None and not 0 <= years <= _MOST_YEARS:
        raise InputError(f"{years:g} years of experience are given: give 0 to {_MOST_YEARS}, or leave it out")
    return years


def _checked(contact: Contact) -> Contact:
    """The same, tidied; a refusal names the field and never what stands in it."""
    more = contact.more.strip()
    name, email = _line("name", contact.name), _line("e-mail address", contact.email)
    checked = Contact(name, email, _line("telephone number", contact.telephone), more)
    if checked.name and not is_searchable(checked.name):
        raise InputError(
            "the name has fewer than two letters, digits or signs, or signs alone, so it cannot be searched for in "
            "transcripts: write more of it, or leave it out"
        )
    if checked.email and not _EMAIL.fullmatch(checked.email):
        raise InputError("the e-mail address is not written as one: give it as somebody@example.org")
    if len(more) > _LONGEST_MORE:
        raise InputError(f"the further notes have {len(more):,} characters: keep them below {_LONGEST_MORE:,}")
    return checked


def years_from(text: str) -> float | None:
    """Years of experience as somebody typed them; none where nothing is said."""
    words = text.strip().replace(",", ".")
    if not words:
        return None
    try:
        return float(words)
    except ValueError:
        raise InputError(f"{text.strip()[:40]!r} is no number of years: write digits, such as 7") from None


def require_taking_part(interviews: Interviews | None, pseudonym: str) -> Interviews:
    """The interviews, where somebody of that pseudonym takes part in them."""
    if interviews is None:
        raise StateError("nobody takes part in interviews yet: add a participant first")
    interviews.participant(pseudonym)
    return interviews

"""The names that a study knows and what is shown instead of them: its key, in the file of identities, for the lead.

Some are told by the lead; others follow from how to reach participants and from what recordings call speakers. A
participant is always shown as their pseudonym, everybody else under words that are the same throughout the study.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from string import ascii_uppercase

from quaestor.base.errors import InputError
from quaestor.base.names import suggest
from quaestor.coding.session import require_lead
from quaestor.deidentify.finder import Finder
from quaestor.deidentify.name_forms import (
    KINDS,
    ORGANISATION,
    OTHER,
    PERSON,
    PLACE,
    PRODUCT,
    KnownName,
    identity_of,
    is_searchable,
    words_in,
)
from quaestor.interviews.model.records import Voice
from quaestor.interviews.repository import Interviews
from quaestor.interviews.transcripts.corrections import SpeakerName, names_of_speakers
from quaestor.store.sealed_file import Entry, NewEntry

NAME, REPLACE = "name", "replace"
INTERVIEWER = "interviewer"
_WORD = {PERSON: "person", ORGANISATION: "organisation", PRODUCT: "product", PLACE: "place", OTHER: "name"}
_BY_LETTER = (ORGANISATION, PRODUCT, PLACE)
_GENERIC = frozenset(("info", "contact", "mail", "office", "hello", "admin", "support", "team", "kontakt"))
_MOST_FORMS, _LONGEST, _SHORTEST = 50, 200, 2


def names_of(interviews: Interviews, actor: str | None = None) -> list[KnownName]:
    """Every name that is known, those that the lead told first."""
    require_lead(interviews.coding, actor, "see whom pseudonyms stand for")
    return all_names(interviews)


def all_names(interviews: Interviews) -> list[KnownName]:
    """The same for whatever looks for them and tells nobody."""
    version = interviews.version()  # before it is read: what changes meanwhile is read again

    def gathered() -> list[KnownName]:
        return _gathered(interviews, interviews.identities.entries(), _speakers(interviews))

    return interviews.remembered("names", version, gathered)


def finder_of(interviews: Interviews) -> Finder:
    """A search for all of them."""
    names = all_names(interviews)
    return interviews.remembered("finder", tuple(names), lambda: Finder(names))


class InterviewNames:
    """The names that a study knows, as `study.known_names` asks for them."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder

    def mask(self, text: str) -> str:
        for match in reversed(self._finder.sure_in(text)):
            text = f"{text[: match.start]}{match.shown}{text[match.end :]}"
        return text

    def find(self, text: str) -> Sequence[str]:
        return [match.shown for match in self._finder.names_in(text)]


def add_name(
    interviews: Interviews,
    kind: str,
    forms: Sequence[str],
    shown: str = "",
    participant: str = "",
    endings: Sequence[str] = (),
    actor: str | None = None,
) -> KnownName:
    """A name to be replaced wherever it stands, in all the ways in which it may be written."""
    lead = require_lead(interviews.coding, actor, "say which names are replaced")
    if participant:
        interviews.participant(participant)
    known = all_names(interviews)
    checked_forms = _checked_forms(forms)
    for existing in known:
        if {identity_of(form) for form in checked_forms} & {
            identity_of(form) for form in existing.forms
        } and not existing.derived:
            raise InputError(f"this name is known already and shown as {existing.shown}: change it there")
    known_name = KnownName(
        _next_id(interviews, _kind(kind), known), _kind(kind), checked_forms, "", participant, _checked_endings(endings)
    )
    known_name = replace(
        known_name, shown=_checked_shown(shown, known_name, known) or participant or default_shown(known_name)
    )
    _keep(interviews, known_name, lead)
    return known_name


def change_name(
    interviews: Interviews,
    name: str,
    forms: Sequence[str] | None = None,
    shown: str | None = None,
    kind: str | None = None,
    endings: Sequence[str] | None = None,
    actor: str | None = None,
) -> KnownName:
    """A name changed: what is not said stays; of what it was before nothing stays."""
    lead = require_lead(interviews.coding, actor, "say which names are replaced")
    known = name_called(interviews, name)
    if known.id in (known.participant, INTERVIEWER):
        raise InputError(f"{known.shown} follows from contact data or from a transcript: add a name for other forms")
    changed_known = replace(
        known,
        kind=known.kind if kind is None else _kind(kind),
        forms=known.forms if forms is None else _checked_forms(forms),
        endings=known.endings if endings is None else _checked_endings(endings),
    )
    changed_known = replace(
        changed_known, shown=known.shown if not shown else _checked_shown(shown, changed_known, all_names(interviews))
    )
    _keep(interviews, changed_known, lead)
    return changed_known


def remove_name(interviews: Interviews, name: str, actor: str | None = None) -> KnownName:
    """A name that is none after all; places where it was replaced stay replaced."""
    require_lead(interviews.coding, actor, "say which names are replaced")
    known = name_called(interviews, name)
    if not interviews.identities.drop(known.participant, NAME, _about(known.id)):
        raise InputError(
            f"{known.shown} follows from contact data or from a transcript: it is known as long as they are"
        )
    return known


def name_called(interviews: Interviews, name: str) -> KnownName:
    """A name by its id, or by what is shown instead of it."""
    known = all_names(interviews)
    known_name = next(
        (candidate for candidate in known if name in (candidate.id, candidate.shown, candidate.shown.strip("[]"))), None
    )
    if known_name is None:
        options = suggest(name, dict.fromkeys(known_name.shown for known_name in known)) or "none yet"
        raise InputError(f"no name is shown as {name!r}, there are: {options}")
    return known_name


def keep_if_new(interviews: Interviews, name: KnownName, lead: str) -> None:
    """A name that somebody decided on keeps its words from then on, whoever else turns up."""
    if name.id not in (name.participant, INTERVIEWER) and name.derived:
        _keep(interviews, name, lead)


def default_shown(name: KnownName) -> str:
    """`[person 1]`, `[organisation A]`."""
    return _default(name.kind, int(name.id.rpartition("-")[2]))


def is_own_word(name: str, shown: str) -> bool:
    """Whether what is shown instead of the name of this id are not somebody's words: they hold nobody's name."""
    kind, _, number = name.rpartition("-")
    return shown == _default(kind, int(number)) if kind in KINDS and number.isdecimal() else True


def _default(kind: str, number: int) -> str:
    return f"[{_WORD[kind]} {_letters(number) if kind in _BY_LETTER else number}]"


def _gathered(interviews: Interviews, entries: Sequence[Entry], spoken: Sequence[SpeakerName]) -> list[KnownName]:
    known = [_told(entry) for entry in entries if entry.kind == NAME]
    for entry in entries:
        if entry.kind == "contact":
            known += _of_contact(entry)
    return known + _of_speakers(interviews, known, spoken)


def _told(entry: Entry) -> KnownName:
    content = entry.said
    return KnownName(
        content["id"],
        content["kind"],
        tuple(content["forms"]),
        content["shown"],
        entry.participant,
        tuple(content.get("endings", ())),
    )


def _of_contact(entry: Entry) -> Iterator[KnownName]:
    """A participant by name, and by the addresses and numbers that are theirs alone."""
    who, contact = entry.participant, entry.said
    if is_searchable(contact["name"]):
        yield _derived(who, PERSON, (contact["name"],), who, who)
    local = contact["email"].partition("@")[0]
    theirs = [contact["email"], contact["telephone"]]
    if len(local) > _SHORTEST + 1 and local.lower() not in _GENERIC:
        theirs.append(local)
    forms = tuple(their for their in theirs if is_searchable(their))
    if forms:
        yield _derived(who, OTHER, forms, who, who)


def _of_speakers(interviews: Interviews, known: list[KnownName], spoken: Sequence[SpeakerName]) -> list[KnownName]:
    heard = {words_in(form) for known_name in known for form in known_name.forms}
    known_names: list[KnownName] = []
    for speaker in spoken:
        words = words_in(speaker.label)
        if not words or words in heard or sum(map(len, words)) < _SHORTEST:
            continue
        heard.add(words)
        if speaker.voice is Voice.PARTICIPANT:
            known_names.append(
                _derived(speaker.participant, PERSON, (speaker.label,), speaker.participant, speaker.participant)
            )
        elif speaker.voice is Voice.INTERVIEWER:
            known_names.append(_derived(INTERVIEWER, PERSON, (speaker.label,), f"[{INTERVIEWER}]"))
        else:
            new_name = _derived(_next_id(interviews, PERSON, [*known, *known_names]), PERSON, (speaker.label,), "")
            whose = interviews.interview(speaker.interview).participant
            known_names.append(replace(new_name, shown=default_shown(new_name), participant=whose))
    return known_names


def _speakers(interviews: Interviews) -> list[SpeakerName]:
    """What recordings call people; only a new recording or another voice changes it."""
    entries = interviews.file.entries()
    mark = tuple(entry.number for entry in entries if entry.kind in ("transcript", "speaker"))
    return interviews.remembered("speakers", mark, lambda: names_of_speakers(interviews))


def _derived(name: str, kind: str, forms: tuple[str, ...], shown: str, participant: str = "") -> KnownName:
    return KnownName(name, kind, forms, shown, participant, derived=True)


def _next_id(interviews: Interviews, kind: str, known: Iterable[KnownName]) -> str:
    """An id that no name has, and none had for which a place of a transcript was answered."""
    used = {known_name.id for known_name in known}
    answered = [entry for entry in interviews.file.entries() if entry.kind == REPLACE]
    used |= {place["name"] for entry in answered for place in entry.said["places"]}
    numbers = [int(match[1]) for name_id in used if (match := re.fullmatch(rf"{kind}-(\d+)", name_id))]
    return f"{kind}-{max(numbers, default=0) + 1}"


def _keep(interviews: Interviews, name: KnownName, lead: str) -> None:
    content = {"id": name.id, "kind": name.kind, "forms": list(name.forms), "shown": name.shown}
    content |= {"endings": list(name.endings)} if name.endings else {}
    interviews.identities.put(NewEntry(NAME, lead, content, name.participant, _about(name.id), interviews.now()))


def _about(name: str) -> str:
    return f"{NAME}/{name}"


def _letters(number: int) -> str:
    """A, B … Z, AA."""
    text = ""
    while number:
        number, left = divmod(number - 1, len(ascii_uppercase))
        text = ascii_uppercase[left] + text
    return text


def _kind(kind: str) -> str:
    if kind not in KINDS:
        raise InputError(f"there is no kind of names {kind!r}, allowed: {suggest(kind, KINDS)}")
    return kind


def _checked_forms(forms: Sequence[str]) -> tuple[str, ...]:
    """Forms of a name; a refusal says none of them, since it may end up in a log."""
    unique_forms = tuple(dict.fromkeys(" ".join(form.split()) for form in forms if form.strip()))
    if not unique_forms:
        raise InputError("no name was given: give at least one form of it")
    if len(unique_forms) > _MOST_FORMS or any(len(form) > _LONGEST for form in unique_forms):
        raise InputError(f"a name has at most {_MOST_FORMS} forms of {_LONGEST} characters: give fewer or shorter ones")
    if not all(map(is_searchable, unique_forms)):
        raise InputError(
            "a form of the name has fewer than two letters, digits or signs, or signs alone, so it cannot be searched "
            "for: write more of it, or leave it out"
        )
    return unique_forms


def _checked_endings(endings: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for ending in endings for word in words_in(ending)))


def _checked_shown(shown: str, name: KnownName, known: Iterable[KnownName]) -> str:
    """Words that may be published: they hold neither this name nor any other, and no address."""
    words = " ".join(shown.split())
    if len(words) > _LONGEST:
        raise InputError(f"what is shown has {len(words)} characters: say it in at most {_LONGEST}")
    if words and Finder([name]).names_in(words):
        raise InputError("what is shown instead of the name holds the name itself: choose other words")
    others = Finder(known_name for known_name in known if known_name.id != name.id)
    if words and (names := others.names_in(words)):
        raise InputError(f"what is shown holds another known name, the one of {names[0].shown}: choose other words")
    if words and others.sure_in(words):
        raise InputError("what is shown holds an address or a number by which somebody is reached: choose other words")
    return words

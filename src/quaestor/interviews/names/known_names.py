"""The names that a study knows and what is shown instead of them; kept in the identities file, for the lead only.

The lead adds some; others are derived from contact data and from the speaker labels of recordings. A participant is
always shown as their pseudonym, everybody else under the same replacement throughout the study.
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
    build_identity,
    is_searchable,
    split_words,
)
from quaestor.interviews.model.records import Voice
from quaestor.interviews.repository import Interviews
from quaestor.interviews.transcripts.corrections import SpeakerName, list_speaker_names
from quaestor.store.sealed_file import NewEntry, SealedEntry

NAME, REPLACE = "name", "replace"
INTERVIEWER = "interviewer"
_WORD = {PERSON: "person", ORGANISATION: "organisation", PRODUCT: "product", PLACE: "place", OTHER: "name"}
_BY_LETTER = (ORGANISATION, PRODUCT, PLACE)
_GENERIC = frozenset(("info", "contact", "mail", "office", "hello", "admin", "support", "team", "kontakt"))
_MOST_FORMS, _LONGEST, _SHORTEST = 50, 200, 2


def list_names(interviews: Interviews, actor: str | None = None) -> list[KnownName]:
    """Returns every known name to the lead, those that the lead added first."""
    require_lead(interviews.coding, actor, "see the names behind pseudonyms")
    return list_all_names(interviews)


def list_all_names(interviews: Interviews) -> list[KnownName]:
    """Returns every known name without a permission check, for code that searches texts and shows nobody the names."""
    version = interviews.version()  # taken before reading, so that a change meanwhile is noticed and read again

    def gathered() -> list[KnownName]:
        return _gather_names(interviews, interviews.identities.read_entries(), _list_speakers(interviews))

    return interviews.remembered("names", version, gathered)


def get_finder(interviews: Interviews) -> Finder:
    """Returns a finder for all known names, cached until the names change."""
    names = list_all_names(interviews)
    return interviews.remembered("finder", tuple(names), lambda: Finder(names))


class InterviewNames:
    """Masks and finds the known names of interviews for `study.known_names`."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder

    def mask(self, text: str) -> str:
        for match in reversed(self._finder.find_sure(text)):
            text = f"{text[: match.start]}{match.shown}{text[match.end :]}"
        return text

    def find(self, text: str) -> Sequence[str]:
        return [match.shown for match in self._finder.find_sure_names(text)]


def add_name(
    interviews: Interviews,
    kind: str,
    forms: Sequence[str],
    shown: str = "",
    participant: str = "",
    endings: Sequence[str] = (),
    actor: str | None = None,
) -> KnownName:
    """Adds a name that is replaced wherever it occurs, with all the forms in which it may be written."""
    lead = require_lead(interviews.coding, actor, "choose which names are replaced")
    if participant:
        interviews.participant(participant)
    known = list_all_names(interviews)
    checked_forms = _check_forms(forms)
    for existing in known:
        if {build_identity(form) for form in checked_forms} & {
            build_identity(form) for form in existing.forms
        } and not existing.derived:
            raise InputError(f"this name is already known and shown as {existing.shown}: change that entry instead")
    known_name = KnownName(
        _next_id(interviews, _require_kind(kind), known),
        _require_kind(kind),
        checked_forms,
        "",
        participant,
        _check_endings(endings),
    )
    known_name = replace(
        known_name,
        shown=_check_replacement(shown, known_name, known) or participant or build_default_replacement(known_name),
    )
    _store_name(interviews, known_name, lead)
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
    """Changes a name: arguments left out stay as they are, and the earlier version of the name is not kept."""
    lead = require_lead(interviews.coding, actor, "choose which names are replaced")
    known = find_name(interviews, name)
    if known.id in (known.participant, INTERVIEWER):
        raise InputError(f"{known.shown} comes from contact data or a transcript: add a name to give it other forms")
    changed_known = replace(
        known,
        kind=known.kind if kind is None else _require_kind(kind),
        forms=known.forms if forms is None else _check_forms(forms),
        endings=known.endings if endings is None else _check_endings(endings),
    )
    changed_known = replace(
        changed_known,
        shown=known.shown if not shown else _check_replacement(shown, changed_known, list_all_names(interviews)),
    )
    _store_name(interviews, changed_known, lead)
    return changed_known


def remove_name(interviews: Interviews, name: str, actor: str | None = None) -> KnownName:
    """Removes a name; places where it has been replaced stay replaced."""
    require_lead(interviews.coding, actor, "choose which names are replaced")
    known = find_name(interviews, name)
    if not interviews.identities.delete_entries(known.participant, NAME, _build_key(known.id)):
        raise InputError(
            f"{known.shown} comes from contact data or a transcript: it cannot be removed as long as they are kept"
        )
    return known


def find_name(interviews: Interviews, name: str) -> KnownName:
    """Finds a name by its id, or by what is shown instead of it."""
    known = list_all_names(interviews)
    known_name = next(
        (candidate for candidate in known if name in (candidate.id, candidate.shown, candidate.shown.strip("[]"))), None
    )
    if known_name is None:
        options = suggest(name, dict.fromkeys(known_name.shown for known_name in known)) or "none yet"
        raise InputError(f"no name has the replacement {name!r}; choose from: {options}")
    return known_name


def store_derived_name(interviews: Interviews, name: KnownName, lead: str) -> None:
    """Stores a derived name once somebody has decided on it, so that its replacement never changes afterwards."""
    if name.id not in (name.participant, INTERVIEWER) and name.derived:
        _store_name(interviews, name, lead)


def build_default_replacement(name: KnownName) -> str:
    """Returns what a name is shown as by default: `[person 1]`, `[organisation A]`."""
    return _format_default(name.kind, int(name.id.rpartition("-")[2]))


def is_default_replacement(name: str, shown: str) -> bool:
    """Whether the replacement of a name is a default one, which cannot contain anybody's name."""
    kind, _, number = name.rpartition("-")
    return shown == _format_default(kind, int(number)) if kind in KINDS and number.isdecimal() else True


def _format_default(kind: str, number: int) -> str:
    return f"[{_WORD[kind]} {_format_letters(number) if kind in _BY_LETTER else number}]"


def _gather_names(
    interviews: Interviews, entries: Sequence[SealedEntry], spoken: Sequence[SpeakerName]
) -> list[KnownName]:
    known = [_read_name(entry) for entry in entries if entry.kind == NAME]
    for entry in entries:
        if entry.kind == "contact":
            known += _derive_from_contact(entry)
    return known + _derive_from_speakers(interviews, known, spoken)


def _read_name(entry: SealedEntry) -> KnownName:
    content = entry.content
    return KnownName(
        content["id"],
        content["kind"],
        tuple(content["forms"]),
        content["shown"],
        entry.participant,
        tuple(content.get("endings", ())),
    )


def _derive_from_contact(entry: SealedEntry) -> Iterator[KnownName]:
    """Yields a participant's name, and the addresses and numbers that belong to them alone."""
    who, contact = entry.participant, entry.content
    if is_searchable(contact["name"]):
        yield _build_derived(who, PERSON, (contact["name"],), who, who)
    local = contact["email"].partition("@")[0]
    theirs = [contact["email"], contact["telephone"]]
    if len(local) > _SHORTEST + 1 and local.lower() not in _GENERIC:
        theirs.append(local)
    forms = tuple(their for their in theirs if is_searchable(their))
    if forms:
        yield _build_derived(who, OTHER, forms, who, who)


def _derive_from_speakers(
    interviews: Interviews, known: list[KnownName], spoken: Sequence[SpeakerName]
) -> list[KnownName]:
    heard = {split_words(form) for known_name in known for form in known_name.forms}
    known_names: list[KnownName] = []
    for speaker in spoken:
        words = split_words(speaker.label)
        if not words or words in heard or sum(map(len, words)) < _SHORTEST:
            continue
        heard.add(words)
        if speaker.voice is Voice.PARTICIPANT:
            known_names.append(
                _build_derived(speaker.participant, PERSON, (speaker.label,), speaker.participant, speaker.participant)
            )
        elif speaker.voice is Voice.INTERVIEWER:
            known_names.append(_build_derived(INTERVIEWER, PERSON, (speaker.label,), f"[{INTERVIEWER}]"))
        else:
            new_name = _build_derived(
                _next_id(interviews, PERSON, [*known, *known_names]), PERSON, (speaker.label,), ""
            )
            whose = interviews.interview(speaker.interview).participant
            known_names.append(replace(new_name, shown=build_default_replacement(new_name), participant=whose))
    return known_names


def _list_speakers(interviews: Interviews) -> list[SpeakerName]:
    """Returns what recordings call people; only a new recording or a change of voice changes it."""
    entries = interviews.file.read_entries()
    mark = tuple(entry.number for entry in entries if entry.kind in ("transcript", "speaker"))
    return interviews.remembered("speakers", mark, lambda: list_speaker_names(interviews))


def _build_derived(name: str, kind: str, forms: tuple[str, ...], shown: str, participant: str = "") -> KnownName:
    return KnownName(name, kind, forms, shown, participant, derived=True)


def _next_id(interviews: Interviews, kind: str, known: Iterable[KnownName]) -> str:
    """Returns an id that no name has and that no answered place of a transcript ever referred to."""
    used = {known_name.id for known_name in known}
    answered = [entry for entry in interviews.file.read_entries() if entry.kind == REPLACE]
    used |= {place["name"] for entry in answered for place in entry.content["places"]}
    numbers = [int(match[1]) for name_id in used if (match := re.fullmatch(rf"{kind}-(\d+)", name_id))]
    return f"{kind}-{max(numbers, default=0) + 1}"


def _store_name(interviews: Interviews, name: KnownName, lead: str) -> None:
    content = {"id": name.id, "kind": name.kind, "forms": list(name.forms), "shown": name.shown}
    content |= {"endings": list(name.endings)} if name.endings else {}
    interviews.identities.replace_entry(
        NewEntry(NAME, lead, content, name.participant, _build_key(name.id), interviews.now())
    )


def _build_key(name: str) -> str:
    return f"{NAME}/{name}"


def _format_letters(number: int) -> str:
    """A, B … Z, AA."""
    text = ""
    while number:
        number, left = divmod(number - 1, len(ascii_uppercase))
        text = ascii_uppercase[left] + text
    return text


def _require_kind(kind: str) -> str:
    if kind not in KINDS:
        raise InputError(f"there is no kind of name {kind!r}; choose from: {suggest(kind, KINDS)}")
    return kind


def _check_forms(forms: Sequence[str]) -> tuple[str, ...]:
    """Checks the forms of a name; the error messages never quote them, because they may end up in a log."""
    unique_forms = tuple(dict.fromkeys(" ".join(form.split()) for form in forms if form.strip()))
    if not unique_forms:
        raise InputError("no name was given: enter at least one form of it")
    if len(unique_forms) > _MOST_FORMS or any(len(form) > _LONGEST for form in unique_forms):
        raise InputError(f"a name may have {_MOST_FORMS} forms of {_LONGEST} characters: enter fewer or shorter ones")
    if not all(map(is_searchable, unique_forms)):
        raise InputError(
            "a form of the name has fewer than two letters, digits or symbols, or only symbols, so it cannot be "
            "searched for: write more of it, or leave it out"
        )
    return unique_forms


def _check_endings(endings: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for ending in endings for word in split_words(ending)))


def _check_replacement(shown: str, name: KnownName, known: Iterable[KnownName]) -> str:
    """Checks that a replacement may be published: it contains neither this name nor another one, nor an address."""
    words = " ".join(shown.split())
    if len(words) > _LONGEST:
        raise InputError(f"the replacement has {len(words)} characters: use at most {_LONGEST}")
    if words and Finder([name]).find_sure_names(words):
        raise InputError("the replacement contains the name itself: choose other words")
    others = Finder(known_name for known_name in known if known_name.id != name.id)
    if words and (names := others.find_sure_names(words)):
        raise InputError(f"the replacement contains another known name, that of {names[0].shown}: choose other words")
    if words and others.find_sure(words):
        raise InputError("the replacement contains an address or a telephone number: choose other words")
    return words

"""Withdrawal of a participant: all that was said by them and about them is erased for good, wherever a copy is kept.

Their names are erased from what others said and wrote first, as long as they are known. Every step can be done again,
so that a withdrawal that was interrupted is finished by the next. What stays: their pseudonym, so that nobody else gets
it, the day, and in the journal what raters gave their turns: places and codes, without a word.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from quaestor.base.errors import InputError
from quaestor.base.files import remove
from quaestor.coding.session import require_lead
from quaestor.deidentify.name_forms import KnownName
from quaestor.interviews.free_text import WITHDRAW_ACT
from quaestor.interviews.items import erase_names_in_items, forget_participant
from quaestor.interviews.names.erased_names import ErasedNames, erase_names, names_of_participant
from quaestor.interviews.participants.consent import BY_LINK, asked_by, has_said
from quaestor.interviews.participants.people import withdrawn
from quaestor.interviews.repository import Interviews, keys_of, open_interviews
from quaestor.store.records import NewAct
from quaestor.study.folder import Study


@dataclass(frozen=True)
class Withdrawal:
    """What was erased."""

    participant: str
    day: str
    interviews: tuple[str, ...]
    published: bool
    """Whether published results were removed with it, since they may quote the participant."""
    pending: bool
    """Whether something of it may still be found in the bytes of the files, until others have ended reading them."""


def withdraw(interviews: Interviews, participant: str, actor: str | None = None, how: str = "asked") -> Withdrawal:
    """Erase a participant, as the lead; done again, it erases whatever was left the first time."""
    lead = require_lead(interviews.coding, actor, "erase what a participant said")
    return _erased(interviews, participant, lead, how)


def withdraw_by_link(interviews: Interviews, code: str) -> Withdrawal:
    """Erase whoever holds a link, and the link with them."""
    invitee = asked_by(interviews, code)
    if invitee is None:
        raise InputError("this link leads nowhere: check that it is whole")
    return _erased(interviews, invitee.participant, invitee.participant, BY_LINK)


def _erased(interviews: Interviews, participant: str, actor: str, how: str) -> Withdrawal:
    if participant not in interviews.file.erased():
        interviews.participant(participant)
    own_interviews = [interview for interview in interviews.interviews() if interview.participant == participant]
    names = tuple(interview.id for interview in own_interviews)
    unfinished = participant in interviews.file.erased() and participant not in withdrawn(interviews)
    quoted = unfinished or has_said(interviews, participant)
    day = interviews.today()
    erased = names_of_participant(interviews, participant)
    quoted = erase_names(interviews, erased, actor, interviews.now()) or quoted
    # Copies go first: where one cannot be reached, all is still there, and so is the link to try again with.
    quoted = _erase_copies(interviews, erased) or quoted
    published = quoted and _unpublish(interviews)
    interviews.file.erase(participant, day)
    interviews.identities.erase(participant, day)
    erase_names(interviews, erased, actor, interviews.now())  # from what somebody wrote meanwhile
    interviews.forget()
    _erase_copies(interviews, erased)  # of what somebody copied meanwhile
    published = (quoted and _unpublish(interviews)) or published
    if participant not in withdrawn(interviews):
        payload = {"participant": participant, "how": how}
        interviews.coding.act(lambda state: NewAct(WITHDRAW_ACT, actor, payload))
    day = interviews.file.erased()[participant]
    return Withdrawal(participant, day, names, published, interviews.erasure_pending)


def forget_withdrawn(
    study: Study, erased: Mapping[str, Collection[str]], names: Mapping[str, Sequence[KnownName]]
) -> None:
    """Erase what other places still keep of those who withdrew, as a restore learnt it.

    By pseudonym their interviews, and the names that were known of them.
    """
    if not erased or not all(key.exists() for key in keys_of(study).values()):
        return
    with open_interviews(study) as interviews:
        erasures = [
            _erase_copies(interviews, ErasedNames(participant, tuple(names.get(participant, ()))))
            for participant in erased
        ]
        if any(erasures) or any(erased.values()):
            _unpublish(interviews)


def _erase_copies(interviews: Interviews, erased: ErasedNames) -> bool:
    """Erase what other places keep of a participant and of their names; whether there was anything."""
    words = forget_participant(interviews, erased.participant)
    return erase_names_in_items(interviews, erased) or words


def _unpublish(interviews: Interviews) -> bool:
    """What was generated from evidence may quote anybody in it: it is made anew from what is left.

    What is being made just now is refused its place once the erasure is on record (`publication_guard`).
    """
    folder = interviews.study.published
    with interviews.file.held():
        files = list(folder.iterdir()) if folder.is_dir() else []
        for file in files:
            remove(file)
    return bool(files)

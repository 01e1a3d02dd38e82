"""Withdrawal of a participant: erases everything said by them and about them, in every copy.

Their names are erased first from what others said and wrote, while they are still known. Every step can be repeated,
so that the next run finishes an interrupted withdrawal. What stays: their pseudonym, so that it is not reused, the
day, and in the journal the raters' codes for their turns, as positions and codes without any text.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from quaestor.base.errors import InputError
from quaestor.base.files import remove
from quaestor.coding.session import require_lead
from quaestor.deidentify.name_forms import KnownName
from quaestor.interviews.audio import erase_audio
from quaestor.interviews.free_text import WITHDRAW_ACT
from quaestor.interviews.items import forget_participant
from quaestor.interviews.names.erased_names import erase_names, list_names_of_participant
from quaestor.interviews.participants.consent import BY_LINK, find_consent_request, has_interview_data
from quaestor.interviews.participants.people import list_withdrawn
from quaestor.interviews.repository import Interviews, list_keys, open_interviews
from quaestor.store.records import NewAct
from quaestor.study.folder import Study


@dataclass(frozen=True)
class ParticipantWithdrawal:
    """What a withdrawal erased."""

    participant: str
    day: str
    interviews: tuple[str, ...]
    published: bool
    """Whether published results were removed too, because they may quote the participant."""
    pending: bool
    """Whether traces may remain in the files' bytes until other processes have finished reading them."""


def withdraw(
    interviews: Interviews, participant: str, actor: str | None = None, how: str = "asked"
) -> ParticipantWithdrawal:
    """Erases a participant, as the lead; a repeated call erases what the first one left."""
    lead = require_lead(interviews.coding, actor, "erase a participant's data")
    return _erased(interviews, participant, lead, how)


def withdraw_by_link(interviews: Interviews, code: str) -> ParticipantWithdrawal:
    """Erases the holder of a link, including the link."""
    invitee = find_consent_request(interviews, code)
    if invitee is None:
        raise InputError("this link is not valid: check that you copied all of it")
    return _erased(interviews, invitee.participant, invitee.participant, BY_LINK)


def _erased(interviews: Interviews, participant: str, actor: str, how: str) -> ParticipantWithdrawal:
    if participant not in interviews.file.list_erased():
        interviews.participant(participant)
    own_interviews = [interview for interview in interviews.interviews() if interview.participant == participant]
    names = tuple(interview.id for interview in own_interviews)
    unfinished = participant in interviews.file.list_erased() and participant not in list_withdrawn(interviews)
    quoted = unfinished or has_interview_data(interviews, participant)
    day = interviews.today()
    erased = list_names_of_participant(interviews, participant)
    quoted = erase_names(interviews, erased, actor, interviews.now()) or quoted
    # Copies go first: if one cannot be reached, everything is still there, including the link to try again.
    quoted = _erase_copies(interviews, participant) or quoted
    published = quoted and _unpublish(interviews)
    interviews.file.erase(participant, day)
    interviews.identities.erase(participant, day)
    erase_names(interviews, erased, actor, interviews.now())  # from what was written meanwhile
    interviews.forget()
    _erase_copies(interviews, participant)  # made meanwhile
    published = (quoted and _unpublish(interviews)) or published
    if participant not in list_withdrawn(interviews):
        payload = {"participant": participant, "how": how}
        interviews.coding.act(lambda state: NewAct(WITHDRAW_ACT, actor, payload))
    day = interviews.file.list_erased()[participant]
    return ParticipantWithdrawal(participant, day, names, published, interviews.erasure_pending)


def forget_withdrawn(
    study: Study, erased: Mapping[str, Collection[str]], names: Mapping[str, Sequence[KnownName]]
) -> None:
    """Erases what is still kept elsewhere about participants whose withdrawal a restore has found.

    `erased` maps pseudonyms to their interviews, `names` to their known names.
    """
    if not erased or not all(key.exists() for key in list_keys(study).values()):
        return
    with open_interviews(study) as interviews:
        erasures = [_erase_copies(interviews, participant) for participant in erased]
        if any(erasures) or any(erased.values()):
            _unpublish(interviews)


def _erase_copies(interviews: Interviews, participant: str) -> bool:
    """Erases recordings and copies of a participant's words; returns whether published results may have any."""
    erase_audio(interviews, participant)
    return forget_participant(interviews, participant)


def _unpublish(interviews: Interviews) -> bool:
    """Removes published results, because they may quote the participant; they are rebuilt from what is left.

    `publication_guard` refuses results that are being generated while the erasure is recorded.
    """
    folder = interviews.study.published
    with interviews.file.lock():
        files = list(folder.iterdir()) if folder.is_dir() else []
        for file in files:
            remove(file)
    return bool(files)

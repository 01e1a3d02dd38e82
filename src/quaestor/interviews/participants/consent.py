"""Consent: the agreement in its versions, who accepted or declined which of them, and the link by which they do.

The agreement is a file of the study folder. What its file says comes into force when somebody with a part in the study
says so, or is asked for the first time by it; from then on it is a version that stays, whatever becomes of the file.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.base.names import join_with_or
from quaestor.coding.session import require_lead
from quaestor.interviews.model.guide_file import guide_from
from quaestor.interviews.repository import PLANS, Interviews, guide_files
from quaestor.people.credentials import hash_token
from quaestor.store.records import NewAct, new_key
from quaestor.store.sealed_file import Entry, NewEntry
from quaestor.store.text_versions import KeptText
from quaestor.study.folder import Study

ACCEPTED, DECLINED = "accepted", "declined"
BY_LINK, ON_PAPER, SPOKEN = "by link", "on paper", "spoken"
HOW = (ON_PAPER, SPOKEN)
"""How somebody can agree whom nobody sent a link."""
AGREEMENT = "agreement"
DEFAULT_FILE = "agreement.md"
_LONGEST = 200_000


@dataclass(frozen=True)
class Consent:
    """What a participant said to the agreement; the last word counts."""

    what: str = ""
    """`accepted` or `declined`; empty where nobody knows yet."""
    version: int | None = None
    how: str = ""
    day: str = ""
    newest: int | None = None
    """The version that is in force."""
    linked: bool = False
    """Whether a link is in their hands."""

    @property
    def accepted(self) -> bool:
        """Whether an interview can be held and kept: they accepted this version or an earlier one."""
        return self.what == ACCEPTED

    @property
    def asks_again(self) -> bool:
        """Whether there is a newer version than the one they answered."""
        return self.version is not None and self.newest is not None and self.version < self.newest

    @property
    def words(self) -> str:
        """In a few words, for a list."""
        if not self.what:
            return "link made" if self.linked else "not asked"
        return f"{self.what}, version {self.version}" + (f", ask again for {self.newest}" if self.asks_again else "")


@dataclass(frozen=True)
class Agreement:
    """The agreement as it is in force, and what its file says now."""

    file: str
    kept: KeptText | None
    text: str = ""
    """What the file says now; empty where there is none."""

    @property
    def changed(self) -> bool:
        """Whether the file says something else than what is in force."""
        return bool(self.text) and self.kept is not None and self.text != self.kept.text


@dataclass(frozen=True)
class Asked:
    """What somebody with a link meets."""

    participant: str
    agreement: KeptText
    consent: Consent
    answered: KeptText | None = None
    """The version that they answered."""
    has_said: bool = False
    """Whether notes or a transcript of theirs are kept, which stay when they decline and go when they withdraw."""


@dataclass(frozen=True)
class Link:
    """A new link; the code is told once and kept nowhere."""

    participant: str
    code: str = field(repr=False)


def agreement_file(study: Study) -> Path:
    """The agreement that the guides of a study name; else `agreement.md` beside them."""
    folder, named = study.root / "instruments", set()
    for name, path in guide_files(study).items():
        try:
            named.add(guide_from(path.read_text("utf-8-sig"), name).agreement)
        except (QuaestorError, UnicodeDecodeError):
            continue  # `quaestor interview check` says what is wrong with it
    files = sorted(named - {""}) or [DEFAULT_FILE]
    if len(files) > 1:
        raise InputError(
            f"the guides in {folder} name different agreements, {join_with_or(files)}: name one in all of them"
        )
    if Path(files[0]).name != files[0]:
        raise InputError(f"a guide in {folder} names the agreement {files[0]!r}: name a file beside the guide")
    return folder / files[0]


def agreement_of(interviews: Interviews) -> Agreement:
    """What is in force and what the file says, where there is either."""
    return replace(agreement_draft(interviews.study), kept=interviews.file.texts.get(AGREEMENT))


def agreement_draft(study: Study) -> Agreement:
    """What the file says, of a study in which nobody takes part yet."""
    path = agreement_file(study)
    return Agreement(f"instruments/{path.name}", None, _text(path) if path.exists() else "")


def agreement_versions(interviews: Interviews) -> list[KeptText]:
    """Every version that was in force, the first one first."""
    return interviews.file.texts.versions(AGREEMENT)


def put_agreement_in_force(interviews: Interviews, actor: str | None = None) -> KeptText:
    """What the file says now is what participants are asked from now on; who agreed before is asked again."""
    lead = require_lead(interviews.coding, actor, "put an agreement in force")
    path = agreement_file(interviews.study)
    if not path.exists() or not (text := _text(path)).strip():
        raise StateError(f"there is no agreement yet: write {path.parent.name}/{path.name} in the study folder")
    before = interviews.file.texts.get(AGREEMENT)
    kept = interviews.file.texts.add(AGREEMENT, text, interviews.today())
    if before is None or before.version != kept.version:
        payload = {"version": kept.version, "sha256": kept.sha256}
        interviews.coding.act(lambda state: NewAct("interview.agreement", lead, payload))
    return kept


def in_force(interviews: Interviews) -> KeptText:
    """The agreement that participants are asked; who asks for the first time puts it in force."""
    return interviews.file.texts.get(AGREEMENT) or put_agreement_in_force(interviews)


def consent_of(interviews: Interviews, participant: str) -> Consent:
    """What somebody said to the agreement."""
    interviews.participant(participant)
    newest = interviews.file.texts.get(AGREEMENT)
    return _consent(interviews.file.entries(about="", participant=participant), newest.version if newest else None)


def consents(interviews: Interviews) -> dict[str, Consent]:
    """The same of everybody at once."""
    newest = interviews.file.texts.get(AGREEMENT)
    by_name: dict[str, list[Entry]] = {}
    for entry in interviews.file.entries(about=""):
        by_name.setdefault(entry.participant, []).append(entry)
    return {name: _consent(entries, newest.version if newest else None) for name, entries in by_name.items()}


def declined(interviews: Interviews) -> set[str]:
    """Whose last word is no: what they said before is in no items, no table and no report."""
    return {name for name, consent in consents(interviews).items() if consent.what == DECLINED}


def has_said(interviews: Interviews, participant: str) -> bool:
    """Whether anything of an interview with somebody is kept beyond that it is planned."""
    return any(entry.about and entry.kind not in PLANS for entry in interviews.file.entries(participant=participant))


def consent_missing(interviews: Interviews, participant: str, what: str) -> str:
    """Why nobody may do what needs somebody's consent, as `take notes`; empty where they agreed."""
    consent = consent_of(interviews, participant)
    if consent.what == DECLINED:
        return f"{participant} declined on {consent.day}: nobody can {what} unless they agree after all"
    if not consent.accepted:
        remedy = f"`quaestor interview participant consent {participant} accepted` when they do, or send them a link"
        return f"{participant} has not agreed yet, so nobody can {what}: {remedy}"
    return ""


def require_consent(interviews: Interviews, participant: str, what: str) -> Consent:
    """What somebody agreed to; refuses to go on where they did not."""
    missing = consent_missing(interviews, participant, what)
    if missing:
        raise StateError(missing)
    return consent_of(interviews, participant)


def record_consent(
    interviews: Interviews, participant: str, what: str, how: str, actor: str = "", version: int | None = None
) -> Consent:
    """Put on record what somebody said to the agreement, on paper or in words: as it is in force, or to a version."""
    interviews.participant(participant)
    if what not in (ACCEPTED, DECLINED):
        raise InputError(f"consent is {what[:40]!r}: say {ACCEPTED} or {DECLINED}")
    if how not in HOW:
        raise InputError(f"how it was given is {how[:40]!r}: say {join_with_or(HOW)}")
    current = in_force(interviews).version
    if version is not None and not 1 <= version <= current:
        raise InputError(f"there is no version {version} of the agreement: version {current} is in force")
    _record(interviews, participant, what, version or current, how, actor or interviews.coding.lead)
    return consent_of(interviews, participant)


def require_shown(interviews: Interviews, version: int | None) -> None:
    """Refuse an answer to a text that is in force no more: nobody agrees to what was not shown to them."""
    if version != in_force(interviews).version:
        raise StateError("the agreement has changed since you opened this page: please read it again")


def make_link(interviews: Interviews, participant: str, actor: str | None = None, key: str = "") -> Link:
    """A personal link by which somebody reads the agreement, answers it, and can withdraw; an earlier one ends.

    Asked again with the same key, it ends nothing and tells nothing: the code was told once and is kept nowhere.
    """
    lead = require_lead(interviews.coding, actor, "make a link for a participant")
    interviews.participant(participant)
    in_force(interviews)
    link = Link(participant, secrets.token_urlsafe(24))
    content = {"sha256": hash_token(link.code)}
    if key and any(entry.key == key for entry in interviews.file.entries(about="", participant=participant)):
        raise StateError("this link was shown when it was made, and holds: make a new one only if it is lost")
    interviews.file.put(NewEntry("link", lead, content, participant, "", interviews.now(), key or new_key()))
    return link


def asked_by(interviews: Interviews | None, code: str) -> Asked | None:
    """What a link leads to; None where it leads nowhere, as it does after a withdrawal."""
    sought = hash_token(code)
    for entry in interviews.file.entries(about="") if interviews else ():
        if interviews and entry.kind == "link" and entry.said["sha256"] == sought:
            agreement, consent = in_force(interviews), consent_of(interviews, entry.participant)
            answered = interviews.file.texts.get(AGREEMENT, consent.version) if consent.version else None
            return Asked(entry.participant, agreement, consent, answered, has_said(interviews, entry.participant))
    return None


def answer_by_link(interviews: Interviews, code: str, what: str, version: int | None) -> Consent:
    """Accept or decline what the page showed; where it is in force no more, it is to be read anew."""
    invitee = asked_by(interviews, code)
    if invitee is None or what not in (ACCEPTED, DECLINED):
        raise InputError("this link leads nowhere: check that it is whole")
    require_shown(interviews, version)
    _record(interviews, invitee.participant, what, invitee.agreement.version, BY_LINK, invitee.participant)
    return consent_of(interviews, invitee.participant)


def _record(interviews: Interviews, participant: str, what: str, version: int, how: str, actor: str) -> None:
    content = {"what": what, "agreement": version, "how": how}
    interviews.file.add(NewEntry("consent", actor, content, participant, "", interviews.now()))


def _consent(entries: Sequence[Entry], newest: int | None) -> Consent:
    linked = any(entry.kind == "link" for entry in entries)
    last = next((entry for entry in reversed(entries) if entry.kind == "consent"), None)
    if last is None:
        return Consent(newest=newest, linked=linked)
    content = last.said
    return Consent(content["what"], content["agreement"], content["how"], last.time[:10], newest, linked)


def _text(path: Path) -> str:
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is no text in UTF-8: save it as such") from None
    if len(text) > _LONGEST:
        raise InputError(f"{path} has {len(text):,} characters: an agreement that people read is shorter")
    return text

"""Consent: the versions of the consent form, who accepted or declined which one, and the personal links.

The consent form is a file in the study folder. It takes effect when the lead says so or when the first participant is
asked; from then on that version is kept, whatever happens to the file.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.base.names import join_with_or
from quaestor.coding.session import require_lead
from quaestor.interviews.left_out_turns import record_left_out_turns
from quaestor.interviews.model.guide_file import parse_guide
from quaestor.interviews.participants.people import clean_line
from quaestor.interviews.repository import PLANS, Interviews, list_guide_files
from quaestor.people.credentials import hash_token
from quaestor.store.records import NewAct, new_key
from quaestor.store.sealed_file import NewEntry, SealedEntry
from quaestor.store.text_versions import TextVersion
from quaestor.study.folder import Study

ACCEPTED, DECLINED = "accepted", "declined"
BY_LINK, ON_PAPER, SPOKEN = "by link", "on paper", "spoken"
HOW = (ON_PAPER, SPOKEN, "by e-mail", "in the recording")
"""Suggestions for how consent was given without a link; any other text is accepted too."""
AGREEMENT = "agreement"
DEFAULT_FILE = "agreement.md"
_LONGEST = 200_000


@dataclass(frozen=True)
class ParticipantConsent:
    """A participant's answer to the consent form; the latest one counts."""

    what: str = ""
    """`accepted` or `declined`; empty if not answered yet."""
    version: int | None = None
    how: str = ""
    day: str = ""
    newest: int | None = None
    """The version in force."""
    linked: bool = False
    """Whether they have a link."""

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
        """A short text for a list."""
        if not self.what:
            return "link made" if self.linked else "not asked"
        return f"{self.what}, version {self.version}" + (f", ask again for {self.newest}" if self.asks_again else "")


@dataclass(frozen=True)
class ConsentForm:
    """The consent form in force, and the current text of its file."""

    file: str
    kept: TextVersion | None
    text: str = ""
    """The current text of the file; empty if there is none."""

    @property
    def changed(self) -> bool:
        """Whether the file differs from the version in force."""
        return bool(self.text) and self.kept is not None and self.text != self.kept.text


@dataclass(frozen=True)
class ConsentRequest:
    """What the holder of a link sees."""

    participant: str
    agreement: TextVersion
    consent: ParticipantConsent
    answered: TextVersion | None = None
    """The version they answered."""
    has_said: bool = False
    """Whether notes or a transcript are kept, which stay if they decline and are erased if they withdraw."""


@dataclass(frozen=True)
class Link:
    """A new link; its code is shown once and not stored."""

    participant: str
    code: str = field(repr=False)


def find_consent_form_file(study: Study) -> Path:
    """Returns the consent form that the guides of a study name, or `agreement.md` next to them."""
    folder, named = study.root / "instruments", set()
    for name, path in list_guide_files(study).items():
        try:
            named.add(parse_guide(path.read_text("utf-8-sig"), name).agreement)
        except (QuaestorError, UnicodeDecodeError):
            continue  # `quaestor interview check` reports what is wrong with it
    files = sorted(named - {""}) or [DEFAULT_FILE]
    if len(files) > 1:
        raise InputError(
            f"the guides in {folder} name different consent forms, {join_with_or(files)}: name the same one in all"
        )
    if Path(files[0]).name != files[0]:
        raise InputError(f"a guide in {folder} names the consent form {files[0]!r}: name a file in the guide's folder")
    return folder / files[0]


def read_consent_form(interviews: Interviews) -> ConsentForm:
    """Returns the consent form: the version in force and the text of the file, as far as they exist."""
    return replace(read_consent_form_draft(interviews.study), kept=interviews.file.texts.get(AGREEMENT))


def read_consent_form_draft(study: Study) -> ConsentForm:
    """Returns the text of the consent form's file, for a study without participants."""
    path = find_consent_form_file(study)
    return ConsentForm(f"instruments/{path.name}", None, _text(path) if path.exists() else "")


def list_consent_form_versions(interviews: Interviews) -> list[TextVersion]:
    """Returns every version that was ever in force, oldest first."""
    return interviews.file.texts.list_versions(AGREEMENT)


def put_consent_form_in_force(interviews: Interviews, actor: str | None = None) -> TextVersion:
    """Puts the current text of the file in force, so that participants who agreed earlier are asked again."""
    lead = require_lead(interviews.coding, actor, "put a consent form in force")
    path = find_consent_form_file(interviews.study)
    if not path.exists() or not (text := _text(path)).strip():
        raise StateError(f"there is no consent form yet: write {path.parent.name}/{path.name} in the study folder")
    before = interviews.file.texts.get(AGREEMENT)
    kept = interviews.file.texts.add(AGREEMENT, text, interviews.today())
    if before is None or before.version != kept.version:
        payload = {"version": kept.version, "sha256": kept.sha256}
        interviews.coding.act(lambda state: NewAct("interview.agreement", lead, payload))
    return kept


def require_form_in_force(interviews: Interviews) -> TextVersion:
    """Returns the consent form in force; puts the first one in force if there is none."""
    return interviews.file.texts.get(AGREEMENT) or put_consent_form_in_force(interviews)


def find_consent(interviews: Interviews, participant: str) -> ParticipantConsent:
    """Returns a participant's consent."""
    interviews.participant(participant)
    newest = interviews.file.texts.get(AGREEMENT)
    return _consent(interviews.file.read_entries(about="", participant=participant), newest.version if newest else None)


def list_consents(interviews: Interviews) -> dict[str, ParticipantConsent]:
    """Returns the consent of every participant."""
    newest = interviews.file.texts.get(AGREEMENT)
    by_name: dict[str, list[SealedEntry]] = {}
    for entry in interviews.file.read_entries(about=""):
        by_name.setdefault(entry.participant, []).append(entry)
    return {name: _consent(entries, newest.version if newest else None) for name, entries in by_name.items()}


def list_declined(interviews: Interviews) -> set[str]:
    """Returns the participants who declined last: items, tables and reports leave out what they said."""
    return {name for name, consent in list_consents(interviews).items() if consent.what == DECLINED}


def has_interview_data(interviews: Interviews, participant: str) -> bool:
    """Whether anything from an interview with a participant is kept beyond its plan."""
    return any(
        entry.about and entry.kind not in PLANS for entry in interviews.file.read_entries(participant=participant)
    )


def explain_missing_consent(interviews: Interviews, participant: str, what: str) -> str:
    """Returns why an action that needs consent, such as `take notes`, is not allowed; empty if they agreed."""
    consent = find_consent(interviews, participant)
    if consent.what == DECLINED:
        return f"{participant} declined on {consent.day}: you cannot {what} unless they agree"
    if not consent.accepted:
        remedy = f"run `quaestor interview participant consent {participant} accepted` when they do, or send a link"
        return f"{participant} has not agreed yet, so you cannot {what}: {remedy}"
    return ""


def require_consent(interviews: Interviews, participant: str, what: str) -> ParticipantConsent:
    """Returns a participant's consent; raises StateError if they have not agreed."""
    missing = explain_missing_consent(interviews, participant, what)
    if missing:
        raise StateError(missing)
    return find_consent(interviews, participant)


def record_consent(
    interviews: Interviews, participant: str, what: str, how: str, actor: str = "", version: int | None = None
) -> ParticipantConsent:
    """Records a participant's answer to the form in force or to an earlier version, and how it was given."""
    interviews.participant(participant)
    if what not in (ACCEPTED, DECLINED):
        raise InputError(f"{what[:40]!r} is not a valid consent: use {ACCEPTED} or {DECLINED}")
    how = clean_line("way in which consent was given", how)
    if not how or how.casefold() == BY_LINK:
        problem = (
            f"{BY_LINK!r} is recorded when they use their link" if how else "it is not known how consent was given"
        )
        raise InputError(f"{problem}: describe it, for example {join_with_or(HOW)}")
    current = require_form_in_force(interviews).version
    if version is not None and not 1 <= version <= current:
        raise InputError(f"there is no version {version} of the consent form: version {current} is in force")
    _record(interviews, participant, what, version or current, how, actor or interviews.coding.lead)
    return find_consent(interviews, participant)


def require_current_version(interviews: Interviews, version: int | None) -> None:
    """Raises StateError if the answered version is no longer in force: nobody agrees to a text they have not seen."""
    if version != require_form_in_force(interviews).version:
        raise StateError("the consent form has changed since you opened this page: please read it again")


def make_link(interviews: Interviews, participant: str, actor: str | None = None, key: str = "") -> Link:
    """Creates a personal link for reading and answering the consent form and for withdrawing; the earlier link expires.

    Called again with the same key it raises an error and keeps the link, because the code is not stored.
    """
    lead = require_lead(interviews.coding, actor, "create a link for a participant")
    interviews.participant(participant)
    require_form_in_force(interviews)
    link = Link(participant, secrets.token_urlsafe(24))
    content = {"sha256": hash_token(link.code)}
    if key and any(entry.key == key for entry in interviews.file.read_entries(about="", participant=participant)):
        raise StateError("this link was shown once and is still valid: create a new one only if it is lost")
    interviews.file.replace_entry(NewEntry("link", lead, content, participant, "", interviews.now(), key or new_key()))
    return link


def find_consent_request(interviews: Interviews | None, code: str) -> ConsentRequest | None:
    """Returns what a link shows; None if it is not valid, for instance after a withdrawal."""
    sought = hash_token(code)
    for entry in interviews.file.read_entries(about="") if interviews else ():
        if interviews and entry.kind == "link" and entry.content["sha256"] == sought:
            agreement, consent = require_form_in_force(interviews), find_consent(interviews, entry.participant)
            answered = interviews.file.texts.get(AGREEMENT, consent.version) if consent.version else None
            return ConsentRequest(
                entry.participant, agreement, consent, answered, has_interview_data(interviews, entry.participant)
            )
    return None


def answer_by_link(interviews: Interviews, code: str, what: str, version: int | None) -> ParticipantConsent:
    """Records an answer given by link; raises StateError if the form has changed since the page was opened."""
    invitee = find_consent_request(interviews, code)
    if invitee is None or what not in (ACCEPTED, DECLINED):
        raise InputError("this link is not valid: check that you copied all of it")
    require_current_version(interviews, version)
    _record(interviews, invitee.participant, what, invitee.agreement.version, BY_LINK, invitee.participant)
    return find_consent(interviews, invitee.participant)


def _record(interviews: Interviews, participant: str, what: str, version: int, how: str, actor: str) -> None:
    content = {"what": what, "agreement": version, "how": how}
    interviews.file.add(NewEntry("consent", actor, content, participant, "", interviews.now()))
    record_left_out_turns(interviews, list_declined(interviews), actor)


def _consent(entries: Sequence[SealedEntry], newest: int | None) -> ParticipantConsent:
    linked = any(entry.kind == "link" for entry in entries)
    last = next((entry for entry in reversed(entries) if entry.kind == "consent"), None)
    if last is None:
        return ParticipantConsent(newest=newest, linked=linked)
    content = last.content
    return ParticipantConsent(content["what"], content["agreement"], content["how"], last.time[:10], newest, linked)


def _text(path: Path) -> str:
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a UTF-8 text: save it as UTF-8") from None
    if len(text) > _LONGEST:
        raise InputError(f"{path} has {len(text):,} characters: shorten it to at most {_LONGEST:,}")
    return text

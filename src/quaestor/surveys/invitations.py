"""Invitations to a survey: made in batches, each link used once, and nothing that leads from one to an answer."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import suggest
from quaestor.base.table_files import format_csv
from quaestor.coding.session import require_lead
from quaestor.store.records import NewAct
from quaestor.surveys.lifecycle import INVITATIONS_FILE, Surveys
from quaestor.surveys.model.records import Questionnaire
from quaestor.surveys.respond import AccessStatus, SurveyAccess, access_status, begin, code_of_link, code_of_page
from quaestor.surveys.store.invitations import Invitation, InvitationFile, Sent

SHARED_BY = 5
"""A stratum goes with an answer, and a rate is told, where so many at least were invited: fewer could tell who."""
_MOST = 100_000
_LONGEST = 100


@dataclass(frozen=True)
class Invited:
    """A new link; the token is told once and kept nowhere."""

    token: str = field(repr=False)
    label: str = ""
    """Whom the lead means it for; it is told back, not kept."""


@dataclass(frozen=True)
class ResponseRate:
    """How many of those who were invited came, from the moment they began, and how many of them finished."""

    name: str
    sent: int
    used: int
    finished: int | None = None
    """None where nobody can tell, as of a batch, or where others could answer too."""

    @property
    def rate(self) -> float | None:
        return self.used / self.sent if self.sent else None

    @property
    def finished_rate(self) -> float | None:
        return self.finished / self.sent if self.sent and self.finished is not None else None


@dataclass(frozen=True)
class ResponseRates:
    """Of a whole survey, by stratum and by batch; empty where nobody was invited."""

    whole: ResponseRate
    by_stratum: tuple[ResponseRate, ...] = ()
    by_batch: tuple[ResponseRate, ...] = ()


@dataclass(frozen=True)
class Invite:
    """An invitation as whoever holds its link meets it."""

    access: SurveyAccess
    used: bool

    @property
    def anonymous(self) -> bool:
        return self.access.questionnaire is None or self.access.questionnaire.anonymous

    @property
    def resumes(self) -> bool:
        """Whether the link itself leads back to what was answered."""
        return self.used and not self.anonymous

    @property
    def begins(self) -> bool:
        """Whether somebody can begin with it now."""
        return not self.used and self.access.status in (AccessStatus.OPEN, AccessStatus.INVITED)


def invite(
    surveys: Surveys,
    name: str,
    batch: str,
    stratum: str = "",
    count: int | None = None,
    labels: Sequence[str] = (),
    actor: str | None = None,
) -> list[Invited]:
    """Links for so many people, or one for each label; they are told here and never again."""
    lead = require_lead(surveys.coding, actor, "invite to a survey")
    questionnaire = surveys.questionnaire(name)
    if (count is None) == (not labels):
        raise InputError("say how many invitations are wanted, or give one label for each: one of the two")
    number = len(labels) if count is None else count
    if not 1 <= number <= _MOST:
        raise InputError(f"{number} invitations are wanted: ask for 1 to {_MOST:,} at a time")
    if not batch.strip() or len(batch) > _LONGEST:
        raise InputError(f"give the batch a name of 1 to {_LONGEST} characters, as `first`")
    if questionnaire.strata and stratum not in questionnaire.strata:
        options = suggest(stratum, questionnaire.strata)
        raise InputError(f"the survey {name!r} has no stratum {stratum!r}, allowed: {options}")
    if stratum and not questionnaire.strata:
        raise InputError(f"the survey {name!r} has no strata: name them in its file as survey.strata, or leave it out")
    inviteds = [Invited(secrets.token_urlsafe(24), label) for label in (labels or [""] * number)]
    with open_invitations(surveys) as invitations:
        invitations.add(name, batch.strip(), stratum, [invited.token for invited in inviteds])
    payload = {"survey": name, "batch": batch.strip(), "stratum": stratum, "count": number}
    surveys.coding.act(lambda state: NewAct("survey.invite", lead, payload))
    return inviteds


def links_csv(inviteds: Sequence[Invited], address: str) -> str:
    """The links as a table for whoever sends them, safe to open in a spreadsheet."""
    return format_csv(
        [("label", "link"), *((invited.label, f"{address.rstrip('/')}/i/{invited.token}") for invited in inviteds)]
    )


def invitation(surveys: Surveys, token: str, language: str = "") -> Invite | None:
    """What a link is for; None where there is no such invitation."""
    invitation = _found(surveys, token)
    return (
        None
        if invitation is None
        else Invite(access_status(surveys, surveys.study, invitation.survey, language), invitation.used)
    )


def accept(surveys: Surveys, token: str, language: str = "", key: str = "") -> tuple[str, str]:
    """Begin by an invitation, or go on where its survey is not anonymous; the survey and the respondent's code.

    In an anonymous survey the invitation is used up: the code is new, and leads on only from the page with this key, so
    that a button pressed twice begins once. Else the code follows from the link, which therefore leads back from any
    device; nothing else is kept of it.
    """
    with open_invitations(surveys) as invitations, invitations.using(token) as invitation:
        if invitation is None:
            raise InputError("there is no such invitation: the link is not whole, or belongs to another study")
        anonymous = surveys.questionnaire(invitation.survey).anonymous
        code = code_of_page(token, key) if anonymous else code_of_link(token)
        if invitation.used and code and surveys.answers.find(code) is not None:
            return invitation.survey, code
        if invitation.used and anonymous:
            raise StateError("this invitation has been used: it opens the survey once")
        shared = invitations.in_stratum(invitation.survey, invitation.stratum) >= SHARED_BY
        code, _ = begin(surveys, invitation.survey, language, invitation.stratum if shared else "", code)
        return invitation.survey, code


def response_rates(surveys: Surveys, name: str) -> ResponseRates:
    """How many came of those who were invited, and finished; in an anonymous survey nobody knows which of them did."""
    counted = sent_by(surveys, name)
    whole = ResponseRate(
        name, sum(batch_count.sent for batch_count in counted), sum(batch_count.used for batch_count in counted)
    )
    by_stratum = _rates((batch_count.stratum, batch_count) for batch_count in counted if batch_count.stratum)
    finished = surveys.answers.finished_by_stratum(name) if counted else {}
    total = sum(finished.values())
    # Where the link is public, or was, whoever finished need not have been invited.
    questionnaire = _readable(surveys, name)
    if counted and questionnaire is not None and questionnaire.by_invitation and total <= whole.used:
        whole = replace(whole, finished=total)
        if not finished.get(""):  # else somebody of a stratum that was small when they came is in none of them
            by_stratum = tuple(
                replace(rate, finished=finished.get(rate.name, 0)) if rate.name in questionnaire.strata else rate
                for rate in by_stratum
            )
    return ResponseRates(whole, by_stratum, _rates((batch_count.batch, batch_count) for batch_count in counted))


def sent_by(surveys: Surveys, name: str) -> list[Sent]:
    """Invitations of a survey by batch and stratum; in an anonymous one small groups are told together."""
    if not (surveys.study.root / INVITATIONS_FILE).exists():
        return []
    with open_invitations(surveys) as invitations:
        counted = invitations.sent(name)
    return _shared(counted) if counted and _is_anonymous(surveys, name) else counted


def open_invitations(surveys: Surveys) -> InvitationFile:
    return InvitationFile(surveys.study.root / INVITATIONS_FILE)


def _found(surveys: Surveys, token: str) -> Invitation | None:
    if not (surveys.study.root / INVITATIONS_FILE).exists():
        return None
    with open_invitations(surveys) as invitations:
        return invitations.find(token)


def _rates(named: Iterable[tuple[str, Sent]]) -> tuple[ResponseRate, ...]:
    sent: Counter[str] = Counter()
    used: Counter[str] = Counter()
    for name, batch_count in named:
        sent[name] += batch_count.sent
        used[name] += batch_count.used
    return tuple(ResponseRate(name, sent[name], used[name]) for name in sent)


def _readable(surveys: Surveys, name: str) -> Questionnaire | None:
    try:
        return surveys.questionnaire(name)
    except InputError:  # a draft that cannot be read: nobody has come
        return None


def _is_anonymous(surveys: Surveys, name: str) -> bool:
    questionnaire = _readable(surveys, name)
    return questionnaire is None or questionnaire.anonymous  # nothing is lost by care


def _shared(counted: Sequence[Sent]) -> list[Sent]:
    """The same with small groups told as one, so that no count and no difference of counts tells of a few people."""
    few = _told_together(counted, lambda batch_count: batch_count.stratum, lambda batch_count: "")
    joined = [
        replace(batch_count, stratum="smaller strata") if batch_count.stratum in few else batch_count
        for batch_count in counted
    ]
    few = _told_together(joined, lambda batch_count: batch_count.batch, lambda batch_count: batch_count.stratum)
    joined = [
        replace(batch_count, batch="smaller batches") if batch_count.batch in few else batch_count
        for batch_count in joined
    ]
    sent: Counter[tuple[str, str]] = Counter()
    used: Counter[tuple[str, str]] = Counter()
    for batch_count in joined:
        sent[batch_count.batch, batch_count.stratum] += batch_count.sent
        used[batch_count.batch, batch_count.stratum] += batch_count.used
    return [Sent(*group, sent[group], used[group]) for group in sorted(sent)]


def _told_together(
    counted: Sequence[Sent], group_of: Callable[[Sent], str], part_of: Callable[[Sent], str]
) -> set[str]:
    """Groups with few people in one of their parts, and others with them until no part has few."""
    sizes: dict[str, Counter[str]] = {}
    for batch_count in counted:
        sizes.setdefault(group_of(batch_count), Counter())[part_of(batch_count)] += batch_count.sent
    few = {name for name, parts in sizes.items() if min(parts.values()) < SHARED_BY}
    while True:
        joined = sum((sizes[name] for name in few), Counter[str]())
        lacking = [part for part, count in joined.items() if count < SHARED_BY]
        others = [name for name in sizes.keys() - few if any(part in sizes[name] for part in lacking)]
        if not others:
            return few if len(few) > 1 else set()
        few.add(min(others, key=lambda name: (sizes[name].total(), name)))

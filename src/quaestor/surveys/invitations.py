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
    asked = surveys.questionnaire(name)
    if (count is None) == (not labels):
        raise InputError("say how many invitations are wanted, or give one label for each: one of the two")
    wanted = len(labels) if count is None else count
    if not 1 <= wanted <= _MOST:
        raise InputError(f"{wanted} invitations are wanted: ask for 1 to {_MOST:,} at a time")
    if not batch.strip() or len(batch) > _LONGEST:
        raise InputError(f"give the batch a name of 1 to {_LONGEST} characters, as `first`")
    if asked.strata and stratum not in asked.strata:
        options = suggest(stratum, asked.strata)
        raise InputError(f"the survey {name!r} has no stratum {stratum!r}, allowed: {options}")
    if stratum and not asked.strata:
        raise InputError(f"the survey {name!r} has no strata: name them in its file as survey.strata, or leave it out")
    inviteds = [Invited(secrets.token_urlsafe(24), label) for label in (labels or [""] * wanted)]
    with open_invitations(surveys) as invitations:
        invitations.add(name, batch.strip(), stratum, [one.token for one in inviteds])
    payload = {"survey": name, "batch": batch.strip(), "stratum": stratum, "count": wanted}
    surveys.coding.act(lambda state: NewAct("survey.invite", lead, payload))
    return inviteds


def links_csv(inviteds: Sequence[Invited], address: str) -> str:
    """The links as a table for whoever sends them, safe to open in a spreadsheet."""
    return format_csv([("label", "link"), *((one.label, f"{address.rstrip('/')}/i/{one.token}") for one in inviteds)])


def invitation(surveys: Surveys, token: str, language: str = "") -> Invite | None:
    """What a link is for; None where there is no such invitation."""
    found = _found(surveys, token)
    return None if found is None else Invite(access_status(surveys, surveys.study, found.survey, language), found.used)


def accept(surveys: Surveys, token: str, language: str = "", key: str = "") -> tuple[str, str]:
    """Begin by an invitation, or go on where its survey is not anonymous; the survey and the respondent's code.

    In an anonymous survey the invitation is used up: the code is new, and leads on only from the page with this key, so
    that a button pressed twice begins once. Else the code follows from the link, which therefore leads back from any
    device; nothing else is kept of it.
    """
    with open_invitations(surveys) as invitations, invitations.using(token) as found:
        if found is None:
            raise InputError("there is no such invitation: the link is not whole, or belongs to another study")
        anonymous = surveys.questionnaire(found.survey).anonymous
        code = code_of_page(token, key) if anonymous else code_of_link(token)
        if found.used and code and surveys.answers.find(code) is not None:
            return found.survey, code
        if found.used and anonymous:
            raise StateError("this invitation has been used: it opens the survey once")
        shared = invitations.in_stratum(found.survey, found.stratum) >= SHARED_BY
        code, _ = begin(surveys, found.survey, language, found.stratum if shared else "", code)
        return found.survey, code


def response_rates(surveys: Surveys, name: str) -> ResponseRates:
    """How many came of those who were invited, and finished; in an anonymous survey nobody knows which of them did."""
    counted = sent_by(surveys, name)
    whole = ResponseRate(name, sum(one.sent for one in counted), sum(one.used for one in counted))
    by_stratum = _rates((one.stratum, one) for one in counted if one.stratum)
    finished = surveys.answers.finished_by_stratum(name) if counted else {}
    total = sum(finished.values())
    # Where the link is public, or was, whoever finished need not have been invited.
    asked = _readable(surveys, name)
    if counted and asked is not None and asked.by_invitation and total <= whole.used:
        whole = replace(whole, finished=total)
        if not finished.get(""):  # else somebody of a stratum that was small when they came is in none of them
            by_stratum = tuple(
                replace(one, finished=finished.get(one.name, 0)) if one.name in asked.strata else one
                for one in by_stratum
            )
    return ResponseRates(whole, by_stratum, _rates((one.batch, one) for one in counted))


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
    for name, one in named:
        sent[name] += one.sent
        used[name] += one.used
    return tuple(ResponseRate(name, sent[name], used[name]) for name in sent)


def _readable(surveys: Surveys, name: str) -> Questionnaire | None:
    try:
        return surveys.questionnaire(name)
    except InputError:  # a draft that cannot be read: nobody has come
        return None


def _is_anonymous(surveys: Surveys, name: str) -> bool:
    asked = _readable(surveys, name)
    return asked is None or asked.anonymous  # nothing is lost by care


def _shared(counted: Sequence[Sent]) -> list[Sent]:
    """The same with small groups told as one, so that no count and no difference of counts tells of a few people."""
    few = _told_together(counted, lambda one: one.stratum, lambda one: "")
    joined = [replace(one, stratum="smaller strata") if one.stratum in few else one for one in counted]
    few = _told_together(joined, lambda one: one.batch, lambda one: one.stratum)
    joined = [replace(one, batch="smaller batches") if one.batch in few else one for one in joined]
    sent: Counter[tuple[str, str]] = Counter()
    used: Counter[tuple[str, str]] = Counter()
    for one in joined:
        sent[one.batch, one.stratum] += one.sent
        used[one.batch, one.stratum] += one.used
    return [Sent(*group, sent[group], used[group]) for group in sorted(sent)]


def _told_together(
    counted: Sequence[Sent], group_of: Callable[[Sent], str], part_of: Callable[[Sent], str]
) -> set[str]:
    """Groups with few people in one of their parts, and others with them until no part has few."""
    sizes: dict[str, Counter[str]] = {}
    for one in counted:
        sizes.setdefault(group_of(one), Counter())[part_of(one)] += one.sent
    few = {name for name, parts in sizes.items() if min(parts.values()) < SHARED_BY}
    while True:
        joined = sum((sizes[name] for name in few), Counter[str]())
        lacking = [part for part, count in joined.items() if count < SHARED_BY]
        others = [name for name in sizes.keys() - few if any(part in sizes[name] for part in lacking)]
        if not others:
            return few if len(few) > 1 else set()
        few.add(min(others, key=lambda name: (sizes[name].total(), name)))

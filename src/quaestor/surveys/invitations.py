"""Invitations to a survey: created in batches, each link works once, and no link leads to an answer."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import suggest
from quaestor.base.table_files import format_csv
from quaestor.coding.session import require_lead
from quaestor.store.records import NewAct
from quaestor.surveys.lifecycle import INVITATIONS_FILE, Surveys
from quaestor.surveys.model.records import SHARED_BY, Answer, Questionnaire
from quaestor.surveys.respond import (
    AccessStatus,
    SurveyAccess,
    access_status,
    begin_response,
    code_of_link,
    code_of_page,
)
from quaestor.surveys.store.invitations import Invitation, InvitationCount, InvitationFile

SMALLER_STRATA, SMALLER_BATCHES = "smaller strata", "smaller batches"
MOST_INVITED = 100_000
_LONGEST = 100


@dataclass(frozen=True)
class InvitationLink:
    """A new link; its token is shown once and not stored."""

    token: str = field(repr=False)
    label: str = ""
    """The lead's label for the invitee; returned with the link, not stored."""


@dataclass(frozen=True)
class ResponseRate:
    """How many of those invited started, and how many finished."""

    name: str
    sent: int
    used: int
    finished: int | None = None
    """None if unknown, as for a batch, or if people without an invitation could answer."""

    @property
    def rate(self) -> float | None:
        return self.used / self.sent if self.sent else None

    @property
    def finished_rate(self) -> float | None:
        return self.finished / self.sent if self.sent and self.finished is not None else None


@dataclass(frozen=True)
class ResponseRates:
    """Rates of a whole survey, by stratum and by batch; empty if nobody was invited."""

    whole: ResponseRate
    by_stratum: tuple[ResponseRate, ...] = ()
    by_batch: tuple[ResponseRate, ...] = ()


@dataclass(frozen=True)
class InvitationPage:
    """An invitation as seen by the holder of its link."""

    access: SurveyAccess
    used: bool

    @property
    def anonymous(self) -> bool:
        return self.access.questionnaire is None or self.access.questionnaire.anonymous

    @property
    def resumes(self) -> bool:
        """Tells whether the link itself leads back to the started response."""
        return self.used and not self.anonymous

    @property
    def begins(self) -> bool:
        """Tells whether the link can start a response now."""
        return not self.used and self.access.status in (AccessStatus.OPEN, AccessStatus.INVITED)


def invite(
    surveys: Surveys,
    name: str,
    batch: str,
    stratum: str = "",
    count: int | None = None,
    labels: Sequence[str] = (),
    actor: str | None = None,
) -> list[InvitationLink]:
    """Creates links for a number of people, or one per label; the links are shown once."""
    lead = require_lead(surveys.coding, actor, "invite to a survey")
    questionnaire = surveys.questionnaire(name)
    if (count is None) == (not labels):
        raise InputError("give either the number of invitations or one label for each")
    number = len(labels) if count is None else count
    if not 1 <= number <= MOST_INVITED:
        raise InputError(f"cannot create {number} invitations: the number must be from 1 to {MOST_INVITED:,}")
    batch = require_batch(batch)
    if questionnaire.strata and stratum not in questionnaire.strata:
        options = suggest(stratum, questionnaire.strata)
        raise InputError(f"the survey {name!r} has no stratum {stratum!r}; choose from: {options}")
    if stratum and not questionnaire.strata:
        raise InputError(f"the survey {name!r} has no strata: define survey.strata in its file, or omit the stratum")
    inviteds = [InvitationLink(secrets.token_urlsafe(24), label) for label in (labels or [""] * number)]
    with open_invitations(surveys) as invitations:
        invitations.add(name, batch, stratum, [invited.token for invited in inviteds])
    payload = {"survey": name, "batch": batch, "stratum": stratum, "count": number}
    surveys.coding.act(lambda state: NewAct("survey.invite", lead, payload))
    return inviteds


def require_batch(batch: str) -> str:
    """Returns the name of a batch; raises InputError if it is empty or too long."""
    if not batch.strip() or len(batch) > _LONGEST:
        raise InputError(f"name the batch with 1 to {_LONGEST} characters, for example `first`")
    return batch.strip()


def links_csv(inviteds: Sequence[InvitationLink], address: str) -> str:
    """Returns the links as CSV for sending, safe to open in a spreadsheet."""
    return format_csv(
        [("label", "link"), *((invited.label, f"{address.rstrip('/')}/i/{invited.token}") for invited in inviteds)]
    )


def find_invitation(surveys: Surveys, token: str, language: str = "") -> InvitationPage | None:
    """Returns the invitation of a link; None if there is none."""
    invitation = _found(surveys, token)
    return (
        None
        if invitation is None
        else InvitationPage(access_status(surveys, surveys.study, invitation.survey, language), invitation.used)
    )


def accept_invitation(
    surveys: Surveys, token: str, language: str = "", key: str = "", link_values: Mapping[str, Answer] | None = None
) -> tuple[str, str]:
    """Starts a response with an invitation, or continues it if the survey is not anonymous; returns survey and code.

    In an anonymous survey the invitation is used up: the code is new, and works again only from the page with this key,
    so that pressing the button twice starts one response. Otherwise the code is derived from the link, which therefore
    works from any device; nothing else about it is stored. In an anonymous survey `link_values` are ignored, because
    they could lead from an invitation to the answers.
    """
    with open_invitations(surveys) as invitations, invitations.using(token) as invitation:
        if invitation is None:
            raise InputError("unknown invitation: the link is incomplete, or belongs to another study")
        anonymous = surveys.questionnaire(invitation.survey).anonymous
        code = code_of_page(token, key) if anonymous else code_of_link(token)
        if invitation.used and code and surveys.answers.find(code) is not None:
            return invitation.survey, code
        if invitation.used and anonymous:
            raise StateError("this invitation has been used: it works only once")
        shared = invitations.in_stratum(invitation.survey, invitation.stratum) >= SHARED_BY
        stratum, values = invitation.stratum if shared else "", None if anonymous else link_values
        code, _ = begin_response(surveys, invitation.survey, language, stratum, code, hidden_answers=values)
        return invitation.survey, code


def response_rates(surveys: Surveys, name: str) -> ResponseRates:
    """Returns how many of those invited started and finished; in an anonymous survey individuals are unknown."""
    counted = count_invitations(surveys, name)
    whole = ResponseRate(
        name, sum(batch_count.sent for batch_count in counted), sum(batch_count.used for batch_count in counted)
    )
    by_stratum = _rates((batch_count.stratum, batch_count) for batch_count in counted if batch_count.stratum)
    finished = surveys.answers.finished_by_stratum(name) if counted else {}
    # If the link is or was public, respondents who finished may not have been invited.
    questionnaire = _readable(surveys, name)
    by_invitation = counted and questionnaire is not None and questionnaire.by_invitation
    if by_invitation and sum(finished.values()) <= whole.used:
        kept = surveys.answers.finished_by_stratum(name, without=surveys.fielding(name).dropped)
        whole = replace(whole, finished=sum(kept.values()))
        joined = {SMALLER_STRATA, *join_strata(surveys, name)}
        by_stratum = tuple(
            rate if rate.name in joined else replace(rate, finished=kept.get(rate.name, 0)) for rate in by_stratum
        )
    return ResponseRates(whole, by_stratum, _rates((batch_count.batch, batch_count) for batch_count in counted))


def count_invitations(surveys: Surveys, name: str) -> list[InvitationCount]:
    """Returns invitation counts by batch and stratum; in an anonymous survey small groups are merged.

    Recipients of e-mails count once they were mailed.
    """
    if not (surveys.study.root / INVITATIONS_FILE).exists():
        return []
    with open_invitations(surveys) as invitations:
        counted = invitations.sent(name, without_unmailed=True)
    return _shared(counted) if counted and _is_anonymous(surveys, name) else counted


def join_strata(surveys: Surveys, name: str) -> dict[str, str]:
    """Returns the strata that are shown as one, with its label, so that nobody is found by subtraction.

    In an anonymous survey these are the small strata, responses without a stratum (the empty text), and the next
    larger strata until they have five responses. They depend on all responses, not only on those that are counted:
    otherwise, a stratum would appear when the lead excludes the only response of another one.
    """
    if not (surveys.study.root / INVITATIONS_FILE).exists() or not _is_anonymous(surveys, name):
        return {}
    with open_invitations(surveys) as invitations:
        sent = invitations.sent(name)
    responses, joined = Counter(surveys.answers.count_by_stratum(name)), _find_small_strata(sent)
    if not sent or not responses.keys() - {""} or not (joined or responses[""]):
        return {}
    joined.add("")
    while sum(responses[stratum] for stratum in joined) < SHARED_BY and responses.keys() - joined:
        joined.add(min(responses.keys() - joined, key=lambda stratum: (responses[stratum], stratum)))
    label = SMALLER_STRATA if surveys.questionnaire(name).by_invitation else f"{SMALLER_STRATA} or none"
    return dict.fromkeys(joined, label)


def open_invitations(surveys: Surveys) -> InvitationFile:
    return InvitationFile(surveys.study.root / INVITATIONS_FILE)


def _found(surveys: Surveys, token: str) -> Invitation | None:
    if not (surveys.study.root / INVITATIONS_FILE).exists():
        return None
    with open_invitations(surveys) as invitations:
        return invitations.find(token)


def _rates(named: Iterable[tuple[str, InvitationCount]]) -> tuple[ResponseRate, ...]:
    sent: Counter[str] = Counter()
    used: Counter[str] = Counter()
    for name, batch_count in named:
        sent[name] += batch_count.sent
        used[name] += batch_count.used
    return tuple(ResponseRate(name, sent[name], used[name]) for name in sent)


def _readable(surveys: Surveys, name: str) -> Questionnaire | None:
    try:
        return surveys.questionnaire(name)
    except InputError:  # an unreadable draft has no responses
        return None


def _is_anonymous(surveys: Surveys, name: str) -> bool:
    questionnaire = _readable(surveys, name)
    return questionnaire is None or questionnaire.anonymous  # if unknown, assume anonymous


def _shared(counted: Sequence[InvitationCount]) -> list[InvitationCount]:
    """Merges small groups, so that neither a count nor a difference of counts reveals a few people."""
    few = _find_small_strata(counted)
    joined = [
        replace(batch_count, stratum=SMALLER_STRATA) if batch_count.stratum in few else batch_count
        for batch_count in counted
    ]
    few = _find_small_groups(joined, lambda batch_count: batch_count.batch, lambda batch_count: batch_count.stratum)
    joined = [
        replace(batch_count, batch=SMALLER_BATCHES) if batch_count.batch in few else batch_count
        for batch_count in joined
    ]
    sent: Counter[tuple[str, str]] = Counter()
    used: Counter[tuple[str, str]] = Counter()
    for batch_count in joined:
        sent[batch_count.batch, batch_count.stratum] += batch_count.sent
        used[batch_count.batch, batch_count.stratum] += batch_count.used
    return [InvitationCount(*group, sent[group], used[group]) for group in sorted(sent)]


def _find_small_strata(counted: Sequence[InvitationCount]) -> set[str]:
    return _find_small_groups(counted, lambda batch_count: batch_count.stratum, lambda batch_count: "")


def _find_small_groups(
    counted: Sequence[InvitationCount],
    group_of: Callable[[InvitationCount], str],
    part_of: Callable[[InvitationCount], str],
) -> set[str]:
    """Returns the groups to merge: those with a small part, and others until no merged part is small."""
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

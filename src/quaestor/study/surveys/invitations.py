"""Invitations to a survey: made in batches, each link used once, and nothing that leads from one to an answer."""

from __future__ import annotations

import base64
import csv
import hmac
import io
import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import listed, nearest_first
from quaestor.base.spreadsheets import harmless
from quaestor.instruments.invitation_file import Invitation, InvitationFile, Sent
from quaestor.study.coding import require_lead
from quaestor.study.surveys.answering import begin
from quaestor.study.surveys.entrance import Door, Entrance, door
from quaestor.study.surveys.fielding import Surveys

INVITATIONS_FILE = "invitations.db"
SHARED_BY = 5
"""A stratum goes with an answer where so many at least were invited in it; a smaller one could tell who it was."""
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
    """How many of those who were invited came; who came counts from the moment they began."""

    name: str
    sent: int
    used: int

    @property
    def rate(self) -> float | None:
        return self.used / self.sent if self.sent else None


@dataclass(frozen=True)
class ResponseRates:
    """Of a whole survey, by stratum and by batch; empty where nobody was invited."""

    whole: ResponseRate
    by_stratum: tuple[ResponseRate, ...] = ()
    by_batch: tuple[ResponseRate, ...] = ()


@dataclass(frozen=True)
class Invite:
    """An invitation as whoever holds its link meets it."""

    door: Door
    used: bool

    @property
    def anonymous(self) -> bool:
        return self.door.questionnaire is None or self.door.questionnaire.anonymous

    @property
    def resumes(self) -> bool:
        """Whether the link itself leads back to what was answered."""
        return self.used and not self.anonymous

    @property
    def begins(self) -> bool:
        """Whether somebody can begin with it now."""
        return not self.used and self.door.entrance in (Entrance.OPEN, Entrance.INVITED)


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
    require_lead(surveys.coding, actor, "invite to a survey")
    asked = surveys.questionnaire(name)
    if (count is None) == (not labels):
        raise InputError("say how many invitations are wanted, or give one label for each: one of the two")
    wanted = len(labels) if count is None else count
    if not 1 <= wanted <= _MOST:
        raise InputError(f"{wanted} invitations are wanted: ask for 1 to {_MOST:,} at a time")
    if not batch.strip() or len(batch) > _LONGEST:
        raise InputError(f"give the batch a name of 1 to {_LONGEST} characters, as `first`")
    if asked.strata and stratum not in asked.strata:
        options = listed(nearest_first(stratum, asked.strata))
        raise InputError(f"the survey {name!r} has no stratum {stratum!r}, allowed: {options}")
    if stratum and not asked.strata:
        raise InputError(f"the survey {name!r} has no strata: name them in its file as survey.strata, or leave it out")
    made = [Invited(secrets.token_urlsafe(24), label) for label in (labels or [""] * wanted)]
    with open_invitations(surveys) as invitations:
        invitations.add(name, batch.strip(), stratum, [one.token for one in made])
    return made


def links_csv(made: Sequence[Invited], address: str) -> str:
    """The links as a table for whoever sends them, safe to open in a spreadsheet."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\r\n")
    rows.writerow(("label", "link"))
    rows.writerows((harmless(one.label), f"{address.rstrip('/')}/i/{one.token}") for one in made)
    return written.getvalue()


def invitation(surveys: Surveys, token: str, language: str = "") -> Invite | None:
    """What a link is for; None where there is no such invitation."""
    found = _found(surveys, token)
    return None if found is None else Invite(door(surveys, surveys.study, found.survey, language), found.used)


def accept(surveys: Surveys, token: str, language: str = "") -> tuple[str, str]:
    """Begin by an invitation, or go on where its survey is not anonymous; the survey and the respondent's code.

    In an anonymous survey the code is new and the invitation is used up. Else the code follows from the link, which
    therefore leads back from any device; nothing else is kept of it.
    """
    with open_invitations(surveys) as invitations, invitations.using(token) as found:
        if found is None:
            raise InputError("there is no such invitation: the link is not whole, or belongs to another study")
        if surveys.questionnaire(found.survey).anonymous:
            if found.used:
                raise StateError("this invitation has been used: it opens the survey once")
            code = ""
        else:
            code = _code_of(token)
            if found.used and surveys.answers.find(code) is not None:
                return found.survey, code
        shared = invitations.in_stratum(found.survey, found.stratum) >= SHARED_BY
        code, _ = begin(surveys, found.survey, language, found.stratum if shared else "", code)
        return found.survey, code


def response_rates(surveys: Surveys, name: str) -> ResponseRates:
    """How many came of those who were invited; in an anonymous survey nobody knows which of them finished."""
    counted = sent_by(surveys, name)
    return ResponseRates(
        ResponseRate(name, sum(one.sent for one in counted), sum(one.used for one in counted)),
        _rates((one.stratum, one) for one in counted if one.stratum),
        _rates((one.batch, one) for one in counted),
    )


def sent_by(surveys: Surveys, name: str) -> list[Sent]:
    """Invitations of a survey by batch and stratum."""
    if not (surveys.study.root / INVITATIONS_FILE).exists():
        return []
    with open_invitations(surveys) as invitations:
        return invitations.sent(name)


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


def _code_of(token: str) -> str:
    """The code of whoever holds an invitation of a survey that is not anonymous."""
    made = hmac.digest(token.encode("utf-8", "surrogatepass"), b"quaestor respondent", "sha256")
    return base64.urlsafe_b64encode(made[:18]).decode()

"""A submitted page, and its recording: stored once, stored again if changed, or rejected."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from quaestor.base.errors import InputError, QuaestorError, StateError, TemporarilyUnavailable
from quaestor.store.group_commit import PendingWrite
from quaestor.surveys.model.records import Answer, Quota, Response, ResponseStatus
from quaestor.surveys.model.wording.catalogue import TooLate
from quaestor.surveys.store.quotas import QuotaPlaces
from quaestor.surveys.store.responses import as_json, find_response, new_id

MOST_SAVES = 50
"""Maximum number of times a page of a response is stored; no real respondent comes close."""
MOST_BYTES = 1_000_000
"""Maximum size of a response's journal."""
_FEW_SAVES = 3


class ConcurrentSubmission(TemporarilyUnavailable):
    """The response changed after a page was read against it."""


@dataclass(eq=False)
class PageSubmission(PendingWrite[Response]):
    """A submitted page, to be stored."""

    code: str
    page: str
    answers: Mapping[str, Answer]
    key: str
    standing: ResponseStatus
    seconds: float = 0.0
    left: Collection[str] = ()
    """Questions on the path that this page leaves: their answers are removed."""
    before: Response | None = None
    """The response that status and dropped questions were computed from; it must not have changed."""
    quotas: Sequence[Quota] = ()
    """Quotas that apply; respondents in a full group are screened out."""
    today: str = ""
    draft: bool = False
    """Whether the respondent goes back: answers are stored, but the page still has to be submitted."""

    @property
    def overtaken(self) -> bool:
        """Tells whether another page was stored meanwhile, so that this one must be read again."""
        return isinstance(self.outcome, ConcurrentSubmission)


def record_page(writing: sqlite3.Connection, sending: PageSubmission, places: QuotaPlaces) -> Response | QuaestorError:
    """Stores a page within a transaction; a rejection is returned and leaves nothing behind."""
    found = find_response(writing, sending.code)
    if found is None:
        return InputError("unknown response: it was withdrawn, or the link is incomplete")
    known = _latest_with(writing, sending.key)
    if known is not None:
        response, page, answers = known
        if (response, page) != (found.id, sending.page):
            return StateError("this page was sent with the key of another page")
        counts = sending.draft or sending.page in found.sent  # else it was a draft with this key, and is submitted now
        if counts and _said(json.loads(answers)) == _said(sending.answers):
            return found
    if found.standing is not ResponseStatus.OPEN:
        return TooLate("finished-already")
    if sending.before is not None and sending.before != found:
        return ConcurrentSubmission("another page was sent at the same time: send this page again")
    declined = sending.standing is ResponseStatus.DECLINED
    if not declined and _is_too_often(writing, found.id, sending.page):
        return TooLate("sent-often")
    if declined:  # without consent no answer is kept
        writing.execute("DELETE FROM saves WHERE response = ?", (found.id,))
    add_save(writing, found.id, sending if known is None else replace(sending, key=f"{sending.key}.{new_id()}"))
    before = {name: {} if declined else answer for name, answer in found.answers.items() if name not in sending.left}
    after = replace(
        found,
        standing=sending.standing,
        seconds=found.seconds + sending.seconds,
        sent=_sent_after(found, sending),
        answers={**before, **sending.answers},
    )
    going_on = after.standing in (ResponseStatus.OPEN, ResponseStatus.FINISHED)
    if sending.quotas and going_on and places.is_full(sending.quotas, after, sending.today):
        after = (
            _held_back(found, sending, after) if sending.draft else replace(after, standing=ResponseStatus.SCREENED_OUT)
        )
    places.note(after)
    writing.execute(
        "UPDATE responses SET standing = ?, seconds = ?, sent = ?, answers = ? WHERE id = ?",
        (after.standing.value, after.seconds, as_json(list(after.sent)), as_json(dict(after.answers)), after.id),
    )
    return after


def _is_too_often(writing: sqlite3.Connection, response: str, page: str) -> bool:
    query = "SELECT count(*) FILTER (WHERE page = ?), coalesce(sum(length(answers)), 0) FROM saves WHERE response = ?"
    times, stored = writing.execute(query, (page, response)).fetchone()
    return bool(times >= MOST_SAVES or (times >= _FEW_SAVES and stored > MOST_BYTES))


def _sent_after(response: Response, sending: PageSubmission) -> tuple[str, ...]:
    """Returns the submitted pages; a page changed while going back is no longer submitted."""
    if not sending.draft:
        return response.sent if sending.page in response.sent else (*response.sent, sending.page)
    same = all(response.answers.get(name) == answer for name, answer in sending.answers.items())
    if same and not set(sending.left) & set(response.answers):
        return response.sent
    return tuple(page for page in response.sent if page != sending.page)


def _held_back(response: Response, sending: PageSubmission, after: Response) -> Response:
    """Drops new answers that would enter a full group: going back never takes a place."""
    deciding = {test.question for quota in sending.quotas for test in quota.condition.tests()}
    kept = {name: answer for name, answer in after.answers.items() if name not in deciding}
    return replace(
        after, answers={**kept, **{name: response.answers[name] for name in deciding if name in response.answers}}
    )


def _latest_with(writing: sqlite3.Connection, key: str) -> tuple[str, str, str] | None:
    """Returns the latest save under a key: response, page, answers; a changed page has the key with a suffix."""
    row: tuple[str, str, str] | None = writing.execute(
        "SELECT response, page, answers FROM saves WHERE key = ? OR (key > ? AND key < ?) ORDER BY number DESC LIMIT 1",
        (key, f"{key}.", f"{key}/"),
    ).fetchone()
    return row


def _said(answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """Drops empty answers, which equal missing ones."""
    return {name: answer for name, answer in answers.items() if answer}


def add_save(writing: sqlite3.Connection, response: str, sending: PageSubmission) -> None:
    writing.execute(
        "INSERT INTO saves (response, page, key, answers, seconds) VALUES (?, ?, ?, ?, ?)",
        (response, sending.page, sending.key, as_json(dict(sending.answers)), sending.seconds),
    )

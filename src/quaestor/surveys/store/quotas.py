"""Places in groups with quotas, taken within the transaction that stores a page.

A finished response has a place, and an open one until the end of the day after it started, since the file stores no
hour. Together they never exceed the quota. A respondent who returns later finishes if there is still a place.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.records import Quota, Response, ResponseStatus
from quaestor.surveys.store.responses import hashed, read_response

Mark = tuple[int, int]
"""The last page and the last erasure that were processed."""
_KEPT_FOR = timedelta(days=1)


@dataclass
class _Group:
    """The responses with a place in one group, by id."""

    condition: Condition
    finished: set[str] = field(default_factory=set)
    under_way: dict[str, str] = field(default_factory=dict)
    """By response: the day it started."""

    def note(self, response: Response) -> None:
        self.forget(response.id)
        if not self.condition.holds(response.answers):
            return
        if response.standing is ResponseStatus.FINISHED:
            self.finished.add(response.id)
        elif response.standing is ResponseStatus.OPEN and response.source == "web":
            self.under_way[response.id] = response.day

    def forget(self, response: str) -> None:
        self.finished.discard(response)
        self.under_way.pop(response, None)

    def has(self, response: str, oldest: str) -> bool:
        return response in self.finished or self.under_way.get(response, "") >= oldest

    def taken(self, oldest: str) -> int:
        return len(self.finished) + sum(day >= oldest for day in self.under_way.values())


class QuotaPlaces:
    """Places by group, computed once and updated with what this and other processes write."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, Condition], _Group] = {}
        self._mark: Mark = (0, 0)

    def lacking(self, survey: str, quotas: Sequence[Quota]) -> bool:
        """Tells whether a group has not been counted yet."""
        return any((survey, quota.condition) not in self._groups for quota in quotas)

    def look(self, survey: str, quotas: Sequence[Quota], responses: Iterable[Response], mark: Mark) -> None:
        """Counts groups from all responses to a survey, read after the change stamp."""
        groups = [_Group(condition) for condition in dict.fromkeys(quota.condition for quota in quotas)]
        for response in responses:
            for group in groups:
                group.note(response)
        self._mark = (min(self._mark[0], mark[0]), min(self._mark[1], mark[1])) if self._groups else mark
        self._groups |= {(survey, group.condition): group for group in groups}

    def catch_up(self, writing: sqlite3.Connection) -> None:
        """Applies pages and erasures recorded since the last time."""
        pages, erasures = self._mark
        changed = "SELECT * FROM responses WHERE id IN (SELECT response FROM saves WHERE number > ?)"
        for row in writing.execute(changed, (pages,)):
            self.note(read_response(row))
        gone = {name for (name,) in writing.execute("SELECT response FROM erasures WHERE number > ?", (erasures,))}
        for group in self._groups.values() if gone else ():
            for name in [response for response in (*group.finished, *group.under_way) if hashed(response) in gone]:
                group.forget(name)
        self._mark = read_change_stamp(writing)

    def note(self, response: Response) -> None:
        for (survey, _), group in self._groups.items():
            if survey == response.survey:
                group.note(response)

    def is_full(self, quotas: Sequence[Quota], after: Response, today: str) -> bool:
        """Tells whether a page moves its response, which becomes `after`, into a group without a free place."""
        oldest = (date.fromisoformat(today) - _KEPT_FOR).isoformat()
        for quota in quotas:
            group = self._groups[after.survey, quota.condition]
            needs_place = quota.condition.holds(after.answers) and not group.has(after.id, oldest)
            if needs_place and group.taken(oldest) >= quota.most:
                return True
        return False


def read_change_stamp(connection: sqlite3.Connection) -> Mark:
    """Returns the numbers of the last page and the last erasure."""
    pages = connection.execute("SELECT coalesce(max(number), 0) FROM saves").fetchone()[0]
    return pages, connection.execute("SELECT coalesce(max(number), 0) FROM erasures").fetchone()[0]

"""Places in groups of which only so many are wanted, taken within the transaction that keeps a page.

Whoever finished has a place, and whoever is under way has one until the end of the day after they began: the file keeps
no hour. Those two together never exceed what is wanted. Who comes back later finishes if there is room still.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.records import Quota, Response, ResponseStatus
from quaestor.surveys.store.responses import hashed, response_in

Mark = tuple[int, int]
"""The last page and the last erasure that were looked at."""
_KEPT_FOR = timedelta(days=1)


@dataclass
class _Group:
    """Those who have a place in one group, by their ids."""

    condition: Condition
    finished: set[str] = field(default_factory=set)
    under_way: dict[str, str] = field(default_factory=dict)
    """The day on which each began."""

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


class Places:
    """Who has a place where, worked out once and kept up with what this process and others write into the file."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, Condition], _Group] = {}
        self._mark: Mark = (0, 0)

    def lacking(self, survey: str, quotas: Sequence[Quota]) -> bool:
        """Whether there is a group that was never looked at."""
        return any((survey, quota.condition) not in self._groups for quota in quotas)

    def look(self, survey: str, quotas: Sequence[Quota], responses: Iterable[Response], mark: Mark) -> None:
        """Get to know groups from all responses to a survey, read after the mark was taken."""
        groups = [_Group(condition) for condition in dict.fromkeys(quota.condition for quota in quotas)]
        for response in responses:
            for group in groups:
                group.note(response)
        self._mark = (min(self._mark[0], mark[0]), min(self._mark[1], mark[1])) if self._groups else mark
        self._groups |= {(survey, group.condition): group for group in groups}

    def catch_up(self, writing: sqlite3.Connection) -> None:
        """Take in what was recorded and withdrawn since the last time."""
        pages, erasures = self._mark
        changed = "SELECT * FROM responses WHERE id IN (SELECT response FROM saves WHERE number > ?)"
        for row in writing.execute(changed, (pages,)):
            self.note(response_in(row))
        gone = {name for (name,) in writing.execute("SELECT response FROM erasures WHERE number > ?", (erasures,))}
        for group in self._groups.values() if gone else ():
            for name in [response for response in (*group.finished, *group.under_way) if hashed(response) in gone]:
                group.forget(name)
        self._mark = mark_of(writing)

    def note(self, response: Response) -> None:
        for (survey, _), group in self._groups.items():
            if survey == response.survey:
                group.note(response)

    def is_full(self, quotas: Sequence[Quota], after: Response, today: str) -> bool:
        """Whether a page leads somebody, who then stands as `after` says, into a group without a place for them."""
        oldest = (date.fromisoformat(today) - _KEPT_FOR).isoformat()
        for quota in quotas:
            group = self._groups[after.survey, quota.condition]
            needs_place = quota.condition.holds(after.answers) and not group.has(after.id, oldest)
            if needs_place and group.taken(oldest) >= quota.most:
                return True
        return False


def mark_of(connection: sqlite3.Connection) -> Mark:
    """How far pages and erasures have come."""
    pages = connection.execute("SELECT coalesce(max(number), 0) FROM saves").fetchone()[0]
    return pages, connection.execute("SELECT coalesce(max(number), 0) FROM erasures").fetchone()[0]

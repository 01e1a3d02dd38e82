"""Acts of some kinds alone, so that whoever tells what happened need not read every rating."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from quaestor.store.databases import explained
from quaestor.store.journal import Journal
from quaestor.store.records import Act, Row
from quaestor.store.tables import acts

_KINDS = (
    select(acts)
    .where(acts.c.number > bindparam("after"), acts.c.kind.in_(bindparam("kinds", expanding=True)))
    .order_by(acts.c.number)
)


def acts_of_kinds(journal: Journal, kinds: Sequence[str], after: int = 0) -> list[Act]:
    """The acts of these kinds with higher numbers, in order."""
    with explained(journal.database), journal.database.reading() as connection:
        return [Row._make(found).act() for found in connection.execute(_KINDS, {"after": after, "kinds": list(kinds)})]

"""A search for those who ask once, at the command line: the index is made first where it has to be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from quaestor.base.private import is_private
from quaestor.base.tables import Table, write_table
from quaestor.people.roles import Role
from quaestor.sources.records import no_progress
from quaestor.study.coding import Coding, open_coding
from quaestor.study.folder import Study
from quaestor.study.journal import has_journal
from quaestor.study.search.export import rows_of
from quaestor.study.search.found import Found, found
from quaestor.study.search.index import build_index
from quaestor.study.search.standing import standing_result
from quaestor.study.search.wanted import Wanted
from quaestor.study.sight import Viewer


def items_found(study: Study, wanted: Wanted, most: int) -> Found:
    """What the lead may find."""
    with _coding(study) as coding:
        standing_result(study, coding)
        return found(study, coding, build_index(study, no_progress), wanted, _lead(study), most)


def write_found(study: Study, wanted: Wanted, path: Path) -> None:
    """All of it as a CSV or XLSX file, as private as the evidence."""
    with _coding(study) as coding:
        standing_result(study, coding)
        batches = rows_of(study, coding, build_index(study, no_progress), wanted, _lead(study))
        columns = [str(name) for name in next(batches)[0]]
        table = Table("items", columns, chain.from_iterable(batches))
        write_table(table, path, private=is_private(study.funnel_folder))


def _lead(study: Study) -> Viewer:
    return Viewer(study.settings.study.lead, Role.LEAD)


@contextmanager
def _coding(study: Study) -> Iterator[Coding | None]:
    """A study in which nobody has acted gets no journal by being searched."""
    if not has_journal(study):
        yield None
        return
    with open_coding(study) as coding:
        yield coding

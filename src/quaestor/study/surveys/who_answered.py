"""Who answered: the table of demographics as papers print it, and how many of those who were invited came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from quaestor.base.errors import InputError
from quaestor.base.names import listed, nearest_first
from quaestor.instruments.records import CHOSEN
from quaestor.publish.records import Cell, Column, Group, Row, Table
from quaestor.publish.shown import ABSENT, percent, whole
from quaestor.study.surveys.invitations import ResponseRate, ResponseRates
from quaestor.study.surveys.result_tables import INTERVAL, SHARE_COLUMNS, selection_of, share_cells
from quaestor.study.surveys.results import Line, QuestionResult, Results, response_rate


def demographics(results: Results, questions: Sequence[str]) -> Table:
    """Who answered, as papers print it: one table, a group a question, each level with its number and share."""
    groups = []
    for name in questions:
        found = results.question(name)
        if found is None or found.question.kind not in CHOSEN:
            known = [one.question.id for one in results.questions if one.question.kind in CHOSEN]
            raise InputError(f"{name!r} is no question of choices, there are: {listed(nearest_first(name, known))}")
        title = f"{found.question.text} (n = {found.base:,})"
        groups.append(Group(title, tuple(_demographic(found, line) for line in found.rows[0].lines)))
    note = f"Of {results.base:,} responses; shares are of those who answered the question."
    columns = (Column("n", "n"), Column("share", "share"))
    return Table("demographics", "Who answered", "", columns, tuple(groups), notes=(note,))


def rates_table(rates: ResponseRates) -> Table:
    """How many of those who were invited came, and finished, by stratum and batch, with Wilson's interval."""
    groups = [Group("", (_rate(rates.whole, "all", total=True),))]
    for title, parts in (("By stratum", rates.by_stratum), ("By batch", rates.by_batch)):
        if parts:
            groups.append(Group(title, tuple(_rate(one, one.name or "none") for one in parts)))
    columns = (
        Column("invited", "invited"), Column("came", "came"), *SHARE_COLUMNS[1:], Column("finished", "finished"),
        Column("finished-share", "share"), replace(INTERVAL, key="finished-interval"),
    )  # fmt: skip
    return Table("response-rate", "Response rate", "", columns, tuple(groups))


def _demographic(found: QuestionResult, line: Line) -> Row:
    selection = selection_of(found.question.id, option=line.key)
    share = line.share
    cells = (Cell((whole(share.count),), (share.count,), selection), Cell((percent(share.value),), (share.value,)))
    return Row(f"{found.question.id}.{line.key}", line.label, cells)


def _rate(rate: ResponseRate, title: str, *, total: bool = False) -> Row:
    found = response_rate(rate.used, rate.sent)
    sent = Cell((whole(rate.sent),), (rate.sent,))
    done: Iterable[Cell] = [Cell((ABSENT,))] * 3
    if rate.finished is not None:
        done = share_cells(response_rate(rate.finished, rate.sent))
    return Row(rate.name or title, title, (sent, *share_cells(found), *done), total=total)

"""Results of a survey as tables to print, one a question; each cell knows the answers behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from quaestor.base.errors import InputError
from quaestor.base.names import suggest
from quaestor.measures.records import Estimate, Share, Summary
from quaestor.render.number_format import ABSENT, decimal, interval, percent, whole
from quaestor.render.table_model import Cell, Column, Group, Row, Selection, Table
from quaestor.surveys.invitations import ResponseRate, ResponseRates
from quaestor.surveys.model.records import CHOSEN, Kind
from quaestor.surveys.results.compute import Distribution, Line, QuestionResult, Results, response_rate
from quaestor.surveys.results.sentences import notes_of, share_interval

INTERVAL = Column("interval", "95% interval", numbers=("low", "high"))
SHARE_COLUMNS = (Column("n", "n"), Column("share", "share"), INTERVAL)


def tables_of(results: Results) -> list[Table]:
    """A table for every question but consent, in the order of the questionnaire."""
    return [table_of(results, one) for one in results.tabled]


def table_of(results: Results, found: QuestionResult) -> Table:
    """One question; its id is the table's."""
    question = found.question
    groups: tuple[Group, ...]
    columns: tuple[Column, ...]
    if question.kind in CHOSEN:
        groups, columns = (_choices(results, found, found.rows[0]),), (*SHARE_COLUMNS, *_group_columns(results, found))
    elif question.kind is Kind.MATRIX:
        groups, columns = tuple(_matrix(results, found)), _step_columns(found)
    elif question.kind is Kind.RANKING:
        columns = (Column("mean", "mean place"), INTERVAL, Column("first", "first places"),
                   Column("share", "share"), Column("placed", "placed"))  # fmt: skip
        groups = (_ranking(found),)
    elif question.kind is Kind.NUMBER:
        groups, columns = (_numbers(results, found),), _NUMBER_COLUMNS
    else:
        cell = Cell((whole(found.base),), (found.base,), selection_of(question.id))
        groups, columns = (Group("", (Row("texts", "answers in words", (cell,)),)),), (Column("n", "n"),)
    return Table(question.id, question.text, _STUBS.get(question.kind, ""), columns, groups, notes=notes_of(found))


_STUBS = {Kind.MATRIX: "row", Kind.RANKING: "option", Kind.NUMBER: "who"}
_NUMBER_COLUMNS = (
    Column("n", "n"), Column("mean", "mean", ("", "95% interval"), numbers=("", "low", "high")),
    Column("median", "median", ("", "95% interval"), numbers=("", "low", "high")),
    Column("quartiles", "quartiles", numbers=("lower", "upper")),
    Column("range", "least to most", numbers=("least", "most")),
)  # fmt: skip


def _choices(results: Results, found: QuestionResult, row: Distribution) -> Group:
    name = found.question.id
    rows = []
    for line in row.lines:
        cells = [*share_cells(line.share, selection_of(name, option=line.key))]
        if results.groups is not None:
            for key, share in zip(results.groups.keys, line.by, strict=True):
                cells.append(_together(share, selection_of(name, line.key, by=results.groups.name, group=key)))
        rows.append(Row(line.key, line.label, tuple(cells)))
    return Group("", tuple(rows))


def _group_columns(results: Results, found: QuestionResult) -> Iterator[Column]:
    """Each group with how many of it answered this question, which is what its shares are of."""
    if results.groups is not None:
        for key, label, base in zip(results.groups.keys, results.groups.labels, found.bases, strict=True):
            yield Column(f"group-{key}", f"{label} (n = {base:,})", ("n", "share"), spanner=results.groups.label)


def _matrix(results: Results, found: QuestionResult) -> Iterator[Group]:
    """One row for each of the question's; with groups, a heading for each and under it all and every group."""
    question, groups = found.question.id, results.groups
    alone = [_steps(question, row.label, row.base, row, [line.share for line in row.lines]) for row in found.rows]
    if groups is None:
        yield Group("", tuple(alone))
        return
    for row in found.rows:
        rows = [_steps(question, "all", row.base, row, [line.share for line in row.lines])]
        for place, (key, label) in enumerate(zip(groups.keys, groups.labels, strict=True)):
            shares = [line.by[place] for line in row.lines]
            rows.append(_steps(question, label, row.bases[place], row, shares, by=groups.name, group=key))
        yield Group(row.label, tuple(rows))


def _steps(question: str, title: str, base: int, row: Distribution, shares: Sequence[Share], **group: str) -> Row:
    cells = [Cell((whole(base),), (base,), selection_of(question, row=row.key, **group))]
    for line, share in zip(row.lines, shares, strict=True):
        cells.append(_together(share, selection_of(question, line.key, row.key, **group)))
    return Row(".".join(filter(None, (row.key, group.get("group", "")))), title, tuple(cells))


def _step_columns(found: QuestionResult) -> tuple[Column, ...]:
    steps = tuple(Column(one.code, one.label, ("n", "share")) for one in found.question.options)
    return (Column("n", "answered"), *steps)


def _ranking(found: QuestionResult) -> Group:
    rows = []
    for line in found.ranked:
        one = line.ranked
        first = selection_of(found.question.id, option=line.key, place="1")
        cells = (
            Cell((decimal(one.mean.value),), (one.mean.value,)),
            Cell((_bounds(one.mean),), (one.mean.low, one.mean.high)),
            Cell((whole(one.first.count),), (one.first.count,), first),
            Cell((percent(one.first.value),), (one.first.value,)),
            Cell((whole(one.placed),), (one.placed,), selection_of(found.question.id, option=line.key)),
        )
        rows.append(Row(line.key, line.label, cells))
    return Group("", tuple(rows))


def _numbers(results: Results, found: QuestionResult) -> Group:
    numbers = found.numbers
    if numbers is None:
        return Group("", ())
    one = numbers.summary
    least_to_most = f"{numbers.least:.15g} to {numbers.most:.15g}" if numbers.least is not None else ABSENT
    of = numbers.mean
    mean = Cell((decimal(of.value), _bounds(of)), (of.value, of.low, of.high))
    spread = Cell((least_to_most,), (numbers.least, numbers.most))
    base = _base(found.question.id, one.n) if not numbers.left_out else Cell((whole(one.n),), (one.n,))
    rows = [Row("all", "all", (base, mean, *_median(one), spread), total=True)]
    if results.groups is not None:
        for key, label, group in zip(results.groups.keys, results.groups.labels, numbers.by, strict=True):
            nothing = Cell((ABSENT,))
            which = {"by": results.groups.name, "group": key}
            cells = (_base(found.question.id, group.n, **which), nothing, *_median(group), nothing)
            rows.append(Row(key, label, cells))
    return Group("", tuple(rows))


def _base(question: str, n: int, **which: str) -> Cell:
    return Cell((whole(n),), (n,), selection_of(question, **which))


def _median(one: Summary) -> tuple[Cell, Cell]:
    bounds = f"[{interval(one.low, one.high)}]" if one.low is not None else ""
    median = Cell((decimal(one.median), bounds), (one.median, one.low, one.high))
    return median, Cell((interval(one.q1, one.q3),), (one.q1, one.q3))


def _bounds(one: Estimate) -> str:
    return f"[{interval(one.low, one.high)}]" if one.low is not None else ""


def share_cells(share: Share, selection: Selection | None = None) -> Iterator[Cell]:
    yield Cell((whole(share.count),), (share.count,), selection)
    yield Cell((percent(share.value),), (share.value,))
    yield Cell((share_interval(share),), (share.low, share.high))


def _together(share: Share, selection: Selection | None) -> Cell:
    return Cell((whole(share.count), percent(share.value)), (share.count, share.value), selection)


def selection_of(question: str, option: str = "", row: str = "", **more: str) -> Selection:
    """The responses behind a cell in the words of `counting.Which`."""
    said = {"question": question, "option": option, "row": row, **more}
    return Selection(tuple((name, (value,)) for name, value in said.items() if value))


def demographics(results: Results, questions: Sequence[str]) -> Table:
    """Who answered, as papers print it: one table, a group a question, each level with its number and share."""
    groups = []
    for name in questions:
        found = results.question(name)
        if found is None or found.question.kind not in CHOSEN:
            known = [one.question.id for one in results.questions if one.question.kind in CHOSEN]
            raise InputError(f"{name!r} is no question of choices, there are: {suggest(name, known)}")
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

"""Counts the printed figures of a survey from its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from quaestor.base.errors import InputError, SettingsError
from quaestor.base.names import join_with_or, sort_by_similarity, suggest
from quaestor.publication.audit.compare import Alternatives, explain_differences, find_numbers, judge, number_alone
from quaestor.publication.audit.printed import PRINTED_FILE, Printed
from quaestor.publication.audit.printed_settings import SurveyFigures
from quaestor.publication.audit.records import DIFFERS, MATCH, NOT_COMPUTABLE, ROUNDING, AuditCell, Key
from quaestor.render.number_format import percent, whole
from quaestor.render.table_model import Cell, Column, Group, Row, Table
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.conditions import Condition, read_condition
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.records import Answer, Questionnaire, ResponseStatus

Answers = Mapping[str, Answer]


@dataclass(frozen=True)
class PrintedFigure:
    """How one printed figure is counted."""

    key: Key
    holds: Condition | None
    among: Condition | None
    percent: bool = False
    per: int | None = None
    """The base of a share, if answers cannot tell it."""
    printed_base: int | None = None
    """The base that the publication states, if it does."""
    title: str = ""
    """The heading of figures that belong together."""


@dataclass(frozen=True)
class AuditedCount:
    """A figure computed from responses."""

    value: float | None
    base: int


def counted_responses(surveys: Surveys, name: str) -> list[Answers]:
    """Returns the answers of the responses that count: finished and not excluded by the lead."""
    decisions = surveys.fielding(name).decisions
    return [
        response.answers
        for response in surveys.answers.responses(name)
        if response.standing is ResponseStatus.FINISHED
        and (response.id not in decisions or decisions[response.id].keep)
    ]


def list_figures(printed: Printed, questionnaire: Questionnaire) -> list[PrintedFigure]:
    """Returns all printed figures that can be counted from answers, as defined in printed.toml."""
    answers = printed.settings.answers
    return (
        []
        if answers is None
        else [figure for group in answers.figures for figure in _list_figures(printed, questionnaire, group)]
    )


def figures_otherwise(printed: Printed, questionnaire: Questionnaire) -> Iterator[tuple[str, list[PrintedFigure]]]:
    """Yields each alternative count of printed.toml with the figures it would give."""
    answers = printed.settings.answers
    for group in answers.figures if answers is not None else ():
        for how, rows in group.otherwise.items():
            yield how, list(_list_figures(printed, questionnaire, group, rows))


def _list_figures(
    printed: Printed, questionnaire: Questionnaire, group: SurveyFigures, rows: Mapping[str, str] | None = None
) -> Iterator[PrintedFigure]:
    among = _condition(questionnaire, group.among)
    per, base = _add_printed(printed, group.per_printed), _add_printed(printed, group.base)
    for row, words in (group.rows if rows is None else rows).items():
        key = (group.table, row, group.column)
        printed.cell(":".join(key))  # raises an error if the cell is not printed
        yield PrintedFigure(key, _condition(questionnaire, words), among, group.percent, per, base, group.title)


def _add_printed(printed: Printed, cells: Sequence[str]) -> int | None:
    numbers = [find_numbers(printed.cell(name)) for name in cells]
    return sum(int(cell[0][0]) for cell in numbers) if numbers and all(numbers) else None


def _condition(questionnaire: Questionnaire, words: str) -> Condition | None:
    """Parses a condition on answers; rejects unknown questions and options, which would count nothing."""
    if not words.strip():
        return None
    try:
        condition = read_condition(words)
    except InputError as error:
        raise SettingsError(f"{PRINTED_FILE}: {error}") from None
    for test in condition.tests():
        question = questionnaire.question(test.question)
        if question is None:
            known = join_with_or(
                sort_by_similarity(test.question, [question.id for question in questionnaire.questions()])[:3]
            )
            raise SettingsError(
                f"{PRINTED_FILE}: {words!r} names {test.question!r}, which is not in {questionnaire.id!r}: {known}"
            )
        chosen = kind_of(question).compares_options and test.compare in ("=", "!=", "includes")
        if chosen and question.option(test.value) is None:
            known = suggest(test.value, [option.code for option in question.options])
            raise SettingsError(
                f"{PRINTED_FILE}: {words!r} names {test.value!r}, which is not an option of {question.id!r}: {known}"
            )
    return condition


def count_figures(figures: Sequence[PrintedFigure], responses: Sequence[Answers]) -> dict[Key, AuditedCount]:
    """Counts the figures from these responses, each with its own base."""
    return {figure.key: _count_figure(figure, responses) for figure in figures}


def _count_figure(figure: PrintedFigure, responses: Sequence[Answers]) -> AuditedCount:
    among = [response for response in responses if figure.among is None or figure.among.holds(response)]
    count = sum(figure.holds is None or figure.holds.holds(answers) for answers in among)
    base = figure.per if figure.per is not None else len(among)
    if not figure.percent:
        return AuditedCount(float(count), base)
    return AuditedCount(100 * count / base if base else None, base)


_FITS = (MATCH, ROUNDING)
_MARKED = {"choices": ["(a marker)"]}
_WORDED = {"choices": ["(a wording)"], "text": "(a wording)"}
CONSENT, MARKERS, HEADER = "consent", "markers", "header"


@dataclass(frozen=True)
class FileRow:
    """A row of the imported file, whether it counts or not."""

    number: int
    """The row number that a spreadsheet shows."""
    answers: Answers
    consented: bool
    marked: frozenset[str] = frozenset()
    """Questions whose cell contains a marker of the survey service instead of an answer."""


@dataclass(frozen=True)
class FieldedSurvey:
    """The responses and file rows that a survey's figures are counted from."""

    questionnaire: Questionnaire
    responses: Sequence[Answers]
    file: str = ""
    """The imported file."""
    rows: Sequence[FileRow] = ()
    """The rows of that file, if it still exists."""
    header: Sequence[str] = ()
    """Questions with their text in the row below the header."""
    synthetic: int = 0


def survey_cells(printed: Printed, fielded: FieldedSurvey) -> tuple[AuditCell, ...]:
    """Returns a verdict for each printed cell without a table of its own, with its base and possible explanations."""
    figures = {figure.key: figure for figure in list_figures(printed, fielded.questionnaire)}
    counts = count_figures(list(figures.values()), fielded.responses) if fielded.responses else {}
    cells = [_cell(key, printed, counts.get(key)) for key in _keys(printed)]
    ways = _Ways(fielded, list(figures.values()), cells)
    known = explain_differences(cells, {**ways.telling(), **_count_alternatives(printed, fielded)})
    return tuple(_explain_cell(cell, printed, figures.get(cell.key), ways) for cell in known)


def survey_notes(printed: Printed, fielded: FieldedSurvey) -> Iterator[str]:
    """Yields what readers must know about the responses."""
    if not fielded.responses:
        yield f"Nobody has answered {fielded.questionnaire.id!r} yet, so none of its figures can be computed."
        return
    source = f" in {fielded.file}" if fielded.file else ""
    yield f"Counted from {_format_count(len(fielded.responses), 'response')} to {fielded.questionnaire.id!r}{source}."
    ways = _Ways(fielded, list_figures(printed, fielded.questionnaire), ())
    left = [words for which, words in ways.words().items() if which != HEADER]
    if left:
        yield f"Not counted: {' and '.join(left)}."
    total = _printed_total(printed, ways.figures)
    most = max(len(fielded.responses), len(fielded.rows))
    if total is not None and most < total:
        yield (
            f"The publication has {total:,} responses, more than the {most:,} available here: "
            "most of its figures cannot be reproduced from these answers."
        )
    if fielded.synthetic:
        yield f"{_format_count(fielded.synthetic, 'response')} synthetic: the numbers say nothing about real people."


def _keys(printed: Printed) -> Iterator[Key]:
    layouts = {layout.table for layout in printed.settings.tables}
    for table, rows in printed.tables.items():
        if table not in layouts:
            yield from ((table, row.name, column) for row in rows for column in row.cells)


def _cell(key: Key, printed: Printed, counted: AuditedCount | None) -> AuditCell:
    text = printed.cell(":".join(key))
    computed = counted.value if counted is not None else None
    base = counted.base if counted is not None else None
    return AuditCell(*key, text, computed, judge(text, computed), base=base)


def _explain_cell(cell: AuditCell, printed: Printed, figure: PrintedFigure | None, ways: _Ways) -> AuditCell:
    if cell.verdict == NOT_COMPUTABLE and figure is None:
        return replace(cell, explanation=_explain_missing(printed, cell.table))
    if cell.verdict != DIFFERS or figure is None:
        return cell
    words = cell.explanation or "; ".join(_explain_difference(cell, figure, printed, ways))
    return replace(cell, note=printed.note_on(cell.key, cell.computed), explanation=words)


def _explain_missing(printed: Printed, table: str) -> str:
    return next((note.why for note in printed.settings.elsewhere if table in note.tables), "not in the answers")


def _explain_difference(cell: AuditCell, figure: PrintedFigure, printed: Printed, ways: _Ways) -> Iterator[str]:
    """Explains a base that these answers do not have, and yields what other counts would give."""
    page = figure.printed_base
    if page is not None and page != cell.base:
        yield f"the publication's base is {page:,}, here it is {cell.base:,}"
    elif page is None and figure.per is None:
        total = _printed_total(printed, ways.figures)
        if total is not None and total != len(ways.asked.responses):
            yield f"the publication has {total:,} responses, here are {len(ways.asked.responses):,}"
    yield from ways.at_most(cell)


def _printed_total(printed: Printed, figures: Sequence[PrintedFigure]) -> int | None:
    """Returns the number of responses in the publication."""
    for figure in figures:
        if figure.holds is None and figure.among is None and not figure.percent:
            numbers = find_numbers(printed.cell(":".join(figure.key)))
            return int(numbers[0][0]) if numbers else None
    return None


def _count_alternatives(printed: Printed, fielded: FieldedSurvey) -> Alternatives:
    """Returns the cells under other interpretations of the questions."""
    return {
        how: {key: count.value for key, count in count_figures(figures, fielded.responses).items()}
        for how, figures in figures_otherwise(printed, fielded.questionnaire)
    }


class _Ways:
    """Alternative counts of the file: rows without consent, markers as answers, the row of question texts."""

    def __init__(self, fielded: FieldedSurvey, figures: Sequence[PrintedFigure], cells: Sequence[AuditCell]) -> None:
        self.asked = fielded
        self.figures = figures
        self._cells = cells

    def words(self) -> dict[str, str]:
        """Describes each kind of row or cell that was not counted."""
        rows = self.asked.rows
        without = [row.number for row in rows if not row.consented]
        marked = sum(len(row.marked) for row in rows)
        notes = {}
        if without:
            places = f"row {without[0]}" if len(without) == 1 else f"first: row {without[0]}"
            notes[CONSENT] = f"{_format_count(len(without), 'row')} without consent ({places})"
        if marked:
            notes[MARKERS] = f"{_format_count(marked, 'cell')} with a marker of the survey service instead of an answer"
        if rows and self.asked.header:
            notes[HEADER] = "the row of question texts"
        return notes

    def telling(self) -> Alternatives:
        """Returns the alternative count that explains most figures and contradicts none, reduced to what each needs.

        Any extra response would explain every figure that is one short. Only an alternative that also fits the other
        figures is more than chance.
        """
        values = self._values
        scores = {kinds: self._score(value) for kinds, value in values.items()}
        best = max(values, key=lambda kinds: (scores[kinds], -len(kinds)), default=())
        if not best or scores[best] <= 0:
            return {}
        explained: dict[str, dict[Key, float | str | None]] = {}
        for cell in self._cells:
            fitting = [
                kinds for kinds in values if set(kinds) <= set(best) and _fits(cell, values[kinds].get(cell.key))
            ]
            if fitting:
                explained.setdefault(self._describe_kinds(fitting[0]), {})[cell.key] = values[fitting[0]][
                    cell.key
                ].value
        return explained

    def at_most(self, cell: AuditCell) -> Iterator[str]:
        """Says what a figure would be with all rows and markers counted, naming only those that matter."""
        ways = [kinds for kinds in self._values if HEADER not in kinds]
        value = self._values[ways[-1]][cell.key].value if ways else None
        if value is not None and value != cell.computed:
            least = next(kinds for kinds in ways if self._values[kinds][cell.key].value == value)
            yield f"it would be {value:.4g} {self._describe_kinds(least)}"

    def _describe_kinds(self, kinds: Sequence[str]) -> str:
        return f"with {' and '.join(self.words()[kind] for kind in kinds)} counted"

    @cached_property
    def _values(self) -> dict[tuple[str, ...], Mapping[Key, AuditedCount]]:
        """Returns the figures under every alternative, smallest changes first."""
        known = self.words()
        ways = [kinds for size in range(1, len(known) + 1) for kinds in combinations(known, size)]
        return {kinds: self._count_with(kinds) for kinds in ways}

    def _score(self, values: Mapping[Key, AuditedCount]) -> int:
        gained = sum(cell.verdict == DIFFERS and _fits(cell, values.get(cell.key)) for cell in self._cells)
        spoiled = sum(
            cell.verdict in _FITS and cell.key in values and not _fits(cell, values[cell.key]) for cell in self._cells
        )
        return gained - spoiled

    def _count_with(self, kinds: Sequence[str]) -> Mapping[Key, AuditedCount]:
        responses: list[Answers] = []
        for row in self.asked.rows:
            if row.consented or CONSENT in kinds:
                marked = dict.fromkeys(row.marked, _MARKED) if MARKERS in kinds else {}
                responses.append({**row.answers, **marked})
        if HEADER in kinds:
            responses.append(dict.fromkeys(self.asked.header, _WORDED))
        return count_figures(self.figures, responses)


def _fits(cell: AuditCell, counted: AuditedCount | None) -> bool:
    return counted is not None and judge(cell.printed, counted.value) in _FITS


def _format_count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


_COLUMNS = (Column("n", "n"), Column("share", "share"), Column("base", "base"), Column("printed", "printed"))


def figure_tables(printed: Printed, figures: Sequence[PrintedFigure], fielded: FieldedSurvey) -> tuple[Table, ...]:
    """Builds one table per printed table; for figures printed twice it shows the count."""
    counts = [figure for figure in figures if not figure.percent]
    results = count_figures(counts, fielded.responses)
    titles = printed.settings.answers.titles if printed.settings.answers is not None else {}
    note = f"Of {len(fielded.responses):,} responses; each share is of those who answered the question."
    tables = []
    for name in dict.fromkeys(count.key[0] for count in counts):
        own = [count for count in counts if count.key[0] == name]
        groups = [
            Group(title, tuple(_row(figure, results[figure.key], printed) for figure in own if figure.title == title))
            for title in dict.fromkeys(figure.title for figure in own)
        ]
        tables.append(Table(name, titles.get(name, name), "", _COLUMNS, tuple(groups), notes=(note,)))
    return tuple(tables)


def _row(figure: PrintedFigure, counted: AuditedCount, printed: Printed) -> Row:
    count = int(counted.value or 0)
    share = count / counted.base if counted.base else None
    text = printed.cell(":".join(figure.key))
    cells = (
        Cell((whole(count),), (count,)),
        Cell((percent(share),), (share,)),
        Cell((whole(counted.base),), (counted.base,)),
        Cell((text,), (number_alone(text),)),
    )
    name = figure.key[1]
    return Row(name, name.partition(": ")[2] or name if figure.title else name, cells)

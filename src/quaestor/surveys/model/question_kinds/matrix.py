"""Questions with several rows, each answered with one step of the same scale."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from quaestor.base.errors import InputError, Problem
from quaestor.base.names import join_with_or, sort_by_similarity
from quaestor.measures.records import Share
from quaestor.measures.survey_answers import (
    GroupDifference,
    add_doubt,
    adjust_p_values,
    compare_groups,
    share_among,
    single_shares,
)
from quaestor.render.figures.records import Figure
from quaestor.render.table_model import Column as TableColumn
from quaestor.render.table_model import Group
from quaestor.render.table_model import Row as TableRow
from quaestor.surveys.model.answer_cells import CODE, AnswerCells, CellPart, plain
from quaestor.surveys.model.answer_columns import (
    AnswerColumn,
    Flags,
    Small,
    build_column,
    count_reasons,
    find_index,
    find_reasons,
    nested_field,
    option_places,
    texts_written,
)
from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.question_kinds.base import (
    Form,
    OptionPlaces,
    QuestionKind,
    check_cells,
    check_option_test,
    clean_texts,
    distinct_options,
    field_text,
    ordered_codes,
    problem_of,
)
from quaestor.surveys.model.question_results import (
    NOT_ALL_OFFERED,
    Counting,
    Distribution,
    Groups,
    QuestionResult,
    ResultLine,
    association_json,
    base_cell,
    build_selection,
    count_table,
    share_cell,
    share_parts,
)
from quaestor.surveys.model.records import Answer, MatrixRow, Missing, Option, Question
from quaestor.surveys.model.wording.catalogue import Wording

LEAST_ROWS = 4
"""A matrix of fewer rows is often answered with one step in good faith."""
_MOST_NAMED = 6


class Matrix(QuestionKind):
    """A step of the scale for each row."""

    name = "matrix"
    takes = frozenset({"options", "rows"})
    option_word = "step"
    meaningless_option_keys = ("text", "ends")
    compares_options = True
    is_drawn = True
    part = "row"
    reads_whole_cell = False
    holds = CODE
    holds_in_words = "a code"
    tidy_field = "code"
    can_lack_parts = True
    partly_offered = "was shown each row"
    stub = "row"
    answer_seconds = 2.0
    seconds_per_part = 4.0
    simulated_seconds = 25.0

    def check_options(self, question: Question) -> Iterator[Problem]:
        yield from super().check_options(question)
        if len(question.options) == 1:
            yield problem_of(question, f"it has one of its {self.option_word}s only: give it at least two")

    def check_test(self, question: Question, test: Condition) -> str:
        rows = [row.code for row in question.rows]
        if not test.row:
            if test.compare == "answered":
                return ""
            example = rows[0] if rows else "ROW"
            return (
                f"looks at {question.id!r} without a row: write which, as in `{question.id}.{example} {test.compare} …`"
            )
        if test.row not in rows:
            names = join_with_or(sort_by_similarity(test.row, rows)[:_MOST_NAMED]) or "none"
            return f"depends on the row {test.row!r}, which {question.id!r} has not: there are {names}"
        return "" if test.compare == "answered" else check_option_test(question, test, self.option_word)

    def examples(self, question: Question, tests: Sequence[Condition]) -> Iterator[Answer]:
        steps = distinct_options(question.options, tests)
        named = {test.row for test in tests}
        tested = [row.code for row in question.rows if row.code in named]
        alike = [row for row in question.rows if row.code not in named]
        free = [row.code for row in alike if not row.text] or [row.code for row in alike[:1]]
        rest = dict.fromkeys(free, steps[0]) if steps else {}
        for chosen in product([*steps, ""], repeat=len(tested)):
            rows = dict(zip(tested, chosen, strict=True))
            yield _with_texts(question, {**rest, **rows})
            if any(chosen):
                yield _with_texts(question, rows)

    def is_counted_with(self, question: Question, newer: Sequence[Question]) -> bool:
        """Two scales are the same if one only lacks steps of the other; with steps replaced, it is another scale."""
        steps = {step.code for step in question.options}
        others = [{step.code for step in other.options} for other in newer]
        return all(steps <= other or other <= steps for other in others)

    def shuffle(self, question: Question, chance: random.Random) -> Question:
        free = [row for row in question.rows if not row.text]
        chance.shuffle(free)
        return replace(question, rows=(*free, *(row for row in question.rows if row.text)))

    def read_form(self, question: Question, form: Form) -> Answer:
        name = f"q.{question.id}"
        rows = {row.code: field_text(form, f"{name}.{row.code}") for row in question.rows}
        texts = {row.code: field_text(form, f"{name}.{row.code}.text") for row in question.rows if row.text}
        return self.check(question, {"rows": rows, "texts": texts})

    def write_form(self, question: Question, answer: Answer) -> dict[str, list[str]]:
        name = f"q.{question.id}"
        texts = {f"{name}.{row}.text": [text] for row, text in answer.get("texts", {}).items()}
        return {**texts, **{f"{name}.{row}": [step] for row, step in answer.get("rows", {}).items()}}

    def check(self, question: Question, answer: Mapping[str, Any]) -> Answer:
        rows, steps = answer.get("rows", {}), {option.code for option in question.options}
        known = {row.code for row in question.rows}
        for row, step in rows.items():
            if row not in known or (step and step not in steps):
                raise InputError(f"{row[:60]!r} and {step[:60]!r} are no row and step of {question.id!r}")
        chosen = {row.code: rows[row.code] for row in question.rows if rows.get(row.code)}
        return {**({"rows": chosen} if chosen else {}), **clean_texts(question.rows, answer.get("texts", {}))}

    def lacking(self, question: Question, answer: Answer, words: Wording) -> str:
        rows = answer.get("rows", {})
        left = [row.label for row in question.rows if not row.text and row.code not in rows]
        return words.say("choose-steps", rows="; ".join(left)) if left else ""

    def in_words(self, question: Question, answer: Answer) -> str:
        steps = {option.code: option.label for option in question.options}
        labels = {row.code: row.label for row in question.rows} | answer.get("texts", {})
        return "; ".join(f"{labels[row]}: {steps[step]}" for row, step in answer.get("rows", {}).items())

    def lines(self, question: Question, answer: Answer) -> list[str]:
        rows, texts = answer.get("rows", {}), answer.get("texts", {})
        labels = {row.code: row.label for row in question.rows}
        lines = [self.in_words(question, {"rows": {row: step}, "texts": texts}) for row, step in rows.items()]
        return [*lines, *(f"{labels.get(row, row)}: {text}" for row, text in texts.items() if row not in rows)]

    def countable_codes(self, question: Question) -> list[str]:
        return [f"{row.code}/{step.code}" for row in question.rows for step in question.options]

    def parts(self, question: Question) -> tuple[str, ...]:
        return tuple(row.code for row in question.rows)

    def counted_parts(self, question: Question) -> Sequence[Option | MatrixRow]:
        return question.rows

    def worded_parts(self, question: Question) -> list[Option | MatrixRow]:
        return [row for row in question.rows if row.text]

    def cell(self, answer: Answer, code: str) -> str:
        return str(answer.get("rows", {}).get(code, ""))

    def tidy_line(self, code: str, answer: Answer, reason: str, options: OptionPlaces) -> tuple[str, ...]:
        step = self.cell(answer, code)
        lacking = reason if step else reason or Missing.SKIPPED.value
        return step, *options.get(step, ("", "")), answer.get("texts", {}).get(code, ""), "", lacking

    def codes(self, question: Question, code: str) -> Iterator[tuple[str, str, str]]:
        return ordered_codes(question)

    def read_cell(self, cells: AnswerCells, column: str, part: CellPart, cell: str) -> None:
        if part.kind != self.part:
            super().read_cell(cells, column, part, cell)
        elif step := cells.labels.codes.get(plain(cell)):
            cells.rows[part.code] = step
        else:
            cells.report(column, cell, "is not a step of the scale")

    def answer_in_cells(self, cells: AnswerCells) -> Answer:
        return check_cells(self, cells, "", {"rows": cells.rows, "texts": cells.plain_texts()})

    def stored_fields(self, question: Question) -> dict[str, pa.DataType]:
        steps = pa.struct([(row.code, pa.string()) for row in question.rows])
        texts = [(row.code, pa.string()) for row in question.rows if row.text]
        return {**({"rows": steps} if question.rows else {}), **({"texts": pa.struct(texts)} if texts else {})}

    def read_column(self, question: Question, answers: pa.StructArray, here: Flags) -> AnswerColumn:
        codes = [option.code for option in question.options]
        steps = [option_places(nested_field(answers, "rows", row.code), codes) for row in question.rows]
        places = np.stack([np.where(here, places, -1).astype(np.int16) for places in steps], axis=1)
        with_text = texts_written(answers, question.rows, here)
        answered = (places >= 0).any(axis=1) | with_text.any(axis=1)
        return build_column(question, answered, places=places, with_text=with_text)

    def select(self, column: AnswerColumn, option: str, row: str, place: int) -> Flags:
        if not row:
            return super().select(column, option, row, place)
        question = column.question
        steps = column.places[:, find_index(row, self.parts(question), "row")]
        codes = [option.code for option in question.options]
        chosen: Flags = steps == find_index(option, codes, "step") if option else steps >= 0
        return chosen

    def comparable_rows(self, question: Question) -> Iterator[tuple[str, str]]:
        yield from ((row.code, row.label) for row in question.rows if not row.text)

    def group(self, column: AnswerColumn, by: str, row: str, label: str) -> Groups:
        question = column.question
        name = by.partition(".")[0]
        place = find_index(row, self.parts(question), f"row of {name!r} (write {name}.ROW)")
        keys, labels = (tuple(getattr(step, key) for step in question.options) for key in ("code", "label"))
        members = column.places[:, place, None] == np.arange(len(keys))
        return Groups(by, question.rows[place].label, keys, labels, members, overlapping=False)

    def count(self, column: AnswerColumn, counting: Counting, result: QuestionResult) -> QuestionResult:
        rows = [_count_row(column, place, counting) for place in range(len(column.question.rows))]
        if counting.is_tested:
            tests = adjust_p_values([_compare_row(row, counting.seed) for row in rows])
            rows = [replace(row, crossed=test) for row, test in zip(rows, tests, strict=True)]
        return replace(result, rows=tuple(rows))

    def as_json(self, result: QuestionResult) -> dict[str, Any]:
        return {"rows": [_row_json(row) for row in result.rows]}

    def is_attentive(self, column: AnswerColumn, code: str) -> Flags:
        right = [step.code for step in column.question.options].index(code)
        attentive: Flags = (column.places == right).any(axis=1) & np.isin(column.places, (right, -1)).all(axis=1)
        return attentive

    def straight_lines(self, column: AnswerColumn, here: NDArray[np.int64]) -> Iterator[tuple[int, str]]:
        places = column.places[here]
        answered = (places >= 0).sum(axis=1)
        step = places.max(axis=1)
        same = (answered >= LEAST_ROWS) & ((places == step[:, None]) | (places < 0)).all(axis=1)
        for place in np.flatnonzero(same):
            label = column.question.options[step[place]].label
            words = f"All {answered[place]} rows of {column.question.id!r} have the step {label!r}."
            yield int(here[place]), words

    def table(self, result: QuestionResult, groups: Groups | None) -> tuple[tuple[TableColumn, ...], tuple[Group, ...]]:
        """One row for each of the question's; with groups, a heading for each and below it all and every group."""
        parts = share_parts(result.weighted is not None)
        steps = [TableColumn(step.code, step.label, parts) for step in result.question.options]
        columns, name = (TableColumn("n", "answered"), *steps), result.question.id
        if groups is None:
            rows = [
                _table_row(name, row.label, row.base, row, [line.share for line in row.lines]) for row in result.rows
            ]
            return columns, (Group("", tuple(rows)),)
        return columns, tuple(_grouped_rows(name, row, groups) for row in result.rows)

    def draw(self, result: QuestionResult, groups: Groups | None, *, narrow: bool = False) -> Figure | None:
        from quaestor.render.figures.likert import ScaleRow, draw_likert

        question = result.question
        codes = [step.code for step in question.options]
        centre = codes.index(question.centre) if question.centre in codes else None
        rows = [ScaleRow(*row) for row in _scale_rows(result, groups)]
        steps = [step.label for step in question.options]
        return draw_likert(steps, rows, centre=centre, name=question.id, title=question.text, narrow=narrow)

    def figure_size(self, result: QuestionResult, groups: Groups | None, *, narrow: bool) -> tuple[int, int] | None:
        from quaestor.render.figures.likert import ScaleRow, likert_size

        rows = [ScaleRow(*row) for row in _scale_rows(result, groups)]
        return likert_size([step.label for step in result.question.options], rows, narrow=narrow)


def _with_texts(question: Question, rows: Mapping[str, str]) -> Answer:
    """Returns steps of rows, with text where a row asks for it."""
    return {"rows": rows, "texts": {row.code: "…" for row in question.rows if row.text and rows.get(row.code)}}


def _count_row(column: AnswerColumn, place: int, counting: Counting) -> Distribution:
    options, row = column.question.options, column.question.rows[place]
    steps = column.places[counting.used, place]
    answered = steps >= 0
    shares = _step_shares(column, counting, steps, answered)
    by = [_step_shares(column, counting, steps, answered & member) for member in counting.members]
    lines = tuple(
        ResultLine(option.code, option.label, shares[step], by=tuple(group[step] for group in by))
        for step, option in enumerate(options)
    )
    missing = count_reasons(find_reasons(column, place)[counting.used])
    with_text = int(column.with_text[counting.used, place].sum())
    return Distribution(row.code, row.label, int(answered.sum()), missing, lines, with_text, counting.bases(answered))


def _compare_row(row: Distribution, seed: int) -> GroupDifference:
    difference = compare_groups(count_table(row.lines), seed)
    is_partly_offered = any(0 < line.share.of < row.base for line in row.lines)
    return add_doubt(difference, NOT_ALL_OFFERED) if is_partly_offered else difference


def _step_shares(column: AnswerColumn, counting: Counting, steps: Small, among: Flags) -> list[Share]:
    """Returns the share of each step, of those whose version has it."""
    count = len(column.question.options)
    if not column.offered_steps.size:
        return single_shares(steps[among], count, counting.weights_of(among))
    offered = column.offered_steps[counting.used]
    shares = []
    for step in range(count):
        chosen = (steps == step) & among
        shares.append(share_among(chosen, chosen | (offered[:, step] & among), counting.weights))
    return shares


def _row_json(row: Distribution) -> dict[str, Any]:
    return {
        "row": row.key,
        "label": row.label,
        "base": row.base,
        "missing": {reason.value: count for reason, count in row.missing.items()},
        "bases": list(row.bases),
        "texts": row.with_text,
        "steps": [line.as_json() for line in row.lines],
        "test": association_json(row.crossed),
    }


def _grouped_rows(question: str, row: Distribution, groups: Groups) -> Group:
    rows = [_table_row(question, "all", row.base, row, [line.share for line in row.lines])]
    for place, (key, label) in enumerate(zip(groups.keys, groups.labels, strict=True)):
        shares = [line.by[place] for line in row.lines]
        rows.append(_table_row(question, label, row.bases[place], row, shares, by=groups.name, group=key))
    return Group(row.label, tuple(rows))


def _table_row(
    question: str, title: str, base: int, row: Distribution, shares: Sequence[Share], **group: str
) -> TableRow:
    cells = [base_cell(question, base, row=row.key, **group)]
    for line, of_step in zip(row.lines, shares, strict=True):
        cells.append(share_cell(of_step, build_selection(question, line.key, row.key, **group)))
    return TableRow(".".join(filter(None, (row.key, group.get("group", "")))), title, tuple(cells))


def _scale_rows(result: QuestionResult, groups: Groups | None) -> Iterator[tuple[str, tuple[int, ...], str]]:
    """Yields label, counts by step and heading of each bar."""
    for row in result.rows:
        if groups is None:
            yield row.label, tuple(line.share.count for line in row.lines), ""
        for place, label in enumerate(groups.labels if groups else ()):
            yield label, tuple(line.by[place].count for line in row.lines), row.label

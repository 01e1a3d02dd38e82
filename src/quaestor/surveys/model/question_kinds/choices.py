"""Questions answered with one or several options: single, multiple, yes-no and consent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from quaestor.base.errors import Problem
from quaestor.measures.records import Share
from quaestor.measures.survey_answers import add_doubt, adjust_p_values, compare_groups, multiple_shares, share_among
from quaestor.render.figures.records import Figure
from quaestor.render.table_model import Column as TableColumn
from quaestor.render.table_model import Group
from quaestor.render.table_model import Row as TableRow
from quaestor.surveys.model.answer_cells import CODE, TEXT, TICKED, AnswerCells, CellPart, plain, split_known
from quaestor.surveys.model.answer_columns import (
    AnswerColumn,
    Flags,
    build_column,
    listed_options,
    nested_field,
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
    typed_values,
)
from quaestor.surveys.model.question_results import (
    NOT_ALL_OFFERED,
    SHARE_COLUMNS,
    WEIGHTED_COLUMNS,
    Counting,
    Distribution,
    Groups,
    QuestionResult,
    ResultLine,
    association_json,
    build_selection,
    count_table,
    share_cell,
    share_cells,
    share_parts,
    weighted_cells,
)
from quaestor.surveys.model.records import (
    AGREE,
    DECLINE,
    NO,
    YES,
    Answer,
    MatrixRow,
    Option,
    Question,
    ResponseStatus,
)
from quaestor.surveys.model.wording.catalogue import InvalidAnswer

_NOT_CHOSEN = ("0", "false", "no")


class SingleChoice(QuestionKind):
    """One of the options."""

    name = "single"
    shape = "single"
    takes = frozenset({"options"})
    is_choice = True
    compares_options = True
    is_drawn = True
    holds = CODE
    holds_in_words = "a code"
    tidy_field = "code"
    partly_offered = "was offered each option; shares are of those who were"
    answer_seconds = 3.0

    def check_options(self, question: Question) -> Iterator[Problem]:
        yield from super().check_options(question)
        if len(question.options) == 1:
            words = "there is one option only, so there is nothing to choose: add another"
            yield problem_of(question, words, grave=False)

    def check_comparison(self, question: Question, test: Condition) -> str:
        return check_option_test(question, test, self.option_word)

    def examples(self, question: Question, tests: Sequence[Condition]) -> Iterator[Answer]:
        yield from ({"choices": [option.code]} for option in question.options)

    def read_form(self, question: Question, form: Form) -> Answer:
        name, values = f"q.{question.id}", typed_values(question, form)
        texts = {part.code: field_text(form, f"{name}.{part.code}.text") for part in self.worded_parts(question)}
        # Text of an "other" that was not ticked is an answer all the same.
        chosen = [*values, *(code for code, text in texts.items() if text)]
        if chosen and not values and form.get(name) and not self.has_several_choices:
            raise _refuse_several(question, chosen)  # "no answer" was chosen, and there is text all the same
        return self.check(question, {"choices": chosen, "texts": texts} if chosen else {})

    def write_form(self, question: Question, answer: Answer) -> dict[str, list[str]]:
        name = f"q.{question.id}"
        form = {f"{name}.{code}.text": [text] for code, text in answer.get("texts", {}).items()}
        return {**form, name: list(answer["choices"])} if answer.get("choices") else form

    def check(self, question: Question, answer: Mapping[str, Any]) -> Answer:
        codes = list(answer.get("choices", ()))
        known = {option.code for option in question.options}
        for code in codes:
            if code not in known:
                raise InvalidAnswer("no-option", said=code[:60], question=question.id)
        chosen = [option for option in question.options if option.code in codes]
        if not self.has_several_choices and len(chosen) > 1:
            raise _refuse_several(question, codes)
        if len(chosen) > 1 and any(option.alone for option in chosen):
            raise InvalidAnswer("goes-alone", label=next(option.label for option in chosen if option.alone))
        if not chosen:
            return {}
        return {"choices": [option.code for option in chosen], **clean_texts(chosen, answer.get("texts", {}))}

    def in_words(self, question: Question, answer: Answer) -> str:
        return "; ".join(self.lines(question, answer))

    def lines(self, question: Question, answer: Answer) -> list[str]:
        labels, texts = {option.code: option.label for option in question.options}, answer.get("texts", {})
        return [
            f"{labels.get(code, code)}: {texts[code]}" if texts.get(code) else labels.get(code, code)
            for code in answer.get("choices", ())
        ]

    def countable_codes(self, question: Question) -> list[str]:
        return [option.code for option in question.options]

    def worded_parts(self, question: Question) -> list[Option | MatrixRow]:
        return [option for option in question.options if option.text]

    def cell(self, answer: Answer, code: str) -> str:
        return str(next(iter(answer.get("choices", ())), ""))

    def tidy_line(self, code: str, answer: Answer, reason: str, options: OptionPlaces) -> tuple[str, ...]:
        chosen = self.cell(answer, code)
        return chosen, *options.get(chosen, ("", "")), answer.get("texts", {}).get(chosen, ""), "", reason

    def codes(self, question: Question, code: str) -> Iterator[tuple[str, str, str]]:
        return ordered_codes(question)

    def read_cell(self, cells: AnswerCells, column: str, part: CellPart, cell: str) -> None:
        if part.kind == TEXT:
            super().read_cell(cells, column, part, cell)
            return
        codes = cells.labels.codes
        labels, unknown = split_known(cell, [*codes, *cells.labels.markers], cells.labels.separator)
        if any(label not in codes for label in labels):
            cells.report_marker(column, cell, "goes with a marker")
        for label in labels:
            if label in codes:
                cells.chosen.setdefault(codes[label], column)
        for piece in unknown:
            cells.report(column, piece, "is not an option")

    def answer_in_cells(self, cells: AnswerCells) -> Answer:
        several = self.has_several_choices
        if len(cells.chosen) > 1 and not several:
            column = next(iter(cells.chosen.values()))
            why = "is more than one answer to a question that takes one"
            cells.report(column, cells.option_labels(cells.chosen), why)
            return {}
        for code, (column, text) in list(cells.texts.items()):
            if several or not cells.chosen:
                # Text of an "other" that was not ticked is an answer all the same.
                cells.chosen.setdefault(code, column)
            elif code not in cells.chosen:
                cells.report(column, text, "are words of an option that was not chosen")
                del cells.texts[code]
        if not cells.chosen:
            return {}
        goes_alone = {option.code for option in cells.question.options if option.alone}
        alone = [code for code in cells.chosen if code in goes_alone]
        if alone and len(cells.chosen) > 1:
            why = f"has {cells.option_labels(alone[:1])!r} with others, which goes alone"
            cells.report_odd(cells.chosen[alone[0]], cells.option_labels(cells.chosen), why)
        column = next(iter(cells.chosen.values()))
        return check_cells(self, cells, column, {"choices": [*cells.chosen], "texts": cells.plain_texts()})

    def stored_fields(self, question: Question) -> dict[str, pa.DataType]:
        texts = [(part.code, pa.string()) for part in self.worded_parts(question)]
        return {"choices": pa.list_(pa.string()), **({"texts": pa.struct(texts)} if texts else {})}

    def read_column(self, question: Question, answers: pa.StructArray, here: Flags) -> AnswerColumn:
        chosen = np.zeros((len(here), len(question.options)), np.bool_)
        chosen[listed_options(nested_field(answers, "choices"), question.options)[:2]] = True
        chosen[~here] = False
        with_text = texts_written(answers, question.options, here)
        return build_column(question, chosen.any(axis=1), chosen=chosen, with_text=with_text)

    def comparable_rows(self, question: Question) -> Iterator[tuple[str, str]]:
        yield "", ""

    def group(self, column: AnswerColumn, by: str, row: str, label: str) -> Groups:
        if row:
            return super().group(column, by, row, label)
        options = column.question.options
        keys, labels = tuple(option.code for option in options), tuple(option.label for option in options)
        return Groups(by, label, keys, labels, column.chosen, overlapping=self.has_several_choices)

    def count(self, column: AnswerColumn, counting: Counting, result: QuestionResult) -> QuestionResult:
        answered = column.answered[counting.used]
        with_text = column.with_text[counting.used].sum(axis=0).tolist()
        shares = _option_shares(column, counting, answered)
        by = [_option_shares(column, counting, answered & member) for member in counting.members]
        lines = tuple(
            ResultLine(option.code, option.label, shares[place], with_text[place], tuple(group[place] for group in by))
            for place, option in enumerate(column.question.options)
        )
        whole = Distribution("", "", result.base, result.missing, lines, sum(with_text), result.bases)
        return replace(result, rows=(self.test(column.question, whole, counting) if counting.is_tested else whole,))

    def test(self, question: Question, whole: Distribution, counting: Counting) -> Distribution:
        """Returns a distribution with the test whether groups differ."""
        if question.attention:
            return whole
        difference = compare_groups(count_table(whole.lines), counting.seed)
        if any(0 < line.share.of < whole.base for line in whole.lines):
            difference = add_doubt(difference, NOT_ALL_OFFERED)
        return replace(whole, crossed=difference)

    def as_json(self, result: QuestionResult) -> dict[str, Any]:
        whole = result.rows[0]
        return {"options": [line.as_json() for line in whole.lines], "test": association_json(whole.crossed)}

    def table(self, result: QuestionResult, groups: Groups | None) -> tuple[tuple[TableColumn, ...], tuple[Group, ...]]:
        return shares_table(result, groups)

    def draw(self, result: QuestionResult, groups: Groups | None, *, narrow: bool = False) -> Figure | None:
        return draw_shares(result, "several could be chosen" if self.has_several_choices else "")


class MultipleChoice(SingleChoice):
    """Any number of the options."""

    name = "multiple"
    shape = "multiple"
    takes = frozenset({"options", "several"})
    has_several_choices = True
    part = "option"
    holds = TICKED
    holds_in_words = "1 where the option was chosen, 0 where not"
    tidy_field = "number"
    answer_seconds = 5.0
    simulated_seconds = 14.0

    def check_options(self, question: Question) -> Iterator[Problem]:
        return QuestionKind.check_options(self, question)

    def check_keys(self, question: Question) -> Iterator[Problem]:
        least, most = question.min_choices, question.max_choices
        if most and least > most:
            words = f"at least {least} and at most {most} options are to be chosen, which nobody can do: swap them"
            yield problem_of(question, words)
        together = sum(not option.alone for option in question.options)
        for name, number, grave in (("min_choices", least, True), ("max_choices", most, False)):
            if number > together:
                words = f"{name} is {number}, but only {together} options can be combined: lower it"
                yield problem_of(question, words, grave)

    def examples(self, question: Question, tests: Sequence[Condition]) -> Iterator[Answer]:
        """Yields combinations of the options that tests tell apart, with others up to the least number to choose."""
        distinct = distinct_options(question.options, tests)
        others = [option.code for option in question.options if option.code not in distinct]
        for size in range(1, len(distinct) + 1):
            for some in combinations(distinct, size):
                yield {"choices": [*some]}
                if len(some) < question.min_choices:
                    yield {"choices": [*some, *others[: question.min_choices - len(some)]]}

    def instruction(self, question: Question) -> tuple[str, dict[str, int]] | None:
        least, most = question.min_choices, question.max_choices
        if least and least == most:
            return "choose-exactly", {"count": least}
        if least and most:
            return "choose-between", {"least": least, "most": most}
        if most:
            return "choose-at-most", {"most": most}
        return ("choose-at-least", {"least": least}) if least > 1 else None

    def check(self, question: Question, answer: Mapping[str, Any]) -> Answer:
        checked = super().check(question, answer)
        goes_alone = {option.code for option in question.options if option.alone}
        count = len(checked.get("choices", ()))
        if not count or goes_alone & {*checked["choices"]}:
            return checked
        if count < question.min_choices:
            raise InvalidAnswer("too-few-choices", count=count, least=question.min_choices)
        if 0 < question.max_choices < count:
            raise InvalidAnswer("too-many-choices", count=count, most=question.max_choices)
        return checked

    def parts(self, question: Question) -> tuple[str, ...]:
        return tuple(option.code for option in question.options)

    def cell(self, answer: Answer, code: str) -> str:
        return str(int(code in answer.get("choices", ())))

    def tidy_line(self, code: str, answer: Answer, reason: str, options: OptionPlaces) -> tuple[str, ...]:
        chosen = code in answer.get("choices", ())
        ticked = "" if reason else str(int(chosen))
        return code if chosen else "", *options[code], answer.get("texts", {}).get(code, ""), ticked, reason

    def codes(self, question: Question, code: str) -> Iterator[tuple[str, str, str]]:
        return (option for option in ordered_codes(question) if option[0] == code)

    def read_cell(self, cells: AnswerCells, column: str, part: CellPart, cell: str) -> None:
        if part.kind != self.part:
            super().read_cell(cells, column, part, cell)
        elif cell.casefold() not in _NOT_CHOSEN or plain(cell).casefold() in cells.labels.option_names.get(
            part.code, ()
        ):
            cells.chosen.setdefault(part.code, column)

    def test(self, question: Question, whole: Distribution, counting: Counting) -> Distribution:
        yes_and_no = [
            [[group.count for group in line.by], [group.of - group.count for group in line.by]] for line in whole.lines
        ]
        tests = adjust_p_values([compare_groups(table, counting.seed) for table in yes_and_no])
        lines = [replace(line, crossed=test) for line, test in zip(whole.lines, tests, strict=True)]
        return replace(whole, lines=tuple(lines))


class YesNo(SingleChoice):
    """One of two options, Yes and No where the question names none."""

    name = "yes-no"
    answer_seconds = 2.0

    def default_options(self, say: Callable[[str], str]) -> tuple[Option, ...]:
        return Option(YES, say("yes")), Option(NO, say("no"))

    def check_options(self, question: Question) -> Iterator[Problem]:
        yield from QuestionKind.check_options(self, question)
        if question.options and len(question.options) != 2:
            words = f'it has {len(question.options)} options: give it two, or make it a question of kind "single"'
            yield problem_of(question, words)


class ConsentQuestion(SingleChoice):
    """Whether somebody agrees to take part; everybody is asked first, and a response without it is not stored."""

    name = "consent"
    is_always_required = True
    asks_consent = True

    def default_options(self, say: Callable[[str], str]) -> tuple[Option, ...]:
        return Option(AGREE, say("agree")), Option(DECLINE, say("decline"), ends=True)

    def check_options(self, question: Question) -> Iterator[Problem]:
        return QuestionKind.check_options(self, question)

    def end(self, question: Question, answer: Answer) -> ResponseStatus | None:
        if DECLINE in answer.get("choices", ()):
            return ResponseStatus.DECLINED
        return super().end(question, answer)

    def comparable_rows(self, question: Question) -> Iterator[tuple[str, str]]:
        yield from ()

    def test(self, question: Question, whole: Distribution, counting: Counting) -> Distribution:
        return whole


def shares_table(result: QuestionResult, groups: Groups | None) -> tuple[tuple[TableColumn, ...], tuple[Group, ...]]:
    """Returns columns and rows of a table of shares, with two further columns for each group."""
    name, is_weighted = result.question.id, result.weighted is not None
    columns, rows = [*SHARE_COLUMNS, *(WEIGHTED_COLUMNS if is_weighted else ())], []
    if groups is not None:
        for key, label, base in zip(groups.keys, groups.labels, result.bases, strict=True):
            heading = f"{label} (n = {base:,})"
            columns.append(TableColumn(f"group-{key}", heading, share_parts(is_weighted), spanner=groups.label))
    for line in result.rows[0].lines:
        cells = [*share_cells(line.share, build_selection(name, option=line.key)), *weighted_cells(line.share)]
        if groups is not None:
            for key, of_group in zip(groups.keys, line.by, strict=True):
                cells.append(share_cell(of_group, build_selection(name, line.key, by=groups.name, group=key)))
        rows.append(TableRow(line.key, line.label, tuple(cells)))
    return tuple(columns), (Group("", tuple(rows)),)


def draw_shares(result: QuestionResult, note: str = "") -> Figure:
    """Returns a figure with a bar for each share."""
    from quaestor.render.figures.choices import draw_choices
    from quaestor.render.figures.records import ChoiceBar

    lines = [ChoiceBar(line.label, line.share.count, line.share.value, line.share.low, line.share.high)
             for line in result.rows[0].lines]  # fmt: skip
    return draw_choices(lines, result.base, note=note, name=result.question.id, title=result.question.text)


def _refuse_several(question: Question, codes: Sequence[str]) -> InvalidAnswer:
    """Returns the refusal of more than one answer, or of text of an option that was not chosen."""
    label = next((option.label for option in question.options if option.code in codes and option.text), "")
    return InvalidAnswer("only-one-beside", label=label) if label else InvalidAnswer("only-one")


def _option_shares(column: AnswerColumn, counting: Counting, among: Flags) -> list[Share]:
    """Returns the share of each option, of those whose version has it."""
    chosen = column.chosen[counting.used]
    if not column.offered.size:
        return multiple_shares(chosen, among, counting.weights)
    offered = column.offered[counting.used] | chosen
    return [
        share_among(chosen[:, place], offered[:, place] & among, counting.weights) for place in range(chosen.shape[1])
    ]

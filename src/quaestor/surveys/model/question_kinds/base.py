"""What every kind of question can do; a kind overrides what is different about it.

An answer is JSON. `choices`: codes of options, in the order of the questionnaire; `texts`: text of one's own by option
or row; `rows`: the step by row; `ranks`: codes, the first first; `number` and `text`: what was typed; `date`: a day as
YYYY-MM-DD. A form has the fields `q.ID` with codes or what was typed, `q.ID.CODE.text`, `q.ID.ROW` and
`q.ID.CODE.rank`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from quaestor.base.errors import InputError, Problem
from quaestor.base.names import join_with_or, sort_by_similarity
from quaestor.render.figures.records import Figure
from quaestor.render.table_model import Column as TableColumn
from quaestor.render.table_model import Group
from quaestor.render.table_model import Row as TableRow
from quaestor.surveys.model.answer_cells import (
    LONGEST_TEXT,
    MISSING,
    TEXT,
    WHOLE_ANSWER,
    WORDS,
    AnswerCells,
    CellPart,
    ExportColumn,
)
from quaestor.surveys.model.answer_columns import AnswerColumn, Flags, build_column, find_index, nested_field, valid
from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.question_results import Counting, Groups, QuestionResult, base_cell
from quaestor.surveys.model.records import Answer, MatrixRow, Option, Question, ResponseStatus
from quaestor.surveys.model.wording.catalogue import InvalidAnswer, Wording

Form = Mapping[str, Sequence[str]]
"""The fields of a form that was sent."""
OptionPlaces = Mapping[str, tuple[str, str]]
"""Label and place by the code of an option."""
_UNSTORABLE = dict.fromkeys((0, 0xFFFE, 0xFFFF))
"""Dropped, since neither a database nor a workbook can hold them all."""
_MOST_NAMED = 6
_ORDER = (">", ">=", "<", "<=")


class QuestionKind:
    """Reads, checks, shows, exports, imports, counts and draws the answers to questions of one kind.

    As it is, an answer is one text that was typed; it is stored, exported and imported as it is, and its answers are
    counted but not read.
    """

    name: ClassVar[str]
    """In the questionnaire file, and of the template in `web/templates/question_kinds/`."""
    shape: ClassVar[str] = ""
    """Another kind whose answers look the same, so that versions of both kinds are counted together."""
    field: ClassVar[str] = "text"
    """The key of an answer that is typed."""
    takes: ClassVar[frozenset[str]] = frozenset()
    """Keys of a question that not every kind takes: options, rows, `bounds` for low, high, whole and unit,
    `days` for earliest and latest, `slider` for step and the labels of both ends,
    `several` for the number of choices, `pattern` for the pattern of a text,
    `link` for the length of a value in the link."""
    option_word: ClassVar[str] = "option"
    meaningless_option_keys: ClassVar[tuple[str, ...]] = ()
    """Keys of an option that mean nothing to this kind."""
    is_always_required: ClassVar[bool] = False
    asks_consent: ClassVar[bool] = False
    is_hidden: ClassVar[bool] = False
    """Whether nobody is asked: the answer is set when a response begins, and no form changes it."""
    is_choice: ClassVar[bool] = False
    """Whether an answer is `choices` and `texts`: one or several of the options."""
    has_several_choices: ClassVar[bool] = False
    compares_options: ClassVar[bool] = False
    """Whether a condition compares an answer with the codes of options."""
    is_free_text: ClassVar[bool] = False
    """Whether an answer is written freely, so that it is read instead of counted and can become an item."""
    is_drawn: ClassVar[bool] = False
    """Whether `draw` returns a figure."""
    part: ClassVar[str] = WHOLE_ANSWER
    """The part of an answer that a column of an export has: the answer, or one option, row or rank."""
    reads_whole_cell: ClassVar[bool] = True
    """Whether one cell of a file can hold the whole answer."""
    holds: ClassVar[str] = WORDS
    """What a column of a wide table holds."""
    holds_in_words: ClassVar[str] = "words"
    tidy_field: ClassVar[str] = "text"
    """The field of a tidy line that has the answer."""
    can_lack_parts: ClassVar[bool] = False
    """Whether parts of an answer can be missing where one is required."""
    partly_offered: ClassVar[str] = "was offered each option"
    """The end of a remark where versions differ in options or rows: not everybody …"""
    stub: ClassVar[str] = ""
    """The heading above the first column of its table."""
    answer_seconds: ClassVar[float] = 6.0
    """About how long it takes to answer, besides reading it."""
    seconds_per_part: ClassVar[float] = 0.0
    """For every row of a matrix and every option that is ranked."""
    simulated_seconds: ClassVar[float] = 8.0
    """How long a simulated respondent takes."""

    # Read from the questionnaire file and checked.

    def default_options(self, say: Callable[[str], str]) -> tuple[Option, ...]:
        """Returns the options of a question that names none, in the words of the language."""
        return ()

    def check_options(self, question: Question) -> Iterator[Problem]:
        """Yields what is wrong with the number of options."""
        if "options" in self.takes and not question.options:
            yield problem_of(question, f"it has no {self.option_word}s: give it some")

    def check_keys(self, question: Question) -> Iterator[Problem]:
        """Yields what is wrong with the keys that not every kind takes, besides options and rows."""
        yield from ()

    def check_test(self, question: Question, test: Condition) -> str:
        """Returns why a condition that looks at an answer can never hold as it is meant; empty where it can."""
        if test.row:
            return f"depends on the row {test.row!r} of {question.id!r}, which has no rows: write `{question.id}` alone"
        return "" if test.compare == "answered" else self.check_comparison(question, test)

    def check_comparison(self, question: Question, test: Condition) -> str:
        """Returns why an answer cannot be compared with the value of a test; empty where it can."""
        return (
            f"compares {question.id!r}, where words are written or options ranked, with {test.value!r}: "
            f"all that can be tested is `{question.id} answered`"
        )

    def examples(self, question: Question, tests: Sequence[Condition]) -> Iterator[Answer]:
        """Yields answers that tests tell apart, as a form would have them; one that `check` refuses is passed over."""
        yield {self.field: "…"}

    def is_counted_with(self, question: Question, newer: Sequence[Question]) -> bool:
        """Tells whether answers to a version can be counted together with those to newer ones of the same shape."""
        return True

    # Shown and answered.

    def shuffle(self, question: Question, chance: random.Random) -> Question:
        """Returns a question with its options in any order, "other" and what goes alone at the end."""
        free = [option for option in question.options if not (option.text or option.alone)]
        last = [option for option in question.options if option.text or option.alone]
        chance.shuffle(free)
        return replace(question, options=(*free, *last))

    def instruction(self, question: Question) -> tuple[str, dict[str, int]] | None:
        """Returns the key and values of the text that says how to answer; None if there is nothing to say."""
        return None

    def read_form(self, question: Question, form: Form) -> Answer:
        """Returns the answer that a form gives, empty where it gives none; raises InputError where it cannot be one."""
        values = typed_values(question, form)
        return self.check(question, {self.field: values[0]} if values else {})

    def write_form(self, question: Question, answer: Answer) -> dict[str, list[str]]:
        """Returns the fields that `read_form` reads as this answer."""
        return {f"q.{question.id}": [answer[self.field]]} if self.field in answer else {}

    def check(self, question: Question, answer: Mapping[str, Any]) -> Answer:
        """Returns an answer as it is stored; raises InputError where the question does not allow it."""
        text = clean_text(str(answer.get(self.field, "")))
        return {self.field: text} if text.strip() else {}

    def lacking(self, question: Question, answer: Answer, words: Wording) -> str:
        """Returns what is missing from an answer to a required question; empty where nothing is."""
        return "" if answer else words.say("please-answer")

    def end(self, question: Question, answer: Answer) -> ResponseStatus | None:
        """Returns what becomes of a response that an answer ends; None where it goes on."""
        chosen = answer.get("choices", ())
        ends = any(option.ends and option.code in chosen for option in question.options)
        return ResponseStatus.SCREENED_OUT if ends else None

    def in_words(self, question: Question, answer: Answer) -> str:
        """Returns an answer as one line, for a person or to be piped into a later text."""
        return str(answer.get(self.field) or "")

    def lines(self, question: Question, answer: Answer) -> list[str]:
        """Returns an answer as lines, one for each part."""
        words = self.in_words(question, answer)
        return [f"{words} {question.unit}".strip()] if words else []

    def draw_answer(self, question: Question, chance: random.Random, write: Callable[[], str]) -> Answer:
        """Returns a plausible answer of a simulated respondent; `write` makes up a sentence."""
        return self.check(question, chance.choice(list(self.examples(question, ()))))

    def countable_codes(self, question: Question) -> list[str]:
        """Returns what can be counted of simulated answers, in the order of the questionnaire."""
        return []

    # Exported and imported.

    def parts(self, question: Question) -> tuple[str, ...]:
        """Returns the parts of an answer that get a line each; a question without parts has one, without a name."""
        return ("",)

    def counted_parts(self, question: Question) -> Sequence[Option | MatrixRow]:
        """Returns what shares are counted of."""
        return question.options

    def worded_parts(self, question: Question) -> list[Option | MatrixRow]:
        """Returns the options or rows that ask for text of one's own."""
        return []

    def columns(self, question: Question) -> Iterator[ExportColumn]:
        """Yields the columns of a question in a wide table."""
        texts = [part.code for part in self.worded_parts(question)]
        parts = self.parts(question)
        for code in parts:
            name = f"{question.id}.{code}" if code else question.id
            yield ExportColumn(name, question, self.holds, code, self.part)
            if code in texts:
                yield ExportColumn(f"{name}.text", question, TEXT, code, TEXT)
        for code in texts:
            if code not in parts:
                yield ExportColumn(f"{question.id}.{code}.text", question, TEXT, code, TEXT)
        yield ExportColumn(f"{question.id}:missing", question, MISSING, part=MISSING)

    def cell(self, answer: Answer, code: str) -> str:
        """Returns the cell of a wide table for an answer, or for one part of it."""
        return str(answer.get(self.field, ""))

    def convert(self, answer: Answer, factor: float) -> Answer:
        """Returns an answer in another unit, for an export."""
        return answer

    def tidy_line(self, code: str, answer: Answer, reason: str, options: OptionPlaces) -> tuple[str, ...]:
        """Returns code, label, order, text, number and reason of one part of an answer."""
        return "", "", "", str(answer.get(self.field, "")), "", reason

    def codes(self, question: Question, code: str) -> Iterator[tuple[str, str, str]]:
        """Yields code, label and order of what a part can say, as a tidy line has them."""
        yield "", question.unit, ""

    def mapped_codes(self, question: Question, part: str) -> Sequence[str]:
        """Returns the codes that a column of a file can be about."""
        if part == TEXT:
            return [worded_part.code for worded_part in self.worded_parts(question)]
        return self.parts(question) if part == self.part else ()

    def read_cell(self, cells: AnswerCells, column: str, part: CellPart, cell: str) -> None:
        """Adds what one cell of a row says to the parts of an answer."""
        if part.kind == TEXT:
            cells.add_text(column, part.code, cell)
        else:
            cells.value = (column, cell)

    def answer_in_cells(self, cells: AnswerCells) -> Answer:
        """Returns the answer that the cells of a row make up; empty where nothing could be read."""
        return check_cells(self, cells, cells.value[0], {self.field: cells.value[1]}) if cells.value else {}

    # Counted.

    def stored_fields(self, question: Question) -> dict[str, pa.DataType]:
        """Returns the fields of its answers in Arrow."""
        return {self.field: pa.string()}

    def read_column(self, question: Question, answers: pa.StructArray, here: Flags) -> AnswerColumn:
        """Returns the stored answers as arrays; of responses that are not `here`, none is to this question."""
        answered = valid(nested_field(answers, self.field)) & here
        return build_column(question, answered)

    def select(self, column: AnswerColumn, option: str, row: str, place: int) -> Flags:
        """Returns the responses that a number counts: who chose an option, or answered at all."""
        if not option:
            return column.answered
        return column.chosen[:, find_index(option, [option.code for option in column.question.options], "option")]

    def comparable_rows(self, question: Question) -> Iterator[tuple[str, str]]:
        """Yields code and label of each row to compare responses by; both are empty for a whole question."""
        yield from ()

    def group(self, column: AnswerColumn, by: str, row: str, label: str) -> Groups:
        """Returns responses in groups by their answers."""
        others = "a question of choices, QUESTION.ROW, stratum, version or language"
        raise InputError(f"{by!r} has no options to compare by: name {others}")

    def count(self, column: AnswerColumn, counting: Counting, result: QuestionResult) -> QuestionResult:
        """Returns a result, which has its base, with what is counted of the answers."""
        return result

    def as_json(self, result: QuestionResult) -> dict[str, Any]:
        """Returns what is counted, unrounded."""
        return {}

    def is_attentive(self, column: AnswerColumn, code: str) -> Flags:
        """Returns who answered an attention check as it asks."""
        right = [option.code for option in column.question.options].index(code)
        attentive: Flags = column.chosen[:, right] & (column.chosen.sum(axis=1) == 1)
        return attentive

    def straight_lines(self, column: AnswerColumn, here: NDArray[np.int64]) -> Iterator[tuple[int, str]]:
        """Yields the place of each response that gives every part the same answer, and a sentence that says so."""
        yield from ()

    # Printed and drawn.

    def remarks(self, result: QuestionResult) -> list[str]:
        """Returns sentences below its table: results that have no cell in it."""
        return []

    def table(self, result: QuestionResult, groups: Groups | None) -> tuple[tuple[TableColumn, ...], tuple[Group, ...]]:
        """Returns columns and rows of its table."""
        row = TableRow("answers", "answers", (base_cell(result.question.id, result.base),))
        return (TableColumn("n", "n"),), (Group("", (row,)),)

    def draw(self, result: QuestionResult, groups: Groups | None, *, narrow: bool = False) -> Figure | None:
        """Returns its figure; `narrow` for a phone."""
        return None

    def figure_size(self, result: QuestionResult, groups: Groups | None, *, narrow: bool) -> tuple[int, int] | None:
        """Returns width and height of a figure that says more than bars next to the numbers, without drawing it."""
        return None


def problem_of(question: Question, words: str, grave: bool = True) -> Problem:
    return Problem(f"question {question.id}", words, grave)


def typed_values(question: Question, form: Form) -> list[str]:
    return [value for value in form.get(f"q.{question.id}", ()) if value.strip()]


def field_text(form: Form, name: str) -> str:
    return (form.get(name) or ("",))[0].strip()


def clean_text(words: str) -> str:
    """Returns a text as it is stored; raises NotTaken where it is too long."""
    if len(words) > LONGEST_TEXT:
        raise InvalidAnswer("too-long", length=f"{len(words):,}", most=f"{LONGEST_TEXT:,}")
    whole = words.replace("\r\n", "\n").replace("\r", "\n").translate(_UNSTORABLE)
    return whole.encode("utf-8", "replace").decode().strip()


def clean_texts(parts: Iterable[Option | MatrixRow], texts: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Returns the part of an answer that holds text of one's own; empty where there is none."""
    cleaned = {part.code: clean_text(texts.get(part.code, "")) for part in parts if part.text}
    written = {code: text for code, text in cleaned.items() if text}
    return {"texts": written} if written else {}


def check_option_test(question: Question, test: Condition, word: str) -> str:
    """Returns why an answer that has codes of options cannot be tested so; empty where it can."""
    if test.compare in _ORDER:
        return f"compares {question.id!r} with the number {test.value}, but it has {word}s: test it with = or !="
    codes = [option.code for option in question.options]
    if test.value in codes:
        return ""
    names = join_with_or(sort_by_similarity(test.value, codes)[:_MOST_NAMED]) or "none"
    return f"looks for {test.value!r}, which is no {word} of {question.id!r}: there are {names}"


def distinct_options(options: Sequence[Option], tests: Sequence[Condition]) -> list[str]:
    """Returns the options that a test names, that end, or that go alone, and before them one of the others."""
    named = {test.value for test in tests}
    distinct = [option.code for option in options if option.code in named or option.ends or option.alone]
    alike = [option.code for option in options if option.code not in distinct][:1]
    return [*alike, *distinct]


def check_cells(kind: QuestionKind, cells: AnswerCells, column: str, answer: Mapping[str, object]) -> Answer:
    """Returns the answer in cells as it is stored; one that is refused is reported.

    What people answered elsewhere is stored although it breaks a rule of this questionnaire, and reported as odd; the
    caller reports options that go alone.
    """
    options = tuple(replace(option, alone=False) for option in cells.question.options)
    question = replace(cells.question, options=options)
    words = str(next(iter(answer.values())))
    try:
        checked = kind.check(replace(question, min_choices=0, max_choices=0, pattern=""), answer)
    except InputError as error:
        cells.report(column, words, f"cannot be taken: {error}")
        return {}
    try:
        kind.check(question, answer)
    except InputError as error:
        cells.report_odd(column, words, f"would not be accepted here: {error}")
    return checked


def ordered_codes(question: Question) -> Iterator[tuple[str, str, str]]:
    """Yields code, label and order of every option."""
    for place, option in enumerate(question.options, start=1):
        yield option.code, option.label, str(place)

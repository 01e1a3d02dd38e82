"""Questions that ask to put options into an order."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from quaestor.base.errors import InputError, Problem
from quaestor.measures.survey_answers import OptionRank, rankings
from quaestor.render.figures.records import Figure
from quaestor.render.number_format import decimal, percent, whole
from quaestor.render.table_model import Cell, Group
from quaestor.render.table_model import Column as TableColumn
from quaestor.render.table_model import Row as TableRow
from quaestor.surveys.model.answer_cells import PLACE, AnswerCells, CellPart
from quaestor.surveys.model.answer_columns import (
    AnswerColumn,
    Flags,
    build_column,
    find_index,
    listed_options,
    nested_field,
)
from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.question_kinds.base import (
    Form,
    OptionPlaces,
    QuestionKind,
    check_cells,
    field_text,
    ordered_codes,
    problem_of,
)
from quaestor.surveys.model.question_results import (
    INTERVAL,
    Counting,
    Groups,
    QuestionResult,
    RankedLine,
    base_cell,
    bounds,
    build_selection,
    estimate_json,
    share_json,
)
from quaestor.surveys.model.records import Answer, Missing, Question
from quaestor.surveys.model.wording.catalogue import InvalidAnswer, Wording

_LONGEST_PLACE = 6
_PLACES = ("1st", "2nd", "3rd")
_COLUMNS = (
    TableColumn("mean", "mean place"), INTERVAL, TableColumn("first", "first places"), TableColumn("share", "share"),
    TableColumn("placed", "placed"),
)  # fmt: skip
_WEIGHTED = (
    TableColumn("weighted-mean", "weighted mean place", ("", "95% interval"), numbers=("", "low", "high")),
    TableColumn("weighted-share", "weighted share"),
)


class RankingQuestion(QuestionKind):
    """A place for each option; places are not left out."""

    name = "ranking"
    takes = frozenset({"options"})
    meaningless_option_keys = ("text", "ends")
    is_drawn = True
    part = "rank"
    reads_whole_cell = False
    holds = PLACE
    holds_in_words = "the place that was given to the option, 1 is the first"
    tidy_field = "number"
    stub = "option"
    answer_seconds = 2.0
    seconds_per_part = 4.0
    simulated_seconds = 30.0

    def check_options(self, question: Question) -> Iterator[Problem]:
        yield from super().check_options(question)
        if len(question.options) == 1:
            yield problem_of(question, f"it has one of its {self.option_word}s only: give it at least two")

    def examples(self, question: Question, tests: Sequence[Condition]) -> Iterator[Answer]:
        yield {"ranks": [option.code for option in question.options]}

    def read_form(self, question: Question, form: Form) -> Answer:
        places: dict[int, str] = {}
        for option in question.options:
            text = field_text(form, f"q.{question.id}.{option.code}.rank")
            if not text:
                continue
            place = read_place(text)
            if not 1 <= place <= len(question.options):
                raise InvalidAnswer("place-between", most=len(question.options), said=text[:20])
            if place in places:
                raise InvalidAnswer("place-twice", place=place)
            places[place] = option.code
        gap = find_gap(places)
        if gap:
            raise InvalidAnswer("place-missing", place=gap)
        return self.check(question, {"ranks": [places[place] for place in sorted(places)]})

    def write_form(self, question: Question, answer: Answer) -> dict[str, list[str]]:
        ranks = enumerate(answer.get("ranks", ()), start=1)
        return {f"q.{question.id}.{code}.rank": [str(place)] for place, code in ranks}

    def check(self, question: Question, answer: Mapping[str, Any]) -> Answer:
        ranks = list(answer.get("ranks", ()))
        known = {option.code for option in question.options}
        if len(set(ranks)) < len(ranks) or not set(ranks) <= known:
            raise InputError(f"what was ranked in {question.id!r} is not what it offers, each once")
        return {"ranks": ranks} if ranks else {}

    def lacking(self, question: Question, answer: Answer, words: Wording) -> str:
        if len(answer.get("ranks", ())) < len(question.options):
            return words.say("place-all")
        return super().lacking(question, answer, words)

    def in_words(self, question: Question, answer: Answer) -> str:
        return "; ".join(self.lines(question, answer))

    def lines(self, question: Question, answer: Answer) -> list[str]:
        labels = {option.code: option.label for option in question.options}
        return [f"{place}. {labels[code]}" for place, code in enumerate(answer.get("ranks", ()), start=1)]

    def draw_answer(self, question: Question, chance: random.Random, write: Callable[[], str]) -> Answer:
        return {"ranks": chance.sample([option.code for option in question.options], len(question.options))}

    def parts(self, question: Question) -> tuple[str, ...]:
        return tuple(option.code for option in question.options)

    def cell(self, answer: Answer, code: str) -> str:
        ranks = list(answer.get("ranks", ()))
        return str(ranks.index(code) + 1) if code in ranks else ""

    def tidy_line(self, code: str, answer: Answer, reason: str, options: OptionPlaces) -> tuple[str, ...]:
        place = self.cell(answer, code)
        lacking = reason if place else reason or Missing.SKIPPED.value
        return code if place else "", *options[code], "", place, lacking

    def codes(self, question: Question, code: str) -> Iterator[tuple[str, str, str]]:
        return (option for option in ordered_codes(question) if option[0] == code)

    def read_cell(self, cells: AnswerCells, column: str, part: CellPart, cell: str) -> None:
        cells.ranks.append((column, part.code, cell))

    def answer_in_cells(self, cells: AnswerCells) -> Answer:
        """Returns the ranking where it is one; with a tie or a gap nobody can tell who comes second, so it is none."""
        places: dict[int, str] = {}
        wrong = False
        for column, code, cell in cells.ranks:
            place = read_place(cell)
            if not 1 <= place <= len(cells.question.options) or place in places:
                cells.report(column, cell, "is not a unique place in the ranking")
                wrong = True
            places.setdefault(place, code)
        gap = 0 if wrong else find_gap(places)
        if gap:
            column = next(column for column, _, cell in cells.ranks if read_place(cell) > gap)
            ranks = "; ".join(f"{code} {cell}" for _, code, cell in cells.ranks)
            cells.report(column, ranks, f"leaves out place {gap} of the ranking")
        return check_cells(
            self, cells, "", {"ranks": [] if wrong or gap else [places[place] for place in sorted(places)]}
        )

    def stored_fields(self, question: Question) -> dict[str, pa.DataType]:
        return {"ranks": pa.list_(pa.string())}

    def read_column(self, question: Question, answers: pa.StructArray, here: Flags) -> AnswerColumn:
        places = np.zeros((len(here), len(question.options)), np.int16)
        who, what, rank = listed_options(nested_field(answers, "ranks"), question.options)
        places[who, what] = rank + 1
        places[~here] = 0
        return build_column(question, places.any(axis=1), places=places)

    def select(self, column: AnswerColumn, option: str, row: str, place: int) -> Flags:
        if not option:
            return column.answered
        places = column.places[:, find_index(option, self.parts(column.question), "option")]
        placed: Flags = places == place if place else places > 0
        return placed

    def count(self, column: AnswerColumn, counting: Counting, result: QuestionResult) -> QuestionResult:
        places, options = column.places[counting.used], column.question.options
        offered = column.offered[counting.used] if column.offered.size else np.ones_like(places, np.bool_)
        ranks = rankings(places, counting.seed, offered, counting.weights)
        by = [
            rankings(places[member], counting.seed, offered[member], counting.weights_of(member))
            for member in counting.members
        ]
        lines = []
        for place, option in enumerate(options):
            counts = np.bincount(places[:, place], minlength=len(options) + 1)[1:]
            of_groups = tuple(group[place] for group in by)
            lines.append(RankedLine(option.code, option.label, ranks[place], tuple(counts.tolist()), of_groups))
        return replace(result, ranked=tuple(lines))

    def as_json(self, result: QuestionResult) -> dict[str, Any]:
        lines = [
            {
                "option": line.key,
                "label": line.label,
                **_rank_json(line.ranked),
                "places": list(line.places),
                "groups": [_rank_json(group) for group in line.by],
            }
            for line in result.ranked
        ]
        return {"ranking": lines} if lines else {}

    def table(self, result: QuestionResult, groups: Groups | None) -> tuple[tuple[TableColumn, ...], tuple[Group, ...]]:
        if groups is not None:
            return _grouped_table(result, groups)
        name = result.question.id
        rows = [TableRow(line.key, line.label, _rank_cells(name, line.ranked, line.key)) for line in result.ranked]
        return _list_columns(result), (Group("", tuple(rows)),)

    def draw(self, result: QuestionResult, groups: Groups | None, *, narrow: bool = False) -> Figure | None:
        from quaestor.render.figures.likert import ScaleRow, draw_likert

        question = result.question
        codes = [option.code for option in question.options]
        centre = codes.index(question.centre) if question.centre in codes else None
        rows = [ScaleRow(line.label, line.places) for line in result.ranked]
        return draw_likert(
            _place_names(question), rows, centre=centre, stacked=True, name=question.id, title=question.text,
            narrow=narrow,
        )  # fmt: skip

    def figure_size(self, result: QuestionResult, groups: Groups | None, *, narrow: bool) -> tuple[int, int] | None:
        from quaestor.render.figures.likert import ScaleRow, likert_size

        rows = [ScaleRow(line.label, line.places) for line in result.ranked]
        return likert_size(_place_names(result.question), rows, narrow=narrow)


def _rank_json(rank: OptionRank) -> dict[str, Any]:
    weighted = None if rank.weighted_mean is None else estimate_json(rank.weighted_mean)
    return {
        "placed": rank.placed, "mean": estimate_json(rank.mean), "weighted_mean": weighted,
        "first": share_json(rank.first),
    }  # fmt: skip


def _grouped_table(result: QuestionResult, groups: Groups) -> tuple[tuple[TableColumn, ...], tuple[Group, ...]]:
    """One heading for each option, and below it all and every group."""
    name, tables = result.question.id, []
    for line in result.ranked:
        rows = [TableRow(f"{line.key}.all", "all", _rank_cells(name, line.ranked, line.key), total=True)]
        for key, label, rank in zip(groups.keys, groups.labels, line.by, strict=True):
            cells = _rank_cells(name, rank, line.key, by=groups.name, group=key)
            rows.append(TableRow(f"{line.key}.{key}", label, cells))
        tables.append(Group(line.label, tuple(rows)))
    return _list_columns(result), tuple(tables)


def _list_columns(result: QuestionResult) -> tuple[TableColumn, ...]:
    return _COLUMNS if result.weighted is None else (*_COLUMNS, *_WEIGHTED)


def _rank_cells(question: str, rank: OptionRank, option: str, **group: str) -> tuple[Cell, ...]:
    weighted = rank.weighted_mean
    cells: tuple[Cell, ...] = ()
    if weighted is not None and rank.first.weighted is not None:
        cells = (
            Cell((decimal(weighted.value), bounds(weighted)), (weighted.value, weighted.low, weighted.high)),
            Cell((percent(rank.first.weighted.value),), (rank.first.weighted.value,)),
        )
    return (
        Cell((decimal(rank.mean.value),), (rank.mean.value,)),
        Cell((bounds(rank.mean),), (rank.mean.low, rank.mean.high)),
        Cell((whole(rank.first.count),), (rank.first.count,), build_selection(question, option, place="1", **group)),
        Cell((percent(rank.first.value),), (rank.first.value,)),
        base_cell(question, rank.placed, option=option, **group),
        *cells,
    )


def read_place(text: str) -> int:
    """Returns the place that a text names, in the digits of any script; 0 where it names none."""
    return int(text) if len(text) <= _LONGEST_PLACE and text.isdecimal() else 0


def find_gap(places: Collection[int]) -> int:
    """Returns the first place without an option before one that has one; 0 where there is none: third is not second."""
    return next((place for place in range(1, max(places, default=0)) if place not in places), 0)


def _place_names(question: Question) -> list[str]:
    return [_PLACES[at] if at < len(_PLACES) else f"{at + 1}th" for at in range(len(question.options))]

"""Writes the spreadsheet in which a rater works: one row per item, drop-down lists, and the codebook.

It contains what the rater sees at the desk and nothing of other raters. `rating_rows` reads it back.
"""

from __future__ import annotations

import html
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import slugify
from quaestor.base.table_files import FILE_FORMATS, LONGEST_TEXT, format_workbook_text, replace_table_file
from quaestor.coding.model.answers import write_cell
from quaestor.coding.model.conditions import describe_condition
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.passages import find_passage_facet
from quaestor.coding.model.ratings import require_practice
from quaestor.coding.model.records import CANNOT_JUDGE, Codebook, Facet, RaterView, Rating, RoundPlan
from quaestor.coding.model.views import build_rater_view
from quaestor.coding.rating import list_proposals, strip_markup
from quaestor.coding.rating_files import RoundFile
from quaestor.coding.rating_rows import (
    ABOUT,
    RATINGS,
    SpreadsheetOrigin,
    list_origin_rows,
    name_context_column,
    name_proposal_column,
)
from quaestor.coding.session import CodingSession
from quaestor.evidence.item_texts import ItemText, mask_item_text, read_item_texts
from quaestor.study.features import open_known_names

_ALWAYS = datetime(1980, 1, 1, tzinfo=UTC)
"""The creation date of every workbook, fixed so that the same ratings give the same bytes."""
CODEBOOK, _LISTS = "Codebook", "Lists"
_CUT = "\n… (cut: the rest is too long for a cell, read it at the desk)"
_LONGEST_NOTE, _LONGEST_MESSAGE, _LONGEST_TITLE = 2_000, 255, 32
_WIDTHS = {"item": 24, "title": 36, "text": 72, "link": 30, "unsure": 16, "memo": 36}
_ANSWER_WIDTH = 24
_LINE_HEIGHT, _MOST_LINES = 15, 12
_HOW_TO = (
    "Fill in the coloured columns of the sheet Ratings. Choose codes from the lists, or type their names or ids.",
    "A facet that takes several codes: separate them with a semicolon, as in: first; second.",
    f"If you cannot judge an item, choose: {CANNOT_JUDGE}.",
    "unsure: the facets you are unsure about, separated by semicolons. memo: a note on the item.",
    "Leave a row empty if you have not rated the item yet. You can hand in the spreadsheet empty, half filled or "
    "complete, and as often as you like: rows with a missing answer are listed and not recorded.",
    "Rows may be sorted, and columns of your own added. Do not change the column item.",
)


def build_rating_spreadsheet(coding: CodingSession, name: str, rater: str, *, is_own: bool = False) -> RoundFile:
    """Builds the workbook of a rater's own items with the ratings so far; `is_own` if the rater asks for it.

    Raises StateError if the round codes passages, or while a rater has practice items left.
    """
    coding.require_words()
    with coding.locked_state() as state:
        round_state = state.round(name)
        view = build_rater_view(state, name, rater)
        if find_passage_facet(round_state.plan) is not None:
            raise StateError(
                f"the round {name!r} codes passages, which a spreadsheet cannot mark: code them at the desk"
            )
        if is_own:
            require_practice(round_state, rater)
        study = coding.study.settings.study.name
        codebook = str(round_state.plan.codebook)
        rated = sum(map(len, round_state.ratings.get(rater, {}).values()))
        origin = SpreadsheetOrigin(study, name, rater, round_state.opened, codebook, rated, view.again)
        plan = round_state.plan
    texts = read_item_texts(coding.study, view.items)
    with open_known_names(coding.study) as names:
        texts = {item: mask_item_text(names, text) for item, text in texts.items()}
    content = _Workbook(plan, view, texts).write(origin)
    return RoundFile(f"{slugify(f'{name}-{rater}') or 'ratings'}.xlsx", FILE_FORMATS["xlsx"], content)


@dataclass(frozen=True)
class WrittenSpreadsheet:
    """Where a spreadsheet was written, how many items it has, and how many of them the rater had rated."""

    path: Path
    items: int
    rated: int


def write_rating_spreadsheet(
    coding: CodingSession, name: str, rater: str, path: Path | None = None
) -> WrittenSpreadsheet:
    """Writes the workbook of a rater to a private file; an existing one is not replaced, since it may be filled in."""
    if path is not None and path.suffix.lower() != ".xlsx":
        raise InputError(f"{path} is not an .xlsx file: use this extension")
    file = build_rating_spreadsheet(coding, name, rater)
    path = path or Path(file.name)
    if path.exists():
        raise InputError(f"{path} exists, and a rater may have filled it in: import and remove it, or use another name")
    with replace_table_file(path, private=True) as temporary:
        temporary.write_bytes(file.content)
    view = build_rater_view(coding.state, name, rater)
    return WrittenSpreadsheet(path, len(view.items), sum(item in view.ratings for item in view.items))


class _Workbook:
    """The workbook of one rater."""

    def __init__(self, plan: RoundPlan, view: RaterView, texts: Mapping[str, ItemText]) -> None:
        from xlsxwriter import Workbook

        self._plan, self._view, self._texts = plan, view, texts
        self._labels = {facet.id: list_labels_of_choices(facet, view.codebook) for facet in view.facets}
        self._file = io.BytesIO()
        self._book = Workbook(self._file, {"in_memory": True})
        cell = {"text_wrap": True, "valign": "top"}
        self._formats = {
            "header": self._book.add_format(cell | {"bold": True, "bg_color": "#E8ECF1", "bottom": 1}),
            "cell": self._book.add_format(cell),
            # As text, so that a spreadsheet turns no answer into a number or a date.
            "column": self._book.add_format(cell | {"num_format": "@"}),
            "answer": self._book.add_format(cell | {"num_format": "@", "bg_color": "#FFF8DC", "border": 4}),
            "link": self._book.add_format(cell | {"font_color": "#0B57D0", "underline": 1}),
        }  # fmt: skip

    def write(self, origin: SpreadsheetOrigin) -> bytes:
        ratings, codebook = self._book.add_worksheet(RATINGS), self._book.add_worksheet(CODEBOOK)
        about, lists = self._book.add_worksheet(ABOUT), self._book.add_worksheet(_LISTS)
        self._book.set_properties({"title": f"Ratings of {origin.round} by {origin.rater}", "created": _ALWAYS})
        self._write_ratings(ratings)
        self._write_lists(ratings, lists)
        self._write_codebook(codebook)
        self._write_about(about, origin)
        lists.hide()
        ratings.activate()
        self._book.close()
        return self._file.getvalue()

    def _write_text(self, sheet: Any, row: int, column: int, text: str, form: str = "cell") -> None:
        if not text:
            sheet.write_blank(row, column, None, self._formats[form])
        elif sheet.write_string(row, column, format_workbook_text(text), self._formats[form]):
            raise InputError(
                f"a text of {len(text):,} characters is longer than the {LONGEST_TEXT:,} of a cell in a workbook:"
                " rate at the desk, or export the ratings as CSV"
            )

    def _list_columns(self) -> list[str]:
        context = [name_context_column(column, self._plan) for column in ("title", "text", "link")]
        proposals = [name_proposal_column(facet) for facet in self._plan.facets if find_kind(facet).confirms_proposal]
        return ["item", *context, *proposals, *(facet.id for facet in self._plan.facets), "unsure", "memo"]

    def _write_ratings(self, sheet: Any) -> None:
        columns = self._list_columns()
        answered = {*(facet.id for facet in self._plan.facets), "unsure", "memo"}
        for number, column in enumerate(columns):
            self._write_text(sheet, 0, number, column, "header")
            form = self._formats["column" if column in answered else "cell"]
            sheet.set_column(number, number, _WIDTHS.get(column, _ANSWER_WIDTH), form)
        for facet in self._plan.facets:
            note = "\n".join(self._explain_facet(facet))[:_LONGEST_NOTE]
            sheet.write_comment(0, columns.index(facet.id), note, {"x_scale": 2, "y_scale": 1.5})
        for row, item in enumerate(self._view.items, start=1):
            self._write_item(sheet, row, item, columns, answered)
        sheet.freeze_panes(1, 1)
        sheet.autofilter(0, 0, max(1, len(self._view.items)), len(columns) - 1)

    def _explain_facet(self, facet: Facet) -> list[str]:
        kind = find_kind(facet)
        hint = (
            "" if kind.lists_every_answer(facet) else f"Answer: {_shorten_hint(kind.hint(facet, self._view.codebook))}"
        )
        condition = f"Asked only if {describe_condition(facet.ask_if)}." if facet.ask_if else ""
        optional = "" if facet.required else "You may leave it empty."
        return [line for line in (facet.question, condition, hint, optional) if line] or [facet.id]

    def _write_item(self, sheet: Any, row: int, item: str, columns: Sequence[str], answered: set[str]) -> None:
        text = self._texts.get(item) or ItemText(item, item)
        body = _build_plain_text(text)
        rating = None if item in self._view.again else self._view.ratings.get(item)
        cells = {"item": item, **self._list_proposals(item), **self._list_answers(rating)}
        for column, value in (("title", html.unescape(text.title)), ("text", body), ("link", "")):
            cells[name_context_column(column, self._plan)] = value
        for number, column in enumerate(columns):
            self._write_text(sheet, row, number, cells.get(column, ""), "answer" if column in answered else "cell")
        if text.link.startswith(("https://", "http://")):
            place = columns.index(name_context_column("link", self._plan))
            if sheet.write_url(row, place, text.link, self._formats["link"]):
                self._write_text(sheet, row, place, text.link)  # a sheet cannot have more links
        lines = sum(1 + len(line) // _WIDTHS["text"] for line in body.split("\n"))
        sheet.set_row(row, _LINE_HEIGHT * min(max(lines, 2), _MOST_LINES))

    def _list_proposals(self, item: str) -> dict[str, str]:
        proposed = "\n".join(list_proposals(self._view.proposals.get(item, {})))
        return {name_proposal_column(facet): proposed for facet in self._plan.facets}

    def _list_answers(self, rating: Rating | None) -> dict[str, str]:
        if rating is None:
            return {}
        answers = {facet.id: self._name_answer(facet, rating.answers.get(facet.id)) for facet in self._plan.facets}
        return {**answers, "unsure": "; ".join(rating.unsure), "memo": rating.memo}

    def _name_answer(self, facet: Facet, answer: Any) -> str:
        labels = self._labels[facet.id]
        if answer is None or answer == CANNOT_JUDGE or not labels or not (facet.codes or facet.options):
            return write_cell(facet, answer)
        return "; ".join(labels.get(code, code) for code in find_kind(facet).codes(answer))

    def _write_lists(self, ratings: Any, lists: Any) -> None:
        """Gives each facet with choices a drop-down list, whose entries are on a hidden sheet."""
        from xlsxwriter.utility import xl_range_abs

        columns, last = self._list_columns(), max(1, len(self._view.items))
        for number, facet in enumerate(self._plan.facets):
            labels = [*self._labels[facet.id].values(), CANNOT_JUDGE] if self._labels[facet.id] else []
            for row, label in enumerate(labels):
                self._write_text(lists, row, number, label)
            message = "\n".join(self._explain_facet(facet))
            rule: dict[str, Any] = {
                "validate": "any",
                "input_title": facet.id[:_LONGEST_TITLE],
                "input_message": message
                if len(message) <= _LONGEST_MESSAGE
                else f"{message[: _LONGEST_MESSAGE - 2]} …",
            }
            if labels:
                is_closed = find_kind(facet).lists_every_answer(facet)
                rule |= {
                    "validate": "list",
                    "source": f"={_LISTS}!{xl_range_abs(0, number, len(labels) - 1, number)}",
                    "show_error": is_closed,
                    "error_title": "Not in the list",
                    "error_message": f"Choose an answer from the list, or empty the cell. See the sheet {CODEBOOK}.",
                }
            column = columns.index(facet.id)
            ratings.data_validation(1, column, last, column, rule)

    def _write_codebook(self, sheet: Any) -> None:
        header = ("facet", "question", "answer", "id", "below", "definition", "use for", "not for", "examples")
        rows = [row for facet in self._plan.facets for row in self._list_codebook_rows(facet)]
        for row, cells in enumerate([header, *rows]):
            for column, text in enumerate(cells):
                self._write_text(sheet, row, column, _cut_text(text), "cell" if row else "header")
        for column, width in enumerate((16, 32, 28, 24, 28, 48, 36, 36, 36)):
            sheet.set_column(column, column, width)
        sheet.freeze_panes(1, 0)

    def _list_codebook_rows(self, facet: Facet) -> Sequence[Sequence[str]]:
        book, question = self._view.codebook, " ".join(self._explain_facet(facet))
        rows = []
        for value, label in self._labels[facet.id].items():
            code = book.codes.get(value) if facet.codes else None
            if code is None:
                rows.append((facet.id, question, label, "", "", "", "", "", ""))
                continue
            below = book.path_name(code.parent) if code.parent else ""
            examples = "\n".join(code.examples)
            rows.append((facet.id, question, label, code.id, below, code.definition, code.use, code.not_, examples))
        return rows or [(facet.id, question, "", "", "", "", "", "", "")]

    def _write_about(self, sheet: Any, origin: SpreadsheetOrigin) -> None:
        rows = [("Ratings of one rater", ""), *list_origin_rows(origin)]
        if self._view.instructions:
            rows.append(("instructions", _cut_text(self._view.instructions)))
        rows += [("how to" if number == 0 else "", line) for number, line in enumerate(_HOW_TO)]
        for row, (label, text) in enumerate(rows):
            self._write_text(sheet, row, 0, label, "header")
            self._write_text(sheet, row, 1, text)
        sheet.set_column(0, 0, 22)
        sheet.set_column(1, 1, 100)


def list_labels_of_choices(facet: Facet, book: Codebook) -> dict[str, str]:
    """Returns what a drop-down list shows for each choice: its name if that identifies it, else its id."""
    choices = find_kind(facet).choices(facet, book)
    if not (facet.codes or facet.options):
        return {choice.value: choice.value for choice in choices}
    texts = Counter(text for choice in choices for text in {choice.label.casefold(), choice.value.casefold()})
    return {
        choice.value: choice.label
        if choice.label == choice.label.strip()
        and choice.label.casefold() not in ("", CANNOT_JUDGE)
        and ";" not in choice.label
        and texts[choice.label.casefold()] == 1
        else choice.value
        for choice in choices
    }


def _shorten_hint(hint: str) -> str:
    return hint if len(hint) <= _LONGEST_MESSAGE // 2 else "see the list and the sheet Codebook"


def _build_plain_text(text: ItemText) -> str:
    """Returns what a rater reads about an item, without markup and cut to the length of a cell."""
    parts = [strip_markup(text.body, longest=None)]
    if text.answer:
        parts.append(f"Accepted answer:\n{strip_markup(text.answer, longest=None)}")
    if text.tags:
        parts.append(f"Tags: {' '.join(text.tags)}")
    return _cut_text("\n\n".join(part for part in parts if part))


def _cut_text(text: str) -> str:
    most, cut = LONGEST_TEXT - 10, text
    while len(cut.encode("utf-16-le", "replace")) // 2 + (len(_CUT) if cut != text else 0) > most:
        cut = cut[: len(cut) * 9 // 10]
    return text if cut == text else cut + _CUT

"""Writes the answers of a survey as tables with their codebook, for analysis elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from quaestor.base.errors import StateError
from quaestor.surveys.exchange import table_files as sheets
from quaestor.surveys.invitations import join_strata
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.answer_cells import NUMBER, PLACE, TICKED
from quaestor.surveys.model.column_mapping import WEIGHT
from quaestor.surveys.model.flow import order_pages
from quaestor.surveys.model.records import Questionnaire, Response, ResponseStatus
from quaestor.surveys.model.tidy_layout import (
    CODEBOOK,
    TIDY,
    Layout,
    build_layout,
    codebook_lines,
    tidy_lines,
    wide_row,
)
from quaestor.surveys.results.counting import CountingCache
from quaestor.surveys.results.weighting import compute_weights

ABOUT_ALL = ("standing", "kept")
"""Columns that only a table of all responses has."""
_ABOUT_TIDY = ("response", "version", "stratum", "language", "seed")
_ABOUT_WIDE = ("response", "version", "stratum", "language", "day", "seconds", "seed", "source", "synthetic")
PAGE_ORDER = "pages:order"
"""The column with the order of pages, which a table has if a version shows pages in a random order."""
_TIDY_HOLDS = {"number": sheets.NUMBER, "order": sheets.WHOLE}
_ABOUT_HOLDS = {
    "version": sheets.WHOLE, "seconds": sheets.NUMBER,
    "seed": sheets.WHOLE, "synthetic": sheets.WHOLE, "kept": sheets.WHOLE, sheets.GUARDED: sheets.WHOLE,
    WEIGHT: sheets.NUMBER,
}  # fmt: skip
_WIDE_HOLDS = {NUMBER: sheets.NUMBER, TICKED: sheets.WHOLE, PLACE: sheets.WHOLE}


@dataclass(frozen=True)
class ExportResult:
    """Result of an export."""

    files: tuple[Path, ...]
    responses: int
    rows: int
    columns: int
    left_out: Mapping[str, int]
    """Number of responses left out, by reason; `everything` includes them."""
    withdrawn: int


def export_answers(
    surveys: Surveys,
    name: str,
    path: Path,
    *,
    wide: bool = False,
    raw: bool = False,
    everything: bool = False,
    weighted: bool = True,
) -> ExportResult:
    """Writes the finished responses that the lead did not exclude; `everything` writes all, with their status.

    Writes a line for each part of an answer, or with `wide` a row for each response. `raw` leaves texts unescaped.
    With `weighted`, and not `raw`, each counted response has its weight if study.toml declares weights.
    """
    layout = build_layout(_versions(surveys, name), surveys.fielding(name).merges, raw=raw)
    weights = _read_weights(surveys, name) if weighted and not raw else {}
    table = _Table(surveys, name, layout, everything, sheets.is_guarded(path, raw), weights)
    first = table.wide() if wide else table.tidy()
    columns = [(name, sheets.TEXT) for name in CODEBOOK]
    withdrawn = surveys.answers.erased(name)
    second = sheets.Sheet("codebook", columns, codebook_lines(layout, withdrawn))
    rows, files = sheets.write_sheets(path, first, second, raw)
    return ExportResult(tuple(files), table.responses, rows, len(first.columns), dict(table.left_out), withdrawn)


def _read_weights(surveys: Surveys, name: str) -> dict[str, float]:
    """Returns the weight of each counted response; empty if study.toml declares no weights."""
    if name not in surveys.study.settings.weights:
        return {}
    counted = CountingCache().counted(surveys, name)
    weights = compute_weights(surveys, counted)
    return {} if weights is None else dict(zip(counted.columns.ids, weights.values.tolist(), strict=True))


def _versions(surveys: Surveys, name: str) -> dict[int, Questionnaire]:
    """Returns every version of a questionnaire that was opened or imported."""
    versions = surveys.versions(name)
    if not versions:
        surveys.fielding(name)  # raises an error for an unknown survey
        raise StateError(f"the survey {name!r} has no answers: open it, or import answers")
    return versions


class _Table:
    """The responses of a survey as rows, and the number left out."""

    def __init__(
        self,
        surveys: Surveys,
        name: str,
        layout: Layout,
        everything: bool,
        guarded: bool,
        weights: Mapping[str, float],
    ) -> None:
        self._surveys, self._name, self._layout, self._everything = surveys, name, layout, everything
        self._dropped = surveys.fielding(name).dropped
        self._joined_strata = join_strata(surveys, name)
        self._weights = weights
        has_order = any(page.shuffle for questionnaire in layout.versions.values() for page in questionnaire.pages)
        self._more = (
            *((PAGE_ORDER,) if has_order else ()),
            *(ABOUT_ALL if everything else ()),
            *((sheets.GUARDED,) if guarded else ()),
            *((WEIGHT,) if weights else ()),
        )
        self.responses = 0
        self.left_out: dict[str, int] = {}

    def tidy(self) -> sheets.Sheet:
        about = (*_ABOUT_TIDY, *self._more)
        columns = [(column, _ABOUT_HOLDS.get(column, sheets.TEXT)) for column in about]
        columns += [(column, _TIDY_HOLDS.get(column, sheets.TEXT)) for column in TIDY]
        return sheets.Sheet("answers", columns, self._tidy_rows(about))

    def wide(self) -> sheets.Sheet:
        about = (*_ABOUT_WIDE, *self._more)
        columns = [(column, _ABOUT_HOLDS.get(column, sheets.TEXT)) for column in about]
        columns += [(column.name, _WIDE_HOLDS.get(column.holds, sheets.TEXT)) for column in self._layout.columns()]
        return sheets.Sheet("answers", columns, self._wide_rows(about))

    def _tidy_rows(self, about: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        for response in self._chosen():
            cells = self._cells(response, about)
            for line in tidy_lines(self._layout, response):
                yield (*cells, *line)

    def _wide_rows(self, about: tuple[str, ...]) -> Iterator[list[str]]:
        for response in self._chosen():
            yield [*self._cells(response, about), *wide_row(self._layout, response)]

    def _chosen(self) -> Iterator[Response]:
        for response in self._surveys.answers.responses(self._name):
            reason = "dropped" if response.id in self._dropped else response.standing.value
            if self._everything or reason == ResponseStatus.FINISHED.value:
                self.responses += 1
                yield response
            else:
                self.left_out[reason] = self.left_out.get(reason, 0) + 1

    def _cells(self, response: Response, about: tuple[str, ...]) -> tuple[str, ...]:
        weight = self._weights.get(response.id, math.nan)
        cells = {
            "response": response.id,
            "version": str(response.version),
            "stratum": "" if response.stratum in self._joined_strata else response.stratum,
            "language": response.language,
            "day": response.day,
            "seconds": f"{response.seconds:.15g}" if response.seconds else "",  # 0 if the time is unknown
            "seed": str(response.seed),
            "source": response.source,
            "synthetic": str(int(response.synthetic)),
            "standing": response.standing.value,
            "kept": str(int(response.id not in self._dropped)),
            sheets.GUARDED: "1",
            WEIGHT: "" if math.isnan(weight) else f"{weight:.15g}",
        }
        if PAGE_ORDER in about:
            cells[PAGE_ORDER] = self._page_order(response)
        return tuple(cells[column] for column in about)

    def _page_order(self, response: Response) -> str:
        """Returns the pages in the order of a response; empty if its version has none, or the order is unknown."""
        questionnaire = self._layout.versions[response.version]
        if not response.seed or not any(page.shuffle for page in questionnaire.pages):
            return ""
        return " ".join(page.id for page in order_pages(questionnaire, response.seed).pages)

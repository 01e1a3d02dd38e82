"""Reads the mapping file that assigns the columns of a file to questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, field_validator

from quaestor.base.errors import InputError
from quaestor.base.names import join_with_or, sort_by_similarity
from quaestor.base.toml import Settings, describe_mistake, read_toml
from quaestor.surveys.model.answer_cells import MISSING, TEXT, WHOLE_ANSWER, CellPart
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.records import Question, Questionnaire
from quaestor.surveys.model.tidy_layout import TIDY, Layout

WEIGHT = "response:weight"
"""The column of weights in an export; no question has a column of this name, because its id has no colon."""
OWN_COLUMNS = (
    "response", "version", "stratum", "language", "day", "seconds", "seed", "source", "synthetic", "standing", "kept",
    WEIGHT,
    "pages:order",
)  # fmt: skip
"""Columns of an export that are no answers."""
LISTED = 12
"""Maximum number of names in a message."""


class ColumnSettings(Settings):
    """A column with part of an answer."""

    question: str
    text: bool | str = False
    """The free text of an option or row: its code, or true if only one has free text."""
    option: str = ""
    """Whether this option was chosen, in a file with a column for each."""
    row: str = ""
    """The row of a matrix."""
    rank: str = ""
    """The option whose rank the column contains."""


class MappingSettings(Settings):
    """The mapping file."""

    columns: Annotated[dict[str, str | ColumnSettings], Field(min_length=1)]
    values: dict[str, dict[str, str]] = Field(default_factory=dict)
    """By question, the option that a cell means if it is not the label."""
    nothing: tuple[str, ...] = ()
    """Cells that mean no answer."""
    separator: Annotated[str, Field(min_length=1)] = ","
    encoding: str = ""
    """Encoding of a text file that is neither UTF-8 nor marked as UTF-16."""
    header_rows: Annotated[int, Field(ge=1, le=3)] | None = None
    consented: bool = False
    """States that everybody in the file has consented, if no column does."""
    stratum: str = ""
    strata: dict[str, str] = Field(default_factory=dict)
    """The stratum that a cell means."""
    finished: str = ""
    seconds: str = ""

    @field_validator("encoding")
    @classmethod
    def _encoding_is_known(cls, value: str) -> str:
        try:
            "a,\n".encode(value or "utf-8")
        except (LookupError, UnicodeError):
            raise ValueError(f"{value!r} is not a text encoding: use utf-8, utf-16, cp1252 …") from None
        return value


@dataclass(frozen=True)
class ColumnMapping:
    """A mapping validated against a questionnaire."""

    parts: Mapping[str, CellPart]
    """By column."""
    settings: MappingSettings
    name: str = ""
    own: tuple[str, ...] = ()
    """Columns about the response itself, in an export of Quaestor."""

    def others(self) -> dict[str, str]:
        """Returns columns about the response itself, by their content."""
        settings = self.settings
        named = {"stratum": settings.stratum, "finished": settings.finished, "seconds": settings.seconds}
        return {**{column: column for column in self.own}, **{what: column for what, column in named.items() if column}}


def read_mapping(path: Path, questionnaire: Questionnaire) -> ColumnMapping:
    """Reads a mapping; raises InputError if it does not fit the questionnaire."""
    raw = read_toml(path, InputError)
    try:
        settings = MappingSettings.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{path}: {_explain(error)}") from None
    parts = {}
    for column, value in settings.columns.items():
        described = ColumnSettings(question=value) if isinstance(value, str) else value
        try:
            parts[column] = _part(described, questionnaire)
        except InputError as error:
            raise InputError(f"{path}, column {column!r}: {error}") from None
    _check_twice(parts, path)
    _check_values(settings, questionnaire, path)
    return ColumnMapping(parts, settings, path.name)


def is_own_wide(columns: Sequence[str]) -> bool:
    """Tells whether a table is an export of Quaestor with a row for each response."""
    return columns[:1] == ("response",) and any(column.endswith(":missing") for column in columns)


def is_own_tidy(columns: Sequence[str]) -> bool:
    """Tells whether a table is an export of Quaestor with a line for each part of an answer."""
    return columns[:1] == ("response",) and tuple(columns[-len(TIDY) :]) == TIDY


def own_mapping(layout: Layout, version: int, columns: Sequence[str]) -> ColumnMapping:
    """Returns the mapping for one version in a wide export of Quaestor, whose cells contain codes."""
    parts: dict[str, CellPart] = {}
    own = [name for name in OWN_COLUMNS if name in columns]
    for column in layout.columns():
        question = layout.question_in(version, column.question.id)
        if column.holds == MISSING and column.code:
            own += [column.name] if column.name in columns else []  # follows from the version
        elif question is not None and column.name in columns:
            parts[column.name] = CellPart(question, column.part, column.code)
    questions = layout.versions[version].questions()
    codes = {question.id: {option.code: option.code for option in question.options} for question in questions}
    settings = MappingSettings(columns=dict.fromkeys(columns, ""), values=codes, header_rows=1)
    return ColumnMapping(parts, settings, "an export of Quaestor", tuple(own))


def _part(settings: ColumnSettings, questionnaire: Questionnaire) -> CellPart:
    question = _question(settings.question, questionnaire)
    kind = kind_of(question)
    named = {part: code for part in ("option", "row", "rank") if (code := getattr(settings, part))}
    if settings.text:
        named[TEXT] = _only_text(question) if settings.text is True else str(settings.text)
    if len(named) > 1:
        raise InputError(f"it sets {join_with_or(named)}: a column can have only one of them")
    if not named:
        if not kind.reads_whole_cell:
            raise InputError(f"{question.id!r} has a column for each part: add {kind.part} = its code")
        return CellPart(question, WHOLE_ANSWER)
    ((part, code),) = named.items()
    allowed = kind.mapped_codes(question, part)
    if code not in allowed:
        options = join_with_or(sort_by_similarity(code, allowed)[:LISTED]) or "none"
        raise InputError(f"{question.id!r} has no {part} {code!r}, available: {options}")
    return CellPart(question, part, code)


def _question(name: str, questionnaire: Questionnaire) -> Question:
    question = questionnaire.question(name)
    if question is None:
        options = join_with_or(sort_by_similarity(name, [known.id for known in questionnaire.questions()])[:LISTED])
        raise InputError(f"{questionnaire.id!r} has no question {name!r}, available: {options}")
    return question


def _only_text(question: Question) -> str:
    codes = kind_of(question).mapped_codes(question, TEXT)
    if len(codes) != 1:
        raise InputError(
            f"{len(codes)} parts of {question.id!r} have free text: choose one with text = {' or '.join(codes) or '…'}"
        )
    return codes[0]


def _check_twice(parts: Mapping[str, CellPart], path: Path) -> None:
    by_part: dict[tuple[str, str, str], str] = {}
    for column, part in parts.items():
        key = (part.question.id, part.kind, part.code)
        if key in by_part:
            raise InputError(
                f"{path}: the columns {by_part[key]!r} and {column!r} both answer {part.question.id!r}: keep one"
            )
        by_part[key] = column


def _check_values(settings: MappingSettings, questionnaire: Questionnaire, path: Path) -> None:
    for name, values in settings.values.items():
        try:
            question = _question(name, questionnaire)
        except InputError as error:
            raise InputError(f"{path}, values: {error}") from None
        known = [option.code for option in question.options]
        for cell, code in values.items():
            if code not in known:
                options = join_with_or(sort_by_similarity(code, known)[:LISTED]) or "none"
                raise InputError(f"{path}, values.{name}: {cell!r} is mapped to {code!r}; choose from: {options}")


def _explain(error: ValidationError) -> str:
    problem: Any = max(error.errors(), key=lambda mistake: len(mistake["loc"]))
    where = ".".join(str(part) for part in problem["loc"] if part not in ("str", "ColumnSettings"))
    if problem["type"] == "extra_forbidden":
        return f"{where} is not a known key: see docs/how-to/survey-answers-in-and-out.md"
    if problem["type"] == "missing":
        return f"{where} is missing: add it"
    return f"{where}: {describe_mistake(problem)}"

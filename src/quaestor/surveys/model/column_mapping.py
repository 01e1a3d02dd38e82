"""Which column of a file answers which question, as a mapping file says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, field_validator

from quaestor.base.errors import InputError
from quaestor.base.names import join_with_or, sort_by_similarity
from quaestor.base.toml import Settings, describe_mistake, read_toml
from quaestor.surveys.model.records import CHOSEN, Kind, Question, Questionnaire
from quaestor.surveys.model.tidy_layout import MISSING, PLACE, TEXT, TICKED, TIDY, Layout

_OWN = (
    "response", "version", "stratum", "language", "day", "seconds", "seed", "source", "synthetic", "standing", "kept",
)  # fmt: skip
LISTED = 12
"""Names that a message lists; who needs more looks into the file."""


class ColumnSettings(Settings):
    """A column that holds a part of an answer."""

    question: str
    text: bool | str = False
    """The words of an option or row: its code, or true where only one asks for words."""
    option: str = ""
    """Whether this option was chosen, in a file with a column for each."""
    row: str = ""
    """The step of this line of a matrix."""
    rank: str = ""
    """The place that was given to this option."""


class MappingSettings(Settings):
    """The file."""

    columns: Annotated[dict[str, str | ColumnSettings], Field(min_length=1)]
    values: dict[str, dict[str, str]] = Field(default_factory=dict)
    """By question, the option behind what the file says, where that is not its label."""
    nothing: tuple[str, ...] = ()
    """What stands in cells though nobody answered it."""
    separator: Annotated[str, Field(min_length=1)] = ","
    encoding: str = ""
    """Of a text file that is neither UTF-8 nor marked as UTF-16."""
    header_rows: Annotated[int, Field(ge=1, le=3)] | None = None
    consented: bool = False
    """Everybody in the file has consented, though no column says so."""
    stratum: str = ""
    strata: dict[str, str] = Field(default_factory=dict)
    """The stratum behind what the column says."""
    finished: str = ""
    seconds: str = ""

    @field_validator("encoding")
    @classmethod
    def _encoding_is_known(cls, value: str) -> str:
        try:
            "a,\n".encode(value or "utf-8")
        except (LookupError, UnicodeError):
            raise ValueError(f"{value!r} is no text encoding: use utf-8, utf-16, cp1252 …") from None
        return value


@dataclass(frozen=True)
class Part:
    """What one column says: to which question, and which part of its answer."""

    question: Question
    kind: str
    """`answer`, `missing`, or `text`, `option`, `row`, `rank` of the option or row `code`."""
    code: str = ""


@dataclass(frozen=True)
class ColumnMapping:
    """A mapping that fits a questionnaire."""

    parts: Mapping[str, Part]
    """By column."""
    settings: MappingSettings
    name: str = ""
    own: tuple[str, ...] = ()
    """Columns about the response itself, of a file that Quaestor wrote."""

    def others(self) -> dict[str, str]:
        """Columns that say something about the response itself, by what they say."""
        said = {"stratum": self.settings.stratum, "finished": self.settings.finished, "seconds": self.settings.seconds}
        return {**{one: one for one in self.own}, **{what: column for what, column in said.items() if column}}


def read_mapping(path: Path, questionnaire: Questionnaire) -> ColumnMapping:
    """The mapping of a file; what does not fit the questionnaire is one sentence."""
    raw = read_toml(path, InputError)
    try:
        settings = MappingSettings.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{path}: {_explain(error)}") from None
    parts = {}
    for column, given in settings.columns.items():
        one = ColumnSettings(question=given) if isinstance(given, str) else given
        try:
            parts[column] = _part(one, questionnaire)
        except InputError as error:
            raise InputError(f"{path}, column {column!r}: {error}") from None
    _check_twice(parts, path)
    _check_values(settings, questionnaire, path)
    return ColumnMapping(parts, settings, path.name)


def is_own_wide(columns: Sequence[str]) -> bool:
    """Whether a table is one of Quaestor's own, with a row for each response."""
    return columns[:1] == ("response",) and any(column.endswith(":missing") for column in columns)


def is_own_tidy(columns: Sequence[str]) -> bool:
    """Whether a table is one of Quaestor's own, with a line for each part of an answer."""
    return columns[:1] == ("response",) and tuple(columns[-len(TIDY) :]) == TIDY


def own_mapping(layout: Layout, version: int, columns: Sequence[str]) -> ColumnMapping:
    """The mapping of responses to one version in a wide table that Quaestor wrote: every cell holds a code."""
    kinds = {TICKED: "option", PLACE: "rank", TEXT: "text", MISSING: "missing"}
    parts: dict[str, Part] = {}
    for one in layout.columns():
        question = layout.there[version].get(one.question.id)
        if question is not None and one.name in columns:
            kind = "row" if question.kind is Kind.MATRIX and one.holds not in kinds else "answer"
            parts[one.name] = Part(question, kinds.get(one.holds, kind), one.part)
    asked = layout.versions[version].questions()
    codes = {one.id: {option.code: option.code for option in one.options} for one in asked}
    settings = MappingSettings(columns=dict.fromkeys(columns, ""), values=codes, header_rows=1)
    return ColumnMapping(parts, settings, "an export of Quaestor", tuple(one for one in _OWN if one in columns))


def _part(one: ColumnSettings, questionnaire: Questionnaire) -> Part:
    question = _question(one.question, questionnaire)
    said = {kind: code for kind in ("option", "row", "rank") if (code := getattr(one, kind))}
    if one.text:
        said["text"] = _only_text(question) if one.text is True else str(one.text)
    if len(said) > 1:
        raise InputError(f"it is {join_with_or(said)} at once: a column holds one of these")
    if not said:
        if question.kind in (Kind.MATRIX, Kind.RANKING):
            key = "row" if question.kind is Kind.MATRIX else "rank"
            raise InputError(f"{question.id!r} has a column for each part: add {key} = the one it is about")
        return Part(question, "answer")
    ((kind, code),) = said.items()
    allowed = _codes(question, kind)
    if code not in allowed:
        options = join_with_or(sort_by_similarity(code, allowed)[:LISTED]) or "none"
        raise InputError(f"{question.id!r} has no {kind} {code!r}, there are: {options}")
    return Part(question, kind, code)


def _question(name: str, questionnaire: Questionnaire) -> Question:
    found = questionnaire.question(name)
    if found is None:
        options = join_with_or(sort_by_similarity(name, [one.id for one in questionnaire.questions()])[:LISTED])
        raise InputError(f"there is no question {name!r} in {questionnaire.id!r}, there are: {options}")
    return found


def _codes(question: Question, kind: str) -> list[str]:
    """The codes that a column of a kind can be about."""
    options = [one.code for one in question.options]
    if kind == "row":
        return [one.code for one in question.rows]
    if kind == "option":
        return options if question.kind is Kind.MULTIPLE else []
    if kind == "rank":
        return options if question.kind is Kind.RANKING else []
    asking = question.options if question.kind in CHOSEN else question.rows
    return [one.code for one in asking if one.text]


def _only_text(question: Question) -> str:
    asking = _codes(question, "text")
    if len(asking) != 1:
        raise InputError(
            f"{len(asking)} parts of {question.id!r} ask for words: say which as text = {' or '.join(asking) or '…'}"
        )
    return asking[0]


def _check_twice(parts: Mapping[str, Part], path: Path) -> None:
    taken: dict[tuple[str, str, str], str] = {}
    for column, part in parts.items():
        key = (part.question.id, part.kind, part.code)
        if key in taken:
            raise InputError(
                f"{path}: the columns {taken[key]!r} and {column!r} both answer {part.question.id!r}: keep one"
            )
        taken[key] = column


def _check_values(settings: MappingSettings, questionnaire: Questionnaire, path: Path) -> None:
    for name, values in settings.values.items():
        try:
            question = _question(name, questionnaire)
        except InputError as error:
            raise InputError(f"{path}, values: {error}") from None
        known = [one.code for one in question.options]
        for said, code in values.items():
            if code not in known:
                options = join_with_or(sort_by_similarity(code, known)[:LISTED]) or "none"
                raise InputError(f"{path}, values.{name}: {said!r} stands for {code!r}, allowed: {options}")


def _explain(error: ValidationError) -> str:
    problem: Any = max(error.errors(), key=lambda one: len(one["loc"]))
    where = ".".join(str(part) for part in problem["loc"] if part not in ("str", "ColumnSettings"))
    if problem["type"] == "extra_forbidden":
        return f"{where} is not a known key: see docs/how-to/survey-answers-in-and-out.md"
    if problem["type"] == "missing":
        return f"{where} is missing: add it"
    return f"{where}: {describe_mistake(problem)}"

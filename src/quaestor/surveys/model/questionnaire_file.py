"""Reads questionnaires from TOML files; an error names file, page, question and remedy in one sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, ValidationError, field_validator
from pydantic_core import PydanticKnownError

from quaestor.base.errors import InputError
from quaestor.base.names import suggest
from quaestor.base.toml import Settings, describe_mistake, parse_toml, read_toml
from quaestor.surveys.model.conditions import Condition, read_condition
from quaestor.surveys.model.question_kinds import QUESTION_KINDS
from quaestor.surveys.model.records import MatrixRow, Option, Page, Pay, Question, Questionnaire, Quota
from quaestor.surveys.model.wording.catalogue import load_wording

Words = str | dict[str, str]


def read_factor(value: Any) -> Any:
    """Returns the number that a fraction such as `1/24` names; any other value is returned unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return float(Fraction(value.replace(" ", "")))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f'{value!r} is not a number: write one such as 0.5 or "1/24"') from None


def check_factor(text: str) -> None:
    """Raises InputError if a text is not a factor that converts a unit."""
    try:
        factor = float(read_factor(text))
    except ValueError as error:
        raise InputError(str(error)) from None
    if not 0 < factor < math.inf:
        raise InputError(f"{text!r} cannot convert a unit: give a number above 0")


Id = Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=r"^[a-z0-9][a-z0-9_-]*$")]
Number = Annotated[float, Field(allow_inf_nan=False)]
Factor = Annotated[float, BeforeValidator(read_factor), Field(gt=0, allow_inf_nan=False)]
Day = Annotated[
    str,
    BeforeValidator(lambda value: value.isoformat() if isinstance(value, date) else value),
    StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$"),
]


def _as_labelled(value: Any) -> Any:
    """Converts a plain or translated text to a table with this label; returns other tables unchanged."""
    several = isinstance(value, dict) and "label" not in value and "code" not in value
    return {"label": value} if several or isinstance(value, str) else value


class OptionSettings(Settings):
    """An option with more than a label; a plain text is a label, and its code is derived from it."""

    code: Id | None = None
    label: Words
    description: Words = ""
    text: bool = False
    alone: bool = False
    ends: bool = False


class RowSettings(Settings):
    """A row of a matrix with more than a label."""

    code: Id | None = None
    label: Words
    text: bool = False


class QuestionSettings(Settings):
    """One question."""

    id: Id
    kind: str
    text: Words
    hint: Words = ""
    required: bool = False
    options: tuple[Annotated[OptionSettings, BeforeValidator(_as_labelled)], ...] = ()
    rows: tuple[Annotated[RowSettings, BeforeValidator(_as_labelled)], ...] = ()
    centre: str = ""
    shuffle: bool = False
    show_if: str = ""
    answers: tuple[str, ...] = ()
    attention: str = ""
    low: Number | None = None
    high: Number | None = None
    whole: bool = False
    unit: Words = ""
    convert: dict[str, Factor] = Field(default_factory=dict)
    min_choices: Annotated[int, Field(ge=0)] = 0
    max_choices: Annotated[int, Field(ge=0)] = 0
    pattern: Annotated[str, StringConstraints(max_length=500)] = ""
    pattern_message: Words = ""
    pattern_example: str = ""
    max_length: Annotated[int, Field(ge=1, le=500)] = Question.max_length
    step: Annotated[Number, Field(gt=0)] = 1.0
    low_label: Words = ""
    high_label: Words = ""
    earliest: Day | Literal[""] = ""
    latest: Day | Literal[""] = ""

    @field_validator("kind", mode="plain")
    @classmethod
    def _is_known(cls, kind: object) -> str:
        if not isinstance(kind, str) or kind not in QUESTION_KINDS:
            raise PydanticKnownError("literal_error", {"expected": ", ".join(map(repr, QUESTION_KINDS))})
        return kind


class PageSettings(Settings):
    """A page of questions."""

    page: Id
    title: Words = ""
    text: Words = ""
    show_if: str = ""
    shuffle: bool = False
    questions: tuple[QuestionSettings, ...] = ()


class QuotaSettings(Settings):
    """The maximum number of finished responses that meet a condition."""

    of: str
    most: Annotated[int, Field(ge=1)]


class PaySettings(Settings):
    """The payment for a finished response."""

    amount: Annotated[Number, Field(gt=0)]
    currency: str = "USD"
    words: Words = ""
    budget: Annotated[Number, Field(gt=0)] | None = None
    asks: Words = ""
    batch: Annotated[int, Field(ge=2)] = 5


class SurveySettings(Settings):
    """Settings of the whole questionnaire."""

    title: Words
    languages: Annotated[tuple[Id, ...], Field(min_length=1)] = ("en",)
    about: Words = ""
    minutes: Annotated[int, Field(ge=1)] | None = None
    thanks: Words = ""
    screened: Words = ""
    closed: Words = ""
    contact: str = ""
    strata: tuple[str, ...] = ()
    anonymous: bool = True
    by_invitation: bool = False
    least_seconds: Annotated[Number, Field(ge=0)] = 0.0
    most: Annotated[int, Field(ge=1)] | None = None
    closes: Day | Literal[""] = ""
    quotas: tuple[QuotaSettings, ...] = ()


class QuestionnaireSettings(Settings):
    """The questionnaire file."""

    survey: SurveySettings
    research: Mapping[str, Words] = Field(default_factory=dict)
    words: Mapping[Id, Mapping[str, str]] = Field(default_factory=dict)
    pay: PaySettings | None = None
    pages: Annotated[tuple[PageSettings, ...], Field(min_length=1)]


_LONGEST_CODE = 40
_UNION = re.compile(r"^(str|dict\[str,str\]|OptionSettings|RowSettings)$")


def read_questionnaire(path: Path, language: str = "") -> Questionnaire:
    """Reads a questionnaire file in the given language, else in its first."""
    return _read(read_toml(path, InputError), path.stem, str(path), language)


def parse_questionnaire(text: str, name: str, language: str = "") -> Questionnaire:
    """Reads a questionnaire from the text stored when it was opened."""
    return _read(parse_toml(text, name, InputError), name, name, language)


def _read(raw: Mapping[str, Any], name: str, where: str, language: str) -> Questionnaire:
    try:
        settings = QuestionnaireSettings.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{where}: {_explain(error, raw)}") from None
    chosen = language or settings.survey.languages[0]
    if chosen not in settings.survey.languages:
        options = suggest(chosen, settings.survey.languages)
        raise InputError(f"{where}: the language {chosen!r} is not defined; choose from: {options}")
    try:
        return _Reader(settings, chosen).questionnaire(name)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


class _Reader:
    """Converts settings to records, with all texts in one language."""

    def __init__(self, settings: QuestionnaireSettings, language: str) -> None:
        self._settings = settings
        self._language = language
        self._page_texts = load_wording(language, settings.words)

    def questionnaire(self, name: str) -> Questionnaire:
        survey, pay = self._settings.survey, self._settings.pay
        return Questionnaire(
            id=name,
            title=self._words(survey.title),
            pages=tuple(self._page(page) for page in self._settings.pages),
            language=self._language,
            languages=tuple(survey.languages),
            about=self._words(survey.about),
            minutes=survey.minutes,
            research={name: self._words(words) for name, words in self._settings.research.items()},
            thanks=self._words(survey.thanks),
            screened=self._words(survey.screened),
            closed=self._words(survey.closed),
            contact=survey.contact,
            pay=None if pay is None else self._pay(pay),
            strata=tuple(survey.strata),
            anonymous=survey.anonymous,
            by_invitation=survey.by_invitation,
            least_seconds=survey.least_seconds,
            most=survey.most,
            quotas=tuple(Quota(read_condition(quota.of), quota.most) for quota in survey.quotas),
            closes=survey.closes,
            words=self._page_texts,
            own_words=self._settings.words,
        )

    def _pay(self, pay: PaySettings) -> Pay:
        return Pay(pay.amount, pay.currency, self._words(pay.words), pay.budget, self._words(pay.asks), pay.batch)

    def _page(self, page: PageSettings) -> Page:
        return Page(
            page.page,
            self._words(page.title),
            self._words(page.text),
            tuple(self._question(question) for question in page.questions),
            _condition(page.show_if),
            page.shuffle,
        )

    def _question(self, settings: QuestionSettings) -> Question:
        kind = QUESTION_KINDS[settings.kind]
        options = tuple(self._option(option) for option in settings.options)
        try:
            return Question(
                id=settings.id,
                kind=settings.kind,
                text=self._words(settings.text),
                hint=self._words(settings.hint),
                required=settings.required or kind.is_always_required,
                options=options or kind.default_options(self._page_texts.say),
                rows=tuple(self._row(row) for row in settings.rows),
                centre=settings.centre,
                shuffle=settings.shuffle,
                show_if=_condition(settings.show_if),
                answers=tuple(settings.answers),
                attention=settings.attention,
                low=settings.low,
                high=settings.high,
                whole=settings.whole,
                unit=self._words(settings.unit),
                convert=settings.convert,
                min_choices=settings.min_choices,
                max_choices=settings.max_choices,
                pattern=settings.pattern,
                pattern_message=self._words(settings.pattern_message),
                pattern_example=settings.pattern_example,
                max_length=settings.max_length,
                step=settings.step,
                low_label=self._words(settings.low_label),
                high_label=self._words(settings.high_label),
                earliest=settings.earliest,
                latest=settings.latest,
            )
        except InputError as error:
            raise InputError(f"the question {settings.id!r}: {error}") from None

    def _option(self, settings: OptionSettings) -> Option:
        code = settings.code or derive_code(self._first(settings.label))
        label, description = self._words(settings.label), self._words(settings.description)
        return Option(code, label, description, settings.text, settings.alone, settings.ends)

    def _row(self, settings: RowSettings) -> MatrixRow:
        code = settings.code or derive_code(self._first(settings.label))
        return MatrixRow(code, self._words(settings.label), settings.text)

    def _words(self, words: Words) -> str:
        """Returns a text in the language of the questionnaire, else in its first."""
        if isinstance(words, str):
            return words
        return words.get(self._language) or self._first(words)

    def _first(self, words: Words) -> str:
        """Returns a text in the first language, which codes are derived from, so that they are the same in all."""
        if isinstance(words, str):
            return words
        return words.get(self._settings.survey.languages[0]) or next(iter(words.values()), "")


def untranslated(text: str, name: str) -> list[str]:
    """Lists the texts that lack a translation."""
    raw = {key: value for key, value in parse_toml(text, name, InputError).items() if key != "words"}
    languages = raw.get("survey", {}).get("languages", ["en"])
    return [] if len(languages) < 2 else sorted(_missing(raw, languages, ""))


def _missing(value: Any, languages: Sequence[str], where: str) -> Iterable[str]:
    if isinstance(value, dict):
        texts = [text for text in value.values() if isinstance(text, str)]
        if value and len(texts) == len(value) and set(value) & set(languages):
            yield from (f"{where} in {language}" for language in languages if not value.get(language))
            return
        named = value.get("id") or value.get("page") or value.get("code")
        for key, inner in value.items():
            yield from _missing(inner, languages, f"{named or where} {key}".strip())
    elif isinstance(value, list):
        for inner in value:
            yield from _missing(inner, languages, where)


def derive_code(label: str) -> str:
    """Derives a code from a label: its first words in ASCII letters, if there are any."""
    plain = re.sub(r"[^a-z0-9]+", "-", label.partition("(")[0].lower() or label.lower()).strip("-")
    return plain[:_LONGEST_CODE].rstrip("-") or "option"


def _condition(words: str) -> Condition | None:
    return read_condition(words) if words else None


def _explain(error: ValidationError, raw: Mapping[str, Any]) -> str:
    """Explains the deepest error: where a text or a table is allowed, a table was most likely meant."""
    problem = max(error.errors(), key=lambda mistake: len(mistake["loc"]))
    place = [part for part in problem["loc"] if isinstance(part, int) or not _UNION.match(part)]
    where, inner = "", raw
    for number, part in enumerate(place):
        inner = _inside(inner, part)
        name = inner.get("id") or inner.get("page") or inner.get("code") if isinstance(inner, dict) else None
        if isinstance(part, int):
            kind = {"pages": "page", "questions": "question", "options": "option", "rows": "row"}.get(
                str(place[number - 1]), "entry"
            )
            where = f"{kind} {name or part + 1}"
        elif not isinstance(inner, list) or number == len(place) - 1:
            where = f"{where}, {part}" if where else str(part)
    if problem["type"] == "extra_forbidden":
        return f"{where} is not a known key: see docs/reference/questionnaire.md"
    if problem["type"] == "missing":
        return f"{where} is missing: add it"
    return f"{where}: {describe_mistake(problem)}"


def _inside(value: Any, part: int | str) -> Any:
    try:
        return value[part]
    except (KeyError, IndexError, TypeError):
        return None

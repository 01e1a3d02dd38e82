"""Reads study.toml into typed settings; every error is one sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, Union, get_args, get_origin

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from quaestor.base.errors import SettingsError
from quaestor.base.names import join_with_and, join_with_or, sort_by_similarity, suggest
from quaestor.base.toml import Name, Seed, Settings, read_toml
from quaestor.study.settings.coding import (
    FacetSettings,
    RoundItems,
    RoundSettings,
    check_conditions,
    check_round_conditions,
)
from quaestor.study.settings.evidence import (
    FunnelSettings,
    KindSettings,
    SampleSettings,
    StrandName,
    Tag,
    bundled_kinds,
)
from quaestor.study.settings.publication import (
    AttributeSettings,
    FindingSettings,
    InterviewSettings,
    JointDisplaySettings,
    MeasureSettings,
    PublishedTableSettings,
    ReportSettings,
    ResultSettings,
    ValueSettings,
)
from quaestor.study.settings.sources import AnySource, SourceName, load_source_kind, source_kind_names
from quaestor.study.settings.weights import WeightSettings

_FORMS = re.compile(r"(sqlite|postgresql|postgres)://.+|\$\{\w+\}")


class StoreSettings(Settings):
    """The address of the journal; by default the file study.db in the study folder."""

    address: str | None = None

    @field_validator("address")
    @classmethod
    def _names_a_store(cls, address: str | None) -> str | None:
        # The address is not shown: it may hold a password.
        if address is not None and not _FORMS.fullmatch(address):
            raise ValueError('write "sqlite:///FILE", "postgresql://USER@HOST/DATABASE" or "${NAME}"')
        return address


_SENDER = re.compile(r"(?:[^<>@\x00-\x1f\x7f]*<)?([^\s<>@]+@[^\s<>@]+)>?")
_PORTS = {"starttls": 587, "tls": 465, "none": 25}


class MailSettings(Settings):
    """The server that sends e-mails; its password is never in a file."""

    host: Name
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: str = ""
    sender: Name
    reply_to: str = ""

    @field_validator("sender", "reply_to")
    @classmethod
    def _names_an_address(cls, text: str) -> str:
        if text and not _SENDER.fullmatch(text):
            raise ValueError('write it as "NAME@HOST" or "Some Name <NAME@HOST>"')
        return text

    @property
    def used_port(self) -> int:
        """Returns the port, by default the usual one for the security."""
        return self.port or _PORTS[self.security]


STUDY_FILE = "study.toml"


class AboutStudy(Settings):
    """The study's title and description, and its random seed."""

    name: Name
    title: str = ""
    description: str = ""
    seed: Seed = 1
    lead: Name = "lead"


class StudySettings(Settings):
    """A whole study file."""

    study: AboutStudy
    sources: dict[SourceName, AnySource] = Field(default_factory=dict)
    families: dict[Name, Annotated[tuple[Tag, ...], Field(min_length=1)]] = Field(default_factory=dict)
    kinds: dict[Name, KindSettings] = Field(default_factory=dict)
    funnel: FunnelSettings = FunnelSettings()
    """The first strand, whose item ids have no prefix; the short form for a study with one strand."""
    strands: dict[StrandName, FunnelSettings] = Field(default_factory=dict)
    samples: dict[Name, SampleSettings] = Field(default_factory=dict)
    facets: dict[Name, FacetSettings] = Field(default_factory=dict)
    rounds: tuple[RoundSettings, ...] = ()
    results: ResultSettings = ResultSettings()
    attributes: dict[Name, AttributeSettings] = Field(default_factory=dict)
    measures: MeasureSettings = MeasureSettings()
    tables: tuple[PublishedTableSettings, ...] = ()
    findings: tuple[FindingSettings, ...] = ()
    quantities: tuple[ValueSettings, ...] = ()
    weights: dict[Name, WeightSettings] = Field(default_factory=dict)
    """By survey."""
    report: ReportSettings = ReportSettings()
    joint_display: JointDisplaySettings = JointDisplaySettings()
    interviews: InterviewSettings = InterviewSettings()
    store: StoreSettings = StoreSettings()
    mail: MailSettings | None = None

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        self._check_funnels()
        steps = [step for funnel in self.all_strands().values() for step in _step_names(funnel)]
        for name, sample in self.samples.items():
            if sample.strand is not None and sample.strand not in self.strands:
                raise ValueError(_unknown(f"samples.{name}.strand", sample.strand, self.strands))
            of_strand = _step_names(self.strands[sample.strand]) if sample.strand is not None else steps
            if sample.after is not None and sample.after not in of_strand:
                raise ValueError(_unknown(f"samples.{name}.after", sample.after, of_strand))
            rounds = [round_settings.round for round_settings in self.rounds]
            for before in sample.without:
                if before not in rounds:
                    raise ValueError(_unknown(f"samples.{name}.without", before, rounds))
        check_conditions(self.facets)
        self._rounds_exist(steps)
        self._results_exist()
        return self

    def _check_funnels(self) -> None:
        kinds, known_steps = self.all_kinds(), set[str]()
        for strand, funnel in self.all_strands().items():
            place = f"strands.{strand}" if strand else "funnel"
            for source in funnel.sources:
                if source not in self.sources:
                    raise ValueError(_unknown(f"{place}.source", source, self.sources))
            self._check_one_kind(place, funnel)
            if strand and funnel.source is None:
                raise ValueError(f"{place}.source is missing; choose from: {join_with_or(self.sources)}")
            for number, step in enumerate(funnel.steps):
                if step.step in known_steps:
                    raise ValueError(
                        f"{place}.steps[{number}]: two strands have a step called {step.step!r}: "
                        "give each a different name"
                    )
                for key, kind in (("kind", step.kind), ("not_kind", step.not_kind)):
                    if kind is not None and kind not in kinds:
                        raise ValueError(_unknown(f"{place}.steps[{number}].{key}", kind, kinds))
            known_steps.update(_step_names(funnel))

    def _check_one_kind(self, place: str, funnel: FunnelSettings) -> None:
        kinds = {self.sources[source].kind: source for source in reversed(funnel.sources)}
        if len(kinds) > 1:
            described = join_with_and([f"{source!r} is {kind}" for kind, source in reversed(kinds.items())])
            raise ValueError(
                f"{place}.source lists sources of several kinds ({described}): give each kind a strand of its own"
            )

    def all_strands(self) -> dict[str, FunnelSettings]:
        """Returns the strands by name, the first strand first; the name of `[funnel]` is empty."""
        has_funnel = bool(self.funnel.steps or self.funnel.source or not self.strands)
        return {"": self.funnel, **self.strands} if has_funnel else dict(self.strands)

    def _results_exist(self) -> None:
        for name, attribute in self.attributes.items():
            for family in attribute.first_of:
                if family not in self.families:
                    raise ValueError(_unknown(f"attributes.{name}.first_of", family, self.families))
        if self.results.source is not None and self.results.source not in self.sources:
            raise ValueError(_unknown("results.source", self.results.source, self.sources))
        tables = [table.table for table in self.tables]
        for number, table in enumerate(tables):
            if table in tables[:number]:
                raise ValueError(f"tables[{number}]: two tables are called {table!r}, give each a different name")
        numbers = [finding.finding for finding in self.findings]
        for number, finding in enumerate(numbers):
            if finding in numbers[:number]:
                raise ValueError(f"findings[{number}]: two findings are called {finding!r}, give each a different name")

    def _rounds_exist(self, steps: list[str]) -> None:
        names: list[str] = []
        for number, round_state in enumerate(self.rounds):
            key = f"rounds[{number}]"
            if round_state.round in names:
                raise ValueError(f"{key}: two rounds are called {round_state.round!r}, give each a different name")
            for facet in round_state.facets:
                if facet not in self.facets:
                    raise ValueError(_unknown(f"{key}.facets", facet, self.facets))
            check_round_conditions(key, round_state.facets, self.facets)
            self._check_passages_are_separate(key, round_state)
            earlier_rounds = {
                "after": round_state.after,
                "items.kept_by": round_state.items.kept_by,
                "items.again": round_state.items.again,
            }
            for field, before in earlier_rounds.items():
                if before is not None and before not in names:
                    raise ValueError(_unknown(f"{key}.{field}", before, names))
            for field, earlier in (("items.without", round_state.items.without), ("confirms", round_state.confirms)):
                for before in earlier:
                    if before not in names:
                        raise ValueError(_unknown(f"{key}.{field}", before, names))
            self._check_round_items(f"{key}.items", round_state.items, steps, names)
            names.append(round_state.round)

    def _check_round_items(self, key: str, items: RoundItems, steps: list[str], earlier: list[str]) -> None:
        if items.after is not None and items.after not in steps:
            raise ValueError(_unknown(f"{key}.after", items.after, steps))
        if items.strand is not None and items.strand not in self.strands:
            raise ValueError(_unknown(f"{key}.strand", items.strand, self.strands))
        if items.sample is not None and items.sample not in self.samples:
            raise ValueError(_unknown(f"{key}.sample", items.sample, self.samples))
        if items.where is not None:
            if items.where.family is not None and items.where.family not in self.families:
                raise ValueError(_unknown(f"{key}.where.family", items.where.family, self.families))
            for attribute in items.where.attributes:
                if attribute not in self.attributes:
                    raise ValueError(_unknown(f"{key}.where.attributes", attribute, self.attributes))
        for before in self.samples[items.sample].without if items.sample is not None else ():
            if before not in earlier:
                raise ValueError(
                    f"{key}.sample is {items.sample!r}, which leaves out the items of {before!r}: "
                    "that round must come earlier in the file"
                )

    def _check_passages_are_separate(self, key: str, round_settings: RoundSettings) -> None:
        """Raises ValueError if a round mixes passages with other facets: passages are coded on a separate page."""
        coded = [facet for facet in round_settings.facets if self.facets[facet].kind == "stretches"]
        if coded and (len(round_settings.facets) > 1 or round_settings.practice or round_settings.items.set_size):
            raise ValueError(
                f"{key}: {coded[0]!r} codes passages, which needs a separate round: "
                "remove other facets, practice and set_size"
            )

    def all_kinds(self) -> dict[str, KindSettings]:
        """Returns the bundled question kinds, overridden by the study's own."""
        return {**bundled_kinds(), **self.kinds}


def _step_names(funnel: FunnelSettings) -> list[str]:
    return [step.step for step in funnel.steps]


def _unknown(key: str, value: str, allowed: Any) -> str:
    options = sort_by_similarity(value, allowed)
    return (
        f"{key} is {value!r}; choose from: {join_with_or(options)}"
        if options
        else f"{key} is {value!r}, but none is defined"
    )


def read_settings(path: Path) -> StudySettings:
    """Reads a study file; raises SettingsError with file, key, what was found and what is allowed."""
    raw = read_toml(path, SettingsError)
    try:
        return StudySettings.model_validate(raw)
    except ValidationError as error:
        raise SettingsError(f"{path}: {explain(error.errors()[0], StudySettings, raw)}") from None


def explain(error: ErrorDetails, model: type[BaseModel], raw: Mapping[str, Any] | None = None) -> str:
    """Explains a validation error as a sentence: key, what was found, what is allowed."""
    kind, location, value = error["type"], error["loc"], error["input"]
    key = _key(location)
    context: dict[str, Any] = error.get("ctx", {})
    if kind == "extra_forbidden":
        allowed = sort_by_similarity(str(location[-1]), _keys_at(model, location[:-1], raw))
        return f"{key} is not a known key, allowed here: {join_with_or(allowed)}"
    if kind == "missing":
        return f"{key} is missing: add it"
    if kind in ("literal_error", "union_tag_invalid"):
        tag = context.get("tag", value)
        options = [
            part.strip(" '\"")
            for part in str(context.get("expected") or context["expected_tags"]).replace(" or ", ", ").split(",")
        ]
        where = f"{key}.kind" if kind == "union_tag_invalid" else key
        return f"{where} is {tag!r}; choose from: {suggest(str(tag), options)}"
    if kind == "union_tag_not_found":
        return f"{key}.kind is missing; choose from: {join_with_or(source_kind_names())}"
    if kind == "value_error":
        text = str(context["error"])
        return text if not location else f"{key}: {text}"
    message = _TYPES.get(kind) or error["msg"][:1].lower() + error["msg"][1:]
    return f"{key} is {_format_value(value)}: {message}"


_TYPES = {
    "string_type": "write a text in quotes",
    "int_type": "write a whole number",
    "int_from_float": "write a whole number",
    "float_type": "write a number",
    "bool_type": "write true or false",
    "bool_parsing": "write true or false",
    "int_parsing": "write a whole number",
    "tuple_type": "write a list in square brackets",
    "too_short": "list at least one",
    "dict_type": "write a table of keys",
    "model_type": "write a table of keys",
    "date_type": "write a date such as 2021-09-06",
    "date_from_datetime_parsing": "write a date such as 2021-09-06",
}


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


def _key(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "the file"


def _keys_at(model: Any, location: tuple[int | str, ...], raw: Mapping[str, Any] | None) -> list[str]:
    """Lists the keys allowed at a position of the file; those of a source depend on its kind."""
    options = [model]
    if raw and location[:1] == ("sources",) and len(location) > 1:
        options = [load_source_kind(raw["sources"][location[1]]["kind"]).settings]
        location = location[2:]
    for part in location:
        options = [inner for option in options for inner in _list_part_types(option, part)]
    return sorted({key for option in options for key in _fields(option)})


def _fields(option: Any) -> list[str]:
    if isinstance(option, type) and issubclass(option, BaseModel):
        return [field.alias or name for name, field in option.model_fields.items()]
    return []


def _list_part_types(option: Any, part: int | str) -> list[Any]:
    """Returns the possible types of a part of a type, through unions, lists and tables."""
    if isinstance(option, type) and issubclass(option, BaseModel):
        for name, field in option.model_fields.items():
            if part in (name, field.alias):
                return _open(field.annotation)
        return []
    origin, arguments = get_origin(option), get_args(option)
    if origin is tuple:
        return _open(arguments[0])
    if origin is dict:
        return _open(arguments[1])
    return []


def _open(annotation: Any) -> list[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _open(get_args(annotation)[0])
    if origin is Union or str(type(annotation)) == "<class 'types.UnionType'>":
        return [inner for argument in get_args(annotation) for inner in _open(argument)]
    return [annotation]

"""Samples of what the funnel kept, with the size a confidence and a margin ask for."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pyarrow.parquet as pq
from pydantic import ValidationError

from quaestor.base.errors import InputError, SettingsError
from quaestor.base.names import listed, nearest_first
from quaestor.base.tables import Table, write_table
from quaestor.corpus.engine import engine
from quaestor.corpus.questions import read_questions
from quaestor.corpus.sampling import sample_size, simple_sample, stratified_sample
from quaestor.corpus.settings import SampleSettings
from quaestor.study.folder import Study
from quaestor.study.funnel import fell_file, last_result, step_number
from quaestor.study.withdrawn_items import without_withdrawn


@dataclass(frozen=True)
class Sample:
    """The drawn items, by stratum (one stratum called `all` where there is none)."""

    name: str
    population: int
    confidence: float
    margin: float
    needed: int
    seed: int
    strata: dict[str, list[str]]

    @property
    def size(self) -> int:
        return sum(len(items) for items in self.strata.values())


def describe_sample(**options: object) -> SampleSettings:
    """A sample described on the spot; a wrong option is one sentence."""
    try:
        return SampleSettings.model_validate(options)
    except ValidationError as error:
        problem = error.errors()[0]
        message = problem["msg"][:1].lower() + problem["msg"][1:]
        raise InputError(f"--{problem['loc'][0]} is {problem['input']!r}: {message}") from None


def draw_sample(study: Study, name: str | None, override: SampleSettings | None = None) -> Sample:
    """Draw the named sample of the study file, or one described on the spot."""
    settings = override or _named(study, name)
    found = {name: without_withdrawn(study, items) for name, items in _strata(study, settings).items()}
    strata = {name: items for name, items in found.items() if items or settings.by is None}
    population = sum(len(items) for items in strata.values())
    needed = sample_size(population, settings.confidence, settings.margin)
    seed = settings.seed if settings.seed is not None else study.settings.study.seed
    size = settings.size if settings.size is not None else needed
    if settings.by is None:
        drawn = {"all": simple_sample(strata["all"], size, seed)}
    else:
        drawn = stratified_sample(strata, size, seed)
    return Sample(name or "sample", population, settings.confidence, settings.margin, needed, seed, drawn)


def _named(study: Study, name: str | None) -> SampleSettings:
    samples = study.settings.samples
    if name is None:
        return SampleSettings()
    if name not in samples:
        options = listed(nearest_first(name, samples)) or "none is defined"
        raise SettingsError(f"{study.file}: there is no sample {name!r}, allowed: {options}")
    return samples[name]


def _strata(study: Study, settings: SampleSettings) -> dict[str, list[str]]:
    path = fell_file(study)
    after = settings.after
    last = last_result(study)
    passed = step_number(study, after) if after is not None else (len(last[0].steps) if last else 0) - 1
    if settings.by is None:
        table = pq.read_table(path, filters=[("fell_at", ">", passed)], columns=["item"])
        return {"all": table.column("item").to_pylist()}
    with engine(study.funnel_folder) as connection:
        fell = connection.read_parquet(str(path))
        kept = fell.filter(fell.fell_at > passed)
        questions = read_questions(connection, study.evidence_of(study.funnel_source()))
        columns = {"year": "creation_date", "family": "tags"}
        value = questions[columns[settings.by]]
        rows = kept.join(questions.select(_id="id", _value=value), kept.id == questions.id).select("item", "_value")
        strata: dict[str, list[str]] = {}
        for row in rows.to_pyarrow().to_pylist():
            strata.setdefault(_stratum(study, settings.by, row["_value"]), []).append(row["item"])
        return strata


def _stratum(study: Study, by: str, value: object) -> str:
    if by == "year":
        return str(getattr(value, "year", "unknown"))
    tags = value if isinstance(value, list) else []
    for family, patterns in study.settings.families.items():
        if any(fnmatchcase(tag, pattern) for tag in tags for pattern in patterns):
            return family
    return "none"


def write_sample(sample: Sample, path: Path) -> None:
    """The drawn items as a table, with the stratum each belongs to."""
    rows = [(item, stratum) for stratum, items in sample.strata.items() for item in items]
    write_table(Table("sample", ("item", "stratum"), rows), path)

"""Draws samples of the items the funnel kept, of the size that a confidence level and a margin of error require."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import NormalDist

import numpy as np
from pydantic import ValidationError

from quaestor.base.errors import InputError, SettingsError, StateError
from quaestor.base.names import suggest
from quaestor.base.table_files import ExportTable, write_table
from quaestor.evidence.engine import engine
from quaestor.evidence.erasure import drop_withdrawn
from quaestor.evidence.funnel import dropped_at_file, last_result, read_passed, step_number
from quaestor.evidence.items import item_key, read_items_by_source, select_drops
from quaestor.study.features import open_round_outcomes
from quaestor.study.folder import Study, has_journal
from quaestor.study.settings.evidence import SampleSettings


def compute_sample_size(population: int, confidence: float, margin: float, share: float = 0.5) -> int:
    """Returns how many items of a population estimate a share within ± margin (Cochran's formula).

    The share 0.5 needs the largest sample; the finite population correction is applied.
    """
    if not (0 < confidence < 1 and 0 < margin < 1 and 0 < share < 1):
        raise InputError("confidence, margin and share must be between 0 and 1, for example 0.95, 0.05 and 0.5")
    if population <= 0:
        return 0
    quantile = NormalDist().inv_cdf((1 + confidence) / 2)
    unlimited = quantile**2 * share * (1 - share) / margin**2
    return min(population, math.ceil(unlimited / (1 + (unlimited - 1) / population)))


def draw_simple_sample(items: Sequence[str], size: int, seed: int) -> list[str]:
    """Draws `size` items with equal probability; the same items, size and seed give the same sample."""
    if size > len(items):
        raise InputError(
            f"a sample of {size} cannot be drawn from {len(items)} items: lower `size` in study.toml or --size"
        )
    ordered = sorted(items)
    chosen = np.random.default_rng(seed).choice(len(ordered), size=size, replace=False)
    return [ordered[number] for number in np.sort(chosen)]


def draw_stratified_sample(strata: Mapping[str, Sequence[str]], size: int, seed: int) -> dict[str, list[str]]:
    """Draws a sample in which each stratum has its proportion of the whole, to within one item."""
    sizes = allocate(size, {name: len(items) for name, items in strata.items()})
    return {
        name: draw_simple_sample(strata[name], sizes[name], seed + number) for number, name in enumerate(sorted(strata))
    }


def allocate(size: int, counts: Mapping[str, int]) -> dict[str, int]:
    """Divides a sample among strata in proportion to their counts, by largest remainder; never more than one has."""
    total = sum(counts.values())
    if size > total:
        raise InputError(f"a sample of {size} cannot be drawn from {total} items: lower `size` in study.toml or --size")
    if not total:
        return dict.fromkeys(counts, 0)
    exact = {name: size * count / total for name, count in counts.items()}
    sizes = {name: math.floor(value) for name, value in exact.items()}
    by_remainder = sorted(counts, key=lambda name: (sizes[name] - exact[name], name))
    for name in by_remainder[: size - sum(sizes.values())]:
        sizes[name] += 1
    return sizes


@dataclass(frozen=True)
class Sample:
    """The drawn items by stratum (a single one called `all` in a simple sample)."""

    name: str
    population: int
    confidence: float
    margin: float
    needed: int
    seed: int
    strata: dict[str, list[str]]
    without: tuple[str, ...] = ()
    """The rounds whose items it leaves out."""

    @property
    def size(self) -> int:
        return sum(len(items) for items in self.strata.values())


def build_sample_settings(**options: object) -> SampleSettings:
    """Validates the options of a sample that is not in study.toml; a wrong option raises InputError."""
    try:
        return SampleSettings.model_validate(options)
    except ValidationError as error:
        problem = error.errors()[0]
        message = problem["msg"][:1].lower() + problem["msg"][1:]
        raise InputError(f"--{problem['loc'][0]} is {problem['input']!r}: {message}") from None


def draw_sample(
    study: Study,
    name: str | None,
    override: SampleSettings | None = None,
    earlier: Mapping[str, Collection[str]] | None = None,
) -> Sample:
    """Draws the sample that study.toml names, or one with the settings in `override`.

    `earlier` has the items of the rounds to leave out, by round; without it they are read from the journal.
    """
    settings = override or _find_settings(study, name)
    if earlier is None:
        earlier = _read_planned_items(study, settings.without)
    left_out = frozenset(item for before in settings.without for item in earlier[before])
    if settings.strand is not None:
        study = study.in_strand(settings.strand)
    elif settings.after is not None:
        study = study.in_strand_with_step(settings.after)
    usable = {
        name: [item for item in drop_withdrawn(study, items) if item not in left_out]
        for name, items in _read_strata(study, settings).items()
    }
    strata = {name: items for name, items in usable.items() if items or settings.by is None}
    population = sum(len(items) for items in strata.values())
    needed = compute_sample_size(population, settings.confidence, settings.margin)
    seed = settings.seed if settings.seed is not None else study.settings.study.seed
    size = settings.size if settings.size is not None else needed
    if settings.by is None:
        drawn = {"all": draw_simple_sample(strata["all"], size, seed)}
    else:
        drawn = draw_stratified_sample(strata, size, seed)
    return Sample(
        name or "sample", population, settings.confidence, settings.margin, needed, seed, drawn, settings.without
    )


def _read_planned_items(study: Study, rounds: Sequence[str]) -> Mapping[str, Collection[str]]:
    if rounds and not has_journal(study):
        raise StateError(f"the round {rounds[0]!r} has not been opened, so its items cannot be left out: open it first")
    return open_round_outcomes(study).planned_items(rounds) if rounds else {}


def _find_settings(study: Study, name: str | None) -> SampleSettings:
    samples = study.settings.samples
    if name is None:
        return SampleSettings()
    if name not in samples:
        options = suggest(name, samples) or "none is defined"
        raise SettingsError(f"{study.file} has no sample {name!r}; choose from: {options}")
    return samples[name]


def _read_strata(study: Study, settings: SampleSettings) -> dict[str, list[str]]:
    path = dropped_at_file(study)
    last = last_result(study)
    steps = len(last[0].steps) if last else 0
    passed = step_number(study, settings.after) if settings.after is not None else steps - 1
    if settings.by is None:
        return {"all": list(read_passed(study, passed))}
    with engine(study.funnel_folder) as connection:
        drops = connection.read_parquet(str(path))
        kept = drops.filter(drops.fell_at > passed)
        strata: dict[str, list[str]] = {}
        for source, items in read_items_by_source(connection, study).items():
            column, key, own = (
                {"year": "creation_date", "family": "tags"}[settings.by],
                item_key(items),
                select_drops(kept, study, source),
            )
            if column not in items.columns:
                raise StateError(
                    f"the source {source!r} has no column {column!r}, so its items have no {settings.by}: remove by"
                )
            values = items.select(_key=items[key], _value=items[column])
            rows = own.join(values, own[key] == values._key).select("item", "_value")
            for row in rows.to_pyarrow().to_pylist():
                strata.setdefault(_choose_stratum(study, settings.by, row["_value"]), []).append(row["item"])
        return strata


def _choose_stratum(study: Study, by: str, value: object) -> str:
    if by == "year":
        return str(getattr(value, "year", "unknown"))
    tags = value if isinstance(value, list) else []
    for family, patterns in study.settings.families.items():
        if any(fnmatchcase(tag, pattern) for tag in tags for pattern in patterns):
            return family
    return "none"


def write_sample(sample: Sample, path: Path) -> None:
    """Writes the drawn items as a table, with the stratum of each."""
    rows = [(item, stratum) for stratum, items in sample.strata.items() for item in items]
    write_table(ExportTable("sample", ("item", "stratum"), rows), path)

"""Writes synthetic dumps, optionally with the published figures of a bundled study."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.evidence.sources.protocol import Progress, no_progress
from quaestor.study.templates import template_folder
from quaestor.synth.stackexchange import ALL_TABLES, SynthPlan, Truth, minimum_posts, write_dump
from quaestor.synth.taxonomy import Medians, PlannedObject, Taxonomy

_LIKE_POSTS = 240_000
_STEPS = ("tagged", "how_to", "accepted", "open", "refined")
_TAXONOMY, _MEDIANS, _OTHER = "table03-taxonomy.csv", "table14-popularity-difficulty.csv", "other.csv"
_CORRELATIONS = ("Pearson r of viewcount and score", "Pearson r of popularity and difficulty")
_FIGURES = ("viewcount", "score", "response_days")
_TOTAL = "(total)"

Row = Mapping[str, str]


def read_plan(study: str) -> SynthPlan:
    """Reads the plan of a bundled study: its published funnel, posts by year, and taxonomy if there is one."""
    folder = template_folder(study)
    described = folder / "synthetic.toml"
    if not described.exists():
        raise InputError(f"the bundled study {study!r} has no plan for synthetic data: leave --like out")
    planted = tomllib.loads(described.read_text("utf-8"))
    families = {name: tuple(tags) for name, tags in planted["families"].items()}
    printed = folder / "printed"
    counts = dict(zip(_STEPS, (int(row["posts"]) for row in _read_rows(printed / "funnel.csv")), strict=True))
    yearly = {
        (framework, int(row["year"])): int(row[framework])
        for row in _read_rows(printed / "table01-posts-by-year.csv")
        if row["year"].isdigit()
        for framework in families
    }
    taxonomy = read_taxonomy(printed, tuple(families), planted.get("medians", {}))
    return SynthPlan(**counts, yearly=yearly, families=families, taxonomy=taxonomy)


def read_taxonomy(
    printed: Path, frameworks: tuple[str, ...], restored: Mapping[str, Mapping[str, float]]
) -> Taxonomy | None:
    """Reads the published taxonomy, or returns None if a part of it is missing.

    A missing median comes from `restored`, or else from its phase.
    """
    if not all((printed / name).exists() for name in (_TAXONOMY, _MEDIANS, _OTHER)):
        return None
    counts = list(_read_rows(printed / _TAXONOMY))
    medians = {row["code"]: row for row in _read_rows(printed / _MEDIANS)}
    codes = {row["phase"]: row["code"] for row in counts if row["object"] == _TOTAL}
    phases = {phase: _read_medians(medians[code], {}, {}) for phase, code in codes.items()}
    objects = tuple(
        PlannedObject(
            phase=row["phase"],
            object=row["object"],
            posts={framework: int(row[framework]) for framework in frameworks},
            medians=_read_medians(medians[row["code"]], restored.get(row["code"], {}), medians[codes[row["phase"]]]),
        )
        for row in counts
        if row["object"] != _TOTAL
    )
    other = {row["figure"]: row["value"] for row in _read_rows(printed / _OTHER)}
    missing = [name for name in _CORRELATIONS if name not in other]
    if missing:
        raise InputError(f"{printed / _OTHER} has no figure {missing[0]!r}: add it, or remove {_TAXONOMY}")
    return Taxonomy(objects, phases, *(float(other[name]) for name in _CORRELATIONS))


def _read_medians(row: Row, restored: Mapping[str, float], phase: Row) -> Medians:
    figures = [row[name] or str(restored.get(name, "")) or phase.get(name, "") for name in _FIGURES]
    if not all(figures):
        raise InputError(f"{_MEDIANS} has no median for {row['code']}: add it there or to [medians] in synthetic.toml")
    return Medians(*(float(figure) for figure in figures))


def _read_rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def synthesise(
    folder: Path,
    *,
    posts: int | None,
    seed: int,
    tag_syntax: str = "new",
    like: str | None = None,
    only_posts: bool = False,
    progress: Progress = no_progress,
) -> Truth:
    """Writes a synthetic dump and returns its truth."""
    plan = read_plan(like) if like is not None else None
    number = posts if posts is not None else max(minimum_posts(plan), _LIKE_POSTS) if plan else 10_000
    if number < 1:
        raise InputError(f"--posts is {number}: ask for at least one")
    if tag_syntax not in ("old", "new"):
        raise InputError(f"--tag-syntax is {tag_syntax!r}; choose from: old or new")
    return write_dump(
        folder,
        posts=number,
        seed=seed,
        tag_syntax=tag_syntax,
        plan=plan,
        tables=("posts",) if only_posts else ALL_TABLES,
        progress=progress,
    )

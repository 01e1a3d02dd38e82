"""Synthetic dumps, in through the same door as real ones."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.sources.records import Progress, no_progress
from quaestor.study.templates import template_folder
from quaestor.synth.stackexchange import ALL_TABLES, Plan, Truth, minimum_posts, write_dump

_LIKE_POSTS = 240_000
_STEPS = ("tagged", "how_to", "accepted", "open", "refined")


def plan_of(study: str) -> Plan:
    """What a bundled study plants: its printed funnel and its printed posts by year."""
    folder = template_folder(study)
    described = folder / "synthetic.toml"
    if not described.exists():
        raise InputError(f"the bundled study {study!r} does not say what to plant: leave --like out")
    families = tomllib.loads(described.read_text("utf-8"))["families"]
    with (folder / "printed" / "funnel.csv").open(encoding="utf-8") as file:
        counts = dict(zip(_STEPS, (int(row["posts"]) for row in csv.DictReader(file)), strict=True))
    with (folder / "printed" / "table01-posts-by-year.csv").open(encoding="utf-8") as file:
        yearly = {
            (framework, int(row["year"])): int(row[framework])
            for row in csv.DictReader(file)
            if row["year"].isdigit()
            for framework in families
        }
    return Plan(**counts, yearly=yearly, families={name: tuple(tags) for name, tags in families.items()})


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
    """Write a synthetic dump and the truth about it."""
    plan = plan_of(like) if like is not None else None
    number = posts if posts is not None else max(minimum_posts(plan), _LIKE_POSTS) if plan else 10_000
    if number < 1:
        raise InputError(f"--posts is {number}: ask for at least one")
    if tag_syntax not in ("old", "new"):
        raise InputError(f"--tag-syntax is {tag_syntax!r}, allowed: old or new")
    return write_dump(
        folder,
        posts=number,
        seed=seed,
        tag_syntax=tag_syntax,
        plan=plan,
        tables=("posts",) if only_posts else ALL_TABLES,
        progress=progress,
    )

"""Writes a synthetic Stack Exchange dump of any size in the official format, with planted counts."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import numpy as np

from quaestor.base.errors import InputError
from quaestor.evidence.sources.protocol import Progress, no_progress
from quaestor.synth.plan import SynthPlan, check_plan, minimum_posts, read_plan
from quaestor.synth.post_layout import list_families, make_layout
from quaestor.synth.posts import PostWriter, build_texts
from quaestor.synth.tables import TABLE_BUILDERS, Dump
from quaestor.synth.tagging import check_syntax, choose_tags
from quaestor.synth.truth import ITEMS_FILE, TRUTH_FILE, Truth, find_truth, write_truth
from quaestor.synth.xml_rows import write_rows

ALL_TABLES = ("posts", *TABLE_BUILDERS)
"""Every table of a dump; posts are always written."""

_LIKE_POSTS = 240_000
_MOST_POSTS = 2_000_000_000
_STEMS = ("Posts", "Comments", "Users", "Votes", "PostHistory", "PostLinks", "Badges", "Tags")
_FILES = frozenset([*(f"{stem}.xml" for stem in _STEMS), TRUTH_FILE, ITEMS_FILE])


def write_dump(
    folder: Path, *, posts: int, seed: int, tag_syntax: str = "new", plan: SynthPlan | None = None,
    tables: tuple[str, ...] = ALL_TABLES, progress: Progress = no_progress,
) -> Truth:  # fmt: skip
    """Writes a dump completely or not at all; the same arguments give the same bytes."""
    _check(posts, seed, tag_syntax, plan, tables)
    _check_folder(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}")
    temporary.mkdir()
    try:
        truth = _write(
            temporary, posts=posts, seed=seed, tag_syntax=tag_syntax, plan=plan, tables=tables, progress=progress
        )
        if folder.exists():
            shutil.rmtree(folder)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return truth


def _write(
    folder: Path, *, posts: int, seed: int, tag_syntax: str, plan: SynthPlan | None, tables: tuple[str, ...],
    progress: Progress,
) -> Truth:  # fmt: skip
    families = list_families(plan)
    frameworks = tuple(families)
    rng = np.random.default_rng([seed, 0])
    layout = make_layout(posts, plan, rng)
    combinations = max(100, min(10_000, posts // 10))
    tagging = choose_tags(layout.questions, families, combinations, random.Random(seed), rng)
    texts = build_texts(layout.questions, frameworks, tagging, syntax=tag_syntax, posts=posts, seed=seed)
    dump = Dump(layout, tagging, seed)
    written = [PostWriter(layout, tagging, texts, seed).table()]
    written += [make(dump) for name, make in TABLE_BUILDERS.items() if name in tables]
    rows = {table.name: write_rows(folder, table, seed, progress) for table in written}
    truth = find_truth(layout, frameworks, rows, seed, tag_syntax)
    write_truth(folder, truth, layout, frameworks)
    return truth


def _check(posts: int, seed: int, tag_syntax: str, plan: SynthPlan | None, tables: tuple[str, ...]) -> None:
    if not 1 <= posts <= _MOST_POSTS:
        raise InputError(f"a dump cannot have {posts} posts: choose 1 to {_MOST_POSTS}")
    if seed < 0:
        raise InputError(f"a seed cannot be {seed}: use a whole number from 0")
    check_syntax(tag_syntax)
    unknown = [name for name in tables if name not in ALL_TABLES]
    if unknown:
        raise InputError(f"there is no table {unknown[0]!r} in a dump: choose among {', '.join(ALL_TABLES)}")
    if plan:
        check_plan(plan, posts)


def _check_folder(folder: Path) -> None:
    """Raises InputError if the folder contains anything but an earlier synthetic dump."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder} is a file: name a folder that does not exist yet")
    inside = [entry.name for entry in folder.iterdir()]
    if inside and (not _is_synthetic(folder / TRUTH_FILE) or not _FILES.issuperset(inside)):
        raise InputError(f"{folder} contains files that are not a synthetic dump: name another folder or empty it")


def _is_synthetic(path: Path) -> bool:
    try:
        truth = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(truth, dict) and truth.get("synthetic") is True


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

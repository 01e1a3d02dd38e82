"""Synthetic interviews by the guide of a bundled study, in the formats that recording programs write."""

from __future__ import annotations

import tomllib
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.instruments.interviews.guide_file import guide_from
from quaestor.study.templates import template_folder
from quaestor.synth.interview_plan import InterviewPlan, plan_from
from quaestor.synth.interview_truth import InterviewTruth, write_talks
from quaestor.synth.interviews import make_talks

STUDY = "dl-framework-interviews"


def interview_plan(study: str) -> InterviewPlan:
    """What a bundled study plants in its interviews."""
    described = template_folder(study) / "synthetic.toml"
    said = tomllib.loads(described.read_text("utf-8")).get("interviews") if described.exists() else None
    if said is None:
        raise InputError(f"the bundled study {study!r} does not say what to plant in interviews: take {STUDY!r}")
    return plan_from(said, f"synthetic.toml of {study}")


def synthesise_interviews(
    folder: Path, *, seed: int, interviews: int | None = None, words: int | None = None, like: str = STUDY
) -> InterviewTruth:
    """Write interviews as files, each in another format, and truth.json beside them."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is already there and not empty: name a new folder")
    plan = interview_plan(like)
    text = (template_folder(like) / "instruments" / f"{plan.guide}.md").read_text("utf-8-sig")
    guide = guide_from(text, plan.guide)
    return write_talks(folder, make_talks(guide, plan, seed=seed, interviews=interviews, words=words), seed, plan.guide)

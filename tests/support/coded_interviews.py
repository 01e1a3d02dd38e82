"""Transcripts as the items of a round that two raters code, made with the public functions."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from quaestor.coding.codebook import import_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import open_by_name
from quaestor.coding.round_setup import add_round
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.interviews.items import SOURCE, STEP, make_items
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.study.folder import Study, open_study
from tests.support.small_interviews import TALK, a_study, with_interview, with_transcript

ROUND = "themes"
FACET = """
[facets.themes]
kind = "stretches"
question = "What is talked about here?"
codes = "themes"
fields.indicator = ["what", "threshold"]
"""
CODEBOOK = """
name = "talks"

[[facet]]
id = "themes"
levels = ["theme", "code"]

[[code]]
id = "practice"
facet = "themes"
name = "practice"

[[code]]
id = "practice/data"
facet = "themes"
parent = "practice"
name = "looking at the data"
definition = "What is done before a model is designed."

[[code]]
id = "practice/design"
facet = "themes"
parent = "practice"
name = "designing a model"

[[code]]
id = "legitimacy"
facet = "themes"
name = "legitimacy"

[[code]]
id = "shapes"
facet = "themes"
parent = "legitimacy"
name = "shapes that do not match"

[[code]]
id = "indicator"
facet = "themes"
parent = "legitimacy"
name = "indicator"
"""
MATCHED = {0: "stages", 2: "illegal"}
OPENED: Mapping[str, Any] = {
    "round": ROUND,
    "items": {"after": STEP},
    "facets": ["themes"],
    "raters": ["rater-1", "rater-2"],
}
Talk = Sequence[tuple[str, str] | tuple[str, str, float, float]]


def coded_study(
    folder: Path,
    talks: Sequence[Talk] = (TALK,),
    round_: Mapping[str, Any] = OPENED,
    matched: Mapping[int, str] | None = None,
    codebook: str = CODEBOOK,
) -> Study:
    """A study whose round over the transcripts of these talks is open, one interview a talk."""
    a_study(folder, more=FACET)
    (folder / "codebook.toml").write_text(codebook, "utf-8")
    with open_interviews(open_study(folder)) as interviews:
        for talk in talks:
            with_transcript(interviews, with_interview(interviews).id, talk, dict(matched or MATCHED))
        make_items(interviews)
    study = open_study(folder)
    ingest_source(study, SOURCE)
    run_funnel(study)
    add_round(study, round_)
    study = open_study(folder)
    import_codebook(study)
    open_by_name(study, str(round_["round"]), None)
    return study


def copy_of(study: Study, folder: Path) -> Study:
    """A study of one's own, sooner than it is made."""
    shutil.copytree(study.root, folder, dirs_exist_ok=True)
    return open_study(folder)


@contextmanager
def interviews_of(study: Study) -> Iterator[Interviews]:
    with open_interviews(study) as interviews:
        yield interviews


def stretch(start: int, end: int, code: str = "", **more: Any) -> dict[str, Any]:
    return {"start": start, "end": end, **({"code": code} if code else {}), **more}


def code_all(study: Study, said: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]], name: str = ROUND) -> None:
    """By rater and item the stretches; what is not named is read with nothing to code."""
    with open_coding(study) as coding:
        for rater, items in said.items():
            for item in coding.state.round(name).plan.items:
                rate(coding, name, rater, item, {"themes": list(items.get(item, []))})


def on_record(study: Study, rater: str, item: str, name: str = ROUND) -> Any:
    """The stretches of a turn that a rater gave last."""
    with open_coding(study) as coding:
        rating = coding.state.round(name).current(rater, item)
        return None if rating is None else rating.answers["themes"]

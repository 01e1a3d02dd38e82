"""A study with three strands (posts, open answers, interviews), a codebook, and a round for each, open or decided."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quaestor.coding.codebook import import_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.interviews.items import make_items as make_turn_items
from quaestor.interviews.repository import open_interviews
from quaestor.study.folder import Study, open_study
from quaestor.surveys.open_answers import make_items as make_answer_items
from tests.support.small_interviews import SMALL, TALK, a_study, with_transcript
from tests.support.small_survey import FORMS, NAME, answered, fielded

RATERS = ("rater-1", "rater-2")
ANSWERS, TURNS = f"{NAME}-hardest", "turns"
SPOKEN = "Zebra-striped tensors never fit our scanner."
"""Words that only the participant P1 said."""
WRITTEN = "Quokka layers, they never convert."
"""Words that only the first respondent wrote."""
POSTS = """id,title,body
p1,How to convert a custom layer?,I wrote a layer of my own and want to convert it.
p2,Why is inference slow?,The model needs a second for each image.
p3,thanks,ok
"""
SETTINGS = """
[sources.posts]
kind = "table"
path = "posts.csv"
item = "forum/{id}"
columns = { id = {}, title = {}, body = {} }

[funnel]
title = "Posts"
source = "posts"
steps = [{ step = "long posts", body_at_least = 8 }]

[facets.topic]
kind = "single"
codes = "topic"

[facets.topics]
kind = "multiple"
codes = "topic"

[facets.passages]
kind = "stretches"
codes = "topic"
"""
ROUNDS = f"""
[[rounds]]
round = "posts"
items = {{ after = "long posts" }}
facets = ["topic"]
raters = ["rater-1", "rater-2"]

[[rounds]]
round = "answers"
items = {{ strand = "{ANSWERS}" }}
facets = ["topics"]
raters = ["rater-1", "rater-2"]
statistic = "alpha"

[[rounds]]
round = "interviews"
items = {{ strand = "{TURNS}" }}
facets = ["passages"]
raters = ["rater-1", "rater-2"]
statistic = "alpha"

[results]
tree = "topic"
code = "posts.topic"

[[tables]]
table = "1"
title = "Topics of posts"
rows = ["topic"]

[joint_display]
title = "Topics in all strands"
strands = [
    {{ code = "posts.topic", title = "Posts" }},
    {{ code = "answers.topics", title = "Survey", quote = true }},
    {{ code = "interviews.passages", title = "Interviews", quote = true }},
]
"""
CODEBOOK = """
name = "topics"

[[facet]]
id = "topic"
levels = ["topic"]

[[code]]
id = "layers"
facet = "topic"
name = "custom layers"
key = "c"

[[code]]
id = "speed"
facet = "topic"
name = "inference speed"
key = "i"
"""
FACETS = {"posts": "topic", "answers": "topics", "interviews": "passages"}


def mixed_study(folder: Path) -> Study:
    """A study with two posts, two open answers and four turns of two interviews, and an open round for each strand."""
    a_study(folder, SMALL, SETTINGS)
    (folder / "posts.csv").write_text(POSTS, "utf-8")
    (folder / "codebook.toml").write_text(CODEBOOK, "utf-8")
    with fielded(folder) as surveys:
        answered(surveys, forms={**FORMS, "words": {"q.hardest": [WRITTEN]}})
        answered(surveys)
        make_answer_items(surveys, NAME, "hardest")
    with open_interviews(open_study(folder)) as interviews:
        with_transcript(interviews, turns=(*TALK[:3], ("Guest", SPOKEN)))
        with_transcript(interviews)
        make_turn_items(interviews)
    file = folder / "study.toml"
    file.write_text(file.read_text("utf-8") + ROUNDS, "utf-8")
    study = open_study(folder)
    for strand in study.in_each_strand():
        ingest_source(study, strand.funnel_source())
        run_funnel(strand)
    import_codebook(study)
    for name in FACETS:
        open_by_name(study, name, None)
    return study


def answer_of(name: str, item: str) -> Any:
    """The answer that every rater gives to an item of a round."""
    if name == "interviews":
        return [{"start": 0, "end": 12, "code": "layers"}]
    return ["layers"] if name == "answers" else "speed" if item.endswith("p2") else "layers"


def decide_all(
    study: Study, differing: Mapping[str, Any] | None = None, agreed: Mapping[str, Any] | None = None
) -> None:
    """Rates every item and closes the rounds; `agreed` has other answers by item, `differing` those of rater-2."""
    for name, facet in FACETS.items():
        with open_coding(study) as coding:
            for item in coding.state.round(name).plan.items:
                for rater in RATERS:
                    other = (differing or {}).get(item) if rater == RATERS[1] else None
                    answer = (agreed or {}).get(item) or answer_of(name, item)
                    rate(coding, name, rater, item, {facet: answer if other is None else other})
        close_by_name(study, name, None)

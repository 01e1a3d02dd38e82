"""A small study with rounds, made with the public functions: a table of a dozen posts, two raters and a tie-breaker."""

from __future__ import annotations

from pathlib import Path

from quaestor.study.folder import Study
from tests.support.made_once import study_of

STUDY = """
[study]
name = "small"
seed = 4

[sources.sheet]
kind = "table"
path = "posts.csv"
item = "forum/question/{id}"
columns.id = { type = "whole" }
columns.title = {}
columns.body = {}

[[funnel.steps]]
step = "how-to"
where = "title.contains('how to')"

[[funnel.steps]]
step = "kept by raters"
round = "main"

[samples.pilot]
after = "how-to"
size = 4

[facets.relevance]
kind = "keep"
question = "Does it ask how to write something?"
reasons = ["crash", "installation"]

[facets.phase]
kind = "single"
codes = "issue"
level = "phase"

[facets.phrase]
kind = "phrase"

[facets.triplet]
kind = "confirm"

[[rounds]]
round = "pilot"
kind = "pilot"
items = { sample = "pilot" }
facets = ["relevance"]
raters = ["rater-1", "rater-2"]
threshold = 0.4
instructions = "Read the title."

[[rounds]]
round = "main"
items = { after = "how-to" }
facets = ["relevance"]
raters = ["rater-1", "rater-2"]
after = "pilot"
tie_breaker = "tie-breaker"
settle = "two-step"

[[rounds]]
round = "phrases"
items = { kept_by = "main", set_size = 4 }
facets = ["phrase"]
raters = ["rater-1", "rater-2"]

[[rounds]]
round = "phases"
items = { kept_by = "main" }
facets = ["phase"]
raters = ["rater-1", "rater-2"]

[[rounds]]
round = "triplets"
items = { kept_by = "main" }
facets = ["triplet"]
raters = ["rater-1", "rater-2"]
confirms = ["phrases", "phases"]
"""

CODEBOOK = """
name = "small"

[[facet]]
id = "issue"
levels = ["phase", "object"]

[[code]]
id = "training"
facet = "issue"
name = "model training"

[[code]]
id = "setting"
facet = "issue"
name = "model setting"

[[code]]
id = "training/loss"
facet = "issue"
parent = "training"
name = "loss"
"""

ITEMS = [f"forum/question/{number}" for number in range(1, 13)]


def small_study(folder: Path, store: str = "") -> Study:
    """Twelve how-to posts and one other, ingested, with the funnel run up to the raters."""
    posts = [f"{number},how to save layer {number},<p>I want to <code>save</code> it</p>" for number in range(1, 13)]
    return study_of(folder, {
        "posts.csv": "\n".join(["id,title,body", *posts, "13,why does it crash,x"]),
        "study.toml": STUDY + (f'\n[store]\naddress = "{store}"\n' if store else ""),
        "codebook.toml": CODEBOOK,
    })  # fmt: skip

"""A small study to search in: posts with tags, dates, authors and hostile words, two raters who differ, one of them
perhaps the lead."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from quaestor.coding.codebook import import_codebook
from quaestor.coding.disagreements import break_tie, comment_on_item, settle_agreed
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.session import open_coding
from quaestor.study.folder import Study
from tests.support.made_once import study_of
from tests.support.settling import settle_with_assents
from tests.support.small_study import CODEBOOK

STUDY = """
[study]
name = "searched"
lead = "head-of-study"
seed = 4

[sources.sheet]
kind = "table"
path = "posts.csv"
item = "forum/question/{id}"
columns.id = { type = "whole" }
columns.title = {}
columns.body = {}
columns.tags = { type = "list", separator = " " }
columns.creation_date = { type = "time" }
columns.score = { type = "whole" }
columns.view_count = { type = "whole" }
columns.owner_display_name = {}

[[funnel.steps]]
step = "asks how"
where = "title.lower().contains('how')"

[[funnel.steps]]
step = "viewed"
where = "view_count > 10"

[facets.relevance]
kind = "keep"
question = "Does it ask how to write something?"
reasons = ["crash", "installation"]

[facets.phase]
kind = "single"
codes = "issue"

[[rounds]]
round = "main"
items = { after = "viewed" }
facets = ["relevance", "phase"]
raters = ["rater-1", "RATER-2"]
tie_breaker = "third-person"
settle = "two-step"
"""
WROTE = "Author McName"
TELLING = "tellingword"
POSTS = [
    # id, title, body, tags, created, score, views
    (1, "How to save a layer", "<p>I <code>model.save(path)</code> it &amp; load it</p>", "keras python", 2015, 5, 100),
    (2, "How to freeze a layer", "<pre>for x in a &lt; b</pre> naïve café", "keras", 2016, -3, 90),
    (3, "How to load weights", "=HYPERLINK(1) saved weights", "pytorch python", 2016, 0, 80),
    (4, "=cmd|' /C calc'!A0 how", "<script>alert(1)</script> freezing", "pytorch", 2017, 1, 70),
    (5, "How <b>bold</b> & \"quoted\"", "AND OR NOT NEAR layer_norm", "c++ keras", 2018, 2, 60),
    (6, "How to be rarely seen", "few look", "keras", 2018, 2, 3),
    (7, "Why does it crash", "a crash in a layer", "python", 2019, 9, 500),
]  # fmt: skip
ITEMS = [f"forum/question/{post[0]}" for post in POSTS]


def searched_study(folder: Path, *, second: str = "rater-2") -> Study:
    """Ingested, with the funnel run; nobody has acted."""
    file = io.StringIO(newline="")
    rows = csv.writer(file)
    rows.writerow(["id", "title", "body", "tags", "creation_date", "score", "view_count", "owner_display_name"])
    for number, title, body, tags, year, score, views in POSTS:
        rows.writerow([number, title, body, tags, f"{year}-03-0{number}T10:00:00", score, views, WROTE])
    texts = {"posts.csv": file.getvalue(), "study.toml": STUDY.replace("RATER-2", second), "codebook.toml": CODEBOOK}
    return study_of(folder, texts)


def with_open_round(study: Study, second: str = "rater-2") -> Study:
    """Both have rated everything; they differ on the third item about what to keep, on the fourth about the phase."""
    import_codebook(study)
    open_by_name(study, "main", None)
    keep = dict.fromkeys(ITEMS, "keep")
    phases = dict.fromkeys(ITEMS, "training") | {ITEMS[0]: "training/loss"}
    with open_coding(study) as coding:
        for item in coding.state.rounds["main"].plan.items:
            for rater in ("rater-1", second):
                differs = rater == second
                relevance = f"exclude: {'crash'}" if differs and item == ITEMS[2] else keep[item]
                phase = "setting" if differs and item == ITEMS[3] else phases[item]
                memo = f"{TELLING} of {rater}" if item == ITEMS[2] else ""
                rate(coding, "main", rater, item, {"relevance": relevance, "phase": phase}, memo=memo)
    return study


def with_closed_round(study: Study, second: str = "rater-2") -> Study:
    """What raters agree on is decided; the two disagreements are open."""
    with_open_round(study, second)
    close_by_name(study, "main", None)
    settle_agreed(study, "main", None)
    return study


def with_settled_round(study: Study, second: str = "rater-2") -> Study:
    with_closed_round(study, second)
    comment_on_item(study, "main", "rater-1", ITEMS[2], "relevance", f"{second} read {TELLING} too fast")
    break_tie(study, "main", "third-person", ITEMS[2], "relevance", "keep", "it asks how")
    settle_with_assents(study, "main", "rater-1", ITEMS[2], "relevance", "keep", "together", "as third-person says")
    settle_with_assents(study, "main", "rater-1", ITEMS[3], "phase", "training", "discussion", "")
    return study

"""Hostile posts by class, from tests/hostile, and a study with them as evidence."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from html import escape
from pathlib import Path

from quaestor.coding.codebook import import_codebook
from quaestor.coding.round_acts import open_by_name
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.study.folder import Study, open_study
from tests.support.paths import TESTS
from tests.support.small_study import CODEBOOK

STUDY = """
[study]
name = "hostile"

[sources.so]
kind = "stackexchange"
path = "dump"
site = "stackoverflow"

[[funnel.steps]]
step = "scored"
score_at_least = 1

[facets.relevance]
kind = "keep"
reasons = ["crash"]

[[rounds]]
round = "main"
items = { after = "scored" }
facets = ["relevance"]
raters = ["rater-1", "rater-2"]
"""


@dataclass(frozen=True)
class HostilePost:
    """A post and what a reader must still see of it."""

    name: str
    body: str
    keeps: str = ""
    title: str = ""
    author: str = "a stranger"
    tags: tuple[str, ...] = ("python",)


def hostile_posts() -> list[HostilePost]:
    """Every post of the corpus; those without a title of their own are called by their name."""
    found = []
    for path in sorted((TESTS / "hostile").glob("*.toml")):
        for row in tomllib.loads(path.read_text("utf-8"))["post"]:
            row["title"] = row.get("title", f"{path.stem}: {row['name']}")
            found.append(HostilePost(**{**row, "tags": tuple(row.get("tags", ("python",)))}))
    return found


def hostile_study(folder: Path) -> Study:
    """All of them questions with themselves as accepted answers, waiting to be rated."""
    (folder / "dump").mkdir(parents=True)
    (folder / "study.toml").write_text(STUDY, "utf-8")
    (folder / "codebook.toml").write_text(CODEBOOK, "utf-8")
    rows = []
    for number, post in enumerate(hostile_posts(), start=1):
        fields = {
            "Id": str(number),
            "PostTypeId": "1",
            "AcceptedAnswerId": str(1000 + number),
            "Score": "1",
            "ViewCount": "7",
            "CreationDate": "2020-01-01T00:00:00.000",
            "Title": post.title,
            "Tags": f"|{'|'.join(post.tags)}|",
            "OwnerDisplayName": post.author,
            "Body": post.body,
        }
        answer = {"Id": str(1000 + number), "PostTypeId": "2", "ParentId": str(number), "Body": post.body}
        rows += [_row(fields), _row({**answer, "CreationDate": fields["CreationDate"], "Score": "1"})]
    (folder / "dump" / "Posts.xml").write_text(f"<posts>\n{''.join(rows)}</posts>", "utf-8")
    study = open_study(folder)
    ingest_source(study, "so")
    run_funnel(study)
    import_codebook(study)
    open_by_name(study, "main", None)
    return study


def _row(fields: dict[str, str]) -> str:
    written = (f'{name}="{_in_xml(value)}"' for name, value in fields.items())
    return f"  <row {' '.join(written)} />\n"


def _in_xml(text: str) -> str:
    """XML has no control characters, so a dump cannot hold them."""
    kept = "".join(one for one in text if one >= " " or one in "\t\n")
    return escape(kept).replace("\n", "&#10;").replace("\t", "&#9;")

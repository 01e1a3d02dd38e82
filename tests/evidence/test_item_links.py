"""Links to items on the web; a synthetic post has none, because its number belongs to another post."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from quaestor.coding.visibility import Viewer
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.evidence.item_facts import read_item_facts
from quaestor.evidence.item_texts import read_item_texts
from quaestor.evidence.items import item_link
from quaestor.evidence.sources.protocol import no_progress
from quaestor.evidence.step_items import list_step_items, trace_item
from quaestor.evidence.text_index import build_index
from quaestor.people.roles import Role
from quaestor.search.index_query import Search
from quaestor.search.query import Query
from quaestor.search.results import export_rows
from quaestor.study.folder import Study, open_study
from quaestor.study.templates import new_study

_ITEM = "stackoverflow/question/5"
_POSTS = '<posts>\n<row Id="5" PostTypeId="1" Title="how to" Body="b" Tags="|a|" />\n</posts>\n'


def study_of(folder: Path, *, synthetic: bool, site: str = "stackoverflow") -> Study:
    new_study(folder, "blank")
    dump = folder / "dump"
    dump.mkdir()
    (dump / "Posts.xml").write_text(_POSTS)
    if synthetic:
        (dump / "truth.json").write_text(json.dumps({"synthetic": True, "seed": 1}))
    with (folder / "study.toml").open("a") as file:
        file.write(
            f'[sources.posts]\nkind = "stackexchange"\npath = "dump"\nsite = "{site}"\n'
            '[[funnel.steps]]\nstep = "all"\ntags = ["a"]\n'
        )
    study = open_study(folder)
    ingest_source(study, "posts")
    return study


def links(study: Study) -> Iterator[tuple[str, str]]:
    """The link of the only item, by the place that shows it."""
    (step,) = run_funnel(study).steps
    yield "an example of the funnel", step.kept_examples[0].link
    yield "the items of a step", list_step_items(study, "all", dropped=False, limit=1)[0].link
    yield "the path of an item", trace_item(study, _ITEM)["link"]
    yield "the sheet of a rater", read_item_texts(study, [_ITEM])[_ITEM].link
    yield "the results", read_item_facts(study, "posts", [_ITEM])[0].link
    lead = Viewer(study.settings.study.lead, Role.LEAD)
    head, (row,) = export_rows(Search(study, None, build_index(study, no_progress), lead), Query())
    yield "an export of a search", str(dict(zip(head[0], row, strict=True))["link"])


@pytest.mark.parametrize("synthetic", [True, False])
def test_only_a_real_post_has_a_link(tmp_path: Path, synthetic: bool) -> None:
    expected = "" if synthetic else "https://stackoverflow.com/q/5"
    assert {link for _, link in links(study_of(tmp_path / "s", synthetic=synthetic))} == {expected}


def test_links_lead_to_the_site_of_a_dump_or_to_a_well_known_one(tmp_path: Path) -> None:
    study = study_of(tmp_path / "s", synthetic=False, site="coffee")
    assert item_link(study, "coffee/question/5") == "https://coffee.stackexchange.com/q/5"
    assert item_link(study, "stackoverflow/question/5") == "https://stackoverflow.com/q/5"
    assert item_link(study, "ru.stackoverflow/question/5") == "https://ru.stackoverflow.com/q/5"
    assert item_link(study, "forum/question/5") == "", "the items of a table have no address"
    assert item_link(study, "stackoverflow/thread/5") == ""

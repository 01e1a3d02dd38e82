"""The shelf says of an item what evidence says, and is never the only place where anything is."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
from tests.support.small_study import ITEMS, small_study

from quaestor.evidence.ingest import ingest_source
from quaestor.evidence.item_text_cache import ItemTextCache, ItemTexts
from quaestor.evidence.item_texts import read_item_texts
from quaestor.study.folder import Study, open_study
from quaestor.study.templates import new_study
from quaestor.synth.dump_files import synthesise


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return small_study(tmp_path_factory.mktemp("shelf") / "study")


def filled(study: Study, items: list[str]) -> ItemTextCache:
    shelf = ItemTextCache(study)
    shelf.fill("pilot", items)
    shelf.wait()
    return shelf


def files(study: Study) -> list[Path]:
    return list((study.funnel_folder / "texts").glob("*.db"))


def test_what_is_on_the_shelf_is_what_evidence_says(study: Study) -> None:
    shelf = filled(study, ITEMS)
    assert shelf.find([*ITEMS, "forum/question/999"]) == read_item_texts(study, ITEMS)
    assert len(shelf.find(ITEMS)) == len(ITEMS)


def test_posts_with_accepted_answers_tags_and_authors_too(tmp_path: Path) -> None:
    folder = new_study(tmp_path / "study", "dl-implementation-issues")
    synthesise(folder / "dump", posts=400, seed=3)
    study = open_study(folder)
    ingest_source(study, "stackoverflow")
    items = [f"stackoverflow/question/{number}" for number in range(1, 2_000)]
    known = read_item_texts(study, items)
    shelf = filled(study, items)
    assert shelf.find(items) == known
    assert any(one.answer for one in known.values())
    assert any(one.tags for one in known.values())


def test_a_shelf_that_was_filled_is_there_for_the_next_desk_and_grows(study: Study) -> None:
    filled(study, ITEMS[:3]).close()
    again = ItemTextCache(study)
    assert set(again.find(ITEMS)) >= set(ITEMS[:3])
    again.fill("main", ITEMS)
    again.wait()
    assert set(again.find(ITEMS)) == set(ITEMS)


def test_a_damaged_shelf_is_as_good_as_none(study: Study) -> None:
    filled(study, ITEMS).close()
    for file in files(study):
        file.write_bytes(b"no database at all" * 500)
    room = ItemTexts(study)
    room.prepare("pilot", ITEMS)
    assert {item: one.title for item, one in room.get(ITEMS[:2], ITEMS).items()} == {
        ITEMS[0]: "how to save layer 1",
        ITEMS[1]: "how to save layer 2",
    }
    room.close()
    for file in files(study):
        file.unlink()


def test_texts_of_other_evidence_are_not_looked_at(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    filled(study, ITEMS).close()
    sheet = study.root / "posts.csv"
    sheet.write_text(sheet.read_text("utf-8").replace("how to save layer 1,", "how to load layer 1,"), "utf-8")
    ingest_source(study, "sheet")
    assert ItemTextCache(study).find(ITEMS) == {}
    room = ItemTexts(study)
    assert room.get(ITEMS[:1])[ITEMS[0]].title == "how to load layer 1"
    room.close()


def test_what_evidence_does_not_hold_is_called_by_its_id(study: Study) -> None:
    room = ItemTexts(study)
    assert room.get(["forum/question/999"])["forum/question/999"].title == "forum/question/999"
    room.close()


def test_a_shelf_of_evidence_that_is_gone_makes_room(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    filled(study, ITEMS).close()
    (old,) = files(study)
    sheet = study.root / "posts.csv"
    sheet.write_text(sheet.read_text("utf-8").replace("how to save layer 1,", "how to load layer 1,"), "utf-8")
    ingest_source(study, "sheet")
    shelf = filled(study, ITEMS)
    assert len(shelf.find(ITEMS)) == len(ITEMS)
    assert not old.exists()
    assert len(files(study)) == 1


def test_a_desk_that_ends_while_a_round_is_being_put_on_the_shelf_waits_for_it(study: Study) -> None:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(60):
            shelf = ItemTextCache(study)
            beginning = threading.Thread(target=shelf.fill, args=("pilot", ITEMS))
            beginning.start()
            shelf.close()
            beginning.join()
            shelf.wait()
    finally:
        sys.setswitchinterval(usual)

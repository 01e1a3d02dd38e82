"""The cache returns the same texts as evidence and contains nothing else."""

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
from quaestor.synth.stackexchange import synthesise


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return small_study(tmp_path_factory.mktemp("cache") / "study")


def fill_cache(study: Study, items: list[str]) -> ItemTextCache:
    cache = ItemTextCache(study)
    cache.fill("pilot", items)
    cache.wait()
    return cache


def list_files(study: Study) -> list[Path]:
    return list((study.funnel_folder / "texts").glob("*.db"))


def test_cached_texts_equal_those_in_evidence(study: Study) -> None:
    cache = fill_cache(study, ITEMS)
    assert cache.find([*ITEMS, "forum/question/999"]) == read_item_texts(study, ITEMS)
    assert len(cache.find(ITEMS)) == len(ITEMS)


def test_accepted_answers_tags_and_authors_are_cached(tmp_path: Path) -> None:
    folder = new_study(tmp_path / "study", "dl-implementation-issues")
    synthesise(folder / "dump", posts=400, seed=3)
    study = open_study(folder)
    ingest_source(study, "stackoverflow")
    items = [f"stackoverflow/question/{number}" for number in range(1, 2_000)]
    known = read_item_texts(study, items)
    cache = fill_cache(study, items)
    assert cache.find(items) == known
    assert any(text.answer for text in known.values())
    assert any(text.tags for text in known.values())


def test_a_cache_is_reused_and_extended_by_the_next_server(study: Study) -> None:
    fill_cache(study, ITEMS[:3]).close()
    again = ItemTextCache(study)
    assert set(again.find(ITEMS)) >= set(ITEMS[:3])
    again.fill("main", ITEMS)
    again.wait()
    assert set(again.find(ITEMS)) == set(ITEMS)


def test_a_damaged_cache_counts_as_empty(study: Study) -> None:
    fill_cache(study, ITEMS).close()
    for file in list_files(study):
        file.write_bytes(b"no database at all" * 500)
    item_texts = ItemTexts(study)
    item_texts.prepare("pilot", ITEMS)
    assert {item: text.title for item, text in item_texts.get(ITEMS[:2], ITEMS).items()} == {
        ITEMS[0]: "how to save layer 1",
        ITEMS[1]: "how to save layer 2",
    }
    item_texts.close()
    for file in list_files(study):
        file.unlink()


def test_texts_of_older_evidence_are_not_used(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    fill_cache(study, ITEMS).close()
    sheet = study.root / "posts.csv"
    sheet.write_text(sheet.read_text("utf-8").replace("how to save layer 1,", "how to load layer 1,"), "utf-8")
    ingest_source(study, "sheet")
    assert ItemTextCache(study).find(ITEMS) == {}
    item_texts = ItemTexts(study)
    assert item_texts.get(ITEMS[:1])[ITEMS[0]].title == "how to load layer 1"
    item_texts.close()


def test_an_item_that_is_not_in_evidence_has_its_id_as_title(study: Study) -> None:
    item_texts = ItemTexts(study)
    assert item_texts.get(["forum/question/999"])["forum/question/999"].title == "forum/question/999"
    item_texts.close()


def test_caches_of_older_evidence_are_removed(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    fill_cache(study, ITEMS).close()
    (old,) = list_files(study)
    sheet = study.root / "posts.csv"
    sheet.write_text(sheet.read_text("utf-8").replace("how to save layer 1,", "how to load layer 1,"), "utf-8")
    ingest_source(study, "sheet")
    cache = fill_cache(study, ITEMS)
    assert len(cache.find(ITEMS)) == len(ITEMS)
    assert not old.exists()
    assert len(list_files(study)) == 1


def test_closing_waits_for_a_round_that_is_being_cached(study: Study) -> None:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(60):
            cache = ItemTextCache(study)
            beginning = threading.Thread(target=cache.fill, args=("pilot", ITEMS))
            beginning.start()
            cache.close()
            beginning.join()
            cache.wait()
    finally:
        sys.setswitchinterval(usual)

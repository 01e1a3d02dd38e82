"""A small part of `make attack`: every attack that needs no measuring of time, with few tries each."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.campaigns.attack import ATTACKS
from tests.campaigns.crawl_blindness import STAGES, crawl_stages
from tests.campaigns.fill_disk import fill_disk
from tests.campaigns.flood_headers import flood_headers
from tests.campaigns.read_during_withdrawal import withdraw_among_readers

pytestmark = pytest.mark.slow


def test_every_attack_of_the_campaign_has_a_script() -> None:
    assert [attack.name for attack in ATTACKS if find_spec(f"tests.campaigns.{attack.script}") is None] == []


def test_no_page_of_a_reopenable_round_shows_ratings(tmp_path: Path) -> None:
    crawled = list(crawl_stages(tmp_path, [STAGES[1]], most=25))
    assert [(crawl.visitor, crawl.leaks, crawl.errors) for crawl in crawled if crawl.succeeded] == []


def test_the_crawl_finds_ratings_of_a_settled_round(tmp_path: Path) -> None:
    crawled = [one for one in crawl_stages(tmp_path, [STAGES[-1]], most=80) if not one.is_blind_crawl]
    assert crawled
    assert all(crawl.leaks and not crawl.errors for crawl in crawled)


def test_endless_headers_neither_fill_the_memory_nor_lock_people_out(tmp_path: Path) -> None:
    flood = flood_headers(tmp_path / "study", seconds=3, senders=8, half_open=100)
    assert flood.connections > 8
    assert not flood.succeeded, flood


def test_on_a_full_disk_reading_works_and_no_rating_is_lost() -> None:
    assert fill_disk().failures == []


def test_the_withdrawal_page_is_truthful_while_other_processes_read_the_file(tmp_path: Path) -> None:
    withdrawals = withdraw_among_readers(tmp_path / "study", 4, seed=1)
    assert withdrawals.while_reading > 0
    assert not withdrawals.succeeded, withdrawals

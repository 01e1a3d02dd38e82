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


def test_every_part_of_the_campaign_is_there() -> None:
    assert [attack.name for attack in ATTACKS if find_spec(f"tests.campaigns.{attack.script}") is None] == []


def test_no_page_of_a_round_that_may_be_reopened_tells_what_a_rater_said(tmp_path: Path) -> None:
    crawled = list(crawl_stages(tmp_path, [STAGES[1]], most=25))
    assert [(one.visitor, one.leaks, one.errors) for one in crawled if one.succeeded] == []


def test_the_crawl_notices_what_a_reader_may_see_of_a_settled_round(tmp_path: Path) -> None:
    crawled = [one for one in crawl_stages(tmp_path, [STAGES[-1]], most=80) if not one.is_blind_crawl]
    assert crawled
    assert all(one.leaks and not one.errors for one in crawled)


def test_headers_without_end_take_no_memory_and_lock_nobody_out(tmp_path: Path) -> None:
    flood = flood_headers(tmp_path / "study", seconds=3, senders=8, half_open=100)
    assert flood.connections > 8
    assert not flood.succeeded, flood


def test_a_full_disk_stops_no_reading_and_loses_no_rating() -> None:
    assert fill_disk().failures == []


def test_a_respondent_reads_nothing_untrue_about_the_erasure_while_others_read_the_file(tmp_path: Path) -> None:
    withdrawals = withdraw_among_readers(tmp_path / "study", 4, seed=1)
    assert withdrawals.while_reading > 0
    assert not withdrawals.succeeded, withdrawals

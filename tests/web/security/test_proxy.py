"""Behind a proxy, wrong guesses are counted for the client and not for the proxy; a client cannot say who it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from httpx2 import Client
from tests.support.desk import CHOSEN, csrf_in, invited
from tests.support.small_study import small_study
from tests.support.windows import serving

from quaestor.people.roles import Role


def sign_in(address: str, password: str, forwarded: str) -> int:
    """The status of an attempt in a new browser, as a proxy on this machine hands it on."""
    headers = {"x-forwarded-for": forwarded, "origin": address.rstrip("/")}
    with Client(base_url=address, headers=headers) as browser:
        fields = {"csrf": csrf_in(browser.get("/sign-in").text), "name": "rater-1", "password": password}
        return int(browser.post("/sign-in", data=fields).status_code)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return small_study(tmp_path / "study").root


def join(address: str, folder: Path) -> None:
    link = f"/join/{invited(folder, Role.RATER)}"
    with Client(base_url=address, headers={"origin": address.rstrip("/")}) as browser:
        fields = {"csrf": csrf_in(browser.get(link).text), "password": CHOSEN, "again": CHOSEN}
        assert browser.post(link, data=fields).status_code == 303


def test_only_the_address_added_by_the_proxy_is_trusted(folder: Path) -> None:
    with serving(folder, "--allow-host", "study.example.org") as address:
        join(address, folder)
        for number in range(5):  # whatever a client writes before what the proxy adds counts for nothing
            assert sign_in(address, "wrong password", f"198.51.100.{number}, 203.0.113.66") == 422
        assert sign_in(address, CHOSEN, "203.0.113.66") == 429
        assert sign_in(address, CHOSEN, "203.0.113.7") == 303


def test_without_a_proxy_forwarded_addresses_are_ignored(folder: Path) -> None:
    with serving(folder) as address:
        join(address, folder)
        for number in range(5):
            assert sign_in(address, "wrong password", f"198.51.100.{number}") == 422
        assert sign_in(address, CHOSEN, "203.0.113.7") == 429

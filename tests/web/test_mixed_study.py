"""Every page of the desk for a study with posts, open answers and interviews."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.crawling import crawl
from tests.support.desk import closing_app, signed_in
from tests.support.mixed_study import decide_all, mixed_study

from quaestor.people.roles import Role
from quaestor.web.app import make_app


@pytest.mark.parametrize("decided", [False, True], ids=["open", "decided"])
@pytest.mark.parametrize("role", [Role.LEAD, Role.RATER])
def test_no_link_of_a_mixed_study_leads_to_an_error(tmp_path: Path, role: Role, decided: bool) -> None:
    study = mixed_study(tmp_path)
    if decided:
        decide_all(study)
    with closing_app(make_app(study.root)) as app:
        pages = dict(crawl(app, signed_in(app, study.root, role), start=["/"]))
    assert len(pages) > 15
    fine = ("200", "303", "405")  # an address of a form has no page
    assert {address: text for address, text in pages.items() if text[:3] not in fine} == {}

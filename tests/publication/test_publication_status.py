"""`status` lists report, audit and handbook: what each was built from, and whether it is up to date."""

from __future__ import annotations

from pathlib import Path

from tests.publication.test_right_numbers import CONTESTED, make_study, rate_all
from tests.support.labelled_study import labelled_study
from tests.support.settling import settle_with_assents

from quaestor.coding.round_acts import close_by_name
from quaestor.coding.session import open_coding
from quaestor.coding.visibility import Viewer
from quaestor.evidence.funnel import run_funnel
from quaestor.people.roles import Role
from quaestor.publication.handbook.make import make_handbook
from quaestor.publication.report.make import build_report
from quaestor.study.features import study_status
from quaestor.study.folder import Study, open_study
from quaestor.web.study.pages import build_study_overview


def lines(study: Study) -> dict[str, tuple[str, str]]:
    stages = study_status(study).stages
    return {line.name: (line.state, line.detail) for line in stages if line.name in ("report", "audit", "handbook")}


def test_status_says_what_was_published_from_what_and_what_changed_since(tmp_path: Path) -> None:
    study = labelled_study(tmp_path / "study", 40)
    assert lines(study) == {"report": ("waiting", "not built yet")}

    build_report(study, lambda words: None)
    state, detail = lines(study)["report"]
    assert state == "done"
    assert "from 40 decided items, up to date" in detail
    state, detail = lines(study)["audit"]
    assert state == "done"
    assert "printed cells" in detail
    assert "handbook" not in lines(study)

    make_handbook(study, lambda what, done, total: None)
    assert "from 40 decided items, up to date" in lines(study)["handbook"][1]

    study.file.write_text(study.file.read_text("utf-8") + "\n# another comment\n", "utf-8")
    changed = open_study(study.root)
    for name in ("report", "handbook"):
        state, detail = lines(changed)[name]
        assert state == "stale"
        assert detail.endswith("out of date: study.toml changed")


def test_a_report_is_the_next_step_until_it_is_up_to_date(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study")
    rate_all(study)
    close_by_name(study, "main", None)
    for item in CONTESTED:
        settle_with_assents(study, "main", "rater-1", item, "topic", "training")
    run_funnel(study)
    assert study_status(study).next == "quaestor report"
    build_report(study, lambda words: None)
    assert study_status(study).next.startswith("nothing is left to do")
    with open_coding(study) as coding:
        command = build_study_overview(study, coding, Viewer("lead", Role.LEAD)).command
    assert command == "Everything planned is done, and the report is up to date."
    settle_with_assents(study, "main", "rater-1", CONTESTED[0], "topic", "setting", reason="read again")
    assert lines(study)["report"][1].endswith("out of date: recorded acts changed")
    assert study_status(study).next == "quaestor report"

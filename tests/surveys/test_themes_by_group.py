"""Themes of open answers: intervals, and groups with row and column shares, counted again from the people."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from scipy.stats import binomtest, chi2_contingency, fisher_exact
from tests.support.command_line import in_this_process
from tests.support.desk import NAMES, QUICK, closing_app, signed_in
from tests.support.weighted_survey import NAME, PEOPLE, coded_survey, themes_of

from quaestor.base.errors import InputError, SettingsError
from quaestor.coding.agreement_access import record_agreement_view
from quaestor.coding.session import open_coding
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.publication.report.make import build_report
from quaestor.render.tables.files import to_csv
from quaestor.study.folder import Study, open_study
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.themes import count_themes, themes_table
from quaestor.surveys.themes_by_group import ThemesByGroup, cross_themes, themes_by_group_table, themes_json
from quaestor.web.app import make_app


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return coded_survey(tmp_path_factory.mktemp("themes"), '[report]\nthemes_by = ["size"]\n')


def crossed_by(study: Study, by: str) -> ThemesByGroup:
    with open_coding(study) as coding:
        themes = count_themes(coding, "themes")
    with open_surveys(study) as surveys:
        return cross_themes(surveys, themes, by)


def people_with(theme: str, size: str = "") -> int:
    return sum(theme in themes_of(number) and size in ("", person[1]) for number, person in enumerate(PEOPLE, start=1))


def test_the_share_of_a_theme_has_wilsons_interval(study: Study) -> None:
    with open_coding(study) as coding:
        themes = count_themes(coding, "themes")
    layers = next(theme for theme in themes.themes if theme.code == "layers")
    share = themes.share_of(layers)
    expected = binomtest(people_with("layers"), 9).proportion_ci(method="wilson")
    assert (share.count, share.of, share.low, share.high) == (
        people_with("layers"), 9, pytest.approx(expected.low), pytest.approx(expected.high)
    )  # fmt: skip
    assert [column.title for column in themes_table(themes).columns] == [
        "participants", "share", "95% interval", "answers"
    ]  # fmt: skip


def test_groups_have_row_and_column_shares(study: Study) -> None:
    crossed = crossed_by(study, "size")
    sizes = [sum(person[1] == size for person in PEOPLE) for size in ("small", "large")]
    assert (crossed.groups.keys, list(crossed.sizes)) == (("small", "large"), sizes)
    for row in crossed.rows:
        for place, size in enumerate(("small", "large")):
            count = people_with(row.theme.code, size)
            expected = binomtest(count, sizes[place]).proportion_ci(method="wilson")
            assert (row.by[place].count, row.by[place].of) == (count, sizes[place])
            assert row.by[place].low == pytest.approx(expected.low)
            assert row.row_share(place) == pytest.approx(count / people_with(row.theme.code))
    lines = list(csv.DictReader(to_csv(themes_by_group_table(crossed)).splitlines()))
    layers = next(line for line in lines if line["row"] == "layers")
    assert float(layers["group-small: row share"]) == pytest.approx(
        people_with("layers", "small") / people_with("layers")
    )
    assert "to" in layers["group-small: 95% interval"]


def test_each_theme_is_compared_between_groups(study: Study) -> None:
    crossed = crossed_by(study, "size")
    for row in crossed.rows:
        assert row.test is not None
        table = [[share.count for share in row.by], [share.of - share.count for share in row.by]]
        assert row.test.association.p == pytest.approx(fisher_exact(table).pvalue)
        assert row.test.association.cramers_v == pytest.approx(
            (chi2_contingency(table, correction=False).statistic / 9) ** 0.5
        )
    assert "the smallest group has 4 answers" in " ".join(themes_by_group_table(crossed).notes)


def test_respondents_without_an_answer_are_in_no_group(study: Study) -> None:
    crossed = crossed_by(study, "role")
    assert crossed.without_group == 1
    assert "1 participant is in no group." in themes_by_group_table(crossed).notes


def test_groups_that_overlap_are_not_tested(study: Study) -> None:
    crossed = crossed_by(study, "uses")
    assert all(row.test is None for row in crossed.rows)
    assert any("may be in several" in note for note in themes_by_group_table(crossed).notes)


def test_link_values_that_few_share_are_joined(study: Study) -> None:
    crossed = crossed_by(study, "channel")
    assert crossed.groups.keys == ("other values",)
    document = json.dumps(themes_json(crossed.themes, crossed))
    assert "mail-" not in document


def test_an_unknown_group_is_refused(study: Study) -> None:
    with pytest.raises(InputError, match=r"the survey 'panel' has no question 'rolle', available: role"):
        crossed_by(study, "rolle")


def test_the_command_prints_both_shares(study: Study) -> None:
    done = in_this_process("survey", "themes", "themes", "--by", "size", "--yes", "--study", study.root)
    assert done.exit_code == 0, done.stderr
    assert "custom layers" in done.stdout
    assert "In each group: participants, column share (of the group)" in done.stdout
    printed = in_this_process("survey", "themes", "themes", "--by", "size", "--yes", "--json", "--study", study.root)
    document = json.loads(printed.stdout)
    assert document["by"]["groups"][0] == {"group": "small", "label": "Small", "participants": 5}
    assert set(document["themes"][0]["groups"][0]) == {"count", "of", "share", "low", "high", "row_share"}
    plain = json.loads(in_this_process("survey", "themes", "themes", "--yes", "--json", "--study", study.root).stdout)
    assert plain["by"] is None
    assert {"share", "low", "high"} <= set(plain["themes"][0])


def test_the_report_has_weights_and_crossed_themes(study: Study) -> None:
    build_report(study, lambda words: None)
    folder = study.published / "report" / "tables"
    header = (folder / "table-panel-themes-themes-theme-by-size.csv").read_text("utf-8").splitlines()[0]
    assert "group-small: row share" in header
    assert "weighted" in (folder / "table-panel-role.csv").read_text("utf-8").splitlines()[0]
    assert (folder / "table-panel-weights.csv").exists()
    page = (study.published / "report" / "index.html").read_text("utf-8")
    assert "effective sample size 6.9 of 9" in page
    assert "mail-" not in page


def test_a_question_that_no_survey_has_stops_the_report(tmp_path: Path, study: Study) -> None:
    copy = shutil.copytree(study.root, tmp_path / "copy")
    file = copy / "study.toml"
    file.write_text(file.read_text("utf-8").replace('["size"]', '["sise"]'), "utf-8")
    with pytest.raises(SettingsError, match=r"report\.themes_by names 'sise': the survey 'panel' has no question"):
        build_report(open_study(copy), lambda words: None)


def test_the_desk_shows_themes_to_the_lead_once_they_have_seen_the_round(tmp_path: Path) -> None:
    unseen = coded_survey(tmp_path, raters=("rater-1", NAMES[Role.LEAD])).root
    address = f"/surveys/{NAME}/results?by=size"
    with closing_app(make_app(unseen, passwords=Passwords(QUICK))) as app:
        lead, reader = signed_in(app, unseen, Role.LEAD), signed_in(app, unseen, Role.REVIEWER)
        asked = lead.get(address).text
        assert "Your view is recorded." in asked
        assert "custom layers" not in asked
        with open_coding(open_study(unseen)) as coding:
            record_agreement_view(coding, "themes", NAMES[Role.LEAD])
        page = lead.get(address)
        assert "Themes of open answers: theme" in page.text
        assert "custom layers" in page.text
        assert "row share" in page.text
        assert "custom layers" not in reader.get(address).text

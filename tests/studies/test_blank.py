"""A blank study has no survey until its lead writes a questionnaire; the bundled example is a valid one."""

from __future__ import annotations

import shutil
from pathlib import Path

from quaestor.study.folder import open_study
from quaestor.study.templates import new_study
from quaestor.surveys.check_questionnaire import check_survey
from quaestor.surveys.lifecycle import open_survey, open_surveys, survey_files


def test_the_example_questionnaire_becomes_a_valid_survey_when_copied(tmp_path: Path) -> None:
    folder = new_study(tmp_path / "mine", "blank")
    assert survey_files(open_study(folder)) == {}
    copy = folder / "instruments" / "asked.toml"
    shutil.copyfile(folder / "instruments" / "example.survey.toml", copy)
    assert check_survey(copy).problems == ()
    with open_surveys(open_study(folder)) as surveys:
        assert open_survey(surveys, "asked").number == 1

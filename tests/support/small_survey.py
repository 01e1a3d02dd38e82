"""A small survey with every kind of question, in two languages, and respondents who answer it as its pages would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from quaestor.store.records import new_key
from quaestor.study.folder import Study, open_study
from quaestor.surveys.exchange.export import export_answers
from quaestor.surveys.exchange.import_answers import import_answers
from quaestor.surveys.lifecycle import Surveys, open_survey, open_surveys
from quaestor.surveys.model.records import Response, ResponseStatus
from quaestor.surveys.respond import SurveyPage, begin_response, show_page, submit_page
from quaestor.surveys.store.page_submission import PageSubmission

Form = Mapping[str, Sequence[str]]
NAME = "tools"
STUDY = """
[study]
name = "asked"
title = "How models travel"
seed = 4
"""
QUESTIONNAIRE = """
[survey]
title = { en = "How models travel", de = "Wie Modelle reisen" }
languages = ["en", "de"]
about = { en = "Which tools carry a model, and where it hurts.", de = "Welche Werkzeuge ein Modell tragen." }
minutes = 4
thanks = { en = "Thank you: this helps.", de = "Danke: das hilft." }
screened = "This survey is for people who have converted a model. Thank you for your time."
contact = "the study's own address"
least_seconds = 20
strata = ["pro", "normal"]

[research]
tools = "Which tools carry models?"
problems = "Which problems do people meet?"

[pay]
amount = 10
currency = "USD"
words = "A gift card of 10 USD is yours."
budget = 500

[[pages]]
page = "consent"
title = "Before we begin"
text = "Answers are kept without your name."

[[pages.questions]]
id = "consent"
kind = "consent"
text = { en = "Do you agree to take part?", de = "Nehmen Sie teil?" }

[[pages]]
page = "you"
title = "You and your models"

[[pages.questions]]
id = "converted"
kind = "yes-no"
text = "Have you converted a model?"
required = true
options = [{ code = "yes", label = "Yes" }, { code = "no", label = "No", ends = true }]

[[pages.questions]]
id = "role"
kind = "single"
text = "What describes you best?"
hint = "One answer."
required = true
options = ["Research", "Engineering", { code = "other", label = "Other", text = true }]

[[pages.questions]]
id = "years"
kind = "number"
text = "For how many years?"
unit = "years"
low = 0
high = 60

[[pages]]
page = "tools"
title = "Tools"
text = "You said: {role}."

[[pages.questions]]
id = "used"
kind = "multiple"
text = "Which have you used, as {role}?"
shuffle = true
answers = ["tools"]
options = [
    "ONNX, the exchange format",
    "TorchScript",
    { code = "other", label = "Other", text = true },
    { code = "none", label = "None of these", alone = true },
]

[[pages.questions]]
id = "why-none"
kind = "text"
text = "Why none?"
show_if = "used = none"

[[pages.questions]]
id = "met"
kind = "matrix"
text = "How often did you meet these?"
required = true
shuffle = true
answers = ["problems"]
options = ["Never", "Rarely", "Sometimes", "Often"]
rows = ["Wrong results", "A crash", "Missing operators", { code = "other", label = "Other", text = true }]

[[pages.questions]]
id = "careful"
kind = "single"
text = "Please choose the second answer."
attention = "second"
options = ["First", "Second"]

[[pages]]
page = "words"
title = "In your own words"

[[pages.questions]]
id = "order"
kind = "ranking"
text = "What matters most?"
options = ["Speed", "Accuracy", "Size"]

[[pages.questions]]
id = "hardest"
kind = "long-text"
text = "What was hardest?"
answers = ["problems"]
"""
FORMS: Mapping[str, Form] = {
    "consent": {"q.consent": ["agree"]},
    "you": {"q.converted": ["yes"], "q.role": ["other"], "q.role.other.text": ["Teaching"], "q.years": ["4"]},
    "tools": {
        "q.used": ["onnx-the-exchange-format", "other"],
        "q.used.other.text": ["a tool, of our own"],
        "q.met.wrong-results": ["often"],
        "q.met.a-crash": ["never"],
        "q.met.missing-operators": ["sometimes"],
        "q.met.other": ["rarely"],
        "q.met.other.text": ["licences"],
        "q.careful": ["second"],
    },
    "words": {
        "q.order.speed.rank": ["2"],
        "q.order.accuracy.rank": ["1"],
        "q.order.size.rank": ["3"],
        "q.hardest": ["Custom layers.\r\nThey never fit."],
    },
}
"""What somebody sends who answers everything, by page."""


def small_survey(folder: Path, text: str = QUESTIONNAIRE, name: str = NAME) -> Study:
    """A study with one questionnaire, which is not open yet; without evidence, as surveys need none."""
    (folder / "instruments").mkdir(parents=True, exist_ok=True)
    if not (folder / "study.toml").exists():
        (folder / "study.toml").write_text(STUDY, "utf-8")
    (folder / "instruments" / f"{name}.toml").write_text(text, "utf-8")
    return open_study(folder)


@contextmanager
def fielded(folder: Path, text: str = QUESTIONNAIRE, name: str = NAME) -> Iterator[Surveys]:
    """The same study with the survey open."""
    with open_surveys(small_survey(folder, text, name)) as surveys:
        open_survey(surveys, name)
        yield surveys


def imported(folder: Path, many: int) -> Study:
    """A study whose survey was never opened, with so many finished answers from a file."""
    file = folder.with_name(f"{folder.name}-answers.csv")
    with fielded(folder.with_name(f"{folder.name}-elsewhere")) as elsewhere:
        for _ in range(many):
            answered(elsewhere)
        export_answers(elsewhere, NAME, file, wide=True, raw=True)
    with open_surveys(small_survey(folder)) as surveys:
        import_answers(surveys, NAME, file, None)
        return surveys.study


def answered(
    surveys: Surveys, name: str = NAME, forms: Mapping[str, Form] = FORMS, seconds: float = 30, **more: Any
) -> tuple[str, Response]:
    """Somebody who begins and sends the pages they are shown, as far as there are forms; their code and response."""
    code, response = begin_response(surveys, name, **more)
    while response.standing is ResponseStatus.OPEN:
        page = show_page(surveys, code)
        if not isinstance(page, SurveyPage) or page.page.id not in forms:
            break
        response = send(surveys, code, page.page.id, forms[page.page.id], seconds)
    return code, response


def send(surveys: Surveys, code: str, page: str, form: Form, seconds: float = 0.0, key: str = "") -> Response:
    """Send one page and have it kept; what is wrong with it fails the test."""
    sending = submit_page(surveys, code, page, form, key or new_key(), seconds)
    assert isinstance(sending, PageSubmission), sending.problems
    surveys.answers.submissions.record()
    return sending.result()

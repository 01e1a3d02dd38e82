"""Test clients that answer a survey through its pages, and the stored responses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from httpx2 import Response
from starlette.applications import Starlette
from starlette.testclient import TestClient

from quaestor.people.credentials import Passwords
from quaestor.study.folder import open_study
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.model.records import ResponseStatus
from quaestor.web.app import make_app
from tests.support.desk import QUICK, closing_app
from tests.support.small_survey import NAME, QUESTIONNAIRE, Form, fielded

START = f"/s/{NAME}"


@contextmanager
def asking(folder: Path, text: str = QUESTIONNAIRE) -> Iterator[Starlette]:
    with fielded(folder, text):
        pass
    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as app:
        yield app


def begun(opened: TestClient, language: str = "en") -> str:
    """The address of a response that was just begun."""
    answer = sent_again(opened, START, {"language": language}, {})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def fields_on(page: str) -> dict[str, str]:
    """What a page's form sends by itself."""
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))


def send(opened: TestClient, link: str, form: Form, **changed: str) -> Response:
    """Open the page that comes next, fill it in and send it."""
    return sent_again(opened, link, {**fields_on(opened.get(link).text), **changed}, form)


def sent_again(opened: TestClient, link: str, own: Mapping[str, str], form: Form) -> Response:
    data: dict[str, Sequence[str]] = {**{name: [value] for name, value in own.items()}, **form}
    headers = {"origin": str(opened.base_url).rstrip("/"), "content-type": "application/x-www-form-urlencoded"}
    return opened.post(link.partition("?")[0], content=urlencode(data, doseq=True), headers=headers)


def kept(folder: Path, link: str) -> tuple[ResponseStatus, dict[str, object], list[str]]:
    """ResponseStatus, answers, and the pages of the journal of the response behind a link."""
    with open_surveys(open_study(folder)) as surveys:
        found = surveys.answers.find(link.split("/")[3])
        assert found is not None
        return found.standing, dict(found.answers), [page for _, page, _ in surveys.answers.journal(found.id)]

"""Keeps answers of withdrawn respondents out of published results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from quaestor.base.errors import StateError
from quaestor.base.files import remove
from quaestor.study.folder import Study
from quaestor.surveys.free_text import ANSWERS_FILE
from quaestor.surveys.store.answers import ANSWERS
from quaestor.surveys.store.responses import read_erasures


class SurveyGuard:
    """Implements `study.contributions.PublicationGuard`."""

    def refuse(self, study: Study) -> None:
        """Does nothing: an answer may be published as long as its respondent takes part."""

    def text_stamps(self, study: Study) -> dict[str, str]:
        return {}

    def watch_withdrawals(self, study: Study, what: str) -> Callable[[], AbstractContextManager[None]]:
        path = study.root / ANSWERS_FILE
        before = 0
        if path.exists():
            with ANSWERS.open(path) as file, file.reading() as reading:
                before = len(read_erasures(reading))

        @contextmanager
        def placing() -> Iterator[None]:
            if not path.exists():
                yield
                return
            with ANSWERS.open(path) as file, file.writing() as writing:
                if len(read_erasures(writing)) != before:
                    raise StateError(f"a respondent withdrew while the {what} was generated: rebuild it")
                yield

        return placing

    def withheld(self, opened: Any, published: Mapping[str, Mapping[str, str]]) -> Collection[str]:
        """Returns nothing: a withdrawal removes published results at once."""
        return ()


def remove_published(study: Study) -> None:
    """Removes published results, because they may quote a withdrawn answer; they are rebuilt from what is left."""
    with ANSWERS.open(study.root / ANSWERS_FILE) as file, file.writing():
        for path in list(study.published.iterdir()) if study.published.is_dir() else ():
            remove(path)

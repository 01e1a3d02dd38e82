"""What is made to be published takes its place only if nobody withdrew meanwhile: it may quote them.

Whoever makes something in another process has read words before a withdrawal erased them. So the folder is put in place
under the lock that an erasure needs, after a last look; a withdrawal removes what is published once it has erased.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from quaestor.base.errors import StateError
from quaestor.store.sealed_copy import erased_in
from quaestor.study.folder import Study
from quaestor.study.interviews.files import INTERVIEWS, interviews_path


class Unwithdrawn:
    """Who had withdrawn from interviews when something was begun; `what` is its name, as `report`."""

    def __init__(self, study: Study, what: str) -> None:
        self._path = interviews_path(study)
        self._what = what
        self._before: set[str] = set()
        if self._path.exists():
            with INTERVIEWS.opened(self._path) as file, file.reading() as reading:
                self._before = set(erased_in(reading))

    @contextmanager
    def placing(self) -> Iterator[None]:
        """Nobody withdraws as long as this lasts; refuses where somebody has since."""
        if not self._path.exists():
            yield
            return
        with INTERVIEWS.opened(self._path) as file, file.writing() as held:
            if since := set(erased_in(held)) - self._before:
                raise StateError(
                    f"{min(since)} withdrew while the {self._what} was made, which may quote them: make it again"
                )
            yield

"""Keeps withdrawn and masked data out of publications, also out of those built before a name was known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from quaestor.publication.publication_status import PUBLISHED, read_masked_names
from quaestor.study.features import publication_guards
from quaestor.study.folder import Study


class GuardedPublication:
    """The guards of all features during one build, from before anything is read until the result is in place."""

    def __init__(self, study: Study, what: str) -> None:
        guards = publication_guards().values()
        self._placing = [guard.watch_withdrawals(study, what) for guard in guards]
        for guard in guards:
            guard.refuse(study)
        self.stamps = {document: stamp for guard in guards for document, stamp in guard.text_stamps(study).items()}
        """By document: a stamp that changes with the names masked in it."""

    @contextmanager
    def placing(self) -> Iterator[None]:
        """Refuses to publish if somebody has withdrawn since the build began; blocks withdrawals until it is done."""
        with ExitStack() as locks:
            for placing in self._placing:
                locks.enter_context(placing())
            yield


def find_held(study: Study, opened: Mapping[str, Any]) -> tuple[str, ...]:
    """Lists published folders on hold: they may contain data that must no longer be read, so only the lead opens them.

    `opened` maps features to sessions that are already open.
    """
    published = {name: read_masked_names(study, name) for name in published_folders(study)}
    names = {
        name
        for feature, guard in publication_guards().items()
        for name in guard.withheld(opened.get(feature), published)
    }
    return tuple(name for name in published if name in names)


def published_folders(study: Study) -> tuple[str, ...]:
    return tuple(name for name in PUBLISHED if (study.published / name / "index.html").exists())

"""The demo's folder and the links to join it; only an earlier demo is ever replaced."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from quaestor.base.clock import Clock, exact_now
from quaestor.base.errors import InputError
from quaestor.people.membership import create_lead_token, invite, open_directory
from quaestor.people.roles import Role
from quaestor.study.folder import Study
from quaestor.study.templates import new_study

_MARKER_FILE = ".quaestor-demo"


def require_free_folder(folder: Path) -> None:
    """Raises InputError if the folder contains anything but an earlier demo."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: name another folder")
    if folder.exists() and any(folder.iterdir()) and not (folder / _MARKER_FILE).exists():
        raise InputError(f"{folder} exists and is not an earlier demo: name another folder")


def create_demo_folder(
    folder: Path, template: str, complete: Callable[[Path], None] = lambda study_folder: None
) -> None:
    """Creates the study, lets `complete` change its files, and replaces an earlier demo.

    The study has its marker file before it is moved into place, so that an interrupted demo can be replaced too.
    """
    require_free_folder(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".quaestor-", dir=folder.parent) as temporary:
        study_folder = new_study(Path(temporary) / "new", template)
        (study_folder / _MARKER_FILE).touch()
        complete(study_folder)
        if folder.exists():
            os.replace(folder, Path(temporary) / "old")
        os.replace(study_folder, folder)


VISITOR = "visitor"


@dataclass(frozen=True)
class JoinLinks:
    """The tokens of the one-time links to join the demo; None once a link is used."""

    visitor: str | None
    lead: str | None


def create_join_links(study: Study, clock: Clock = exact_now) -> JoinLinks:
    """Creates links for the visitor and the lead; earlier ones become invalid."""
    return JoinLinks(invite(study, VISITOR, Role.RATER, clock=clock)[0], create_lead_token(study, clock))


def drop_used_links(study: Study, doors: JoinLinks, clock: Clock = exact_now) -> JoinLinks:
    """Returns the links that can still be used."""
    return JoinLinks(*(find_usable_link(study, token, clock) for token in (doors.visitor, doors.lead)))


def find_usable_link(study: Study, token: str | None, clock: Clock = exact_now) -> str | None:
    """Returns the link if it can still be used, otherwise None."""
    if token is None:
        return None
    with open_directory(study) as directory:
        return token if directory.find_invitation(token, clock()) is not None else None

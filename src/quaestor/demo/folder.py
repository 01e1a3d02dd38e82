"""Where a demo lives: it makes room for the next one, and takes nobody else's place."""

from __future__ import annotations

import os
import tempfile
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
    """Refuses a folder that holds anything but an earlier demo."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: name another folder")
    if folder.exists() and any(folder.iterdir()) and not (folder / _MARKER_FILE).exists():
        raise InputError(f"{folder} is there and not an earlier demo: name another folder")


def create_demo_folder(folder: Path, template: str) -> None:
    """A new study that bears the demo's mark from its first moment, so that an interrupted one is in nobody's way."""
    require_free_folder(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".quaestor-", dir=folder.parent) as aside:
        made = new_study(Path(aside) / "new", template)
        (made / _MARKER_FILE).touch()
        if folder.exists():
            os.replace(folder, Path(aside) / "old")
        os.replace(made, folder)


VISITOR = "visitor"


@dataclass(frozen=True)
class JoinLinks:
    """The one-time links into the demo, as tokens; none where a link has been used."""

    visitor: str | None
    lead: str | None


def create_join_links(study: Study, clock: Clock = exact_now) -> JoinLinks:
    """New links for the visitor and the lead; earlier ones end."""
    return JoinLinks(invite(study, VISITOR, Role.RATER, clock=clock)[0], create_lead_token(study, clock))


def drop_used_links(study: Study, doors: JoinLinks, clock: Clock = exact_now) -> JoinLinks:
    """The links that can still be used."""
    return JoinLinks(*(find_usable_link(study, token, clock) for token in (doors.visitor, doors.lead)))


def find_usable_link(study: Study, token: str | None, clock: Clock = exact_now) -> str | None:
    """A link that can still be used; none where it has been."""
    if token is None:
        return None
    with open_directory(study) as directory:
        return token if directory.find_invitation(token, clock()) is not None else None

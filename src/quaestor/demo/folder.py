"""Where a demo lives: it makes room for the next one, and takes nobody else's place."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.study.templates import new_study

_MARK = ".quaestor-demo"


def require_room(folder: Path) -> None:
    """Refuses a folder that holds anything but an earlier demo."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: name another folder")
    if folder.exists() and any(folder.iterdir()) and not (folder / _MARK).exists():
        raise InputError(f"{folder} is there and not an earlier demo: name another folder")


def make_room(folder: Path, template: str) -> None:
    """A new study that bears the demo's mark from its first moment, so that an interrupted one is in nobody's way."""
    require_room(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".quaestor-", dir=folder.parent) as aside:
        made = new_study(Path(aside) / "new", template)
        (made / _MARK).touch()
        if folder.exists():
            os.replace(folder, Path(aside) / "old")
        os.replace(made, folder)

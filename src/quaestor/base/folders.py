"""Folders that are replaced whole: built aside, then put in the place of the old one."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from quaestor.base.errors import InputError, StateError
from quaestor.base.files import fsync, sole_user

_ASIDE = ".aside"
_AS_NAMED, _EXCHANGE = -100, 2
"""What Linux calls AT_FDCWD and RENAME_EXCHANGE."""


@contextlib.contextmanager
def built_aside(
    folder: Path, *, what: str, mark: str, placing: Callable[[], AbstractContextManager[None]] = nullcontext
) -> Iterator[Path]:
    """An empty folder to build in, which replaces `folder` when the block ends well; otherwise the old one stays.

    Every such folder holds the file `mark`: one with files but without it belongs to somebody else and is refused. It
    takes its place within what `placing` gives, which may refuse.
    """
    folder = folder.absolute()
    _refuse_foreign(folder, what, mark)
    work = folder.with_name(f".{folder.name}{_ASIDE}")
    work.mkdir(parents=True, exist_ok=True)
    with sole_user(work, f"building the {what}"):
        new, old = work / "new", work / "old"
        for left_by_a_killed_build in (new, old):
            shutil.rmtree(left_by_a_killed_build, ignore_errors=True)
        new.mkdir()
        try:
            yield new
            os.sync()  # in one go instead of once a file
            with placing():
                _put_in_place(new, folder, old)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def remove(path: Path) -> None:
    """Remove a file or a folder; where something is built aside in it just now, whoever builds removes it."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    elif not path.name.endswith(_ASIDE):
        shutil.rmtree(path)
    else:
        with contextlib.suppress(StateError, FileNotFoundError), sole_user(path, "removing what is left"):
            shutil.rmtree(path)


def _refuse_foreign(folder: Path, what: str, mark: str) -> None:
    if folder.is_dir() and any(folder.iterdir()) and not (folder / mark).is_file():
        raise InputError(f"{folder} holds files that are not a {what}: move them, or name another folder")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, and a {what} is a folder: name another one")


def _put_in_place(new: Path, folder: Path, old: Path) -> None:
    """In one step where the system knows one, so that there is no moment without the folder."""
    if not folder.exists():
        os.replace(new, folder)
    elif not _exchanged(new, folder):
        os.replace(folder, old)
        os.replace(new, folder)
    fsync(folder.parent)


def _exchanged(one: Path, other: Path) -> bool:
    """Let two folders exchange their names; no where the system or the file system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    return rename is not None and rename(_AS_NAMED, os.fsencode(one), _AS_NAMED, os.fsencode(other), _EXCHANGE) == 0

"""Files for the eyes of their owner alone: what is made of one is as private as it."""

from __future__ import annotations

from pathlib import Path

_OTHERS = 0o077


def is_private(path: Path) -> bool:
    """Whether nobody but its owner can open a file or folder."""
    return path.exists() and not path.stat().st_mode & _OTHERS


def as_private_as(model: Path, folder: Path) -> None:
    """Where `model` is its owner's alone, so is `folder` with all that lies in it; it is made where it is not there."""
    if not is_private(model):
        return
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder, *folder.rglob("*")):
        try:
            path.chmod(0o700 if path.is_dir() else 0o600, follow_symlinks=False)
        except (FileNotFoundError, NotImplementedError):  # removed meanwhile, or a link, which has no mode of its own
            continue

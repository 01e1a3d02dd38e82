"""A secret in a file of its own: random, made where there is none, for the eyes of its owner alone."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.base.private import is_private

_BYTES = 32


def secret_of(path: Path, whose: str) -> bytes:
    """The secret of a key file, made where there is none; two who make it at once end with the same."""
    if not path.exists():
        aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_hex(_BYTES).encode())
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
        aside.unlink()
    return read_secret(path, whose)


def read_secret(path: Path, whose: str) -> bytes:
    """The secret of a key file that is there; one that is not whole, or that stays open to others, is refused."""
    _close_to_others(path, whose)
    try:
        secret = bytes.fromhex(path.read_text("ascii"))
    except (ValueError, OSError) as error:
        raise InputError(
            f"{path} cannot be read as the key of {whose} ({error}): bring back the one that was there"
        ) from None
    if len(secret) != _BYTES:
        raise InputError(f"{path} is not whole: bring back the key of {whose} that was there")
    return secret


def _close_to_others(path: Path, whose: str) -> None:
    """A key that was copied here may have a mode for everybody: it gets the one of every private file of a study."""
    if os.name != "posix" or not path.exists() or is_private(path) or is_private(path.absolute().parent):
        return
    try:
        path.chmod(0o600)
    except OSError:
        raise InputError(
            f"{path}, the key of {whose}, can be read by others: have its owner run `chmod 600 {path}`"
        ) from None

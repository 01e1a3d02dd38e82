"""A seal: what lies under it is read with its key alone, and in its own place alone."""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from quaestor.base.errors import InputError
from quaestor.base.files import is_private

_NONCE = 12


class SealError(ValueError):
    """Sealed under another key, for another place, or damaged."""


class Seal:
    """AES-GCM under a key that is made of a secret; each text is bound to its place."""

    def __init__(self, secret: bytes) -> None:
        self._cipher = AESGCM(hmac.digest(secret, b"entries", "sha256"))
        self._fingerprints = hmac.digest(secret, b"fingerprints", "sha256")

    def seal(self, text: str, place: str) -> bytes:
        nonce = self._nonce(text, place)
        return nonce + self._cipher.encrypt(nonce, text.encode(), place.encode())

    def _nonce(self, text: str, place: str) -> bytes:
        return secrets.token_bytes(_NONCE)

    def open(self, sealed: bytes, place: str) -> str:
        try:
            return self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], place.encode()).decode()
        except (InvalidTag, ValueError):
            raise SealError(f"what lies in {place!r} does not open") from None

    def fingerprint(self, text: str) -> bytes:
        """The same for the same text, and nothing to anybody without the secret."""
        return hmac.digest(self._fingerprints, text.encode("utf-8", "surrogatepass"), "sha256")


class RepeatableSeal(Seal):
    """A seal that makes the same bytes of the same text in the same place, so that two copies can be compared."""

    def __init__(self, secret: bytes) -> None:
        super().__init__(secret)
        self._nonces = hmac.digest(secret, b"nonces", "sha256")

    def _nonce(self, text: str, place: str) -> bytes:
        return hmac.digest(self._nonces, f"{place}\0{text}".encode(), "sha256")[:_NONCE]


def entry_context(participant: str, about: str, kind: str, key: str) -> str:
    """What a sealed entry is bound to: it cannot be moved to another place unnoticed."""
    return "\0".join((participant, about, kind, key))


def piece_context(about: str, number: int) -> str:
    return f"{about}\0{number}"


def text_context(act: str, number: int, participant: str) -> str:
    return f"words\0{act}\0{number}\0{participant}"


def label_context(token: str, owner: str) -> str:
    return f"label\0{token}\0{owner}"


_BYTES = 32


def get_or_create_secret(path: Path, content: str) -> bytes:
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
    return read_secret(path, content)


def read_secret(path: Path, content: str) -> bytes:
    """The secret of a key file that is there; one that is not whole, or that stays open to others, is refused."""
    _close_to_others(path, content)
    try:
        secret = bytes.fromhex(path.read_text("ascii"))
    except (ValueError, OSError) as error:
        raise InputError(
            f"{path} cannot be read as the key of {content} ({error}): bring back the one that was there"
        ) from None
    if len(secret) != _BYTES:
        raise InputError(f"{path} is not whole: bring back the key of {content} that was there")
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

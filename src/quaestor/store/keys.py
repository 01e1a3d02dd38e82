"""Encryption of private texts: each can be decrypted only with the key and only in its own context."""

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

_NONCE_BYTES = 12


class SealError(ValueError):
    """A text was encrypted with another key or for another context, or is damaged."""


class Seal:
    """AES-GCM with a key derived from a secret; each text is bound to its context, such as the row it belongs to."""

    def __init__(self, secret: bytes) -> None:
        self._cipher = AESGCM(hmac.digest(secret, b"entries", "sha256"))
        self._fingerprints = hmac.digest(secret, b"fingerprints", "sha256")

    def seal(self, text: str, context: str) -> bytes:
        nonce = self._create_nonce(text, context)
        return nonce + self._cipher.encrypt(nonce, text.encode(), context.encode())

    def _create_nonce(self, text: str, context: str) -> bytes:
        return secrets.token_bytes(_NONCE_BYTES)

    def open(self, sealed: bytes, context: str) -> str:
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], context.encode()).decode()
        except (InvalidTag, ValueError):
            raise SealError(f"the content of {context!r} cannot be decrypted") from None

    def fingerprint(self, text: str) -> bytes:
        """Returns a keyed hash of the text, which reveals nothing without the secret."""
        return hmac.digest(self._fingerprints, text.encode("utf-8", "surrogatepass"), "sha256")


class RepeatableSeal(Seal):
    """A deterministic seal: the same text in the same context gives the same bytes, so that copies can be compared."""

    def __init__(self, secret: bytes) -> None:
        super().__init__(secret)
        self._nonces = hmac.digest(secret, b"nonces", "sha256")

    def _create_nonce(self, text: str, context: str) -> bytes:
        return hmac.digest(self._nonces, f"{context}\0{text}".encode(), "sha256")[:_NONCE_BYTES]


def entry_context(participant: str, about: str, kind: str, key: str) -> str:
    """Returns the context of an entry, which prevents moving it to another row unnoticed."""
    return "\0".join((participant, about, kind, key))


def piece_context(about: str, number: int) -> str:
    return f"{about}\0{number}"


def text_context(act: str, number: int, participant: str) -> str:
    return f"words\0{act}\0{number}\0{participant}"


def label_context(token: str, owner: str) -> str:
    return f"label\0{token}\0{owner}"


_SECRET_BYTES = 32


def get_or_create_secret(path: Path, content: str) -> bytes:
    """Returns the secret of a key file, creating it if needed; two processes that create it at once get the same."""
    if not path.exists():
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_hex(_SECRET_BYTES).encode())
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
        temporary.unlink()
    return read_secret(path, content)


def read_secret(path: Path, content: str) -> bytes:
    """Returns the secret of an existing key file; raises InputError if it is incomplete or readable by others."""
    _restrict_to_owner(path, content)
    try:
        secret = bytes.fromhex(path.read_text("ascii"))
    except (ValueError, OSError) as error:
        raise InputError(
            f"{path} cannot be read as the key of {content} ({error}): restore the original key file"
        ) from None
    if len(secret) != _SECRET_BYTES:
        raise InputError(f"{path} is incomplete: restore the original key of {content}")
    return secret


def _restrict_to_owner(path: Path, content: str) -> None:
    """Makes a key file private, since a copied file may be readable by everybody; raises InputError if that fails."""
    if os.name != "posix" or not path.exists() or is_private(path) or is_private(path.absolute().parent):
        return
    try:
        path.chmod(0o600)
    except OSError:
        raise InputError(
            f"{path}, the key of {content}, can be read by others: its owner must run `chmod 600 {path}`"
        ) from None

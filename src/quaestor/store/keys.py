"""A seal: what lies under it is read with its key alone, and in its own place alone."""

from __future__ import annotations

import hmac
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE = 12


class NotOpened(ValueError):
    """Sealed under another key, for another place, or damaged."""


class Seal:
    """AES-GCM under a key that is made of a secret; each text is bound to its place."""

    def __init__(self, secret: bytes) -> None:
        self._cipher = AESGCM(hmac.digest(secret, b"entries", "sha256"))
        self._fingerprints = hmac.digest(secret, b"fingerprints", "sha256")

    def sealed(self, text: str, place: str) -> bytes:
        nonce = self._nonce(text, place)
        return nonce + self._cipher.encrypt(nonce, text.encode(), place.encode())

    def _nonce(self, text: str, place: str) -> bytes:
        return secrets.token_bytes(_NONCE)

    def opened(self, sealed: bytes, place: str) -> str:
        try:
            return self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], place.encode()).decode()
        except (InvalidTag, ValueError):
            raise NotOpened(f"what lies in {place!r} does not open") from None

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


def entry_place(participant: str, about: str, kind: str, key: str) -> str:
    """What a sealed entry is bound to: it cannot be moved to another place unnoticed."""
    return "\0".join((participant, about, kind, key))


def piece_place(about: str, number: int) -> str:
    return f"{about}\0{number}"


def words_place(act: str, number: int, participant: str) -> str:
    return f"words\0{act}\0{number}\0{participant}"


def label_place(token: str, owner: str) -> str:
    return f"label\0{token}\0{owner}"

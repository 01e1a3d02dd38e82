"""The key of the payment part: makes the token of whoever finished, knows its own tokens, and seals addresses.

A token follows from a respondent's code and this key alone, so that nothing is written when somebody finishes, and
the same end page shows the same token. From the answers, which know a code by its hash, no token can be made.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from quaestor.base.errors import StateError
from quaestor.store.keys import get_or_create_secret
from quaestor.surveys.model.wording.refusals import NotTaken

LONGEST_ADDRESS = 240
"""Bytes; every sealed address has the same size, so that no file tells one from another by its length."""
_HALF = 16
_PADDED = 256


class ClaimKey:
    """What only the payment part holds."""

    def __init__(self, path: Path, text: str | None = None) -> None:
        """The key of a file, made where there is none; or, with the text of such a file, the one it would hold."""
        self._path = path
        self._secret = get_or_create_secret(path, "claims") if text is None else bytes.fromhex(text)

    @property
    def text(self) -> str:
        """What its file holds."""
        return self._secret.hex()

    def token(self, survey: str, code: str) -> str:
        """What somebody who finished shows to be paid: the same each time, and known as ours by its second half."""
        nonce = self._derived("nonce", survey, code.encode("utf-8", "surrogatepass"))
        return base64.urlsafe_b64encode(nonce + self._derived("mark", survey, nonce)).rstrip(b"=").decode()

    def claim_id(self, survey: str, token: str) -> bytes | None:
        """What the claim file knows a token by; None for one that was not made here, or for another survey."""
        try:
            raw = base64.b64decode(f"{token}=".encode("ascii"), altchars=b"-_", validate=True)
        except (UnicodeEncodeError, binascii.Error):
            return None
        nonce, mark = raw[:_HALF], raw[_HALF:]
        if not hmac.compare_digest(mark, self._derived("mark", survey, nonce)):
            return None
        return hashlib.sha256(nonce).digest()

    def sealed(self, address: str, claim: bytes) -> bytes:
        """An address that only this key opens, and only in its own claim; neither time nor length can be seen."""
        raw = address.encode()
        if len(raw) > LONGEST_ADDRESS:
            raise NotTaken("too-long", length=len(raw), most=LONGEST_ADDRESS)
        nonce = secrets.token_bytes(12)
        return nonce + self._cipher().encrypt(nonce, raw.ljust(_PADDED, b"\0"), claim)

    def opened(self, sealed: bytes, claim: bytes) -> str:
        try:
            return self._cipher().decrypt(sealed[:12], sealed[12:], claim).rstrip(b"\0").decode()
        except InvalidTag:
            raise StateError(
                f"{self._path} is not the key that sealed these addresses: bring back the one that was there"
            ) from None

    def _cipher(self) -> AESGCM:
        return AESGCM(hmac.digest(self._secret, b"addresses", "sha256"))

    def _derived(self, what: str, survey: str, data: bytes) -> bytes:
        return hmac.digest(self._secret, b"\0".join((what.encode(), survey.encode(), data)), "sha256")[:_HALF]

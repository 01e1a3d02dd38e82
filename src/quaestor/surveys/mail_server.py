"""Sends e-mails through a mail server, and reports the outcome of each."""

from __future__ import annotations

import smtplib
import ssl
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parseaddr
from enum import StrEnum
from ipaddress import ip_address

from quaestor.base.errors import InputError, SettingsError
from quaestor.study.settings.schema import MailSettings

PASSWORD = "QUAESTOR_MAIL_PASSWORD"  # noqa: S105 - the name of a variable
_PATIENCE = 60.0
"""Seconds to wait for an answer of the server."""
_CLOSING, _ACCEPTED, _FORWARDED, _PERMANENT = 421, 250, 251, 500
_TRIES = 2


class DeliveryOutcome(StrEnum):
    """What became of an e-mail."""

    ACCEPTED = "accepted"
    ADDRESS_REFUSED = "address refused"
    ADDRESS_POSTPONED = "address postponed"
    """The server refuses the address for now, for example because a mailbox is full."""
    STOPPED = "stopped"
    """The server refused the sender or the e-mail, or the connection broke; nothing was accepted."""
    UNCERTAIN = "uncertain"
    """The connection broke after the e-mail was handed over and before the server answered."""


@dataclass(frozen=True)
class Delivery:
    """The outcome for one e-mail, with the server's answer."""

    outcome: DeliveryOutcome
    code: int = 0
    words: str = ""


class MailServer:
    """An open connection to the mail server of a study."""

    def __init__(self, settings: MailSettings, password: str = "") -> None:
        self._settings, self._password = settings, password
        self._sender = parseaddr(settings.sender)[1]
        self._connection = connect(settings, password)
        self.is_handing_over = False
        """Whether an e-mail was handed over and the server has not answered yet."""

    def __enter__(self) -> MailServer:
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(smtplib.SMTPException, OSError):
            self._connection.quit()
        self._connection.close()

    def send(self, address: str, content: bytes) -> Delivery:
        """Sends an e-mail to one address and waits for the server's answer."""
        self.is_handing_over = False
        try:
            delivery = self._announce(address) or self._hand_over(content)
        except (smtplib.SMTPException, OSError, InputError) as error:
            outcome = DeliveryOutcome.UNCERTAIN if self.is_handing_over else DeliveryOutcome.STOPPED
            return Delivery(outcome, words=f"the connection to {self._settings.host} broke: {_describe(error)}")
        self.is_handing_over = False
        if delivery.outcome is not DeliveryOutcome.ACCEPTED:
            with suppress(smtplib.SMTPException, OSError):
                self._connection.rset()
        return delivery

    def _announce(self, address: str) -> Delivery | None:
        """Names sender and recipient; returns None if the server accepts both.

        Servers end a connection after some e-mails. Nothing was handed over yet, so a new connection is safe.
        """
        for tries_left in reversed(range(_TRIES)):
            try:
                code, reply = self._connection.mail(self._sender)
                if code == _ACCEPTED:
                    code, reply = self._connection.rcpt(address)
                    if code in (_ACCEPTED, _FORWARDED):
                        return None
                    if code != _CLOSING:
                        is_permanent = code >= _PERMANENT
                        outcome = DeliveryOutcome.ADDRESS_REFUSED if is_permanent else DeliveryOutcome.ADDRESS_POSTPONED
                        return Delivery(outcome, code, f"{code} {_text(reply)}")
                elif code != _CLOSING:
                    return self._refuse(code, reply)
                raise smtplib.SMTPServerDisconnected(f"{code} {_text(reply)}")
            except smtplib.SMTPServerDisconnected:
                if not tries_left:
                    raise
                self._connection.close()
                self._connection = connect(self._settings, self._password)
        return None

    def _hand_over(self, content: bytes) -> Delivery:
        self.is_handing_over = True
        try:
            code, reply = self._connection.data(content)
        except smtplib.SMTPDataError as error:  # refused before the content was sent
            code, reply = error.smtp_code, error.smtp_error if isinstance(error.smtp_error, bytes) else b""
        return Delivery(DeliveryOutcome.ACCEPTED) if code == _ACCEPTED else self._refuse(code, reply)

    def _refuse(self, code: int, reply: bytes) -> Delivery:
        return Delivery(
            DeliveryOutcome.STOPPED, code, f"{self._settings.host} refused the e-mail: {code} {_text(reply)}"
        )


def connect(settings: MailSettings, password: str = "") -> smtplib.SMTP:
    """Connects to the server with the security of the settings; raises InputError with what is wrong."""
    where = f"{settings.host}:{settings.used_port}"
    if settings.user and settings.security == "none" and not _is_this_machine(settings.host):
        raise SettingsError(
            f'mail.security is "none", so anybody on the way to {settings.host} could read the password: '
            'use "starttls" or "tls"'
        )
    context = ssl.create_default_context()
    try:
        server = (
            smtplib.SMTP_SSL(settings.host, settings.used_port, timeout=_PATIENCE, context=context)
            if settings.security == "tls"
            else smtplib.SMTP(settings.host, settings.used_port, timeout=_PATIENCE)
        )
        try:
            if settings.security == "starttls":
                server.starttls(context=context)
            if settings.user:
                server.login(settings.user, password)
        except BaseException:
            server.close()
            raise
    except ssl.SSLCertVerificationError as error:
        words = f"{where} has a certificate that cannot be trusted ({error.verify_message})"
        raise InputError(f"{words}: check mail.host") from None
    except smtplib.SMTPAuthenticationError as error:
        words = f"{where} refused the user {settings.user!r} or the password ({_describe(error)})"
        raise InputError(f"{words}: check mail.user and {PASSWORD}") from None
    except smtplib.SMTPNotSupportedError as error:
        words = f"{where} does not support what [mail] asks for ({error})"
        raise InputError(f"{words}: check mail.security and mail.user") from None
    except (smtplib.SMTPException, OSError) as error:
        words = f"{where} cannot be used as a mail server ({_describe(error)})"
        raise InputError(f"{words}: check [mail] in study.toml") from None
    return server


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _describe(error: BaseException) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        reply = error.smtp_error
        return f"{error.smtp_code} {_text(reply) if isinstance(reply, bytes) else reply}"
    return str(error) or type(error).__name__


def _text(reply: bytes) -> str:
    return " ".join(reply.decode("utf-8", "replace").split())[:200]

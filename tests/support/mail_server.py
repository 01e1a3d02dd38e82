"""A small SMTP server on this machine: it keeps what it accepts, and can refuse, demand encryption or die midway."""

from __future__ import annotations

import base64
import datetime
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass
class Behaviour:
    """How the server answers."""

    refuses: dict[str, str] = field(default_factory=dict)
    """By address, the answer to RCPT, such as `550 no such user`."""
    dies_at: str = ""
    """The command at which the connection is cut, in the `dies_after`-th e-mail: MAIL, RCPT, DATA or the end."""
    dies_after: int = 0
    is_cut_once: bool = False
    refuses_content: str = ""
    password: str = ""
    """The password of the user `study`; empty if nobody needs to sign in."""
    certificate: Path | None = None
    """Certificate and key for STARTTLS, which is then demanded."""
    implicit: bool = False
    """TLS from the first byte."""


@dataclass
class MailBox:
    """A running server: its port, and what it accepted."""

    port: int
    behaviour: Behaviour
    accepted: list[tuple[str, EmailMessage]] = field(default_factory=list)
    connections: int = 0
    begun: int = 0
    was_encrypted: list[bool] = field(default_factory=list)

    @property
    def addresses(self) -> list[str]:
        return [address for address, _ in self.accepted]


class _Session(socketserver.StreamRequestHandler):
    box: MailBox
    is_encrypted = False

    def handle(self) -> None:
        self.box.connections += 1
        with suppress(ssl.SSLError, ConnectionError):  # a client that does not trust the certificate ends it
            self._converse()

    def _converse(self) -> None:
        if self.box.behaviour.implicit:
            self._encrypt()
        self._say("220 test server")
        recipient = ""
        while line := self.rfile.readline():
            words = line.decode().strip()
            command = words[:4].upper()
            self.box.begun += command == "MAIL"
            if self._dies(command):
                return
            if command == "EHLO":
                extras = ["250-STARTTLS"] if self._needs_encryption else []
                extras += ["250-AUTH PLAIN"] if self.box.behaviour.password else []
                self._say("250-test server", *extras, "250 8BITMIME")
            elif command == "STAR":
                self._say("220 go ahead")
                self._encrypt()
            elif command == "AUTH":
                given = base64.b64decode(words.split()[2]).decode().split("\0")[1:]
                right = given == ["study", self.box.behaviour.password]
                self._say("235 welcome" if right else "535 wrong password")
            elif command == "MAIL" and self._needs_encryption:
                self._say("530 encrypt first")
            elif command == "RCPT":
                recipient = words.partition("<")[2].rstrip(">")
                self._say(self.box.behaviour.refuses.get(recipient, "250 fine"))
            elif command == "DATA":
                if not self._receive(recipient):
                    return
            elif command == "QUIT":
                self._say("221 bye")
                return
            else:
                self._say("250 fine")

    def _receive(self, recipient: str) -> bool:
        """Receives the content of an e-mail; returns False if the connection is cut."""
        self._say("354 go on")
        content = b"".join(iter(self.rfile.readline, b".\r\n"))
        if self._dies("END"):
            return False
        if not self.box.behaviour.refuses_content:
            message = message_from_bytes(content.replace(b"\r\n..", b"\r\n."), policy=policy.default)
            self.box.accepted.append((recipient, message))
            self.box.was_encrypted.append(self.is_encrypted)
        self._say(self.box.behaviour.refuses_content or "250 accepted")
        return True

    @property
    def _needs_encryption(self) -> bool:
        return self.box.behaviour.certificate is not None and not self.is_encrypted

    def _dies(self, command: str) -> bool:
        behaviour = self.box.behaviour
        if command != behaviour.dies_at or self.box.begun <= behaviour.dies_after:
            return False
        if behaviour.is_cut_once:
            behaviour.dies_at = ""
        return True

    def _encrypt(self) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(str(self.box.behaviour.certificate))
        self.request = context.wrap_socket(self.request, server_side=True, do_handshake_on_connect=False)
        self.rfile, self.wfile = self.request.makefile("rb"), self.request.makefile("wb", buffering=0)
        self.request.do_handshake()
        self.is_encrypted = True

    def finish(self) -> None:
        with suppress(OSError):
            super().finish()
        self.request.close()

    def _say(self, *lines: str) -> None:
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


@contextmanager
def mail_server(behaviour: Behaviour | None = None) -> Iterator[MailBox]:
    box = MailBox(0, behaviour or Behaviour())
    handler = type("Session", (_Session,), {"box": box})
    with _Server(("127.0.0.1", 0), handler) as server:
        box.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield box
        finally:
            server.shutdown()
            thread.join()


def make_certificate(folder: Path) -> Path:
    """Writes a certificate of this machine with its key; trust it through SSL_CERT_FILE."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test server")])
    today = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - datetime.timedelta(days=1))
        .not_valid_after(today + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "server.pem"
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + private)
    return file

"""One process that serves a study on this machine."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from quaestor.base.errors import InputError, Interrupted
from quaestor.web.app import make_app

_HOST = "127.0.0.1"


def serve_study(folder: Path, port: int, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; `ready` is told the address once the port is ours."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_HOST, port))
    except OSError as error:
        listener.close()
        raise InputError(
            f"port {port} cannot be used ({error.strerror}): name another with --port, or 0 for any"
        ) from None
    ready(f"http://{_HOST}:{listener.getsockname()[1]}/")
    config = uvicorn.Config(make_app(folder), log_level="warning", server_header=False, access_log=False)
    with contextlib.suppress(Interrupted, KeyboardInterrupt):  # the way to end a server
        uvicorn.Server(config).run(sockets=[listener])

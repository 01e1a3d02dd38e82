"""Serves a study from one process, on this machine only unless configured otherwise."""

from __future__ import annotations

import contextlib
import gc
import ipaddress
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from quaestor.base.errors import InputError, Interrupted
from quaestor.store.records import new_key
from quaestor.study.folder import open_study
from quaestor.web.desk_address import DeskAddress, recorded_address
from quaestor.web.security.connections import Limits, limited_protocol
from quaestor.web.security.headers import PathPrefix, require_prefix

Stop = Callable[[], None]
_TURN = 0.0005
"""Thread switch interval in seconds; with the default of 5 ms, rendering delays other requests noticeably."""


@dataclass(frozen=True)
class ServerAddress:
    """Host, port, allowed host names and path prefix of a desk."""

    port: int = 8321
    host: str = "127.0.0.1"
    allowed_hosts: Sequence[str] = ()
    root_path: str = ""


def serve_study(folder: Path, address: ServerAddress, ready: Callable[[str], None]) -> None:
    """Serves until interrupted; calls `ready` with the address once the port is bound."""
    if not _is_loopback(address.host) and not address.allowed_hosts:
        raise InputError(
            f"--host {address.host} lets others reach this desk: give its public name with --allow-host NAME"
        )
    _require_writable(folder)
    from quaestor.web.app import make_app

    app = make_app(folder, allowed_hosts=address.allowed_hosts, warm=_collect_seldom)
    pages = {str(getattr(route, "path", "")).split("/")[1] for route in app.routes}
    path = require_prefix(address.root_path, pages)
    served: ASGIApp = PathPrefix(app, path) if path else app
    with _open_listener(address) as listener:
        port = listener.getsockname()[1]
        app.state.prepare()
        ready(f"http://{_name_of(address)}:{port}{path}/")
        # Forwarded client addresses are trusted only if the desk may run behind a proxy.
        server = make_server(served, proxied=bool(path or address.allowed_hosts))
        app.state.run = new_key()
        desk_address = replace(find_addresses(address, port, path), run=app.state.run)
        # An interrupt is the normal way to stop.
        with (
            contextlib.suppress(Interrupted, KeyboardInterrupt),
            recorded_address(open_study(folder).evidence, desk_address),
        ):
            server.run(sockets=[listener])


def find_addresses(address: ServerAddress, port: int, path: str) -> DeskAddress:
    """Returns where a desk is reached: a host name of one that listens only here is that of an HTTPS proxy."""
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address.host, address.host)  # noqa: S104 - compared, not bound
    local = f"http://{_bracket(here)}:{port}{path}/"
    if not address.allowed_hosts:
        return DeskAddress(local)
    name = _bracket(address.allowed_hosts[0])
    public = f"https://{name}" if _is_loopback(address.host) else f"http://{name}:{port}"
    return DeskAddress(local, f"{public}{path}/")


def _require_writable(folder: Path) -> None:
    """Raises InputError if the folder is not writable."""
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise InputError(
            f"{folder} cannot be written ({error.strerror}): the desk saves its data there. "
            "Make the folder writable, or serve a copy of it"
        ) from None


def _collect_seldom() -> None:
    """Collects garbage rarely: the loaded study stays in memory, and scanning it again blocks every request."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


def serve_on_this_machine(port: int, begin: Callable[[str, Stop], ASGIApp]) -> None:
    """Serves on this machine only; calls `begin` with the address and a stop function once the port is bound.

    Requests wait for the application that `begin` returns. An interrupt is raised to the caller, which knows whether
    work was interrupted.
    """
    with _open_listener(ServerAddress(port)) as listener:

        async def served(scope: Scope, receive: Receive, send: Send) -> None:
            await app(scope, receive, send)

        server = make_server(served, proxied=False)

        def stop() -> None:
            server.should_exit = True

        app = begin(f"http://{ServerAddress.host}:{listener.getsockname()[1]}/", stop)
        server.run(sockets=[listener])


def make_server(app: ASGIApp, *, proxied: bool, limits: Limits | None = None) -> uvicorn.Server:
    """Builds the HTTP server of a desk, with limits on memory and connections per client."""
    sys.setswitchinterval(_TURN)
    limits = limits or Limits(connections=_affordable_connections())
    config = uvicorn.Config(
        app,
        http=limited_protocol(limits),
        ws="none",
        limit_concurrency=limits.connections + 1,  # reached only if every connection has a request in progress
        # Below the connection limit, so that connections accepted together do not evict each other.
        backlog=min(256, limits.connections),
        log_level="warning",
        server_header=False,
        access_log=False,
        proxy_headers=proxied,
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1,::1"),
    )
    return uvicorn.Server(config)


def _affordable_connections() -> int:
    """Returns the connection limit, at most half of the files that this process may open."""
    if sys.platform == "win32":
        return Limits.connections
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return Limits.connections if soft == resource.RLIM_INFINITY else min(Limits.connections, soft // 2)


def _open_listener(address: ServerAddress) -> socket.socket:
    try:
        family, kind, _, _, socket_address = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InputError(f"--host {address.host} is not an address of this machine ({error.strerror})") from None
    listener = socket.socket(family, kind)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(socket_address)
    except OSError as error:
        listener.close()
        raise InputError(
            f"port {address.port} of {address.host} cannot be used ({error.strerror}): "
            "choose another with --port, or 0 for any"
        ) from None
    listener.listen()  # connections opened before the server runs wait instead of being refused
    return listener


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _name_of(address: ServerAddress) -> str:
    """Returns the host name for the printed link."""
    return _bracket(address.host if _is_loopback(address.host) else address.allowed_hosts[0])


def _bracket(host: str) -> str:
    """Returns a host as it is written in an address: an IPv6 address has brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host

"""One process that serves a study, on this machine unless it is told otherwise."""

from __future__ import annotations

import contextlib
import gc
import ipaddress
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from quaestor.base.errors import InputError, Interrupted
from quaestor.web.security.connections import Limits, limited_protocol
from quaestor.web.security.headers import Prefixed, checked_prefix

Stop = Callable[[], None]
_TURN = 0.0005
"""Seconds after which a thread that renders lets one go on that answers; the usual ten times as many are felt."""


@dataclass(frozen=True)
class ServerAddress:
    """Where a desk is served, and under which names and path it answers."""

    port: int = 8321
    host: str = "127.0.0.1"
    allowed_hosts: Sequence[str] = ()
    root_path: str = ""


def serve_study(folder: Path, address: ServerAddress, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; `ready` is told the address once the port is ours."""
    if not _is_loopback(address.host) and not address.allowed_hosts:
        raise InputError(
            f"--host {address.host} lets others reach this desk: give the name that they will use, with --allow-host NAME"
        )
    _require_writable(folder)
    from quaestor.web.app import make_app

    app = make_app(folder, allowed_hosts=address.allowed_hosts, warm=_collect_seldom)
    pages = {str(getattr(route, "path", "")).split("/")[1] for route in app.routes}
    path = checked_prefix(address.root_path, pages)
    served: ASGIApp = Prefixed(app, path) if path else app
    with _listening(address) as listener:
        port = listener.getsockname()[1]
        app.state.prepare()
        ready(f"http://{_name_of(address)}:{port}{path}/")
        # What a proxy says of its clients is believed only where one may stand before the desk.
        server = make_server(served, proxied=bool(path or address.allowed_hosts))
        with contextlib.suppress(Interrupted, KeyboardInterrupt):  # the way to end a server
            server.run(sockets=[listener])


def _require_writable(folder: Path) -> None:
    """Refuse a folder in which no file can be made, before anybody is told that it is served."""
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise InputError(
            f"{folder} cannot be written ({error.strerror}): the desk saves there what people do, "
            "so make it writable, or serve a copy of it"
        ) from None


def _collect_seldom() -> None:
    """What was read stays as long as the desk: to look through it for garbage again and again stops everybody."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


def serve_on_this_machine(port: int, begin: Callable[[str, Stop], ASGIApp]) -> None:
    """Serve where nobody else can reach it; `begin` is told the address once the port is ours, and how to stop.

    Whoever opens the address at once waits for what `begin` makes. An interrupt goes on to the caller, who knows
    whether there was anything to interrupt.
    """
    with _listening(ServerAddress(port)) as listener:

        async def served(scope: Scope, receive: Receive, send: Send) -> None:
            await app(scope, receive, send)

        server = make_server(served, proxied=False)

        def stop() -> None:
            server.should_exit = True

        app = begin(f"http://{ServerAddress.host}:{listener.getsockname()[1]}/", stop)
        server.run(sockets=[listener])


def make_server(app: ASGIApp, *, proxied: bool, limits: Limits | None = None) -> uvicorn.Server:
    """The HTTP server of a desk; no client can fill its memory or take all of its connections."""
    sys.setswitchinterval(_TURN)
    limits = limits or Limits(connections=_affordable_connections())
    config = uvicorn.Config(
        app,
        http=limited_protocol(limits),
        ws="none",
        limit_concurrency=limits.connections + 1,  # where every connection has a request that is being answered
        # Fewer than there may be connections: those that are accepted in one go do not push each other out.
        backlog=min(256, limits.connections),
        log_level="warning",
        server_header=False,
        access_log=False,
        proxy_headers=proxied,
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1,::1"),
    )
    return uvicorn.Server(config)


def _affordable_connections() -> int:
    """As many connections as the limits allow, and at most half of the files that this process may open."""
    if sys.platform == "win32":
        return Limits.connections
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return Limits.connections if soft == resource.RLIM_INFINITY else min(Limits.connections, soft // 2)


def _listening(address: ServerAddress) -> socket.socket:
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
            "name another with --port, or 0 for any"
        ) from None
    listener.listen()  # whoever opens the address as soon as it is told waits a moment and is not refused
    return listener


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _name_of(address: ServerAddress) -> str:
    """How the desk is called in the link that is printed."""
    name = address.host if _is_loopback(address.host) else address.allowed_hosts[0]
    return f"[{name}]" if ":" in name else name

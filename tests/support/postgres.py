"""A real PostgreSQL server for the tests, in a temporary folder."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USERS = ("postgres", "nobody")
QUICK_TO_START = "-c listen_addresses='' -c max_connections=100 -c shared_buffers=32MB -c log_min_messages=fatal"


class NoServer(Exception):
    """Why there is no server to test on."""


def find_programs() -> Path | None:
    """The folder with initdb and pg_ctl: on the path, or where Debian keeps them."""
    if found := shutil.which("initdb"):
        return Path(found).parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return installed[-1].parent if installed else None


@contextmanager
def server() -> Iterator[str]:
    """A server on a socket of its own, gone afterwards; yields its address but for the database's name."""
    programs = find_programs()
    if programs is None:
        raise NoServer("no PostgreSQL server here: apt install postgresql")
    # Not below pytest's folder: a socket's path is short, and another user must get there.
    folder = Path(tempfile.mkdtemp(prefix="quaestor-postgres-"))
    data = folder / "data"
    try:
        user = _give_to_server(folder)
        _run(
            programs / "initdb",
            "-D",
            data,
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-locale",
            "-N",
            as_=user,
        )
        options = f"-k {folder} {QUICK_TO_START}"
        _run(programs / "pg_ctl", "-D", data, "-w", "-o", options, "-l", folder / "log", "start", as_=user)
        try:
            yield f"postgresql://postgres@/{{database}}?host={folder}"
        finally:
            _run(programs / "pg_ctl", "-D", data, "-m", "immediate", "stop", as_=user)
    finally:
        shutil.rmtree(folder)


def _give_to_server(folder: Path) -> str | None:
    """PostgreSQL refuses to run as root: find somebody else and give the folder away."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    user = next((name for name in USERS if name in known), None)
    if user is None or shutil.which("setpriv") is None:
        raise NoServer("PostgreSQL does not run as root, and there is no other user or no setpriv here")
    shutil.chown(folder, user)
    folder.chmod(0o755)
    return user


def _run(program: Path, *arguments: str | Path, as_: str | None) -> None:
    command = [str(program), *map(str, arguments)]
    if as_ is not None:
        command = ["setpriv", f"--reuid={as_}", f"--regid={pwd.getpwnam(as_).pw_gid}", "--clear-groups", *command]
    # What the server inherits must not be a pipe: we would wait for its end.
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", check=False)
    if done.returncode:
        raise NoServer(f"{program.name} failed with exit code {done.returncode}: try it by hand")


def new_database(postgresql_server: str) -> str:
    import psycopg

    name = f"study_{uuid.uuid4().hex}"
    with psycopg.connect(postgresql_server.format(database="postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgresql_server.format(database=name)

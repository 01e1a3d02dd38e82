"""Run commands in subprocesses forked from a process with all modules loaded.

What the console script calls is called here too; only what Python itself needs to start is saved, a hundred times over.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from subprocess import CompletedProcess

from argon2 import PasswordHasher
from typer import testing
from typer.testing import Result

_FORKING = multiprocessing.get_context("forkserver")
_FORKING.set_forkserver_preload(["quaestor.web.app", "quaestor.web.server", "tests.support.built_commands"])
NOWHERE = Path(os.devnull)
# The commands are the same each time, and making them from their functions takes most of a short call.
testing._get_command = cache(testing._get_command)
PLAIN = {"COLUMNS": "200", "NO_COLOR": "1"}


def quaestor(*arguments: str | Path, cwd: Path | None = None, **environment: str) -> CompletedProcess[str]:
    """A command as a script meets it: its words, its complaints, its exit code."""
    words = [str(argument) for argument in arguments]
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = begun(*words, cwd=cwd, out=out, err=err, **environment)
        process.join()
        code = -1 if process.exitcode is None else process.exitcode
        return CompletedProcess(words, code, out.read_text("utf-8"), err.read_text("utf-8"))


def in_this_process(*arguments: str | Path, **environment: str) -> Result:
    """A command without a process of its own, with what it raised."""
    from quaestor.cli.main import app

    return testing.CliRunner(env={**PLAIN, **environment}).invoke(app, [str(argument) for argument in arguments])


def begun(
    *arguments: str, cwd: Path | None = None, out: Path = NOWHERE, err: Path = NOWHERE, **environment: str
) -> ForkServerProcess:
    """A command that goes on until it ends or is ended."""
    settings = {**os.environ, **PLAIN, **environment}
    process = _FORKING.Process(target=_run, args=(arguments, cwd or Path.cwd(), settings, out, err))
    process.start()
    return process


def _run(arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], out: Path, err: Path) -> None:
    for number, path in ((1, out), (2, err)):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - it lasts as long as the process
    sys.stdout, sys.stderr = (io.TextIOWrapper(os.fdopen(number, "wb"), "utf-8") for number in (1, 2))
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["quaestor", *arguments]
    _hash_quickly()
    from quaestor.cli.main import run

    run()


def _hash_quickly() -> None:
    """Argon2id all the same, for the hundreds who join; what it costs outside is tested with `Passwords` itself."""
    made = PasswordHasher.__init__
    made.__defaults__ = (1, 64, 1, *(made.__defaults__ or ())[3:])

"""`quaestor demo`: prints its address at once, serves a page while it builds, and can be stopped at any time."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from quaestor.demo.folder import require_free_folder

QUAESTOR = str(Path(sys.executable).with_name("quaestor"))


@contextmanager
def demo(folder: Path, *more: str, before: str = "") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Runs a demo in its own session, as in a terminal, and yields its process and the address it prints first."""
    command = f'{before} exec "$0" "$@"'
    arguments = ["bash", "-c", command, QUAESTOR, "demo", str(folder), "--port", "0", *more]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1", "COLUMNS": "200"}
    with subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    ) as running:
        try:
            assert running.stdout is not None
            first = running.stdout.readline()
            match = re.search(r"http://127\.0\.0\.1:\d+/", first)
            assert match, first
            yield running, match[0]
        finally:
            running.kill()


def page_with(address: str, text: str) -> str:
    """Returns the demo's page as soon as it contains a text."""
    deadline = time.monotonic() + 180
    while True:
        with urllib.request.urlopen(f"{address}demo", timeout=30) as answer:
            page = str(answer.read().decode())
        if text in page:
            return page
        assert time.monotonic() < deadline, page
        time.sleep(0.1)


def refusal(*arguments: str | Path) -> str:
    done = subprocess.run([QUAESTOR, "demo", *map(str, arguments)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


def test_an_interrupt_ends_all_processes_and_the_folder_can_be_reused(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    with demo(folder) as (running, address):
        shown = page_with(address, "Step 2 of 17")
        assert "A new study in" in shown
        assert "join/" not in shown, "nobody can join before there is something to rate"
        processes = psutil.Process(running.pid).children(recursive=True)
        assert processes
        os.killpg(running.pid, signal.SIGINT)
        output, errors = running.communicate(timeout=120)
        assert running.returncode == 130
    assert "1. A new study in" in output
    assert "interrupted" in errors
    assert "Traceback" not in errors
    gone, alive = psutil.wait_procs(processes, timeout=60)
    assert (len(gone), alive) == (len(processes), [])
    require_free_folder(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]


def test_a_failure_in_the_middle_is_shown_on_the_page_and_ends_the_command(tmp_path: Path) -> None:
    with demo(tmp_path / "demo", before="ulimit -f 2000;") as (running, address):
        shown = page_with(address, "The demo stopped")
        assert "File too large" in shown
        assert "Stopped at step 2 of 17." in shown
        _, errors = running.communicate(timeout=120)
        assert running.returncode == 2
    assert "File too large" in errors
    assert "Traceback" not in errors
    require_free_folder(tmp_path / "demo")


def test_a_used_folder_or_port_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    assert "not an earlier demo: name another folder" in refusal(tmp_path / "mine", "--port", "0")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = str(listener.getsockname()[1])
        assert "choose another with --port" in refusal(tmp_path / "new", "--port", port)
    assert not (tmp_path / "new").exists()

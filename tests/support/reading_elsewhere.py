"""Another process that reads a database for as long as a test wants, and a search through every byte of a folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_READ = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
print("reading", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
connection.close()
"""


@contextmanager
def read_elsewhere(*databases: Path) -> Iterator[None]:
    """Hold a read transaction on each database in a process of its own, as a backup or an open shell does."""
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", _READ, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for path in databases
    ]
    try:
        for reader in readers:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "reading\n"
        yield
    finally:
        for reader in readers:
            reader.communicate("\n", timeout=60)


def files_with(folder: Path, words: str) -> list[str]:
    """The files anywhere in a folder that have these words in any of their bytes.

    Read by another process: closing a database file in this one would drop the locks that SQLite has on it here.
    """
    found = subprocess.run(["grep", "-rlaF", "-e", words, str(folder)], capture_output=True, text=True, check=False)
    assert found.returncode in (0, 1), found.stderr
    return sorted(Path(line).name for line in found.stdout.splitlines())

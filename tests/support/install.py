"""Programs that tests call: whether they are here, and their installation with apt-get where that is allowed.

`python -m tests.support.install` installs all of them, `python -m tests.support.install postgresql` one. Where that is
not possible it says so; the tests that need the program are then skipped, or fail in CI.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NoReturn

import pytest

from tests.support.archives import find_seven_zip
from tests.support.browser import WINDOWLESS, find_windowless
from tests.support.latex import find_latex
from tests.support.paths import in_ci
from tests.support.postgres import find_programs


@dataclass(frozen=True)
class Program:
    """How to find a program, and the Debian packages that bring it: each group is tried until it is found."""

    find: Callable[[], object]
    packages: tuple[tuple[str, ...], ...]
    find_preferred: Callable[[], object] | None = None
    """Finds the one that is worth an installation although another one does."""


PROGRAMS = {
    "chromium": Program(find_windowless, ((WINDOWLESS,), ("chromium",)), lambda: shutil.which(WINDOWLESS)),
    "postgresql": Program(find_programs, (("postgresql",),)),
    "pdflatex": Program(find_latex, (("texlive-latex-base", "texlive-latex-recommended"),)),
    "7-zip": Program(find_seven_zip, (("7zip",), ("p7zip-full",))),
    "bsdtar": Program(lambda: shutil.which("bsdtar"), (("libarchive-tools",),)),
}


def require(name: str) -> None:
    """Skips the test that runs where the program is missing; in CI it fails."""
    if not PROGRAMS[name].find():
        skip_or_fail(missing(name))


def skip_or_fail(reason: str) -> NoReturn:
    if in_ci():
        pytest.fail(reason)
    pytest.skip(reason)


def missing(name: str) -> str:
    return f"no {name} on this machine: apt-get install {' '.join(PROGRAMS[name].packages[0])}"


def install(names: Iterable[str]) -> None:
    """Tries once; what is missing still is for the tests to say."""
    wanted = [program for name in names if not ((program := PROGRAMS[name]).find_preferred or program.find)()]
    if not wanted or not shutil.which("apt-get") or os.geteuid() != 0:
        return
    if not all(program.find() for program in wanted):
        _apt_get("update")
    for program in wanted:
        for packages in program.packages:
            _apt_get("install", "-y", "--no-install-recommends", *packages)
            if program.find():
                break


def _apt_get(*arguments: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["apt-get", *arguments], env=environment, check=False, **quiet)  # type: ignore[call-overload]


def main() -> None:
    names = sys.argv[1:] or list(PROGRAMS)
    install(names)
    for name in names:
        if not PROGRAMS[name].find():
            print(f"{missing(name)}; the tests that need it will be skipped")


if __name__ == "__main__":
    main()

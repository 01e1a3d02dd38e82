"""LaTeX for the tests of tables: sets a document with pdflatex, and reads what a page of its PDF says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

_TEXT = re.compile(rb"\[((?:\((?:\\.|[^()\\])*\)|[-0-9.\s])*)\]TJ")
_PIECE = re.compile(rb"\(((?:\\.|[^()\\])*)\)|(-?[0-9.]+)")
_A_SPACE = -200.0
"""A kern wider than this is a space in the line."""


class NotSet(Exception):
    """What LaTeX said about a document it could not set."""


def find_latex() -> str | None:
    return shutil.which("pdflatex")


def set_document(document: str, folder: Path) -> bytes:
    """The PDF of a document, not compressed so that it can be read; twice, as long tables and labels need it."""
    (folder / "document.tex").write_text(document, "ascii")
    command = [
        str(find_latex()),
        "-interaction=nonstopmode",
        "-halt-on-error",
        "-no-shell-escape",
        r"\pdfcompresslevel=0 \pdfobjcompresslevel=0 \input{document.tex}",
    ]
    for _ in range(2):
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        if done.returncode:
            raise NotSet(done.stdout.decode("latin-1")[-3000:])
    return (folder / "document.pdf").read_bytes()


def words(pdf: bytes) -> list[str]:
    """The words on the pages of an uncompressed PDF in the fonts of TeX, whose letters and digits are ASCII."""
    found: list[str] = []
    for line in _TEXT.finditer(pdf):
        text = b""
        for piece, kern in _PIECE.findall(line[1]):
            text += b" " if kern and float(kern) < _A_SPACE else _unescaped(piece)
        found += text.decode("latin-1").split()
    return found


def addresses(pdf: bytes) -> list[str]:
    """Where the links of an uncompressed PDF lead."""
    found = re.findall(rb"/URI\(((?:\\.|[^()\\])*)\)", pdf)
    return [_unescaped(one).decode("latin-1") for one in found]


def _unescaped(text: bytes) -> bytes:
    return re.sub(rb"\\([0-7]{3}|.)", lambda sign: bytes([int(sign[1], 8)]) if len(sign[1]) == 3 else sign[1], text)

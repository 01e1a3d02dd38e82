"""Writes the tables and figures of a report; those that did not change since the last build are copied from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from types import TracebackType
from typing import Any

from quaestor import __version__
from quaestor.base.files import write_atomically
from quaestor.render.figures.drawing_process import DrawingProcess
from quaestor.render.figures.records import DrawnFigure, Figure, FigurePlan

_LIBRARIES = ("altair", "vl-convert-python", "xlsxwriter", "jinja2")
"""Their versions decide the bytes of a report, in addition to our own code."""


@dataclass(frozen=True)
class LastBuild:
    """The files of the last build, by a stamp of what each group of them was made from.

    The record is outside the report, and the report itself is the only copy: what is erased there is nowhere else.
    """

    folder: Path
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By stamp: the hash of each file by its name. A file that somebody edited has another hash."""

    @classmethod
    def read(cls, folder: Path, record: Path) -> LastBuild:
        try:
            groups = json.loads(record.read_text("utf-8"))
            return cls(folder, {stamp: dict(files) for stamp, files in groups.items()})
        except (OSError, ValueError, TypeError, AttributeError):
            return cls(folder)

    def find(self, stamp: str) -> dict[str, bytes] | None:
        """Returns the content of the files with this stamp by name; None if one is missing or was changed."""
        contents = {}
        for name, digest in self.groups.get(stamp, {}).items():
            try:
                contents[name] = (self.folder / name).read_bytes()
            except OSError:
                return None
            if hashlib.sha256(contents[name]).hexdigest() != digest:
                return None
        return contents or None


@cache
def _stamp_code() -> str:
    """Returns a stamp of everything that turns a table or figure into files."""
    digest = hashlib.sha256(__version__.encode())
    for package in ("quaestor.render", "quaestor.publication.report"):
        root = Path(str(resources.files(package)))
        for path in sorted(root.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(path.name.encode() + path.read_bytes())
    digest.update(repr([metadata.version(library) for library in _LIBRARIES]).encode())
    return digest.hexdigest()


def stamp(*inputs: Any) -> str:
    """Returns a stamp of values that have an exact `repr`, such as tables and plans of figures."""
    return hashlib.sha256(f"{_stamp_code()}{inputs!r}".encode(errors="surrogatepass")).hexdigest()


class ReportParts:
    """Makes groups of files for a new report, or takes them from the last build; draws in another process."""

    def __init__(self, last: LastBuild) -> None:
        self._last = last
        self._made: dict[str, dict[str, str]] = {}
        self._drawing: DrawingProcess | None = None
        self._submitted: list[str] = []
        self._figures: dict[str, DrawnFigure] = {}

    def __enter__(self) -> ReportParts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawing is not None:
            self._drawing.close()

    def start_drawing(self) -> DrawingProcess:
        """Starts the process that draws, so that it loads its libraries while this one computes."""
        self._drawing = self._drawing or DrawingProcess()
        return self._drawing

    def submit(self, figures: Iterable[Figure | FigurePlan]) -> None:
        """Starts to draw the figures that the last build does not have."""
        for figure in figures:
            key = stamp(figure)
            if key in self._figures or key in self._submitted:
                continue
            files = self._last.find(key)
            if files is not None:
                self._figures[key] = DrawnFigure.read({Path(name).name: content for name, content in files.items()})
                continue
            self.start_drawing().submit(figure)
            self._submitted.append(key)

    def draw(self, figure: Figure | FigurePlan) -> DrawnFigure:
        """Returns a drawn figure; waits for it if necessary."""
        key = stamp(figure)
        self.submit([figure])
        while key not in self._figures:
            self._figures[self._submitted.pop(0)] = self.start_drawing().next()
        return self._figures[key]

    def find(self, key: str) -> dict[str, bytes] | None:
        return self._last.find(key)

    def write(self, folder: Path, key: str, contents: Mapping[str, bytes]) -> None:
        """Writes a group of files; not flushed one by one, since the folder is put in place as a whole."""
        for name, content in contents.items():
            (folder / name).write_bytes(content)
        self._made[key] = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}

    def write_figure(self, folder: Path, figure: Figure | FigurePlan) -> DrawnFigure:
        drawn = self.draw(figure)
        self.write(folder, stamp(figure), {f"figures/{name}": content for name, content in drawn.files.items()})
        return drawn

    def record(self, path: Path) -> None:
        """Records the files, for the next build."""
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(self._made).encode())

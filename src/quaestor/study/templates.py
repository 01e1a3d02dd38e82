"""Creates a study folder from a bundled study."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Collection, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import tomlkit

from quaestor.base.errors import InputError
from quaestor.base.names import join_with_or, suggest

BLANK = "blank"
EVIDENCE = {
    "posts": ("posts", "coding", "rounds", "results"),
    "table": ("table", "coding", "rounds", "results"),
    "interviews": ("interviews", "passages", "rounds"),
    "survey": (),
}
"""The kinds of evidence that a new study can start with, and the examples of the blank study that each needs."""
_COPIES = {
    "posts": {"examples/codebook.toml": "codebook.toml"},
    "table": {"examples/codebook.toml": "codebook.toml"},
    "interviews": {
        "examples/codebook.toml": "codebook.toml",
        "examples/guide.md": "instruments/guide.md",
        "examples/agreement.md": "instruments/agreement.md",
    },
    "survey": {"instruments/example.survey.toml": "instruments/survey.toml"},
}
_EXPLANATION = re.compile(r"## (?:(\w+): )?(.*)")
_RATERS = 'raters = ["rater-1", "rater-2"]'
_IGNORED = "gitignore.template"
_TEMPLATE_ONLY = ("synthetic.toml",)


def bundled_studies() -> Path:
    """Returns the folder of the bundled studies: next to the installed package, else in the repository."""
    installed = Path(str(resources.files("quaestor"))) / "studies"
    return installed if installed.is_dir() else Path(__file__).resolve().parents[3] / "studies"


def template_names() -> list[str]:
    return sorted(path.parent.name for path in bundled_studies().glob("*/study.toml"))


def template_folder(name: str) -> Path:
    """Returns the folder of a bundled study."""
    if name not in template_names():
        options = suggest(name, template_names())
        raise InputError(f"unknown bundled study {name!r}; choose from: {options}")
    return bundled_studies() / name


def new_study(folder: Path, template: str, evidence: Sequence[str] = (), raters: int = 2) -> Path:
    """Creates a study folder; never changes existing files.

    With kinds of evidence, the examples of the blank study that they need are in use, for this number of raters.
    """
    source = template_folder(template)
    _require_evidence(template, evidence)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: name a new folder")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} already exists and is not empty: name a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".quaestor-", dir=folder.parent) as aside:
        staged = Path(aside) / "study"
        shutil.copytree(source, staged, ignore=shutil.ignore_patterns(*_TEMPLATE_ONLY))
        shutil.copyfile(bundled_studies() / _IGNORED, staged / ".gitignore")
        _set_name(staged / "study.toml", folder.resolve().name)
        if evidence:
            _start_with(staged, evidence, raters)
        if folder.exists():
            folder.rmdir()
        os.replace(staged, folder)
    return folder


def _set_name(file: Path, name: str) -> None:
    """Sets the name of a blank study to that of its folder."""
    document = tomlkit.parse(file.read_text("utf-8"))
    settings: Any = document["study"]
    if settings["name"] == "my-study":
        settings["name"] = name
        file.write_text(tomlkit.dumps(document), "utf-8")


def _require_evidence(template: str, evidence: Sequence[str]) -> None:
    """Raises InputError for kinds of evidence that a new study cannot start with."""
    if evidence and template != BLANK:
        raise InputError(f"the bundled study {template!r} has its own evidence: leave out --evidence, or the template")
    for kind in evidence:
        if kind not in EVIDENCE:
            raise InputError(f"unknown kind of evidence {kind!r}; choose from: {suggest(kind, EVIDENCE)}")
    coded = [kind for kind in dict.fromkeys(evidence) if EVIDENCE[kind]]
    if len(coded) > 1:
        raise InputError(
            f"a new study starts with one of {join_with_or(coded)}, and a survey: add the others to study.toml later"
        )


def _start_with(folder: Path, evidence: Sequence[str], raters: int) -> None:
    file = folder / "study.toml"
    names = ", ".join(f'"rater-{number}"' for number in range(1, raters + 1))
    used = {example for kind in evidence for example in EVIDENCE[kind]}
    text = use_examples(file.read_text("utf-8"), used).replace(_RATERS, f"raters = [{names}]")
    file.write_text(text, "utf-8")
    for kind in evidence:
        for example, copy in _COPIES[kind].items():
            shutil.copyfile(folder / example, folder / copy)


def list_files_to_adapt(evidence: Sequence[str]) -> list[str]:
    """Returns the files of a new study that have examples in use."""
    return ["study.toml", *(copy for kind in evidence for copy in _COPIES[kind].values())]


def use_examples(text: str, used: Collection[str]) -> str:
    """Returns a study file in which the examples with these names are in use, and the others still comments."""
    return "\n\n".join(_use_example(block) if _name_example(block) in used else block for block in text.split("\n\n"))


def _name_example(block: str) -> str:
    explanation = _EXPLANATION.match(block)
    return explanation[1] or "" if explanation else ""


def _use_example(block: str) -> str:
    lines = []
    for line in block.split("\n"):
        explanation = _EXPLANATION.fullmatch(line)
        lines.append(f"# {explanation[2]}" if explanation else line.removeprefix("#").removeprefix(" "))
    return "\n".join(lines)

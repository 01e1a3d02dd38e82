"""Creates a study folder from a bundled study."""

from __future__ import annotations

import os
import shutil
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

import tomlkit

from quaestor.base.errors import InputError
from quaestor.base.names import suggest

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
        raise InputError(f"unknown bundled study {name!r}, allowed: {options}")
    return bundled_studies() / name


def new_study(folder: Path, template: str) -> Path:
    """Creates a study folder; never changes existing files."""
    source = template_folder(template)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: name a new folder")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} already exists and is not empty: name a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".quaestor-", dir=folder.parent) as aside:
        staged = Path(aside) / "study"
        shutil.copytree(source, staged, ignore=shutil.ignore_patterns(*_TEMPLATE_ONLY))
        shutil.copyfile(bundled_studies() / _IGNORED, staged / ".gitignore")
        _name_it(staged / "study.toml", folder.resolve().name)
        if folder.exists():
            folder.rmdir()
        os.replace(staged, folder)
    return folder


def _name_it(file: Path, name: str) -> None:
    """Sets the name of a blank study to that of its folder."""
    document = tomlkit.parse(file.read_text("utf-8"))
    settings: Any = document["study"]
    if settings["name"] == "my-study":
        settings["name"] = name
        file.write_text(tomlkit.dumps(document), "utf-8")

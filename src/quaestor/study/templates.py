"""A new study folder from a bundled one."""

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
    """Where the bundled studies are: beside the package when installed, in the repository when not."""
    installed = Path(str(resources.files("quaestor"))) / "studies"
    return installed if installed.is_dir() else Path(__file__).resolve().parents[3] / "studies"


def template_names() -> list[str]:
    return sorted(path.parent.name for path in bundled_studies().glob("*/study.toml"))


def template_folder(name: str) -> Path:
    """The folder of a bundled study by its name."""
    if name not in template_names():
        options = suggest(name, template_names())
        raise InputError(f"there is no bundled study {name!r}, allowed: {options}")
    return bundled_studies() / name


def new_study(folder: Path, template: str) -> Path:
    """Make a study folder; what is already there is never touched."""
    source = template_folder(template)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: name a new folder")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is already there and not empty: name a new folder")
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
    """A blank study is called after its folder."""
    document = tomlkit.parse(file.read_text("utf-8"))
    settings: Any = document["study"]
    if settings["name"] == "my-study":
        settings["name"] = name
        file.write_text(tomlkit.dumps(document), "utf-8")

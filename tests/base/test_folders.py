"""A folder is replaced completely, or stays unchanged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from quaestor.base.errors import InputError, StateError
from quaestor.base.files import build_folder


def build(folder: Path, *names: str) -> None:
    with build_folder(folder, kind="site", marker="mark") as new:
        for name in ("mark", *names):
            (new / name).write_text(" ".join(names))


def list_names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_built_folder_replaces_the_old_folder_and_its_content(tmp_path: Path) -> None:
    build(tmp_path / "site", "old", "both")
    build(tmp_path / "site", "new", "both")
    assert list_names(tmp_path / "site") == {"mark", "new", "both"}
    assert (tmp_path / "site" / "both").read_text() == "new both"
    assert list_names(tmp_path) == {"site"}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems need two renames")
def test_the_folder_exists_at_every_moment_of_a_replacement(tmp_path: Path) -> None:
    build(tmp_path / "site", "old")
    script = (
        "import os, sys\n"
        "os.chdir(sys.argv[1])\n"
        "checks = missing = 0\n"
        "print('started', flush=True)\n"
        "while not os.path.exists('end'):\n"
        "    checks += 1\n"
        "    missing += not os.path.isdir('site')\n"
        "print(checks, missing)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "started\n"
        for number in range(40):
            build(tmp_path / "site", "new" if number % 2 else "old")
        (tmp_path / "end").touch()
        checks, missing = map(int, reader.stdout.read().split())
    assert checks > 40
    assert missing == 0


def test_a_failed_build_leaves_the_old_folder_and_no_other_files(tmp_path: Path) -> None:
    build(tmp_path / "site", "old")
    with pytest.raises(KeyboardInterrupt), build_folder(tmp_path / "site", kind="site", marker="mark") as new:
        (new / "half").touch()
        raise KeyboardInterrupt
    assert list_names(tmp_path / "site") == {"mark", "old"}
    assert list_names(tmp_path) == {"site"}


def test_a_killed_build_leaves_the_old_folder_and_the_next_one_succeeds(tmp_path: Path) -> None:
    build(tmp_path / "site", "old")
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from quaestor.base.files import build_folder\n"
        "with build_folder(Path(sys.argv[1]), kind='site', marker='mark') as new:\n"
        "    (new / 'half').touch()\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path / "site")], check=False)
    assert killed.returncode == -9
    assert list_names(tmp_path / "site") == {"mark", "old"}
    build(tmp_path / "site", "new")
    assert list_names(tmp_path / "site") == {"mark", "new"}
    assert list_names(tmp_path) == {"site"}


def test_a_folder_of_somebody_else_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("precious")
    with pytest.raises(InputError, match="not a site"):
        build(tmp_path / "thesis")
    with pytest.raises(InputError, match="is a file"):
        build(tmp_path / "thesis" / "chapter.txt")
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "precious"


def test_a_second_build_at_the_same_time_is_refused_and_the_first_continues(tmp_path: Path) -> None:
    with build_folder(tmp_path / "site", kind="site", marker="mark") as new:
        (new / "mark").touch()
        with pytest.raises(StateError, match="another process is busy with building the site"):
            build(tmp_path / "site")
        assert new.is_dir()
    assert list_names(tmp_path / "site") == {"mark"}


def test_a_relative_path_keeps_its_meaning_when_the_block_changes_the_directory(tmp_path: Path) -> None:
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        with build_folder(Path("site"), kind="site", marker="mark") as new:
            (new / "mark").touch()
            os.chdir("/")
    finally:
        os.chdir(before)
    assert list_names(tmp_path) == {"site"}

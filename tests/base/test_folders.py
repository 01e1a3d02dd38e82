"""A folder is replaced whole, or stays as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from quaestor.base.errors import InputError, StateError
from quaestor.base.files import built_aside


def build(folder: Path, *names: str) -> None:
    with built_aside(folder, what="site", mark="mark") as new:
        for name in ("mark", *names):
            (new / name).write_text(" ".join(names))


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_is_built_replaces_the_old_folder_and_all_that_was_in_it(tmp_path: Path) -> None:
    build(tmp_path / "site", "old", "both")
    build(tmp_path / "site", "new", "both")
    assert names_in(tmp_path / "site") == {"mark", "new", "both"}
    assert (tmp_path / "site" / "both").read_text() == "new both"
    assert names_in(tmp_path) == {"site"}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere two renames have a moment between them")
def test_there_is_no_moment_without_the_folder(tmp_path: Path) -> None:
    build(tmp_path / "site", "old")
    script = (
        "import os, sys\n"
        "os.chdir(sys.argv[1])\n"
        "looks = gone = 0\n"
        "print('looking', flush=True)\n"
        "while not os.path.exists('end'):\n"
        "    looks += 1\n"
        "    gone += not os.path.isdir('site')\n"
        "print(looks, gone)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "looking\n"
        for number in range(40):
            build(tmp_path / "site", "new" if number % 2 else "old")
        (tmp_path / "end").touch()
        looks, gone = map(int, reader.stdout.read().split())
    assert looks > 40
    assert gone == 0


def test_a_failed_build_leaves_the_old_folder_and_no_trace(tmp_path: Path) -> None:
    build(tmp_path / "site", "old")
    with pytest.raises(KeyboardInterrupt), built_aside(tmp_path / "site", what="site", mark="mark") as new:
        (new / "half").touch()
        raise KeyboardInterrupt
    assert names_in(tmp_path / "site") == {"mark", "old"}
    assert names_in(tmp_path) == {"site"}


def test_a_killed_build_leaves_the_old_folder_and_the_next_one_succeeds(tmp_path: Path) -> None:
    build(tmp_path / "site", "old")
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from quaestor.base.files import built_aside\n"
        "with built_aside(Path(sys.argv[1]), what='site', mark='mark') as new:\n"
        "    (new / 'half').touch()\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path / "site")], check=False)
    assert killed.returncode == -9
    assert names_in(tmp_path / "site") == {"mark", "old"}
    build(tmp_path / "site", "new")
    assert names_in(tmp_path / "site") == {"mark", "new"}
    assert names_in(tmp_path) == {"site"}


def test_a_folder_of_somebody_else_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("precious")
    with pytest.raises(InputError, match="not a site"):
        build(tmp_path / "thesis")
    with pytest.raises(InputError, match="is a file"):
        build(tmp_path / "thesis" / "chapter.txt")
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "precious"


def test_two_builds_at_once_are_refused_and_the_first_one_goes_on(tmp_path: Path) -> None:
    with built_aside(tmp_path / "site", what="site", mark="mark") as new:
        (new / "mark").touch()
        with pytest.raises(StateError, match="another process is busy with building the site"):
            build(tmp_path / "site")
        assert new.is_dir()
    assert names_in(tmp_path / "site") == {"mark"}


def test_a_path_from_here_stays_the_same_when_the_builder_goes_elsewhere(tmp_path: Path) -> None:
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        with built_aside(Path("site"), what="site", mark="mark") as new:
            (new / "mark").touch()
            os.chdir("/")
    finally:
        os.chdir(here)
    assert names_in(tmp_path) == {"site"}

"""The demo's folder: only an earlier demo is replaced, and a demo always has its marker file."""

from __future__ import annotations

from pathlib import Path

import pytest

from quaestor.base.errors import InputError
from quaestor.demo.folder import create_demo_folder, require_free_folder


def test_an_earlier_demo_is_replaced_completely(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    for _ in range(2):
        create_demo_folder(folder, "blank")
        assert not (folder / "left").exists()
        (folder / "left").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]
    assert (folder / "study.toml").exists()
    require_free_folder(folder)


def test_an_empty_folder_is_used_and_a_filled_one_or_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    create_demo_folder(tmp_path / "empty", "blank")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    (tmp_path / "file").touch()
    for name in ("mine", "file"):
        with pytest.raises(InputError, match="name another folder"):
            create_demo_folder(tmp_path / name, "blank")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"


def test_an_interrupted_demo_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Path, *_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "touch", interrupted)
        with pytest.raises(KeyboardInterrupt):
            create_demo_folder(tmp_path / "demo", "blank")
    assert list(tmp_path.iterdir()) == []

"""A desk that cannot read or write its files: a full disk, a damaged people.db, an unwritable folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.desk import CHOSEN, QUICK, browser, closing_app, invited, post, signed_in
from tests.support.small_study import small_study

from quaestor.people.credentials import Passwords
from quaestor.people.membership import PEOPLE_FILE
from quaestor.people.roles import Role
from quaestor.web.app import make_app

MOUNT = 'mount -t tmpfs -o size=8m none "$1" && shift && exec "$@"'


def can_mount() -> bool:
    """Whether this process may mount a file system that nobody else sees."""
    if shutil.which("unshare") is None:
        return False
    command = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


needs_mount = pytest.mark.skipif(not can_mount(), reason="no file system can be mounted here: root on Linux can")


def run_alone(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """A process of its own, which knows the same modules."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "COLUMNS": "200"}
    return subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["limit", pytest.param("small", marks=needs_mount)])
def test_on_a_full_disk_reading_works_and_people_see_that_nothing_is_saved(tmp_path: Path, how: str) -> None:
    mounted = ("unshare", "--mount", "sh", "-c", MOUNT, "sh", tmp_path) if how == "small" else ()
    done = run_alone(*mounted, sys.executable, "-m", "tests.support.full_disk", how, tmp_path)
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    for reads in ("lead reads", "rater reads"):
        assert {path: status for path, (status, _) in answers[reads].items() if status != 200} == {}, reads
    assert {act: status for act, (status, _) in answers["saves"].items()} == {
        "sign in": 503, "join": 503, "invite": 503, "rate": 503, "add a code": 503,
    }  # fmt: skip
    for act, (_, page) in answers["saves"].items():
        public = act in ("sign in", "join")
        assert ("cannot read or save this right now" if public else "disk") in page, act
        assert (".db" in page) != public, act
    assert {act: status for act, (status, _) in answers["saves afterwards"].items()} == {
        "sign in": 303, "join": 303, "invite": 200, "rate": 303, "add a code": 303,
    }  # fmt: skip


def damage(file: Path) -> None:
    """Overwrite all but the first page, so that opening works and reading further finds the damage."""
    content = file.read_bytes()
    file.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


def test_a_damaged_people_file_is_reported_on_every_page(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    study = small_study(tmp_path / "study").root
    with closing_app(make_app(study, passwords=Passwords(QUICK))) as app:
        lead = signed_in(app, study, Role.LEAD)
        link = f"/join/{invited(study, Role.VIEWER)}"
        cookies = dict(lead.cookies)
    damage(study / PEOPLE_FILE)
    with closing_app(make_app(study, passwords=Passwords(QUICK))) as app:
        lead = browser(app)
        lead.cookies.update(cookies)
        stranger = browser(app)
        pages = [lead.get(path) for path in ("/", "/me", "/sign-in", "/s/none", link)]
        pages.append(stranger.get(link))
        pages.append(post(stranger, "/sign-in", {"name": "lead", "password": CHOSEN}))
        for page in pages:
            assert page.status_code == 503, page.request.url
            assert page.headers["content-security-policy"]
            assert "The desk cannot read or save this right now" in page.text
            assert str(study) not in page.text
        assert f"{study / PEOPLE_FILE} is damaged" in caplog.text
        for visitor in (lead, stranger):
            assert visitor.get("/static/desk.css").status_code == 200
            assert visitor.get("/health").status_code == 200


def serve_read_only(study: Path, *before: str | Path) -> subprocess.CompletedProcess[str]:
    """`quaestor serve`, which a test expects to end by itself."""
    serve = "from quaestor.cli.main import run; run()"
    return run_alone(*before, "timeout", "120", sys.executable, "-c", serve, "serve", "--study", study, "--port", "0")


@pytest.mark.slow
@pytest.mark.parametrize("state", ["nobody has joined", "the lead has joined", "the server was killed"])
def test_a_study_in_an_unwritable_folder_is_not_served(tmp_path: Path, state: str) -> None:
    drop = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.geteuid() == 0 else ()
    if drop and shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere, and there is no setpriv to run a process with fewer rights")
    made, study = small_study(tmp_path / "made").root, tmp_path / "study"
    if state == "nobody has joined":
        shutil.copytree(made, study)
    else:
        with closing_app(make_app(made, passwords=Passwords(QUICK))) as app:
            signed_in(app, made, Role.LEAD)
            if state == "the server was killed":
                shutil.copytree(made, study)  # with the log of people.db, which is writable like the file itself
        if state == "the lead has joined":
            shutil.copytree(made, study)
    study.chmod(0o555)
    assert_not_served(study, serve_read_only(study, *drop))


@pytest.mark.slow
@needs_mount
def test_a_study_on_a_read_only_file_system_is_not_served(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study").root
    read_only = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
    assert_not_served(study, serve_read_only(study, "unshare", "--mount", "sh", "-c", read_only, "sh", study))


def assert_not_served(study: Path, done: subprocess.CompletedProcess[str]) -> None:
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert f"{study} cannot be written" in done.stderr

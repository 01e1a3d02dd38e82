"""The demo in a process of its own: everything is heard, and nothing of it outlives whoever asked for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from tests.support import demo_makers
from tests.support.paths import ROOT

from quaestor.base.errors import InputError, StateError
from quaestor.demo.process import DemoProcess
from quaestor.demo.progress import StepStarted, DemoFailed, StepMessage

ASKING = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.support import demo_makers
from quaestor.demo.process import DemoProcess
if __name__ == "__main__":
    for event in DemoProcess(Path(sys.argv[2]), 1, demo_makers.goes_on).events():
        print(event.words, flush=True)
"""


def test_what_the_makers_tell_is_heard_in_its_order(tmp_path: Path) -> None:
    makers = DemoProcess(tmp_path, 1, demo_makers.tells_all)
    assert list(makers.events()) == demo_makers.ALL
    makers.stop()


def test_a_failure_is_heard_as_what_it_was(tmp_path: Path) -> None:
    makers = DemoProcess(tmp_path / "mine", 1, demo_makers.fails)
    *_, last = makers.events()
    assert isinstance(last, DemoFailed)
    assert isinstance(last.error, InputError)
    assert last.message == "mine cannot be: take another"
    makers.stop()


def test_makers_that_vanish_are_a_failure_too(tmp_path: Path) -> None:
    makers = DemoProcess(tmp_path, 1, demo_makers.vanishes)
    first, last = makers.events()
    assert first == StepStarted("study")
    assert isinstance(last, DemoFailed)
    assert isinstance(last.error, StateError)
    makers.stop()


def test_a_stopped_one_puts_away_what_it_had_half_done_and_says_nothing_more(tmp_path: Path) -> None:
    makers = DemoProcess(tmp_path, 1, demo_makers.goes_on)
    heard = makers.events()
    assert isinstance(next(heard), StepMessage)
    assert (tmp_path / "half").exists()
    makers.stop()
    assert list(heard) == []
    assert not (tmp_path / "half").exists()


@pytest.mark.slow
@pytest.mark.parametrize("end", [psutil.Process.kill, psutil.Process.terminate])
def test_it_ends_with_the_process_that_asked_for_it(tmp_path: Path, end: object) -> None:
    script = tmp_path / "asking.py"
    script.write_text(ASKING, "utf-8")
    with subprocess.Popen([sys.executable, script, ROOT, tmp_path], stdout=subprocess.PIPE, text=True) as asking:
        assert asking.stdout is not None
        makers = psutil.Process(int(asking.stdout.readline()))
        end(psutil.Process(asking.pid))  # type: ignore[operator]
    makers.wait(timeout=60)
    assert not (tmp_path / "half").exists()

"""The demo's process: all events arrive, and it ends with the process that started it."""

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
from quaestor.demo.progress import DemoFailed, StepMessage, StepStarted

ASKING = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.support import demo_makers
from quaestor.demo.process import DemoProcess
if __name__ == "__main__":
    for event in DemoProcess(Path(sys.argv[2]), 1, demo_makers.goes_on).events():
        print(event.text, flush=True)
"""


def test_events_arrive_in_order(tmp_path: Path) -> None:
    process = DemoProcess(tmp_path, 1, demo_makers.tells_all)
    assert list(process.events()) == demo_makers.ALL
    process.stop()


def test_a_failure_arrives_with_its_error(tmp_path: Path) -> None:
    process = DemoProcess(tmp_path / "mine", 1, demo_makers.fails)
    *_, last = process.events()
    assert isinstance(last, DemoFailed)
    assert isinstance(last.error, InputError)
    assert last.message == "mine cannot be: take another"
    process.stop()


def test_a_killed_process_is_a_failure(tmp_path: Path) -> None:
    process = DemoProcess(tmp_path, 1, demo_makers.vanishes)
    first, last = process.events()
    assert first == StepStarted("study")
    assert isinstance(last, DemoFailed)
    assert isinstance(last.error, StateError)
    process.stop()


def test_a_stopped_process_cleans_up_and_sends_no_more_events(tmp_path: Path) -> None:
    process = DemoProcess(tmp_path, 1, demo_makers.goes_on)
    heard = process.events()
    assert isinstance(next(heard), StepMessage)
    assert (tmp_path / "half").exists()
    process.stop()
    assert list(heard) == []
    assert not (tmp_path / "half").exists()


@pytest.mark.slow
@pytest.mark.parametrize("end", [psutil.Process.kill, psutil.Process.terminate])
def test_the_demo_process_ends_with_its_parent(tmp_path: Path, end: object) -> None:
    script = tmp_path / "asking.py"
    script.write_text(ASKING, "utf-8")
    with subprocess.Popen([sys.executable, script, ROOT, tmp_path], stdout=subprocess.PIPE, text=True) as asking:
        assert asking.stdout is not None
        process = psutil.Process(int(asking.stdout.readline()))
        end(psutil.Process(asking.pid))  # type: ignore[operator]
    process.wait(timeout=60)
    assert not (tmp_path / "half").exists()

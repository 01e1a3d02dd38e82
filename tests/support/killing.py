"""Work in a process that is killed at some moment, as by a power cut."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator


def killed(work: Callable[[], object], after: float | None) -> bool:
    """Whether a process that does this was killed before it had ended, after so long or by itself."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    if after is not None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def moments(work: Callable[[], object], count: int) -> Iterator[float]:
    """Random ones within the time that the work takes."""
    begun = time.monotonic()
    work()
    longest, chance = time.monotonic() - begun, random.Random(9)
    return (chance.uniform(0, longest) for _ in range(count))

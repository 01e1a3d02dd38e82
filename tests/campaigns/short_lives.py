"""Run processes until they are killed at a random moment, and collect what they acknowledged."""

from __future__ import annotations

import os
import random
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

PATIENT = 0.9
"""How often the first acknowledgement is waited for; else a process may die while it opens its file."""


@dataclass(frozen=True)
class Tally:
    """What a campaign did and found."""

    kills: int
    acknowledged: int
    on_record: int
    lost: int
    doubled: int
    halved: int

    @property
    def clean(self) -> bool:
        return not (self.lost or self.doubled or self.halved)


def acknowledged_until_killed(work: Callable[[int, int], None], kills: int, seed: int, longest: float) -> list[str]:
    """What all of them acknowledged. Each is given its number and a pipe, lives `longest` seconds at most after its
    first acknowledgement, and never ends by itself.
    """
    chance = random.Random(seed)
    told: list[str] = []
    for life in range(kills):
        patient = chance.random() < PATIENT
        told += _one_life(work, life, chance.uniform(0, longest), patient)
    return told


def _one_life(work: Callable[[int, int], None], life: int, seconds: float, patient: bool) -> list[str]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            work(life, writing)
        finally:
            os._exit(1)
    os.close(writing)
    with open(reading, "rb") as acknowledgements:
        if patient:
            select.select([acknowledgements], [], [], 60)
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        lines = acknowledgements.read().split(b"\n")
    return [line.decode() for line in lines[:-1]]

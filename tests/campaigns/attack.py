"""Run every known attack against the desk for a limited time and report which succeeded.

python -m tests.campaigns.attack [--quick] [PART ...]

Ends with 1 where an attack succeeded. Every target is a server or a file on this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Attack:
    """One part of the campaign: a module of this folder that prints what it tried and ends with 1 if it succeeded."""

    name: str
    script: str
    arguments: Sequence[str] = ()
    quick: Sequence[str] = ()
    """The arguments of a run that takes a few minutes in all."""


ATTACKS = (
    Attack("leaks", "crawl_blindness", quick=("--most", "60")),
    Attack("forms", "fuzz_routes", ("--requests", "20000"), ("--requests", "1500")),
    Attack("slow readers", "slow_readers", quick=("--seconds", "5")),
    Attack("headers", "flood_headers", ("--seconds", "30"), ("--seconds", "5")),
    Attack("full disk", "fill_disk"),
    Attack("withdrawals", "read_during_withdrawal", ("--withdrawals", "100"), ("--withdrawals", "10")),
    Attack("killed writers", "kill_writers", ("--kills", "200"), ("--kills", "20")),
    Attack("killed respondents", "kill_respondents", ("--kills", "200"), ("--kills", "20")),
)
LONGEST = 29 * 60
"""Seconds after which the campaign ends; a part that has not ended by then counts as a success of the attacker."""


def run_attack(attack: Attack, seconds: float, *, quick: bool) -> bool:
    """Run one part for so long at most and print its output; whether it succeeded."""
    started = time.monotonic()
    print(f"== {attack.name}", flush=True)
    command = [sys.executable, "-m", f"tests.campaigns.{attack.script}", *(attack.quick if quick else attack.arguments)]
    # In a process group of its own, so that no server that a part has started outlives it.
    with subprocess.Popen(command, start_new_session=True) as process:
        try:
            succeeded = process.wait(max(1.0, seconds)) != 0
        except subprocess.TimeoutExpired:
            print("   it did not end in time")
            succeeded = True
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    print(f"   {'SUCCEEDED' if succeeded else 'held'} after {time.monotonic() - started:.0f} s", flush=True)
    return succeeded


def main() -> int:
    names = [attack.name for attack in ATTACKS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"default: all of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="a few minutes instead of half an hour")
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in names]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; choose from: {', '.join(names)}")
    chosen = [attack for attack in ATTACKS if not options.parts or attack.name in options.parts]
    end = time.monotonic() + LONGEST
    succeeded = [one.name for one in chosen if run_attack(one, end - time.monotonic(), quick=options.quick)]
    if succeeded:
        print(f"{len(succeeded)} of {len(chosen)} attacks succeeded: {', '.join(succeeded)}")
        return 1
    print(f"All {len(chosen)} attacks were repelled.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

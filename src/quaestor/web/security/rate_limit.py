"""Rate limits per address; counted in memory, so that no respondent's address is stored."""

from __future__ import annotations

import threading
from collections import deque
from datetime import datetime, timedelta

from quaestor.base.clock import Clock
from quaestor.people.sign_in import group_by_network, parse_address

_MOST_ADDRESSES = 10_000


class RateLimit:
    """Limits the requests of one address within a period; requests from this machine are not counted.

    A proxy that does not forward client addresses looks like this machine: counting it would lock everybody out.
    """

    def __init__(self, most: int, within: timedelta, clock: Clock) -> None:
        self._most = most
        self._within = within
        self._clock = clock
        self._times: dict[str, deque[datetime]] = {}
        self._lock = threading.Lock()

    def wait(self, address: str) -> timedelta | None:
        """Counts a request, or returns how long to wait if the limit is reached."""
        if is_this_machine(address):
            return None
        now, network = self._clock(), group_by_network(address)
        with self._lock:
            times = self._times.pop(network, deque())
            # Reinserted last, so that the first network is the one idle for longest.
            self._times[network] = times
            if len(self._times) > _MOST_ADDRESSES:
                del self._times[next(iter(self._times))]
            while times and times[0] <= now - self._within:
                times.popleft()
            if times and times[-1] > now:  # the clock was set back: later times are meaningless
                times = self._times[network] = deque(time for time in times if time <= now)
            if len(times) >= self._most:
                return times[0] + self._within - now
            times.append(now)
        return None


def is_this_machine(address: str) -> bool:
    try:
        return parse_address(address).is_loopback
    except ValueError:
        return False

"""The rate of calls: as fast as the server allows, learned from its refusals."""

import threading
import time
from collections import deque
from collections.abc import Callable

WINDOW = 2.0
LEAST = 0.5


class Pace:
    """A token bucket whose rate follows the server's limit.

    It starts at `most`. A refusal sets the rate to slightly below the rate of successes
    in the last two seconds; each success raises it slightly, so it follows a changing
    limit. Thread-safe.


    `back_off` is the share of the measured rate kept after a refusal. Without refusals,
    the rate grows by `climb` calls per second each second.
    """

    def __init__(
        self,
        most: float = 200.0,
        *,
        back_off: float = 0.95,
        climb: float = 0.5,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.most = most
        self.rate = most
        self._back_off = back_off
        self._climb = climb
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._next = clock()
        self._through: deque[float] = deque()
        self._slowed = float("-inf")

    def wait(self) -> None:
        with self._lock:
            now = self._clock()
            # Idle time earns no credit, so there is no burst after a pause.
            turn = max(self._next, now)
            self._next = turn + 1 / self.rate
        if turn > now:
            self._sleep(turn - now)

    def went_through(self) -> None:
        with self._lock:
            now = self._clock()
            self._through.append(now)
            self._forget(now)
            # Each call adds its share, so the rate grows by `climb` a second whatever
            # the number of calls.
            self.rate = min(self.most, self.rate + self._climb / self.rate)

    def refused(self) -> None:
        with self._lock:
            now = self._clock()
            self._forget(now)
            if now - self._slowed < WINDOW / 2:
                return  # The calls of one burst are refused together.
            self._slowed = now
            first = self._through[0] if self._through else now
            # Over a shorter time, a few quick calls would measure a rate that no server
            # sustains.
            lasted = max(now - first, 0.25)
            measured = len(self._through) / lasted
            self.rate = max(LEAST, min(self.rate, measured) * self._back_off)
            self._next = now + 1 / self.rate

    def _forget(self, now: float) -> None:
        while self._through and self._through[0] < now - WINDOW:
            self._through.popleft()

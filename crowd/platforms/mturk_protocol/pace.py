"""How fast to call: as fast as the server lets us, found out by its refusals."""

import threading
import time
from collections import deque
from collections.abc import Callable

WINDOW = 2.0
LEAST = 0.5


class Pace:
    """A token bucket whose rate follows what the server allows.

    It starts at `most`. A refusal sets the rate to a little less than what went through
    in the last two seconds; each success raises it a little, so that it finds the limit
    again when the limit has moved. Safe to share among threads.

    Parameters
    ----------
    most : float
        Never more calls a second than this.
    back_off : float
        What share of the measured rate is kept after a refusal.
    climb : float
        By how many calls a second the rate grows each second without a refusal.
    clock, sleep : callable
        Of the machine, unless a test has its own.
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
        """Sleep until it is this caller's turn."""
        with self._lock:
            now = self._clock()
            # No debt is run up while nobody calls, so there is no burst after a pause.
            turn = max(self._next, now)
            self._next = turn + 1 / self.rate
        if turn > now:
            self._sleep(turn - now)

    def went_through(self) -> None:
        """Note a call that the server took."""
        with self._lock:
            now = self._clock()
            self._through.append(now)
            self._forget(now)
            # Each call adds its share, so that the rate grows by `climb` a second
            # however many calls there are.
            self.rate = min(self.most, self.rate + self._climb / self.rate)

    def refused(self) -> None:
        """Note a call that came too soon for the server."""
        with self._lock:
            now = self._clock()
            self._forget(now)
            if now - self._slowed < WINDOW / 2:
                return  # the calls of one crowd are refused together
            self._slowed = now
            first = self._through[0] if self._through else now
            # Over a shorter time a few quick calls would measure a rate that no server
            # keeps up.
            lasted = max(now - first, 0.25)
            measured = len(self._through) / lasted
            self.rate = max(LEAST, min(self.rate, measured) * self._back_off)
            self._next = now + 1 / self.rate

    def _forget(self, now: float) -> None:
        while self._through and self._through[0] < now - WINDOW:
            self._through.popleft()

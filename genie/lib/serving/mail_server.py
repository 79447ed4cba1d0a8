"""Health of the mail server: checked rarely, and never during a request."""

import time
from threading import Lock, Thread
from typing import Any

from django.conf import settings
from django.core.mail import get_connection

SECONDS = 5
_GOOD_FOR_SECONDS = 60


def is_used() -> bool:
    return bool(settings.EMAIL_BACKEND.endswith("smtp.EmailBackend"))


def trouble(seconds: float) -> str:
    """Connect as for sending; return the problem, or ""."""
    server: Any = get_connection(timeout=seconds)
    try:
        server.open()
        server.close()
    except OSError as error:  # includes smtplib's own errors
        return str(error) or type(error).__name__
    return ""


class Watched:
    def __init__(self) -> None:
        self._lock = Lock()
        self._state, self._looked_at = "unknown", float("-inf")
        self.thread: Thread | None = None

    def state(self) -> str:
        """Return the last result at once: `ok`, `unreachable`, or `unknown` at first."""
        if not is_used():
            return "ok"
        with self._lock:
            old = time.monotonic() - self._looked_at > _GOOD_FOR_SECONDS
            if old and (self.thread is None or not self.thread.is_alive()):
                self.thread = Thread(target=self._look, daemon=True)
                self.thread.start()
            return self._state

    def _look(self) -> None:
        state = "unreachable" if trouble(SECONDS) else "ok"
        with self._lock:
            self._state, self._looked_at = state, time.monotonic()


watched = Watched()

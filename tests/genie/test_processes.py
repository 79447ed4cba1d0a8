"""Who starts a site is told at once when a part of it cannot start."""

from __future__ import annotations

import signal
import time
from signal import SIGINT, SIGTERM

import pytest

from genie.lib.serving.processes import Processes, answers


@pytest.fixture
def processes():
    kept = {number: signal.getsignal(number) for number in (SIGINT, SIGTERM)}
    made = Processes()
    yield made
    made.stop()
    for number, handler in kept.items():
        signal.signal(number, handler)


def test_nobody_waits_for_a_server_that_is_gone(processes):
    processes.start("-c", "raise SystemExit(3)")
    begun = time.monotonic()
    assert not answers("http://127.0.0.1:9/", meanwhile=processes.all_run)
    assert time.monotonic() - begun < 30
    assert processes.wait() == 3

"""Who starts a site is told at once when a part of it cannot start."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from signal import SIGINT, SIGTERM

import pytest
from django.core.management import CommandError
from django.db import connections

from genie.lib.errors import GenieError
from genie.lib.serving.processes import Processes, Stopped, answers


@pytest.fixture
def processes():
    kept = {number: signal.getsignal(number) for number in (SIGINT, SIGTERM)}
    made = Processes()
    yield made
    made.stop()
    for number, handler in kept.items():
        signal.signal(number, handler)


def test_nobody_waits_for_a_server_that_is_gone(processes):
    ended = processes.start(partial(sys.exit, 3))
    begun = time.monotonic()
    assert not answers("http://127.0.0.1:9/", meanwhile=processes.all_run)
    assert time.monotonic() - begun < 30
    assert processes.wait() is ended
    assert ended.exitcode == 3


def refuse():
    raise GenieError("No room is left.")


@pytest.mark.parametrize("fails", [refuse, partial(os.kill, 0, 9)])
def test_a_step_that_fails_ends_the_start_with_a_sentence(processes, fails, capfd):
    processes.do(int)
    assert processes.children == []
    with pytest.raises(CommandError, match="See the lines above"):
        processes.do(fails)
    assert "Traceback" not in capfd.readouterr().err


def test_a_fork_shares_no_connection_and_leaves_nothing(processes, monkeypatch):
    closed = []
    monkeypatch.setattr(connections, "close_all", lambda: closed.append(os.getpid()))
    child = processes.start(partial(subprocess.run, ["sleep", "600"]))
    assert closed == [os.getpid()]
    while subprocess.run(["pgrep", "-g", str(child.pid), "sleep"]).returncode:
        time.sleep(0.1)
    processes.stop()
    # killed, the grandchild is gone once a busy machine gets to it
    gone = f"while pgrep -r RSD -g {child.pid}; do sleep .1; done"
    assert not subprocess.run(["timeout", "9", "sh", "-c", gone]).returncode


def test_a_signal_during_a_fork_stops_the_site_and_the_new_child(processes):
    signals = iter([SIGTERM])
    os.register_at_fork(before=lambda: [os.kill(os.getpid(), n) for n in signals])
    with pytest.raises(Stopped):
        processes.start(partial(time.sleep, 600))
    (child,) = processes.children
    processes.stop()
    assert child.exitcode == -SIGTERM

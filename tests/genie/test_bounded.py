"""Work on a stranger's file ends at its limits, is done alone, and is counted together."""

import io
import multiprocessing
import os
import resource
import signal

import pytest
from django.core.cache import cache

from genie.lib.bounded import LimitExceeded, Limits, call_bounded
from genie.lib.serving.one_at_a_time import one_at_a_time
from tests.genie import costly

pytestmark = pytest.mark.bounded

SMALL = Limits(cpu_seconds=0.3, memory_bytes=64 << 20)


def test_within_its_limits_a_call_gives_what_the_function_gives():
    assert call_bounded(costly.count, io.BytesIO(b"abc"), SMALL, extra=4) == 7
    large = io.BytesIO(b"x" * (5 << 20))
    large.seek(9)
    assert call_bounded(costly.count, large, SMALL) == 5 << 20


@pytest.mark.parametrize("function", [costly.spin, costly.hoard])
def test_beyond_them_it_is_ended(function):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with pytest.raises(LimitExceeded):
        call_bounded(function, io.BytesIO(b""), SMALL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert taken < 1


def test_a_call_that_only_waits_is_ended_as_well():
    limits = Limits(cpu_seconds=1, memory_bytes=64 << 20, wall_seconds=0.5)
    with pytest.raises(LimitExceeded):
        call_bounded(costly.sleep, io.BytesIO(b""), limits)
    with pytest.raises(RuntimeError, match="This is a mistake of ours"):
        call_bounded(costly.fail, io.BytesIO(b""), SMALL)


def test_the_call_is_given_no_secrets(monkeypatch):
    monkeypatch.setenv("GENIE_SECRET_KEY", "secret")
    known = call_bounded(costly.environment, io.BytesIO(b""), SMALL)
    assert "secret" not in str(known)


def hold(ready):
    with one_at_a_time("test"):
        ready.send(True)
        signal.pause()


def test_one_at_a_time_holds_across_processes_and_ends_with_them():
    here, there = multiprocessing.Pipe()
    other = multiprocessing.get_context("fork").Process(target=hold, args=(there,))
    other.start()
    assert here.recv()
    with one_at_a_time("test") as free:
        assert not free
    with one_at_a_time("another") as free:
        assert free
    other.kill()
    other.join()
    with one_at_a_time("test") as free:
        assert free


def test_what_limits_count_is_shared_by_processes():
    cache.clear()
    if (child := os.fork()) == 0:
        cache.set("count", 3)
        os._exit(0)
    os.waitpid(child, 0)
    assert cache.get("count") == 3
    cache.clear()

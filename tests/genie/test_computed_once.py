"""What is costly is computed by one of those who ask for it, and kept for the others."""

import multiprocessing
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.cache import caches

from genie.lib.serving import caches as module
from genie.lib.serving.caches import computed_once


def slowly(log):
    """Note that it was computed, take a while, and say how often it has been."""
    with Path(log).open("a") as file:
        file.write("x")
    time.sleep(0.3)
    return len(Path(log).read_text())


def ask(log):
    return computed_once("slow", lambda: slowly(log), 60)


def test_threads_that_ask_together_compute_once(tmp_path):
    log = tmp_path / "log"
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, [log] * 8)) == [1] * 8
    assert ask(log) == 1


def test_processes_that_ask_together_compute_once(tmp_path):
    log = tmp_path / "log"
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=ask, args=[log]) for _ in range(4)]
    for one in processes:
        one.start()
    for one in processes:
        one.join(timeout=30)
    assert log.read_text() == "x"


def test_after_a_failure_the_next_one_computes(tmp_path):
    with pytest.raises(ZeroDivisionError):
        computed_once("fails", lambda: 1 / 0, 60)
    assert computed_once("fails", lambda: "fine", 60) == "fine"
    assert computed_once("short", lambda: 1, 60) == 1
    caches["shared"].clear()
    assert computed_once("short", lambda: 2, 60) == 2


def test_nobody_waits_for_ever(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.1)
    with module._alone("held"):
        assert computed_once("held", lambda: "own", 60) == "own"
    with module._alone("held"):
        start = time.monotonic()
        assert computed_once("free", lambda: 1, 60) == 1
    assert time.monotonic() - start < 5

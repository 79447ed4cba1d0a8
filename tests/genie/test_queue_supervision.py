"""The supervisor of the queue: patient with work and databases, not with silence."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import InterfaceError, OperationalError
from django_q.signals import post_execute_in_worker, pre_execute

from genie.lib import jobs
from genie.lib.queue import locks, pulse
from genie.management.commands import work


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    settings.GENIE = {**settings.GENIE, "QUEUE_STALE_SECONDS": 5}


@pytest.fixture
def supervisor():
    command = work.Command(stderr=StringIO(), stdout=StringIO())
    command.quiet, command.stopping = True, False
    return command


def age(path, seconds):
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_a_queue_is_not_called_silent_before_it_could_speak(supervisor):
    assert not supervisor._stale(running=1)


def test_a_queue_without_a_beat_and_without_work_is_silent(supervisor):
    assert supervisor._stale(running=60)
    pulse.beat()
    assert not supervisor._stale(running=60)
    age(pulse.folder() / "beat", 60)
    assert supervisor._stale(running=60)


def test_a_long_job_is_no_silence_and_one_past_its_time_is(supervisor, settings):
    pulse.listen()
    pre_execute.send(sender="test", func=None, task={})
    assert not supervisor._stale(running=60)
    mark = pulse.folder() / f"busy.{os.getpid()}"
    age(mark, settings.Q_CLUSTER["timeout"] + 10)
    assert supervisor._stale(running=60)


def test_the_mark_of_a_dead_worker_is_no_sign_of_life(supervisor):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (pulse.folder() / f"busy.{gone.pid}").touch()
    assert supervisor._stale(running=60)


def test_every_job_that_ends_is_a_beat_though_beats_wait_behind_others(supervisor):
    pulse.listen()
    pre_execute.send(sender="test", func=None, task={})
    post_execute_in_worker.send(sender="test", func=None, task={})
    assert not pulse.busy()
    assert not supervisor._stale(running=60)


def test_a_queue_that_ends_by_itself_is_told_of(supervisor):
    gone = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
    gone.wait()
    supervisor._watch(gone)
    assert "exit code 3" in supervisor.stderr.getvalue()


@pytest.mark.django_db
@pytest.mark.parametrize("problem", [OperationalError, InterfaceError])
def test_a_database_that_is_away_for_a_moment_does_not_end_the_supervisor(
    supervisor, monkeypatch, problem
):
    closed = []

    def away():
        raise problem("server closed the connection\nunexpectedly")

    monkeypatch.setattr(work.connection, "close", lambda: closed.append(1))
    supervisor._tell_queue(away)
    told = supervisor.stderr.getvalue()
    assert "The database is not responding" in told
    assert told.count("\n") == 1
    assert closed
    supervisor._tell_queue(lambda: jobs.enqueue_missing([work.ADVANCE]))
    assert jobs.n_waiting() == 1


def test_machines_that_share_a_folder_do_not_share_a_pulse(supervisor, monkeypatch):
    pulse.beat()
    assert not supervisor._stale(running=60)
    monkeypatch.setattr("socket.gethostname", lambda: "heron")
    assert supervisor._stale(running=60)


def test_a_queue_is_named_plainly(supervisor):
    with pytest.raises(CommandError, match="letters, digits"):
        call_command("work", name="../elsewhere")


def test_no_queue_is_left_alone_when_its_supervisor_breaks(supervisor, monkeypatch):
    ended = []

    def broken(_cluster):
        raise RuntimeError("a bug")

    monkeypatch.setattr(supervisor, "_watch", broken)
    monkeypatch.setattr(supervisor, "_end", ended.append)
    monkeypatch.setattr(supervisor, "_say", lambda _: None)
    monkeypatch.setattr(work.lifeline, "start", Started)
    with locks.lock_cluster() as lock, pytest.raises(RuntimeError):
        supervisor._run_cluster(lock)
    assert len(ended) == 1


class Started:
    pid = 1

    def __init__(self, *_args, **_kwargs):
        pass

"""The supervisor of the queue: patient with work and databases, not with silence."""

import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from functools import partial
from io import StringIO
from unittest.mock import DEFAULT, Mock

import pytest
from django.core.management import CommandError, call_command
from django.db import InterfaceError, OperationalError, connections
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.conf import Conf
from django_q.models import OrmQ
from django_q.signals import post_execute_in_worker, pre_execute

from genie.lib import jobs
from genie.lib.queue import lifeline, pulse, sentinel
from genie.lib.queue.lane import Lane
from genie.lib.queue.owners import Presence, RunningQueue
from genie.management.commands import work


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    settings.GENIE = {**settings.GENIE, "QUEUE_STALE_SECONDS": 50}
    pulse.guard_forever()


@pytest.fixture
def supervisor():
    command = work.Command(stderr=StringIO(), stdout=StringIO())
    command.quiet, command.stopping, command.looked = True, False, time.monotonic()
    command.presence, command.lanes = Presence(), [Lane("now")]
    return command


@pytest.fixture
def lane():
    return Lane("now")


def age(path, seconds):
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_a_queue_is_not_called_silent_before_it_could_speak(lane):
    assert not lane.is_stale(running=1)
    assert lane.is_stale(running=60)
    pulse.beat()
    assert not lane.is_stale(running=60)
    age(pulse.lane_folder() / "beat", 60)
    assert lane.is_stale(running=60)
    pulse.beat()
    age(pulse.lane_folder() / "guard", 60)
    assert lane.is_stale(running=60)


def test_a_long_job_is_no_silence_and_one_past_its_time_is(lane, settings):
    pulse.listen()
    pre_execute.send(sender="test", func=None, task={})
    assert not lane.is_stale(running=60)
    mark = pulse.lane_folder() / f"busy.{os.getpid()}"
    age(mark, settings.Q_CLUSTER["timeout"] + 10)
    assert lane.is_stale(running=60)


def test_the_mark_of_a_dead_worker_is_no_sign_of_life(lane):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (pulse.lane_folder() / f"busy.{gone.pid}").touch()
    assert lane.is_stale(running=60)


def test_every_job_that_ends_is_a_beat_though_beats_wait_behind_others(lane):
    pulse.listen()
    pre_execute.send(sender="test", func=None, task={})
    post_execute_in_worker.send(sender="test", func=None, task={})
    assert not pulse.busy()
    assert not lane.is_stale(running=60)


def test_a_queue_that_ends_by_itself_is_told_of(supervisor):
    gone = lifeline.fork(partial(sys.exit, 3))
    gone.join()
    supervisor.lanes[0].cluster = gone
    supervisor._watch()
    assert "exit code 3" in supervisor.stderr.getvalue()
    with pytest.raises(CommandError, match="letters, digits"):
        call_command("work", name="../elsewhere")


@pytest.mark.every_engine
@pytest.mark.parametrize("problem", [OperationalError, InterfaceError])
def test_a_database_away_ends_no_supervisor(supervisor, monkeypatch, problem):
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
    monkeypatch.setattr(work, "release_own_claims", Mock(side_effect=problem))
    monkeypatch.setattr(Lane, "start", pytest.fail)  # its jobs would wait for minutes
    supervisor._start_missing(None)


def test_machines_that_share_a_folder_do_not_share_a_pulse(lane, monkeypatch):
    pulse.beat()
    assert not lane.is_stale(running=60)
    monkeypatch.setattr("socket.gethostname", lambda: "heron")
    assert lane.is_stale(running=60)


def test_no_queue_is_left_alone_when_its_supervisor_breaks(supervisor, monkeypatch):
    def broken():
        raise RuntimeError("a bug")

    monkeypatch.setattr(connections, "close_all", lambda: None)
    monkeypatch.setattr(sentinel, "run", lambda lane: time.sleep(600))
    monkeypatch.setattr(supervisor, "_watch", broken)
    monkeypatch.setattr(supervisor, "_tell_queue", lambda _: 0)
    started = []

    def end(lane, *_):
        lane.lock.close()
        started.append(lane.cluster)

    monkeypatch.setattr(Lane, "end", end)
    with (pulse.folder() / "own").open("w") as own, pytest.raises(RuntimeError):
        supervisor._supervise(own)
    assert len(started) == 3
    for cluster in started:
        lifeline.kill_group(cluster)
        cluster.join()


def machine(monkeypatch, name):
    """Be another machine from now on."""
    monkeypatch.setattr("socket.gethostname", lambda: name)


def silent(name, seconds=60):
    heard = timezone.now() - timedelta(seconds=seconds)
    RunningQueue.objects.filter(host=name).update(beat_at=heard)


def claim(pk):
    jobs.enqueue("genie.lib.jobs.forget_old", days=pk)
    ((receipt, _payload),) = get_broker().dequeue()
    return lambda: OrmQ.objects.get(pk=receipt).lock <= timezone.now()


def test_jobs_of_a_machine_that_is_not_heard_of_are_run_by_others(monkeypatch):
    machine(monkeypatch, "kite")
    Presence().begin()
    waiting = claim(1)
    machine(monkeypatch, "heron")
    heron = Presence()
    heron.begin()
    own = claim(2)
    assert heron.beat()
    assert jobs.queues() == ["heron/main", "kite/main"]
    assert not waiting()
    silent("kite")
    assert jobs.queues() == ["heron/main"]
    assert heron.beat()
    assert waiting()
    assert not own()
    assert [row.host for row in RunningQueue.objects.all()] == ["heron"]


def test_who_was_silent_itself_does_not_take_others_for_dead(monkeypatch):
    machine(monkeypatch, "kite")
    Presence().begin()
    machine(monkeypatch, "heron")
    heron = Presence()
    heron.begin()
    silent("kite")
    heron._beaten -= 30
    assert heron.is_due()
    assert heron.beat()
    assert RunningQueue.objects.count() == 2
    assert heron.beat()
    assert RunningQueue.objects.count() == 1


def test_a_fork_is_killed_before_it_has_a_group(monkeypatch):
    monkeypatch.setattr(os, "setsid", partial(time.sleep, 60))
    child = lifeline.fork(int)
    lifeline.kill_group(child)
    child.join(timeout=30)
    assert child.exitcode == -signal.SIGKILL


def test_who_comes_back_from_a_long_pause_lets_go_of_its_jobs(supervisor, monkeypatch):
    monkeypatch.setattr(work, "close_old_connections", lambda: None)
    supervisor.presence.begin()
    RunningQueue.objects.all().delete()
    supervisor.presence._beaten -= 60
    monkeypatch.setattr(connections, "close_all", lambda: None)
    paused = lifeline.fork(partial(time.sleep, 600))
    supervisor.lanes[0].cluster = paused
    supervisor._watch()
    assert "stopped responding" in supervisor.stderr.getvalue()
    paused.join(timeout=60)
    assert paused.exitcode == -signal.SIGKILL


def test_machines_of_one_image_claim_under_names_of_their_own(settings, tmp_path):
    numbers = set()
    for disk in ("one", "two"):
        (tmp_path / disk).mkdir()
        settings.VAR_DIR = tmp_path / disk
        numbers |= {pulse.owner(), pulse.owner()}
    assert len(numbers) == 2


class Killed:
    pid, exitcode = os.getpid(), -9


@pytest.fixture
def guard(monkeypatch):
    done = []
    monkeypatch.setenv(pulse.NAME_VARIABLE, "main")
    monkeypatch.setattr(os, "killpg", lambda *_: done.append("all anew"))
    monkeypatch.setattr(
        sentinel.cluster.Sentinel, "reincarnate", lambda *_: done.append("one anew")
    )
    return sentinel.Sentinel(None, None, None, broker="none", start=False), done


@pytest.mark.every_engine
def test_the_job_of_a_killed_worker_is_run_again_alone(guard, monkeypatch):
    monkeypatch.setattr("genie.lib.queue.broker.BeatingBroker._beat_is_due", bool)
    watch, done = guard
    waiting = claim(1)
    pulse.listen()
    pre_execute.send(sender="test", func=None, task={"ack_id": OrmQ.objects.get().pk})
    watch.reincarnate(Killed)
    assert done == ["one anew"]
    assert not waiting()
    soon = timezone.now() + timedelta(seconds=50)
    assert OrmQ.objects.filter(lock__lt=soon).exists()


def test_a_process_killed_while_it_waited_takes_all_others_along(guard):
    watch, done = guard
    watch.reincarnate(Killed)
    assert done == ["all anew"]


def test_a_worker_that_ended_by_itself_is_simply_replaced(guard):
    watch, done = guard
    watch.reincarnate(type("Ended", (), {"pid": 1, "exitcode": 0}))
    assert done == ["one anew"]


def test_a_worker_killed_while_it_settles_its_job_stops_no_guard(guard, monkeypatch):
    watch, spawned = guard
    monkeypatch.setattr(watch, "spawn_process", lambda *args: spawned.extend(args))
    watch.spawn_worker()
    timer = spawned[3]
    if not (child := os.fork()):
        timer.get_lock().acquire()
        os._exit(0)
    os.waitpid(child, 0)
    assert timer.get_lock().acquire(True, 1)


def test_a_worker_removes_its_job_and_goes_if_none_is_left(monkeypatch):
    monkeypatch.setattr(Conf, "MAX_RSS", None)
    for pk in (1, 2):
        jobs.enqueue("genie.lib.jobs.forget_old", days=pk)
    for row, left in zip(list(OrmQ.objects.all()), [(1, None), (0, 1)], strict=True):
        sentinel._settle({"func": "f", "ack_id": row.pk, "success": True})
        assert (jobs.n_waiting(), Conf.MAX_RSS) == left


@pytest.mark.every_engine
def test_a_job_in_which_the_database_restarted_runs_again_once_it_is_back(monkeypatch):
    waiting = claim(1)
    away = Mock(side_effect=[InterfaceError, DEFAULT], wraps=sentinel.release_claim)
    monkeypatch.setattr(jobs, "settle", Mock(side_effect=OperationalError))
    monkeypatch.setattr(sentinel, "release_claim", away)
    monkeypatch.setattr(sentinel.time, "sleep", Mock())
    monkeypatch.setattr(sentinel.connection, "close", Mock())
    assert not waiting()
    sentinel._settle({"func": "f", "ack_id": OrmQ.objects.get().pk, "success": True})
    assert waiting()


def test_a_process_that_only_guards_does_not_connect(monkeypatch):
    monkeypatch.setattr(connections["default"], "ensure_connection", pytest.fail)
    assert get_broker().list_key == "now"

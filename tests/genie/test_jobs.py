from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.module_loading import import_string
from django_q.brokers import get_broker
from django_q.conf import Conf
from django_q.models import Failure, OrmQ, Schedule

from genie.lib import jobs
from genie.lib.jobs import Periodic
from genie.lib.queue import broker, lanes, pulse, sentinel
from genie.lib.queue.claims import forgive_starts, release_own_claims
from genie.lib.queue.waiting import WaitingJob

CALLS: list[int] = []


def note(pk: int) -> None:
    CALLS.append(pk)


def fail(pk: int) -> None:
    raise RuntimeError(f"bad\nluck {pk}")


@pytest.fixture(autouse=True)
def _no_calls():
    CALLS.clear()


@pytest.mark.every_engine
def test_a_job_queued_in_a_transaction_that_is_undone_was_never_queued():
    with pytest.raises(RuntimeError), transaction.atomic():
        jobs.enqueue("tests.genie.test_jobs.note", pk=1)
        raise RuntimeError
    assert OrmQ.objects.count() == 0


def test_drain_runs_what_waits_and_leaves_nothing():
    jobs.enqueue("tests.genie.test_jobs.note", pk=1)
    jobs.enqueue("tests.genie.test_jobs.note", pk=2)
    assert jobs.drain()
    assert CALLS == [1, 2]
    assert OrmQ.objects.count() == 0


def test_a_failing_job_is_recorded_in_one_line_and_kept_for_another_try():
    jobs.enqueue("tests.genie.test_jobs.fail", pk=7)
    jobs.drain()
    failure = Failure.objects.get()
    assert "bad\\nluck 7" in failure.result
    assert OrmQ.objects.count() == 1  # locked until its next try
    OrmQ.objects.all().delete()
    jobs.retry_failure(Failure.objects.get().pk)
    assert jobs.queued_jobs() == {("tests.genie.test_jobs.fail", (("pk", 7),))}
    assert not Failure.objects.exists()


def test_only_keys_travel_through_the_queue():
    with pytest.raises(TypeError, match="only keys"):
        jobs.enqueue("tests.genie.test_jobs.note", pk=object())
    jobs.enqueue("tests.genie.test_jobs.note", pk=1)
    claim_one()
    assert not jobs.run_next()
    assert release_own_claims(lanes.names()) == 1
    assert jobs.run_next()


def claim_one():
    (claim,) = get_broker().dequeue()
    return claim[0]


@pytest.mark.parametrize("elsewhere", ["machine", "name", "folder"])
def test_jobs_of_another_queue_are_left(monkeypatch, settings, tmp_path, elsewhere):
    jobs.enqueue("tests.genie.test_jobs.note", pk=1)
    own_folder = settings.VAR_DIR
    with monkeypatch.context() as other:
        if elsewhere == "machine":
            other.setattr("socket.gethostname", lambda: "heron")
        elif elsewhere == "name":
            other.setenv(pulse.NAME_VARIABLE, "second")
            other.setattr(broker.BeatingBroker, "_beat_is_due", lambda _: False)
        else:
            settings.VAR_DIR = tmp_path
        claim_one()
        if elsewhere == "folder":
            settings.VAR_DIR = own_folder
    assert release_own_claims(lanes.names()) == 0
    assert not jobs.run_next()


def test_a_claim_that_ran_out_and_is_another_s_by_now_is_left_to_it(monkeypatch):
    jobs.enqueue("tests.genie.test_jobs.note", pk=1)
    pk = claim_one()
    monkeypatch.setattr("socket.gethostname", lambda: "heron")
    OrmQ.objects.filter(pk=pk).update(lock=timezone.now() - timedelta(seconds=1))
    assert claim_one() == pk
    monkeypatch.undo()
    assert release_own_claims(lanes.names()) == 0


def test_schedules_become_equal_to_the_table_however_often():
    for _ in range(2):
        jobs.install([Periodic("a", "tests.genie.test_jobs.note", 5)])
    jobs.install([Periodic("b", "tests.genie.test_jobs.note", 5)])
    assert [s.name for s in Schedule.objects.all()] == ["b"]
    with pytest.raises(ImportError):
        jobs.install([Periodic("a", "tests.genie.test_jobs.gone", 5)])


@pytest.mark.parametrize("name", ["timeout", "group", "task_name"])
def test_a_key_that_the_queue_would_swallow_is_refused(name):
    with pytest.raises(TypeError, match=name):
        jobs.enqueue("tests.genie.test_jobs.note", **{name: 1})


def test_jobs_of_another_secret_key_stop_nobody(settings):
    jobs.enqueue("tests.genie.test_jobs.note", pk=1)
    OrmQ.objects.update(payload="gAN9:not-ours:at-all")
    jobs.enqueue("tests.genie.test_jobs.note", pk=2)
    assert jobs.drain()
    assert CALLS == [2]
    assert OrmQ.objects.count() == 0


def test_only_the_jobs_asked_for_are_read_and_in_one_query(django_assert_num_queries):
    wanted = [("tests.genie.test_jobs.note", {"pk": pk}) for pk in range(60)]
    jobs.enqueue_missing(wanted)
    with django_assert_num_queries(1):
        assert len(jobs.queued_jobs(wanted[:30])) == 30
    with django_assert_num_queries(1):
        assert jobs.enqueue_missing(wanted[:30]) == 0
    assert jobs.enqueue_missing([*wanted, (wanted[0][0], {"pk": 60})]) == 1


@pytest.mark.every_engine
def test_a_job_waits_once_and_again_while_it_runs():
    for _ in range(2):
        jobs.enqueue("tests.genie.test_jobs.note", pk=1)
    assert jobs.n_waiting() == 1
    claim_one()
    for _ in range(2):
        jobs.enqueue("tests.genie.test_jobs.note", pk=1)
    assert jobs.n_waiting() == 2
    assert release_own_claims(lanes.names()) == 1
    assert jobs.drain()
    assert CALLS == [1, 1]


def test_every_job_has_a_lane_and_waits_for_its_lane_alone(monkeypatch):
    assert lanes.names() == ["now", "money", "long"]
    assert all(callable(import_string(job)) for job in lanes.LANES)
    assert lanes.lane_of("leaderboard.jobs.advance") == "now"
    jobs.enqueue("leaderboard.jobs.measure", pk=1)
    jobs.enqueue("crowd.jobs.plan_payouts")
    monkeypatch.setattr(Conf, "POLL", 0)
    assert not get_broker().dequeue()
    rows = [get_broker(lane).dequeue()[0][0] for lane in ("money", "long")]
    assert [OrmQ.objects.get(pk=pk).key for pk in rows] == ["money", "long"]


@pytest.mark.every_engine
@pytest.mark.parametrize("lane", lanes.names())
def test_a_job_that_kills_its_process_is_stopped_after_three_starts(lane, monkeypatch):
    monkeypatch.setitem(lanes.LANES, "tests.genie.test_jobs.note", lane)
    monkeypatch.setattr(Conf, "POLL", 0)
    jobs.enqueue("tests.genie.test_jobs.note", pk=1)
    for start in range(4):
        ((receipt, _payload),) = get_broker(lane).dequeue()
        sentinel._count_start({"ack_id": receipt})
        if start == 2:  # it ends because the queue is stopped
            forgive_starts()
        assert release_own_claims([lane]) == 1
    assert not get_broker(lane).dequeue()
    assert "in each of 3 starts" in Failure.objects.get().result
    assert not WaitingJob.objects.exists()


def test_a_job_is_read_together_with_its_lock(db):
    jobs.enqueue("genie.lib.jobs.forget_old", days=3)
    with CaptureQueriesContext(connection) as seen:
        assert get_broker().dequeue()
    # a lock read later may be that of another queue
    assert sum(one["sql"].startswith("SELECT") for one in seen) == 1

"""Jobs in a queue that speaks SQS: a real server keeps them and hands them out."""

import time
from datetime import timedelta

import pytest
from botocore.exceptions import ClientError
from django.db import transaction
from django_q.brokers import get_broker
from django_q.conf import Conf
from django_q.models import Failure, OrmQ
from django_q.signals import post_execute_in_worker
from django_q.signing import SignedPackage

from genie.lib import jobs
from genie.lib.env import ConfigurationError
from genie.lib.queue import lanes, pulse, sqs
from genie.lib.queue.address import queue_options
from genie.lib.queue.broker import BeatingBroker
from genie.lib.queue.claims import hold_own_claims, release_claim, release_own_claims
from genie.lib.queue.owners import Presence
from tests.moto_server import KEYS, client, moto_server

NOTE = "tests.genie.test_queue_elsewhere.note"
FAIL = "tests.genie.test_queue_elsewhere.fail_once"
CALLS: list[int] = []


def note(pk: int) -> None:
    CALLS.append(pk)


def fail_once(pk: int) -> None:
    CALLS.append(pk)
    if len(CALLS) == 1:
        raise RuntimeError("bad luck")


@pytest.fixture(scope="module")
def address():
    with moto_server() as found:
        yield found


@pytest.fixture
def queue(address, monkeypatch, request, transactional_db):
    """Let jobs wait in a new queue of that server; a job not done is visible after 1 s."""
    for name, value in {**KEYS, "AWS_ENDPOINT_URL_SQS": address}.items():
        monkeypatch.setenv(name, value)
    name = f"jobs-{abs(hash(request.node.name))}"
    options = queue_options(f"sqs://{name}?region=us-east-1")
    monkeypatch.setattr(Conf, "SQS", options["sqs"])
    monkeypatch.setattr(Conf, "BROKER_CLASS", options["broker_class"])
    monkeypatch.setattr(Conf, "CLUSTER_NAME", options["name"])
    monkeypatch.setattr(Conf, "RETRY", 1)
    CALLS.clear()
    return client("sqs", address)


def run_until_empty(seconds=10):
    end = time.monotonic() + seconds
    while jobs.n_waiting() and time.monotonic() < end:
        jobs.run_next()
        time.sleep(0.1)
    assert jobs.n_waiting() == 0


@pytest.mark.every_engine
def test_a_job_is_delivered_once_it_stands_and_then_is_gone(queue):
    with transaction.atomic():
        jobs.enqueue(NOTE, pk=7)
        assert jobs.n_waiting() == 0
    assert jobs.n_waiting() == 1
    assert not OrmQ.objects.exists()
    assert jobs.run_next()
    assert CALLS == [7]
    time.sleep(1.2)
    assert not jobs.run_next()
    assert jobs.n_waiting() == 0


@pytest.mark.every_engine
def test_a_job_of_a_transaction_that_is_undone_is_never_sent(queue):
    with pytest.raises(RuntimeError), transaction.atomic():
        jobs.enqueue(NOTE, pk=7)
        raise RuntimeError
    assert jobs.n_waiting() == 0
    get_broker().enqueue("gAAAA:not:signed")
    assert jobs.run_next()
    assert jobs.n_waiting() == 0


@pytest.mark.every_engine
def test_a_job_whose_process_died_is_delivered_again(queue):
    jobs.enqueue(NOTE, pk=7)
    assert len(get_broker().dequeue()) == 1  # and then nothing more is heard of it
    assert CALLS == []
    run_until_empty()
    assert CALLS == [7]


@pytest.mark.every_engine
def test_a_job_that_failed_is_tried_again_and_recorded(queue):
    jobs.enqueue(FAIL, pk=7)
    assert jobs.run_next()
    assert Failure.objects.count() == 1
    run_until_empty()
    assert CALLS == [7, 7]


@pytest.mark.every_engine
def test_each_machine_has_beats_of_its_own_that_wait_in_no_queue(queue, monkeypatch):
    broker = get_broker()
    assert not broker.dequeue()  # a process outside of `manage.py work`
    monkeypatch.setenv(pulse.NAME_VARIABLE, "main")
    ((receipt, payload),) = broker.dequeue()
    assert not receipt
    assert SignedPackage.loads(payload)["func"] == "genie.lib.queue.pulse.beat"
    assert not broker.dequeue()  # now and then, not each time
    assert jobs.n_waiting() == 0


@pytest.mark.every_engine
def test_what_a_queue_takes_comes_back_when_it_is_gone(queue, monkeypatch, settings):
    monkeypatch.setenv(pulse.NAME_VARIABLE, "elsewhere")
    monkeypatch.setattr(Conf, "RETRY", 660)
    monkeypatch.setattr(BeatingBroker, "_beat_is_due", lambda _: False)
    settings.GENIE = {**settings.GENIE, "QUEUE_STALE_SECONDS": 90}
    broker = get_broker()
    jobs.enqueue(NOTE, pk=7)

    def taken():
        return [receipt for receipt, _ in broker.dequeue()]

    # its processes have died, and their supervisor lives
    (receipt,) = taken()
    assert taken() == []
    assert release_own_claims(lanes.names()) == 1
    assert release_own_claims(lanes.names()) == 0
    # a worker was killed inside of it
    (receipt,) = taken()
    assert release_claim(receipt, after=timedelta())
    # it failed
    (receipt,) = taken()
    monkeypatch.setattr(Conf, "RETRY", 0)
    task = {"id": "7", "func": NOTE, "ack_id": receipt, "success": False}
    post_execute_in_worker.send(sender="django_q", func=note, task=task)
    # held for as long as a queue may be silent, and not longer
    (receipt,) = taken()
    settings.GENIE["QUEUE_STALE_SECONDS"] = 0
    presence = Presence()
    presence.begin()
    assert presence.beat()
    # nobody says anything of it any more
    (again,) = taken()
    assert again != receipt
    broker.acknowledge(again)
    assert jobs.n_waiting() == 0
    # what is done is held no more; nor is what somebody else was handed out
    assert release_own_claims(lanes.names()) == 0
    assert not list(pulse.folder().glob("taken.*"))


@pytest.mark.every_engine
def test_a_queue_that_is_away_ends_no_supervisor(queue, monkeypatch):
    monkeypatch.setenv(pulse.NAME_VARIABLE, "elsewhere")
    (pulse.folder() / "taken.7").write_text("7")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", "http://127.0.0.1:9")
    sqs._find_queue.cache_clear()
    assert release_own_claims(lanes.names()) == 0
    sqs._find_queue.cache_clear()
    (pulse.folder() / "taken.7").unlink(missing_ok=True)


@pytest.mark.every_engine
def test_a_job_that_cannot_be_held_ends_no_supervisor(queue, monkeypatch):
    monkeypatch.setenv(pulse.NAME_VARIABLE, "elsewhere")
    notes = pulse.folder()
    # done by a worker between two looks of the supervisor
    (notes / "taken.6").symlink_to("nowhere")
    jobs.enqueue(NOTE, pk=7)
    monkeypatch.setattr(BeatingBroker, "_beat_is_due", lambda _: False)
    ((receipt, _),) = get_broker().dequeue()
    note = sqs._note(receipt)
    hold_own_claims()
    (notes / "taken.6").unlink()
    told = []

    class Client:
        def change_message_visibility(self, **_):
            told.append(codes[0])
            raise ClientError({"Error": {"Code": codes.pop(0)}}, "x")

    codes = ["AccessDenied", "RequestThrottled", "ReceiptHandleIsInvalid"]
    monkeypatch.setattr(sqs, "_queue", lambda: (Client(), "x"))
    hold_own_claims()
    hold_own_claims()
    assert note.exists()
    hold_own_claims()
    assert not note.exists()
    hold_own_claims()
    assert len(told) == 3


@pytest.mark.every_engine
def test_what_stands_still_is_queued_only_when_the_queue_is_empty(queue):
    wanted = [(NOTE, {"pk": 1}), (NOTE, {"pk": 2})]
    assert jobs.enqueue_missing(wanted) == 2
    assert jobs.enqueue_missing(wanted) == 0
    run_until_empty()
    assert sorted(CALLS) == [1, 2]
    assert jobs.enqueue_missing(wanted) == 2


@pytest.mark.parametrize(
    "address",
    [
        "sqs://",
        "sqs://jobs",
        "sqs://jobs?region=",
        "sqs://key:secret@jobs?region=x",
        "sqs://jobs/more?region=x",
        "sqs://jobs?region=x&secret=y",
        "redis://jobs?region=x",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_at_the_start(address):
    with pytest.raises(ConfigurationError, match="GENIE_QUEUE"):
        queue_options(address)


def test_without_an_address_jobs_wait_in_the_database(settings):
    assert queue_options("").items() <= settings.Q_CLUSTER.items()
    assert jobs.in_database()

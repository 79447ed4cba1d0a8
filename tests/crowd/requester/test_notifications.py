import json
from datetime import timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler

import pytest
from botocore.stub import Stubber
from django.utils import timezone

from crowd.models import RequesterEvent
from crowd.requester.protocol import aws
from crowd.requester.services import deliver
from crowd.requester.services import deliver as web_hook
from genie.lib import jobs, outbound
from leaderboard import jobs as steps
from tests.crowd.platforms.signer import HTTPSServer, make_key
from tests.crowd.requester.making import TYPE, do, post, refused, worker
from tests.moto_server import client


@pytest.fixture
def queue(amazon, credentials, request):
    sqs = client("sqs", amazon)
    address = sqs.create_queue(QueueName=request.node.name[:60])["QueueUrl"]

    def received():
        found = []
        while got := sqs.receive_message(QueueUrl=address, MaxNumberOfMessages=10).get(
            "Messages"
        ):
            found += [json.loads(one["Body"]) for one in got]
            for one in got:
                sqs.delete_message(QueueUrl=address, ReceiptHandle=one["ReceiptHandle"])
        return found

    return address, received


EVENTS = ["AssignmentAccepted", "AssignmentSubmitted", "HITReviewable"]


def to(destination, transport, events, version="2014-08-15"):
    return {
        "Destination": destination,
        "Transport": transport,
        "Version": version,
        "EventTypes": events,
    }


def ask_for(desk, destination, transport="SQS", events=EVENTS):
    kind = desk.client.create_hit_type(**TYPE)["HITTypeId"]
    desk.client.update_notification_settings(
        HITTypeId=kind, Notification=to(destination, transport, events)
    )


def ping(desk, destination, transport="SQS", **version):
    told = to(destination, transport, ["Ping"], **version)
    desk.client.send_test_event_notification(Notification=told, TestEventType="Ping")


def due_again():
    waiting = RequesterEvent.objects.filter(sent_at=None, failure_permanent=False)
    return waiting.update(next_at=timezone.now() - timedelta(seconds=1))


def test_events_arrive_in_the_queue_and_name_no_worker(desk, queue):
    address, received = queue
    ask_for(desk, address)
    hit = post(desk)
    done = do(hit)
    jobs.drain()
    found = received()
    kinds = [one["Events"][0]["EventType"] for one in found]
    assert sorted(kinds) == sorted(EVENTS)
    for one in found:
        assert one["EventDocVersion"] == "2014-08-15"
        assert one["CustomerId"] == desk.requester.customer_id
        (event,) = one["Events"]
        assert event["HITId"] == hit
        assert event.get("AssignmentId", done) == done
        assert "WorkerId" not in json.dumps(one)
        assert "good" not in json.dumps(one)
    assert len({one["EventDocId"] for one in found}) == 3
    steps.advance()
    jobs.drain()
    assert received() == []  # each was sent once
    assert not RequesterEvent.objects.filter(sent_at=None).exists()
    ask_for(desk, address, events=["HITCreated"])
    refused("InsufficientFunds", lambda: post(desk, Reward="9999"))
    jobs.drain()
    assert received() == []


def test_a_topic_passes_events_on(desk, amazon, queue):
    address, received = queue
    sns = client("sns", amazon)
    topic = sns.create_topic(Name="work")["TopicArn"]
    arn = client("sqs", amazon).get_queue_attributes(
        QueueUrl=address, AttributeNames=["QueueArn"]
    )["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    ping(desk, topic, "SNS")
    jobs.drain()
    (one,) = received()
    assert json.loads(one["Message"])["Events"][0]["EventType"] == "Ping"


def test_what_fails_is_tried_again_later_and_given_up_at_last(desk, amazon, queue):
    sqs = client("sqs", amazon)
    lost = sqs.create_queue(QueueName="deleted-soon")["QueueUrl"]
    ask_for(desk, lost, events=["HITCreated"])
    sqs.delete_queue(QueueUrl=lost)
    post(desk)
    jobs.drain()
    event = RequesterEvent.own.get()
    assert event.n_attempts == 1
    assert event.failure
    assert event.next_at > timezone.now()
    assert not deliver.deliver(event.pk)  # not yet
    for _ in range(10):
        due_again()
        steps.advance()
        jobs.drain()
    assert due_again() == 1
    RequesterEvent.own.update(destination=queue[0])
    assert deliver.deliver(event.pk)
    assert [one["Events"][0]["EventType"] for one in queue[1]()] == ["HITCreated"]
    RequesterEvent.own.update(
        sent_at=None, n_attempts=11, destination=lost, next_at=timezone.now(),
    )  # fmt: skip
    deliver.deliver(event.pk)
    assert RequesterEvent.own.get().failure_permanent
    RequesterEvent.own.update(created_at=timezone.now() - timedelta(days=30, minutes=1))
    deliver.forget_old()
    assert not RequesterEvent.own.exists()


@pytest.fixture
def hook(tmp_path, monkeypatch):
    """An https server on loopback that keeps what is posted to it."""
    heard = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            heard.append((self.path, json.loads(body)))
            self.send_response(302 if "moved" in self.path else 200)
            self.send_header("Location", "https://localhost/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPSServer(tmp_path, make_key(), Handler) as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(server.authority))
        yield f"https://{server.host}", heard


def test_an_address_hears_what_a_topic_would_pass_on(desk, hook, monkeypatch):
    address, heard = hook
    monkeypatch.setattr(outbound, "_address", lambda *_, **__: "127.0.0.1")
    ask_for(desk, f"{address}/hits?lab=1", "SNS", ["AssignmentSubmitted"])
    do(post(desk), worker())
    jobs.drain()
    ((path, envelope),) = heard
    assert path == "/hits?lab=1"
    assert envelope["Type"] == "Notification"
    (event,) = json.loads(envelope["Message"])["Events"]
    assert event["EventType"] == "AssignmentSubmitted"
    with pytest.raises(Exception, match="302"):
        web_hook.post(f"{address}/moved", "{}")


def test_no_requester_reaches_what_is_inside(desk, hook, monkeypatch):
    address, heard = hook
    message = refused("InvalidTransportEndpoint", lambda: ask_for(desk, address, "SNS"))
    assert "private network" in message
    with monkeypatch.context() as patch:  # a name that led elsewhere when it was set
        patch.setattr(outbound, "_address", lambda *_, **__: "127.0.0.1")
        ask_for(desk, address, "SNS", ["HITCreated"])
    post(desk)
    jobs.drain()
    assert heard == []
    assert "private network" in RequesterEvent.own.get().failure


def test_targets_that_hear_nothing_are_refused(desk, credentials):
    for transport, destination in [
        ("SQS", "queue"),
        ("SNS", "http://a.org/"),
        ("SNS", "topic"),
        ("SNS", "https://a:b@c.org"),
        ("SNS", "https://no-such-host.invalid/hook"),
        ("SNS", "https://10.0.0.7/hook"),
        ("SNS", "https://[::1]/hook"),
        ("SNS", "arn:aws:sns:us-east-1:123456789012:no-such-topic"),
        ("SNS", "arn:aws:sqs:us-east-1:123456789012:work"),
        ("SQS", "http://10.0.0.7/123456789012/work"),
        ("SQS", "https://queue.example.org/123456789012/work"),
        ("SQS", "https://sqs.us-east-1.amazonaws.com/123456789012/no-such-queue"),
        ("SQS", "https://sqs.us-east-1.amazonaws.com/123456789012/work.fifo"),
        ("Email", "a@b.c"),
    ]:
        for tell in (ask_for, ping):
            call = partial(tell, desk, destination, transport)
            refused("InvalidTransportEndpoint", call)
        assert not RequesterEvent.own.exists()


def test_the_version_that_botocores_model_names_is_accepted_too(desk, queue):
    address, received = queue
    ping(desk, address, version="2006-05-05")
    (one,) = received()
    assert one["EventDocVersion"] == "2014-08-15"
    message = refused(
        "InvalidParameterValue", lambda: ping(desk, address, version="2020-01-01")
    )
    assert "2014-08-15 or 2006-05-05" in message


def test_a_test_event_is_sent_at_once_and_says_what_is_wrong(desk, hook, monkeypatch):
    address, heard = hook
    monkeypatch.setattr(outbound, "_address", lambda *_, **__: "127.0.0.1")
    ping(desk, address, "SNS")
    assert len(heard) == 1
    message = refused(
        "InvalidTransportEndpoint", lambda: ping(desk, f"{address}/moved", "SNS")
    )
    assert "answered with status 302" in message
    failed = RequesterEvent.objects.get(sent_at=None)
    assert not failed.failure_permanent


def test_a_queue_that_may_not_be_asked_about_is_let_through(monkeypatch, credentials):
    queues = aws._queues("https://sqs.us-east-1.amazonaws.com/")
    with Stubber(queues) as stub:
        stub.add_client_error("get_queue_attributes", "AccessDenied", "No.", 403)
        monkeypatch.setattr(aws, "_queues", lambda _: queues)
        aws.check_queue("https://sqs.us-east-1.amazonaws.com/123456789012/work")


def test_a_server_without_credentials_says_so(desk, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    address = "https://sqs.us-east-1.amazonaws.com/123456789012/work"
    message = refused("InvalidTransportEndpoint", lambda: ask_for(desk, address))
    assert "cannot reach" in message

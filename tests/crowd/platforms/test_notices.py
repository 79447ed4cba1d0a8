"""Notices of a queue are followed, whatever order they come in; without any, we look."""

import json

import pytest

from crowd.elsewhere.services import sync
from crowd.models import RequesterEvent
from crowd.platforms.mturk_protocol.calls import hits_in
from genie.lib import jobs
from genie.lib.errors import GenieError
from tests.crowd.platforms.elsewhere import Elsewhere
from tests.moto_server import KEYS, client, moto_server


def test_only_the_names_of_hits_are_read_from_a_notice():
    event = {"EventType": "AssignmentSubmitted", "HITId": "3AB", "AssignmentId": "3C"}
    notice = json.dumps(
        {"EventDocId": "1", "Events": [event, {**event, "HITId": "3X"}]}
    )
    assert hits_in(notice) == {"3AB", "3X"}
    envelope = json.dumps({"Type": "Notification", "Message": notice})
    assert hits_in(envelope) == {"3AB", "3X"}
    for junk in ("", "[]", "{}", '{"Events": 3}', '{"Events": [3, {"HITId": "a b"}]}'):
        assert hits_in(junk) == frozenset()


def test_notices_lead_to_a_look_and_are_never_the_truth(turk, settings, monkeypatch):
    with moto_server() as address:
        # the server that is asked to send notices looks whether the queue is there
        for name, value in {**KEYS, "AWS_ENDPOINT_URL_SQS": address}.items():
            monkeypatch.setenv(name, value)
        queue = client("sqs", address)
        url = queue.create_queue(QueueName="notices")["QueueUrl"]
        turk.options |= {"queue_url": url, "queue_endpoint_url": address}
        settings.GENIE = {**settings.GENIE, "PLATFORMS": {"mturk": turk.options}}
        elsewhere, other = Elsewhere(turk, n=3), Elsewhere(turk, n=1)
        elsewhere.look()
        other.look()
        elsewhere.answer_all()
        bodies = [
            json.dumps(event.body)
            for event in RequesterEvent.own.order_by("pk")
            if event.body["Events"][0]["EventType"] == "AssignmentSubmitted"
        ]
        assert len(bodies) == 3
        # the first is lost, the others are turned round, one comes twice, one is junk
        for body in [bodies[2], bodies[1], bodies[2], "{}"]:
            queue.send_message(QueueUrl=url, MessageBody=body)
        jobs.drain()
        sync.follow_hints("mturk")
        assert jobs.queued_jobs() == {
            (sync.JOB, (("campaign", elsewhere.campaign.pk),))
        }
        jobs.drain()
        assert elsewhere.assignments().count() == 3
        sync.follow_hints("mturk")
        assert jobs.queued_jobs() == set()
        assert queue.receive_message(QueueUrl=url).get("Messages", []) == []
        lost = turk.fresh(queue_url=f"{url}-gone")
        with pytest.raises(GenieError, match="cannot be read"):
            list(lost.hints())

import importlib.util
import sys
from types import ModuleType

import pytest

from crowd.models import RequesterAssignment, WorkerRecord
from genie.lib import jobs
from tests.moto_server import KEYS, client, moto_server


def fail(error):
    raise error


@pytest.fixture
def dallinger(importable, monkeypatch):
    """Dallinger's module for Mechanical Turk, without the rest of the package.

    The rest wants a message broker and a database of its own; the module takes one
    function from it, which raises what it is given.
    """
    recruiters = ModuleType("dallinger.recruiters")
    recruiters.handle_and_raise_recruitment_error = fail
    monkeypatch.setitem(sys.modules, "dallinger", ModuleType("dallinger"))
    monkeypatch.setitem(sys.modules, "dallinger.recruiters", recruiters)
    path = importable / "dallinger" / "mturk.py"
    spec = importlib.util.spec_from_file_location("dallinger_mturk", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def amazon():
    with moto_server() as address:
        yield address


@pytest.fixture
def service(dallinger, desk, amazon, monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SNS", amazon)

    class Here(dallinger.MTurkService):
        host = desk.url

    return Here(desk.key.key_id, desk.secret, "us-east-1", sandbox=False)


def make_hit(service, dallinger, **fields):
    values = {
        "experiment_id": "experiment-1",
        "title": "An experiment",
        "description": "Play a game.",
        "keywords": ["games", "psychology"],
        "reward": 0.01,
        "duration_hours": 1,
        "lifetime_days": 1,
        "question": dallinger.MTurkQuestions.external("https://lab.example.org/ad"),
        "max_assignments": 2,
        "annotation": "experiment-1",
        "do_subscribe": False,
        **fields,
    }
    return service.create_hit(**values)


@pytest.mark.slow
def test_dallinger_recruits_and_pays_workers(service, dallinger, desk, wanda, walt):
    assert service.check_credentials()
    assert service.account_balance() == 100.0
    kind = service.create_qualification_type("Played", "Has played the game.")
    with pytest.raises(dallinger.DuplicateQualificationNameError):
        service.create_qualification_type("Played", "Has played the game.")
    rules = dallinger.MTurkQualificationRequirements
    WorkerRecord.objects.create(worker=wanda.worker, country="US")
    hit = make_hit(
        service,
        dallinger,
        qualifications=(
            rules.min_approval(95),
            rules.restrict_to_countries(["US"]),
            rules.must_not_have(kind["id"]),
        ),
    )
    assert hit["status"] == "Assignable"
    assert hit["keywords"] == ["games", "psychology"]
    assert walt.accept(hit["id"]) is None  # nobody knows where he lives
    done = wanda.do(hit["id"], dummy="x")
    found = service.get_assignment(done)
    # Dallinger asks for approval at once
    assert found["status"] == "Approved"
    assert service.grant_bonus(done, 0.5, "Well played")
    assert service.increment_named_qualification_score(
        "Played", found["worker_id"]
    ) == {"qtype": kind, "score": 1}
    # it looks for "does not exist" and "status of: Granted" in our sentences
    assert service.current_qualification_score(kind["id"], found["worker_id"]) == 1
    assert service.revoke_qualification(kind["id"], found["worker_id"], "Mistake")
    with pytest.raises(dallinger.RevokedQualification):
        service.current_qualification_score(kind["id"], found["worker_id"])
    assert service.assign_named_qualification("Played", found["worker_id"], 3)
    assert list(service.get_workers_with_qualification(kind["id"])) == [
        {"id": found["worker_id"], "score": 3}
    ]
    again = make_hit(
        service, dallinger, qualifications=(rules.must_not_have(kind["id"]),)
    )
    assert wanda.accept(again["id"]) is None
    assert service.extend_hit(hit["id"], 1, duration_hours=1)["max_assignments"] == 3
    assert {one["id"] for one in service.get_hits()} == {hit["id"], again["id"]}
    for one in (hit, again):
        assert service.disable_hit(one["id"], "experiment-1")
    assert list(service.get_hits()) == []
    assert service.dispose_qualification_type(kind["id"])
    assert service.account_balance() == 99.38


@pytest.mark.slow
def test_dallinger_is_notified_by_its_topic(service, dallinger, desk, wanda, amazon):
    """Its own subscription, at a server that speaks SNS; a queue listens as well."""
    sqs = client("sqs", amazon)
    address = sqs.create_queue(QueueName="listens")["QueueUrl"]
    topic = client("sns", amazon).create_topic(Name="experiment-2")["TopicArn"]
    arn = sqs.get_queue_attributes(QueueUrl=address, AttributeNames=["QueueArn"])
    client("sns", amazon).subscribe(
        TopicArn=topic, Protocol="sqs", Endpoint=arn["Attributes"]["QueueArn"]
    )
    service.sns.do_confirm_subscription = False
    hit = make_hit(
        service,
        dallinger,
        experiment_id="experiment-2",
        do_subscribe=True,
        notification_url="http://127.0.0.1:9/notifications",
    )
    done = wanda.do(hit["id"], dummy="x")
    jobs.drain()
    got = sqs.receive_message(QueueUrl=address, MaxNumberOfMessages=10)["Messages"]
    text = " ".join(one["Body"] for one in got)
    assert "AssignmentAccepted" in text
    assert "AssignmentSubmitted" in text
    assert done in text


def test_dallingers_page_after_trouble_can_be_sent(service, dallinger, desk, wanda):
    hit = make_hit(
        service,
        dallinger,
        question=dallinger.MTurkQuestions.compensation(),
        max_assignments=1,
    )
    done = wanda.do(hit["id"], **{"some-input-required": "anything"})
    assert "anything" in RequesterAssignment.objects.get(entity_id=done).answer

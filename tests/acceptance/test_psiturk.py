from datetime import timedelta

import boto3
import pytest

from crowd.models import RequesterAssignment, WorkerRecord
from tests.crowd.requester.on_site import send

AD = "https://experiment.example.org/pub?campaign=1&amp;mode=live"


class Config:
    """What psiTurk reads of its configuration file for this."""

    def __init__(self, desk):
        self.values = {
            "aws_access_key_id": desk.key.key_id,
            "aws_secret_access_key": desk.secret,
        }

    def get(self, section, name):
        return self.values[name]

    def set(self, section, name, value):
        self.values[name] = value


@pytest.fixture
def services(desk, importable, monkeypatch):
    """psiTurk's own class; its addresses of Amazon's servers lead to ours."""
    from psiturk.amt_services import MTurkServices

    made = boto3.session.Session.client

    def client(self, name, **options):
        assert options["endpoint_url"].startswith("https://mturk-requester")
        return made(self, name, **{**options, "endpoint_url": desk.url})

    monkeypatch.setattr(boto3.session.Session, "client", client)
    return MTurkServices(config=Config(desk), mode="live")


def succeeded(response):
    assert response.success, getattr(response, "exception", None)
    return response.data


@pytest.mark.slow
def test_psiturk_runs_an_experiment_with_our_workers(services, desk, wanda, walt):
    assert succeeded(services.check_balance()) == "100.00"
    for one in (wanda, walt):
        WorkerRecord.objects.create(worker=one.worker, country="US")
    hit = succeeded(
        services.create_hit(
            {
                "title": "An experiment",
                "description": "Answer some questions.",
                "keywords": "psychology",
                "reward": 1.5,
                "duration": timedelta(hours=1),
                "lifetime": timedelta(days=1),
                "max_assignments": 2,
                "ad_location": AD,
                "approve_requirement": 95,
                "number_hits_approved": 0,
                "require_master_workers": False,
                "us_only": True,
                "require_qualification_ids": [],
                "block_qualification_ids": [],
                "advanced_qualifications": [],
            }
        )
    )["HITId"]
    turn = wanda.accept(hit)
    address, known = wanda.frame(wanda.get("turn", turn.entity_id))
    assert address.startswith(AD.replace("&amp;", "&") + "&assignmentId=")
    assert known["campaign"] == "1"
    first = turn.entity_id
    assert send(known["turkSubmitTo"], assignmentId=first, foo="bar").status_code == 200
    second = walt.do(hit, foo="baz")
    found = succeeded(services.get_assignments(hit_ids=hit))
    assert {one["assignmentId"] for one in found} == {first, second}
    assert {one["status"] for one in found} == {"Submitted"}
    (shown,) = succeeded(services.get_all_hits())
    assert shown.options["number_submissions_needing_action"] == 2
    succeeded(services.approve_assignment(first))
    succeeded(services.bonus_assignment(first, None, 0.25, "Thanks"))
    # psiTurk itself gives no reason; the client that it holds can.
    silent = services.reject_assignment(second)
    assert "the worker reads it" in str(silent.exception)
    services.mtc.reject_assignment(AssignmentId=second, RequesterFeedback="Not read.")
    succeeded(services.unreject_assignment(second))
    assert succeeded(services.get_assignment(second))["status"] == "Approved"
    succeeded(
        services.extend_hit(hit, assignments_increment=3, expiration_increment=60)
    )
    assert succeeded(services.get_hit(hit)).options["max_assignments"] == 5
    succeeded(services.expire_hit(hit))
    succeeded(services.delete_hit(hit))
    assert succeeded(services.get_all_hits()) == []
    # two rewards of $1.50, a bonus of $0.25, and 20 % of all that
    assert succeeded(services.check_balance()) == "96.10"
    assert RequesterAssignment.own.filter(state="Approved").count() == 2


@pytest.mark.slow
def test_psiturk_hears_that_something_is_wrong(services, desk):
    response = services.delete_hit("3NOSUCHHIT")
    assert not response.success
    assert "does not exist" in str(response.exception)

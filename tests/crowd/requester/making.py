"""Questions, HITs and workers for the requester API's tests."""

import re

import pytest
from botocore.exceptions import ClientError

from crowd.models import RequesterAssignment, RequesterHIT
from crowd.requester.services import turns
from crowd.workers.services.invitations import register_worker

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"


def html(page="<form><input name='mood'></form>", height=400):
    return (
        f'<HTMLQuestion xmlns="{SCHEMAS}2011-11-11/HTMLQuestion.xsd">'
        f"<HTMLContent><![CDATA[{page}]]></HTMLContent>"
        f"<FrameHeight>{height}</FrameHeight></HTMLQuestion>"
    )


def external(url="https://example.org/judge?batch=1&amp;page=2", height=0):
    return (
        f'<ExternalQuestion xmlns="{SCHEMAS}2006-07-14/ExternalQuestion.xsd">'
        f"<ExternalURL>{url}</ExternalURL>"
        f"<FrameHeight>{height}</FrameHeight></ExternalQuestion>"
    )


TEST = (
    f'<QuestionForm xmlns="{SCHEMAS}2017-11-06/QuestionForm.xsd"><Question>'
    "<QuestionIdentifier>sky</QuestionIdentifier><QuestionContent><Text>Which colour "
    "has the sky?</Text></QuestionContent><AnswerSpecification><FreeTextAnswer/>"
    "</AnswerSpecification></Question></QuestionForm>"
)
KEY = (
    f'<AnswerKey xmlns="{SCHEMAS}2005-10-01/AnswerKey.xsd"><Question>'
    "<QuestionIdentifier>sky</QuestionIdentifier></Question></AnswerKey>"
)

TYPE = {
    "Title": "Say how it reads",
    "Description": "Read a sentence and say how it reads.",
    "Keywords": "text, reading",
    "Reward": "0.40",
    "AssignmentDurationInSeconds": 600,
    "AutoApprovalDelayInSeconds": 86_400,
}


QUALIFICATION = {
    "Name": "Reads",
    "Description": "Reads.",
    "QualificationTypeStatus": "Active",
}


def a_batch(**fields):
    return {
        "name": "Moods",
        "title": "Say how it reads",
        "description": "Read it.",
        "reward": "0.40",
        "max_assignments": 1,
        "minutes": 10,
        "days": 1,
        "approval_days": 1,
        **fields,
    }


def post(desk, **fields):
    wanted = {"LifetimeInSeconds": 3600, "Question": html(), **TYPE, **fields}
    return desk.client.create_hit(**wanted)["HIT"]["HITId"]


def qualification(desk, **fields):
    made = desk.client.create_qualification_type(**{**QUALIFICATION, **fields})
    return made["QualificationType"]["QualificationTypeId"]


def worker(name="Wanda"):
    return register_worker(platform_worker_id=name)


def take(hit_id, who):
    return turns.accept(RequesterHIT.objects.get(entity_id=hit_id), who)


def do(hit_id, who=None, fields=(("mood", "good"),)):
    who = who or worker()
    assignment = take(hit_id, who)
    turns.submit(assignment, who, fields)
    return assignment.entity_id


def state_of(assignment_id):
    return RequesterAssignment.objects.get(entity_id=assignment_id).state


def status_of(desk, hit_id):
    return desk.client.get_hit(HITId=hit_id)["HIT"]["HITStatus"]


def balance(desk):
    answer = desk.client.get_account_balance()
    return answer["AvailableBalance"], answer["OnHoldBalance"]


def refused(code, call, **arguments):
    """Check that a call is refused with a Mechanical Turk code; give the message."""
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    answer = caught.value.response
    assert answer["TurkErrorCode"] == f"AWS.MechanicalTurk.{code}"
    assert re.search(r" \(\d{13}\)$", answer["Message"])
    return answer["Message"]


def group_of(hit_id):
    return RequesterHIT.objects.get(entity_id=hit_id).hit_type.group_id

import pytest
from botocore.exceptions import ClientError
from django.core.cache import cache

from crowd.models import RequesterHIT
from crowd.requester import api
from crowd.requester.protocol.call import HANDLERS
from crowd.requester.protocol.errors import TurkError
from crowd.requester.protocol.validate import check_request
from tests.crowd.requester.making import (
    KEY,
    QUALIFICATION,
    TEST,
    TYPE,
    external,
    html,
    post,
    refused,
)

APPROVED = {"QualificationTypeId": "00000000000000000040", "Comparator": "Exists"}
HIT = {**TYPE, "LifetimeInSeconds": 3600, "Question": "<x/>"}


@pytest.mark.parametrize(
    "change",
    [
        {"Reward": "0.123"},
        {"Reward": "$1"},
        {"Reward": "1.00\n"},
        {"Reward": 0.5},
        {"Reward": "9" * 30},
        {"Title": " "},
        {"Title": "a\0b"},
        {"Title": "\ud800"},
        {"Title": None},
        {"LifetimeInSeconds": 60.0},
        {"LifetimeInSeconds": True},
        {"Question": "ü" * 32_768},
        {"HITLayoutId": "lower"},
        {"QualificationRequirements": {}},
        {"QualificationRequirements": [{"QualificationTypeId": "X"}]},
        {"QualificationRequirements": [APPROVED] * 11},
        {"Unheard": "of"},
    ],
)
def test_arguments_that_the_client_lets_through_are_refused(change):
    assert check_request("CreateHIT", HIT) == HIT
    with pytest.raises(TurkError):
        # what is too large for an amount shows only where it is read
        money_too = check_request("CreateHIT", {**HIT, **change})
        from crowd.requester.services.money import cents

        cents(money_too["Reward"])


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("GetHIT", {"HITId": "3abc"}),
        ("GetHIT", {}),
        ("CreateWorkerBlock", {"WorkerId": "B1", "Reason": "x"}),
        ("UpdateExpirationForHIT", {"HITId": "3A", "ExpireAt": "2026-01-01"}),
        ("UpdateExpirationForHIT", {"HITId": "3A", "ExpireAt": float("nan")}),
        ("UpdateExpirationForHIT", {"HITId": "3A", "ExpireAt": 1e300}),
        ("ListReviewableHITs", {"Status": "Assignable"}),
        ("RejectAssignment", {"AssignmentId": "3A", "RequesterFeedback": "a\x07"}),
    ],
)
def test_other_operations_hold_their_limits_too(operation, arguments):
    assert operation in HANDLERS
    with pytest.raises(TurkError):
        check_request(operation, arguments)


YEAR = 365 * 24 * 3600
LIMITS = {
    "CreateHIT": {
        "Title": (1, 128), "Description": (1, 2000), "Keywords": (0, 1000),
        "RequesterAnnotation": (0, 255), "UniqueRequestToken": (1, 64),
        "Question": (1, 2**16 - 1), "MaxAssignments": (1, 10**9),
        "LifetimeInSeconds": (30, YEAR), "AssignmentDurationInSeconds": (30, YEAR),
        "AutoApprovalDelayInSeconds": (0, 30 * 24 * 3600),
    },
    "CreateAdditionalAssignmentsForHIT": {"NumberOfAdditionalAssignments": (1, 10**9)},
    "CreateQualificationType": {
        "Name": (1, 200), "Test": (0, 2**16 - 1), "AnswerKey": (0, 2**16 - 1),
        "TestDurationInSeconds": (1, YEAR), "RetryDelayInSeconds": (0, YEAR),
        "AutoGrantedValue": (1 - 2**31, 2**31 - 1),
    },
    "CreateWorkerBlock": {"Reason": (0, 4096)},
    "ListHITs": {"MaxResults": (1, 100)},
    "ListQualificationTypes": {"Query": (0, 1000)},
    "NotifyWorkers": {
        "Subject": (1, 200), "MessageText": (1, 4096), "WorkerIds": (0, 100)
    },
    "RejectAssignment": {"RequesterFeedback": (0, 1024)},
    "UpdateExpirationForHIT": {"ExpireAt": (0, 4_102_444_800)},
}  # fmt: skip
REST = {
    "CreateHIT": HIT, "CreateAdditionalAssignmentsForHIT": {"HITId": "3A"},
    "CreateQualificationType": QUALIFICATION, "CreateWorkerBlock": {"WorkerId": "A1"},
    "ListQualificationTypes": {"MustBeRequestable": True},
    "NotifyWorkers": {"Subject": "x", "MessageText": "x", "WorkerIds": ["A1"]},
    "RejectAssignment": {"AssignmentId": "3A"},
    "UpdateExpirationForHIT": {"HITId": "3A"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("operation", "name"), [(op, name) for op in LIMITS for name in LIMITS[op]]
)
def test_a_value_may_be_as_large_as_its_limit_and_no_larger(operation, name):
    least, most = LIMITS[operation][name]
    counts = name.endswith(("Seconds", "Assignments", "Value", "Results", "ExpireAt"))
    one = 1 if counts else ["A1"] if name == "WorkerIds" else "x"
    for n in {least, most}:
        check_request(operation, {**REST.get(operation, {}), name: n * one})
    for n in {least - 1, most + 1} - ({-1} if not counts else set()):
        with pytest.raises(TurkError):
            check_request(operation, {**REST.get(operation, {}), name: n * one})


ENTITIES = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>' + external().replace(
    "batch", "&b;"
)


def test_questions_out_of_form_post_nothing(desk):
    for question in [
        "",
        "plain text",
        "<p>no question</p>",
        ENTITIES,
        '<?xml version="1.0"?><!DOCTYPE x SYSTEM "http://127.0.0.1/x">' + html(),
        '<?xml version="1.0" encoding="UTF-16"?>' + html(),
        '<?xml version="1.0" encoding="nonsense"?>' + html(),
        html().replace("2011-11-11", "2011-11-12"),
        html().replace("]]>", ""),
        html("a ]]> b"),
        html("  "),
        html("a\x0bb"),
        html(height="tall"),
        html(height=-1),
        html(height="9" * 5000),
        html().replace("<FrameHeight>400</FrameHeight>", ""),
        external("http://example.org/"),
        external("https:///x"),
        external("https://[half"),
        external("javascript:alert(1)"),
        external("https://example.org/a b"),
        "<a>" * 1000 + "</a>" * 1000,
        TEST.replace("FreeTextAnswer", "FileUploadAnswer"),
    ]:
        with pytest.raises(desk.client.exceptions.RequestError) as caught:
            post(desk, Question=question)
        code = caught.value.response["TurkErrorCode"].rsplit(".", 1)[1]
        assert code == ("XMLParseError" if question else "InvalidParameterValue")
        assert RequesterHIT.own.count() == 0


PLURALITY = {"PolicyName": "SimplePlurality/2011-09-01"}
KNOWN = {"PolicyName": "ScoreMyKnownAnswers/2011-09-01"}


def known(*parameters, entries=({"Key": "q", "Values": ["A"]},)):
    key = {"Key": "AnswerKey", "MapEntries": list(entries)}
    return {"AssignmentReviewPolicy": {**KNOWN, "Parameters": [key, *parameters]}}


def number(key, value):
    return {"Key": key, "Values": [value]}


def test_unknown_layouts_and_impossible_policies_post_nothing(desk):
    for fields in [
        {"HITLayoutId": "3LAYOUT"},
        {"HITLayoutParameters": [{"Name": "a", "Value": "b"}]},
        {"AssignmentReviewPolicy": KNOWN},
        {"AssignmentReviewPolicy": PLURALITY},
        {"HITReviewPolicy": PLURALITY},
        known(entries=()),
        known(number("RejectIfKnownAnswerScoreIsLessThan", "half")),
        known({"Key": "RejectIfKnownAnswerScoreIsLessThan", "Values": []}),
        known(number("QuestionAgreementThreshold", "50")),
        known({"Key": "AnswerKey"}),
    ]:
        asks = [{**HIT, **fields}]
        if "HITLayoutId" in fields:
            asks.append(
                {key: value for key, value in asks[0].items() if key != "Question"}
            )
        for ask in asks:
            with pytest.raises(ClientError) as caught:
                desk.client.create_hit(**ask)
            code = caught.value.response["Error"]["Code"]
            assert code in {"RequestError", "ParameterValidationError"}
        assert not RequesterHIT.own.exists()


def test_a_hit_shows_something(desk):
    bare = {key: value for key, value in HIT.items() if key != "Question"}
    refused("InvalidParameterValue", desk.client.create_hit, **bare)


def test_qualification_types_that_contradict_themselves_are_refused(desk):
    for change in [
        {"Test": TEST},
        {"AnswerKey": KEY},
        {"Test": TEST, "TestDurationInSeconds": 60, "AutoGranted": True},
        {"AutoGrantedValue": 3},
        {"Test": html(), "TestDurationInSeconds": 60},
        {"Test": TEST, "TestDurationInSeconds": 60, "AnswerKey": TEST},
    ]:
        with pytest.raises(desk.client.exceptions.RequestError):
            desk.client.create_qualification_type(**QUALIFICATION, **change)
        mine = desk.client.list_qualification_types(MustBeRequestable=True)
        assert mine["NumResults"] == 0


def test_a_name_is_used_once_until_its_type_is_deleted(desk):
    make = desk.client.create_qualification_type
    made = make(**QUALIFICATION)["QualificationType"]["QualificationTypeId"]
    message = refused("QualificationTypeAlreadyExists", make, **QUALIFICATION)
    assert message.startswith("You have already created a QualificationType with this")
    desk.client.delete_qualification_type(QualificationTypeId=made)
    assert make(**QUALIFICATION)
    refused(
        "QualificationTypeDoesNotExist",
        desk.client.get_qualification_type,
        QualificationTypeId=made,
    )


REPUTATION = "00000000000000000040"
LOCALE = "00000000000000000071"


def test_requirements_that_do_not_apply_are_refused(desk):
    for kind, comparator, values in [
        ("3NONE", "Exists", {}),
        (REPUTATION, "GreaterThan", {}),
        (REPUTATION, "Exists", {"IntegerValues": [1]}),
        (REPUTATION, "EqualTo", {"IntegerValues": [1, 2]}),
        (REPUTATION, "In", {"IntegerValues": list(range(16))}),
        (REPUTATION, "In", {"LocaleValues": [{"Country": "DE"}]}),
        (LOCALE, "LessThan", {"LocaleValues": [{"Country": "DE"}]}),
        (LOCALE, "EqualTo", {"LocaleValues": [{"Country": "DE"}, {"Country": "FR"}]}),
    ]:
        need = {"QualificationTypeId": kind, "Comparator": comparator, **values}
        with pytest.raises(desk.client.exceptions.ClientError):
            post(desk, QualificationRequirements=[need])
        assert RequesterHIT.own.count() == 0


def test_who_calls_too_often_is_told_to_wait_as_clients_expect(open_desk, monkeypatch):
    first, second = open_desk("Rita"), open_desk("Rolf")
    monkeypatch.setattr(api, "CALLS", 2)
    monkeypatch.setattr(api.time, "time", lambda: 1_000_000.0)
    cache.clear()
    for _ in range(2):
        first.client.get_account_balance()
    with pytest.raises(ClientError) as caught:
        first.client.get_account_balance()
    assert caught.value.response["Error"]["Code"] == "ThrottlingException"
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    # nobody else waits, and neither do they for long
    second.client.get_account_balance()
    monkeypatch.setattr(api.time, "time", lambda: 1_000_010.0)
    first.client.get_account_balance()

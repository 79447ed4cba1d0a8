"""HIT layouts and the two review policies, as an unmodified client uses them."""

import pytest
from botocore.exceptions import ClientError

from crowd.models import Message, RequesterAssignment, RequesterLayout
from crowd.requester.protocol.errors import TurkError
from crowd.requester.questions.policies import (
    agreed_answers,
    agreement_of,
    percent,
    read_policy,
)
from crowd.requester.questions.questions import read_question
from crowd.requester.services import access_keys, turns
from tests.crowd.requester.making import (
    TYPE,
    balance,
    do,
    post,
    refused,
    state_of,
    status_of,
    take,
    worker,
)

KNOWN, PLURALITY = "ScoreMyKnownAnswers/2011-09-01", "SimplePlurality/2011-09-01"


def policy(name, key=None, **parameters):
    made = [
        {"Key": key, "Values": value if isinstance(value, list) else [str(value)]}
        for key, value in parameters.items()
    ]
    if key is not None:
        entries = [{"Key": name, "Values": values} for name, values in key.items()]
        made.append({"Key": "AnswerKey", "MapEntries": entries})
    return {"PolicyName": name, "Parameters": made}


def results(desk, hit, **fields):
    return desk.client.list_review_policy_results_for_hit(
        HITId=hit, **{"MaxResults": 100, **fields}
    )


def found(report):
    return {
        (one["SubjectId"], one.get("QuestionId"), one["Key"]): one["Value"]
        for one in report["ReviewResults"]
    }


def done(report):
    return [
        (one["ActionName"], one["TargetId"], one["Status"])
        for one in report["ReviewActions"]
    ]


def test_a_layout_is_filled_in_by_its_parameters(desk, open_desk):
    layout = RequesterLayout.objects.create(
        requester=desk.requester,
        name="Moods",
        page="<p>${text} ${ lang } $${kept}</p><input name=mood>",
    )
    ask = {**TYPE, "LifetimeInSeconds": 60, "HITLayoutId": layout.entity_id}
    given = [{"Name": "text", "Value": "<b>a</b> ]]>"}, {"Name": "lang", "Value": "en"}]
    hit = desk.client.create_hit(**ask, HITLayoutParameters=given)["HIT"]
    assert hit["HITLayoutId"] == layout.entity_id
    shown = read_question(hit["Question"]).content
    assert "<p><b>a</b> ]]> en ${kept}</p>" in shown
    assert "<form" in shown
    kind = desk.client.create_hit_type(**TYPE)["HITTypeId"]
    hit = desk.client.create_hit_with_hit_type(
        HITTypeId=kind,
        LifetimeInSeconds=60,
        HITLayoutId=layout.entity_id,
        HITLayoutParameters=given,
    )["HIT"]
    assert desk.client.get_hit(HITId=hit["HITId"])["HIT"]["HITLayoutId"] == layout.entity_id  # fmt: skip
    too_long = [given[0], {"Name": "lang", "Value": "x" * 65_536}]
    for wrong in (given[:1], [*given, given[0]], [*given, {"Name": "x", "Value": ""}], too_long):  # fmt: skip
        message = refused(
            "InvalidParameterValue",
            desk.client.create_hit,
            **ask,
            HITLayoutParameters=wrong,
        )
        assert "text, lang" in message or "65536" not in message
    other = open_desk("Otto")
    with pytest.raises(ClientError, match="HITLayoutId"):
        other.client.create_hit(**ask, HITLayoutParameters=given)


def test_known_answers_approve_reject_and_extend(desk):
    hit = post(
        desk,
        AssignmentReviewPolicy=policy(
            KNOWN,
            {"q1": ["B"], "q2": ["A", "C"]},
            ApproveIfKnownAnswerScoreIsAtLeast=100,
            ApproveReason="You can count",
            RejectIfKnownAnswerScoreIsLessThan=50,
            ExtendIfKnownAnswerScoreIsLessThan=50,
            ExtendMaximumAssignments=2,
        ),
    )
    poor, good = worker("Paul"), worker("Gina")
    bad = do(hit, poor, [("q1", "b"), ("q2", "A")])
    assert state_of(bad) == "Rejected"
    # one place more, because this one answered wrongly
    assert status_of(desk, hit) == "Assignable"
    told = Message.objects.get(worker=poor)
    assert told.kind == "REJECTED"
    assert told.requester_assignment.entity_id == bad
    assert "0 of 2 questions" in told.text
    right = do(hit, good, [("q1", " B "), ("q2", "C"), ("q2", "A")])
    work = RequesterAssignment.objects.get(entity_id=right)
    assert (work.state, work.feedback) == ("Approved", "You can count")
    assert balance(desk) == ("99.52", "0.00")
    listed = results(desk, hit)
    assert listed["AssignmentReviewPolicy"] == {"PolicyName": KNOWN}
    assert "HITReviewReport" not in listed
    report = listed["AssignmentReviewReport"]
    assert found(report) == {
        (bad, "q1", "KnownAnswerCorrect"): "0",
        (bad, "q2", "KnownAnswerCorrect"): "0",
        (bad, None, "KnownAnswerScore"): "0",
        (right, "q1", "KnownAnswerCorrect"): "1",
        (right, "q2", "KnownAnswerCorrect"): "1",
        (right, None, "KnownAnswerScore"): "100",
    }
    assert done(report) == [
        ("review", bad, "Succeeded"),
        ("reject", bad, "Succeeded"),
        ("extend", hit, "Succeeded"),
        ("review", right, "Succeeded"),
        ("approve", right, "Succeeded"),
    ]
    only = results(desk, hit, RetrieveActions=False, MaxResults=4)
    assert len(only["AssignmentReviewReport"]["ReviewResults"]) == 4
    rest = results(
        desk, hit, RetrieveActions=False, MaxResults=4, NextToken=only["NextToken"]
    )
    assert len(rest["AssignmentReviewReport"]["ReviewResults"]) == 2
    assert not results(desk, hit, PolicyLevels=["HIT"]).get("AssignmentReviewReport")


def test_the_answer_of_most_approves_rejects_and_asks_one_more(desk):
    hit = post(
        desk,
        MaxAssignments=2,
        HITReviewPolicy=policy(
            PLURALITY,
            QuestionIds=["mood", "tone"],
            QuestionAgreementThreshold=49,
            DisregardAssignmentIfRejected="T",
            ExtendIfHITAgreementScoreIsLessThan=50,
            ExtendMaximumAssignments=3,
            ExtendMinimumTimeInSeconds=3600,
            ApproveIfWorkerAgreementScoreIsAtLeast=100,
            RejectIfWorkerAgreementScoreIsLessThan=50,
            RejectReason="Others saw it otherwise.",
        ),
    )
    first = do(hit, worker("a"), [("mood", "good")])
    second = do(hit, worker("b"), [("mood", "bad"), ("tone", "x" * 300)])
    # nobody agrees on the mood; one answer is left for the tone, and nobody beside it
    report = results(desk, hit)["HITReviewReport"]
    assert found(report)[hit, "mood", "AgreedAnswerFound"] == "false"
    assert found(report)[hit, None, "HitAgreementScore"] == "50"
    assert status_of(desk, hit) == "Reviewable"
    assert (state_of(first), state_of(second)) == ("Approved", "Rejected")


def test_a_hit_without_agreement_is_extended_until_there_is_some(desk):
    hit = post(
        desk,
        MaxAssignments=2,
        HITReviewPolicy=policy(
            PLURALITY,
            QuestionIds="mood",
            QuestionAgreementThreshold=50,
            ExtendIfHITAgreementScoreIsLessThan=100,
            ExtendMaximumAssignments=3,
            ApproveIfWorkerAgreementScoreIsAtLeast=100,
            RejectIfWorkerAgreementScoreIsLessThan=1,
        ),
    )
    good = do(hit, worker("a"), [("mood", "good")])
    bad = do(hit, worker("b"), [("mood", "bad")])
    assert status_of(desk, hit) == "Assignable"
    assert {state_of(good), state_of(bad)} == {"Submitted"}
    third = do(hit, worker("c"), [("mood", "good ")])
    assert status_of(desk, hit) == "Reviewable"
    assert [state_of(one) for one in (good, bad, third)] == ["Approved", "Rejected", "Approved"]  # fmt: skip
    report = results(desk, hit)["HITReviewReport"]
    assert found(report)[hit, "mood", "AgreedAnswer"] == "good"
    assert found(report)[hit, "mood", "AnswerAgreementScore"] == "66"
    assert found(report)[bad, None, "WorkerAgreementScore"] == "0"
    assert "0 of 1 answer" in Message.objects.get(worker__platform_worker_id="b").text


def test_an_extension_needs_money_and_a_hit_that_was_not_stopped(open_desk):
    poor = open_desk("Paul", dollars=0)
    access_keys.deposit(poor.requester, 48, key="one")
    ask = policy(KNOWN, {"q": ["A"]}, ExtendIfKnownAnswerScoreIsLessThan=101, ExtendMinimumTimeInSeconds=60)  # fmt: skip
    hit = post(poor, AssignmentReviewPolicy=ask)
    do(hit, fields=[("q", "A")])
    assert _extension(poor, hit) == ("Failed", "AWS.MechanicalTurk.InsufficientFunds")
    assert status_of(poor, hit) == "Reviewable"
    access_keys.deposit(poor.requester, 1000, key="more")
    hit, who = post(poor, AssignmentReviewPolicy=ask), worker("Walt")
    turn = take(hit, who)
    poor.client.update_expiration_for_hit(HITId=hit, ExpireAt=0)
    turns.submit(turn, who, [("q", "A")])
    assert _extension(poor, hit) == ("Failed", "AWS.MechanicalTurk.InvalidHITState")
    assert status_of(poor, hit) == "Reviewable"


YEAR = 365 * 24 * 3600


@pytest.mark.parametrize(
    ("name", "key", "least", "most"),
    [
        (KNOWN, "ApproveIfKnownAnswerScoreIsAtLeast", 0, 101),
        (KNOWN, "ExtendMaximumAssignments", 2, 25),
        (KNOWN, "ExtendMinimumTimeInSeconds", 60, YEAR),
        (PLURALITY, "QuestionAgreementThreshold", 0, 100),
        (PLURALITY, "ExtendIfHITAgreementScoreIsLessThan", 1, 100),
        (PLURALITY, "ExtendMaximumAssignments", 1, 10**9),
    ],
)
def test_numbers_of_policies_have_the_published_limits(name, key, least, most):
    rest = {"QuestionIds": "q", "QuestionAgreementThreshold": 50}
    level, answers = ("Assignment", {"q": ["A"]}) if name == KNOWN else ("HIT", None)

    def read(number):
        asked = {} if name == KNOWN else rest
        return read_policy(level, policy(name, answers, **{**asked, key: number}))

    assert [read(n).numbers[key] for n in (least, most)] == [least, most]
    for n in (least - 1, most + 1):
        with pytest.raises(TurkError, match=f"from {least} to {most}"):
            read(n)
    for flag in ("T", "true", "F", "FALSE"):
        told = policy(PLURALITY, **rest, DisregardAssignmentIfRejected=flag)
        assert read_policy("HIT", told).without_rejected == (flag in ("T", "true"))
    assert not read_policy("HIT", policy(PLURALITY, **rest)).without_rejected


def _extension(desk, hit):
    (_, action) = results(desk, hit)["AssignmentReviewReport"]["ReviewActions"]
    return action["Status"], action["ErrorCode"]


def test_scores_are_those_of_the_published_example():
    """Amazon's own table: a HIT with four questions and three workers' answers."""
    table = {
        1: {"A": "coat", "B": "blue", "C": "large", "D": "Furry"},
        2: {"A": "sweater", "B": "blue", "C": "large", "D": "fur"},
        3: {"A": "coat", "B": "green", "C": "large", "D": "furr"},
    }
    answered = {
        who: {question: frozenset([value]) for question, value in answers.items()}
        for who, answers in table.items()
    }
    agreed = agreed_answers(tuple("ABCD"), 50, answered)
    assert {question: one.score for question, one in agreed.items()} == {
        "A": 66,
        "B": 66,
        "C": 100,
    }
    assert percent(len(agreed), 4) == 75
    scores = [
        percent(agreement_of(answers, agreed), 3) for answers in answered.values()
    ]
    assert scores == [100, 66, 66]


@pytest.mark.parametrize("answered", [{}, {1: {}}, {1: {"q": frozenset("a")}, 2: {}}])
def test_scores_of_nothing_are_no_trouble(answered):
    agreed = agreed_answers(("q",), 50, answered)
    assert set(agreed) <= {"q"}
    assert (len(answered) == 1) == bool(agreed)

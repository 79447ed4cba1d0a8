"""The parameters of each operation: names, types, limits.

A name that ends in ``!`` is required. The tables follow the published API; rules that
need words are in `limits.py` and in the operations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Shape:
    kind: str
    low: int | None = None
    high: int | None = None
    pattern: re.Pattern[str] | None = None
    values: tuple[str, ...] = ()
    item: Shape | None = None
    members: Mapping[str, Shape] = field(default_factory=dict)
    required: frozenset[str] = frozenset()


def structure(**members: Shape) -> Shape:
    """Return a shape of named members; see the module's docstring for ``!``."""
    return Shape(
        "structure",
        members={name.rstrip("!"): shape for name, shape in members.items()},
        required=frozenset(name[:-1] for name in members if name.endswith("!")),
    )


def list_of(item: Shape) -> Shape:
    return Shape("list", item=item)


def one_of(values: str) -> Shape:
    return Shape("string", values=tuple(values.split()))


TEXT = Shape("string")
INTEGER = Shape("integer")
LONG = Shape("long")
YES_NO = Shape("boolean")
TIME = Shape("timestamp")
ENTITY = Shape("string", 1, 64, re.compile(r"^[A-Z0-9]+$"))
WORKER = Shape("string", 1, 64, re.compile(r"^A[A-Z0-9]+$"))
MONEY = Shape("string", pattern=re.compile(r"^[0-9]+(\.)?[0-9]{0,2}$"))
TOKEN = Shape("string", 1, 64)
COUNTRY = Shape("string", 2, 2)
EVENT = one_of(
    "AssignmentAccepted AssignmentAbandoned AssignmentReturned AssignmentSubmitted "
    "AssignmentRejected AssignmentApproved HITCreated HITExpired HITReviewable "
    "HITExtended HITDisposed Ping"
)
ACTIVE = one_of("Active Inactive")
PAGE = {"NextToken": Shape("string", 1, 255), "MaxResults": Shape("integer", 1, 100)}

LOCALE = structure(**{"Country!": COUNTRY, "Subdivision": COUNTRY})
REQUIREMENT = structure(
    **{
        "QualificationTypeId!": TEXT,
        "Comparator!": one_of(
            "LessThan LessThanOrEqualTo GreaterThan GreaterThanOrEqualTo EqualTo "
            "NotEqualTo Exists DoesNotExist In NotIn"
        ),
        "IntegerValues": list_of(INTEGER),
        "LocaleValues": list_of(LOCALE),
        "RequiredToPreview": YES_NO,
        "ActionsGuarded": one_of("Accept PreviewAndAccept DiscoverPreviewAndAccept"),
    }
)
POLICY = structure(
    **{
        "PolicyName!": TEXT,
        "Parameters": list_of(
            structure(
                Key=TEXT,
                Values=list_of(TEXT),
                MapEntries=list_of(structure(Key=TEXT, Values=list_of(TEXT))),
            )
        ),
    }
)
NOTIFICATION = structure(
    **{
        "Destination!": TEXT,
        "Transport!": one_of("Email SQS SNS"),
        "Version!": TEXT,
        "EventTypes!": list_of(EVENT),
    }
)
TYPE_OF_HIT = {
    "AutoApprovalDelayInSeconds": LONG,
    "AssignmentDurationInSeconds!": LONG,
    "Reward!": MONEY,
    "Title!": TEXT,
    "Keywords": TEXT,
    "Description!": TEXT,
    "QualificationRequirements": list_of(REQUIREMENT),
}
NEW_HIT = {
    "MaxAssignments": INTEGER,
    "LifetimeInSeconds!": LONG,
    "Question": TEXT,
    "RequesterAnnotation": TEXT,
    "UniqueRequestToken": TOKEN,
    "AssignmentReviewPolicy": POLICY,
    "HITReviewPolicy": POLICY,
    "HITLayoutId": ENTITY,
    "HITLayoutParameters": list_of(structure(**{"Name!": TEXT, "Value!": TEXT})),
}
QUALIFICATION = {
    "RetryDelayInSeconds": LONG,
    "Test": TEXT,
    "AnswerKey": TEXT,
    "TestDurationInSeconds": LONG,
    "AutoGranted": YES_NO,
    "AutoGrantedValue": INTEGER,
}
HIT = {"HITId!": ENTITY}
ASSIGNMENT = {"AssignmentId!": ENTITY}
OF_TYPE = {"QualificationTypeId!": ENTITY}
GRANTED = one_of("Granted Revoked")

OPERATIONS: Mapping[str, Shape] = {
    name: structure(**members)
    for name, members in {
        "AcceptQualificationRequest": {
            "QualificationRequestId!": TEXT,
            "IntegerValue": INTEGER,
        },
        "ApproveAssignment": {
            **ASSIGNMENT,
            "RequesterFeedback": TEXT,
            "OverrideRejection": YES_NO,
        },
        "AssociateQualificationWithWorker": {
            **OF_TYPE,
            "WorkerId!": WORKER,
            "IntegerValue": INTEGER,
            "SendNotification": YES_NO,
        },
        "CreateAdditionalAssignmentsForHIT": {
            **HIT,
            "NumberOfAdditionalAssignments!": INTEGER,
            "UniqueRequestToken": TOKEN,
        },
        "CreateHIT": {**TYPE_OF_HIT, **NEW_HIT},
        "CreateHITType": TYPE_OF_HIT,
        "CreateHITWithHITType": {"HITTypeId!": ENTITY, **NEW_HIT},
        "CreateQualificationType": {
            "Name!": TEXT,
            "Keywords": TEXT,
            "Description!": TEXT,
            "QualificationTypeStatus!": ACTIVE,
            **QUALIFICATION,
        },
        "CreateWorkerBlock": {"WorkerId!": WORKER, "Reason!": TEXT},
        "DeleteHIT": HIT,
        "DeleteQualificationType": OF_TYPE,
        "DeleteWorkerBlock": {"WorkerId!": WORKER, "Reason": TEXT},
        "DisassociateQualificationFromWorker": {
            "WorkerId!": WORKER,
            **OF_TYPE,
            "Reason": TEXT,
        },
        "GetAccountBalance": {},
        "GetAssignment": ASSIGNMENT,
        "GetFileUploadURL": {**ASSIGNMENT, "QuestionIdentifier!": TEXT},
        "GetHIT": HIT,
        "GetQualificationScore": {**OF_TYPE, "WorkerId!": WORKER},
        "GetQualificationType": OF_TYPE,
        "ListAssignmentsForHIT": {
            **HIT,
            **PAGE,
            "AssignmentStatuses": list_of(one_of("Submitted Approved Rejected")),
        },
        "ListBonusPayments": {"HITId": ENTITY, "AssignmentId": ENTITY, **PAGE},
        "ListHITs": PAGE,
        "ListHITsForQualificationType": {**OF_TYPE, **PAGE},
        "ListQualificationRequests": {"QualificationTypeId": ENTITY, **PAGE},
        "ListQualificationTypes": {
            "Query": TEXT,
            "MustBeRequestable!": YES_NO,
            "MustBeOwnedByCaller": YES_NO,
            **PAGE,
        },
        "ListReviewPolicyResultsForHIT": {
            **HIT,
            "PolicyLevels": list_of(one_of("Assignment HIT")),
            "RetrieveActions": YES_NO,
            "RetrieveResults": YES_NO,
            **PAGE,
        },
        "ListReviewableHITs": {
            "HITTypeId": ENTITY,
            "Status": one_of("Reviewable Reviewing"),
            **PAGE,
        },
        "ListWorkerBlocks": PAGE,
        "ListWorkersWithQualificationType": {**OF_TYPE, "Status": GRANTED, **PAGE},
        "NotifyWorkers": {
            "Subject!": TEXT,
            "MessageText!": TEXT,
            "WorkerIds!": list_of(WORKER),
        },
        "RejectAssignment": {**ASSIGNMENT, "RequesterFeedback!": TEXT},
        "RejectQualificationRequest": {"QualificationRequestId!": TEXT, "Reason": TEXT},
        "SendBonus": {
            "WorkerId!": WORKER,
            "BonusAmount!": MONEY,
            **ASSIGNMENT,
            "Reason!": TEXT,
            "UniqueRequestToken": TOKEN,
        },
        "SendTestEventNotification": {
            "Notification!": NOTIFICATION,
            "TestEventType!": EVENT,
        },
        "UpdateExpirationForHIT": {**HIT, "ExpireAt!": TIME},
        "UpdateHITReviewStatus": {**HIT, "Revert": YES_NO},
        "UpdateHITTypeOfHIT": {**HIT, "HITTypeId!": ENTITY},
        "UpdateNotificationSettings": {
            "HITTypeId!": ENTITY,
            "Notification": NOTIFICATION,
            "Active": YES_NO,
        },
        "UpdateQualificationType": {
            **OF_TYPE,
            "Description": TEXT,
            "QualificationTypeStatus": ACTIVE,
            **QUALIFICATION,
        },
    }.items()
}

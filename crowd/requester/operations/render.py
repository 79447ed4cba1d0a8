from datetime import datetime
from typing import Any

from crowd.requester.models import (
    Qualification,
    QualificationRequest,
    QualificationType,
    RequesterAssignment,
    RequesterBonus,
)
from crowd.requester.selectors import n_free, status_of
from crowd.requester.services.money import amount


def epoch(at: datetime) -> float:
    return round(at.timestamp(), 3)


def hit(row: Any, now: datetime) -> dict[str, Any]:
    hit_type = row.hit_type
    expired = row.expires_at <= now
    shown = {
        "HITId": row.entity_id,
        "HITTypeId": hit_type.entity_id,
        "HITGroupId": hit_type.group_id,
        "CreationTime": epoch(row.created_at),
        "Title": hit_type.title,
        "Description": hit_type.description,
        "Question": row.question,
        "Keywords": hit_type.keywords,
        "HITStatus": status_of(row, now),
        "MaxAssignments": row.max_assignments,
        "Reward": amount(row.reward_cents),
        "AutoApprovalDelayInSeconds": hit_type.auto_approval_seconds,
        "Expiration": epoch(row.expires_at),
        "AssignmentDurationInSeconds": hit_type.assignment_seconds,
        "QualificationRequirements": hit_type.requirements,
        "HITReviewStatus": "NotReviewed",
        "NumberOfAssignmentsPending": row.n_open,
        "NumberOfAssignmentsAvailable": 0 if expired else n_free(row),
        "NumberOfAssignmentsCompleted": row.n_decided,
    }
    if row.layout is not None:
        shown["HITLayoutId"] = row.layout.entity_id
    if row.annotation:
        shown["RequesterAnnotation"] = row.annotation
    return shown


def assignment(row: RequesterAssignment) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "AssignmentId": row.entity_id,
        "WorkerId": row.worker.customer_id,
        "HITId": row.hit.entity_id,
        "AssignmentStatus": row.state,
        "AcceptTime": epoch(row.accepted_at),
        "Deadline": epoch(row.deadline_at),
        "Answer": row.answer,
    }
    for name, at in (
        ("SubmitTime", row.submitted_at),
        ("AutoApprovalTime", row.auto_approval_at),
        ("ApprovalTime", row.approved_at),
        ("RejectionTime", row.rejected_at),
    ):
        if at is not None:
            shown[name] = epoch(at)
    if row.feedback:
        shown["RequesterFeedback"] = row.feedback
    return shown


def bonus(row: RequesterBonus) -> dict[str, Any]:
    return {
        "WorkerId": row.assignment.worker.customer_id,
        "BonusAmount": amount(row.amount_cents),
        "AssignmentId": row.assignment.entity_id,
        "Reason": row.reason,
        "GrantTime": epoch(row.granted_at),
    }


def qualification_type(row: QualificationType) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "QualificationTypeId": row.entity_id,
        "Name": row.name,
        "Description": row.description,
        "QualificationTypeStatus": "Active" if row.active else "Inactive",
        # The service's own types cannot be requested; such rows are in no table.
        "IsRequestable": row.created_at is not None,
        "AutoGranted": row.auto_granted,
    }
    if row.created_at is not None:
        shown["CreationTime"] = epoch(row.created_at)
    optional = {
        "Keywords": row.keywords,
        "Test": row.test,
        "TestDurationInSeconds": row.test_seconds,
        "AnswerKey": row.answer_key,
    }
    shown.update({name: value for name, value in optional.items() if value})
    if row.retry_seconds is not None:
        shown["RetryDelayInSeconds"] = row.retry_seconds
    if row.auto_granted:
        shown["AutoGrantedValue"] = row.auto_granted_value
    return shown


def qualification(row: Qualification) -> dict[str, Any]:
    return {
        "QualificationTypeId": row.qualification_type.entity_id,
        "WorkerId": row.worker.customer_id,
        "GrantTime": epoch(row.granted_at),
        "IntegerValue": row.value,
        "Status": "Granted" if row.granted else "Revoked",
    }


def qualification_request(row: QualificationRequest) -> dict[str, Any]:
    shown = {
        "QualificationRequestId": row.entity_id,
        "QualificationTypeId": row.qualification_type.entity_id,
        "WorkerId": row.worker.customer_id,
        "SubmitTime": epoch(row.submitted_at),
    }
    if row.qualification_type.test:
        shown["Test"] = row.qualification_type.test
    if row.answer:
        shown["Answer"] = row.answer
    return shown

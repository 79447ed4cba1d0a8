"""A requester's own rows; rows of other requesters are not found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crowd.requester.models.account import (
    RequesterAssignment,
    RequesterHIT,
    RequesterHITType,
    WorkerAlias,
)
from crowd.requester.models.qualification import QualificationRequest, QualificationType
from crowd.requester.protocol.call import Call
from crowd.requester.protocol.errors import TurkError, bad_value
from crowd.requester.selectors.hit_status import counted, hits_of

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet


def hit(call: Call, entity_id: str) -> Any:
    return _first(
        hits_of(call.requester, call.now).filter(entity_id=entity_id), "Hit", entity_id
    )


def hit_or_disposed(call: Call, entity_id: str) -> Any:
    hits = counted(RequesterHIT.objects.filter(requester=call.requester), call.now)
    return _first(hits.filter(entity_id=entity_id), "Hit", entity_id)


def hit_type(call: Call, entity_id: str) -> RequesterHITType:
    row = RequesterHITType.objects.filter(
        requester=call.requester, entity_id=entity_id
    ).first()
    if row is None:
        raise bad_value("HITTypeId", entity_id)
    return row


def assignment(call: Call, entity_id: str) -> RequesterAssignment:
    assignments = RequesterAssignment.objects.filter(hit__requester=call.requester)
    rows = assignments.select_related("hit__hit_type", "worker")
    row: RequesterAssignment = _first(
        rows.filter(entity_id=entity_id), "Assignment", entity_id
    )
    return row


def worker(call: Call, customer_id: str) -> WorkerAlias:
    alias = WorkerAlias.objects.filter(
        requester=call.requester, customer_id=customer_id
    ).first()
    if alias is None:
        raise bad_value("WorkerId", customer_id)
    return alias


def qualification_type(call: Call, entity_id: str) -> QualificationType:
    types = QualificationType.objects.filter(requester=call.requester, disposed_at=None)
    row: QualificationType = _first(
        types.filter(entity_id=entity_id), "QualificationType", entity_id
    )
    return row


def qualification_request(call: Call, entity_id: str) -> QualificationRequest:
    requests = QualificationRequest.objects.filter(
        qualification_type__requester=call.requester
    ).select_related("qualification_type", "worker")
    row: QualificationRequest = _first(
        requests.filter(entity_id=entity_id), "QualificationRequest", entity_id
    )
    return row


def _first(rows: QuerySet[Model, Any], what: str, entity_id: str) -> Any:
    row = rows.first()
    if row is None:
        # Mechanical Turk writes Hit in the sentence and HIT in the code.
        code = "HIT" if what == "Hit" else what
        raise TurkError(f"{what} {entity_id} does not exist.", f"{code}DoesNotExist")
    return row

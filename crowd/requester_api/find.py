"""Find a requester's own rows; somebody else's do not exist for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crowd.models import (
    QualificationRequest,
    QualificationType,
    RequesterAssignment,
    RequesterHIT,
    RequesterHITType,
    WorkerAlias,
)
from crowd.requester_api.call import Call
from crowd.requester_api.errors import TurkError, bad_value
from crowd.requester_api.hit_status import counted, hits_of

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet


def hit(call: Call, entity_id: str) -> Any:
    """Give a HIT with its counts."""
    return _one(
        hits_of(call.requester, call.now).filter(entity_id=entity_id), "Hit", entity_id
    )


def hit_or_disposed(call: Call, entity_id: str) -> Any:
    """Give a HIT with its counts, deleted ones too."""
    own = counted(RequesterHIT.objects.filter(requester=call.requester), call.now)
    return _one(own.filter(entity_id=entity_id), "Hit", entity_id)


def hit_type(call: Call, entity_id: str) -> RequesterHITType:
    found = RequesterHITType.objects.filter(
        requester=call.requester, entity_id=entity_id
    ).first()
    if found is None:
        raise bad_value("HITTypeId", entity_id)
    return found


def assignment(call: Call, entity_id: str) -> RequesterAssignment:
    """Give an assignment in any state."""
    own = RequesterAssignment.objects.filter(hit__requester=call.requester)
    rows = own.select_related("hit__hit_type", "worker")
    found: RequesterAssignment = _one(
        rows.filter(entity_id=entity_id), "Assignment", entity_id
    )
    return found


def worker(call: Call, customer_id: str) -> WorkerAlias:
    found = WorkerAlias.objects.filter(
        requester=call.requester, customer_id=customer_id
    ).first()
    if found is None:
        raise bad_value("WorkerId", customer_id)
    return found


def qualification_type(call: Call, entity_id: str) -> QualificationType:
    own = QualificationType.objects.filter(requester=call.requester, disposed_at=None)
    found: QualificationType = _one(
        own.filter(entity_id=entity_id), "QualificationType", entity_id
    )
    return found


def qualification_request(call: Call, entity_id: str) -> QualificationRequest:
    own = QualificationRequest.objects.filter(
        qualification_type__requester=call.requester
    ).select_related("qualification_type", "worker")
    found: QualificationRequest = _one(
        own.filter(entity_id=entity_id), "QualificationRequest", entity_id
    )
    return found


def _one(rows: QuerySet[Model, Any], what: str, entity_id: str) -> Any:
    found = rows.first()
    if found is None:
        code = "HIT" if what == "Hit" else what
        raise TurkError(f"{what} {entity_id} does not exist.", f"{code}DoesNotExist")
    return found

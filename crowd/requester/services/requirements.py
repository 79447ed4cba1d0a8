from collections.abc import Callable, Mapping
from typing import Any

from crowd.hits.models import Assignment
from crowd.requester.models import (
    Qualification,
    QualificationType,
    RequesterAssignment,
    WorkerRecord,
)
from crowd.requester.protocol.call import Call
from crowd.requester.protocol.errors import TurkError, bad_value
from crowd.requester.services.money import MASTERS
from crowd.workers.models.worker import Worker

Requirement = Mapping[str, Any]
N_APPROVED = "00000000000000000040"
P_APPROVED = "000000000000000000L0"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
SYSTEM = frozenset({N_APPROVED, P_APPROVED, LOCALE, ADULT}) | MASTERS
# The approval rate does not count before this many assignments.
ENOUGH_WORK = 100
MAX_INTEGERS = 15
MAX_LOCALES = 30
_MANY = frozenset({"In", "NotIn"})
_NONE = frozenset({"Exists", "DoesNotExist"})
_EQUALITY = frozenset({"EqualTo", "NotEqualTo"})


def check(call: Call, requirements: list[Requirement]) -> None:
    for requirement in requirements:
        _check_type(call, requirement["QualificationTypeId"])
        if requirement["QualificationTypeId"] == LOCALE:
            _check_values(requirement, "LocaleValues", _MANY | _EQUALITY, MAX_LOCALES)
        else:
            comparators = _MANY | _NONE | _EQUALITY | set(_ORDER)
            _check_values(requirement, "IntegerValues", comparators, MAX_INTEGERS)


def _check_type(call: Call, entity_id: str) -> None:
    if entity_id in SYSTEM:
        return
    qualification_type = QualificationType.objects.filter(
        requester=call.requester, entity_id=entity_id, disposed_at=None
    ).first()
    if qualification_type is None:
        raise TurkError(
            f"QualificationType {entity_id[:64]} does not exist.",
            "QualificationTypeDoesNotExist",
        )
    if not qualification_type.active:
        raise TurkError(
            f"QualificationType {entity_id} is inactive.",
            "InvalidQualificationTypeState",
        )


def _check_values(
    requirement: Requirement,
    name: str,
    comparators: frozenset[str] | set[str],
    most: int,
) -> None:
    other = "LocaleValues" if name == "IntegerValues" else "IntegerValues"
    comparator, n = requirement["Comparator"], len(requirement.get(name) or ())
    if comparator not in comparators:
        raise bad_value("Comparator", comparator)
    if requirement.get(other):
        raise bad_value(other, requirement[other])
    if comparator in _NONE:
        fits = n == 0
    elif comparator in _MANY:
        fits = 1 <= n <= most
    else:
        fits = n == 1
    if not fits:
        raise bad_value(name, requirement.get(name) or "")


def meets(worker: Worker, requirement: Requirement) -> bool:
    """Check whether a worker meets a requirement; unknown values do not meet it."""
    if requirement["QualificationTypeId"] == LOCALE:
        return _lives(worker, requirement)
    value = value_of(worker, requirement["QualificationTypeId"])
    comparator = requirement["Comparator"]
    if comparator == "Exists":
        return value is not None
    if comparator == "DoesNotExist":
        return value is None
    if value is None:
        return False
    bounds = requirement.get("IntegerValues") or []
    if comparator in _MANY | _EQUALITY:
        return (value in bounds) == (comparator in {"In", "EqualTo"})
    return _ORDER[comparator](value, bounds[0])


def guards(requirement: Requirement, action: str) -> bool:
    guarded = requirement.get("ActionsGuarded")
    if guarded is None:
        # Older programs send RequiredToPreview instead.
        guarded = (
            "PreviewAndAccept" if requirement.get("RequiredToPreview") else "Accept"
        )
    return action in str(guarded)


def value_of(worker: Worker, entity_id: str) -> int | None:
    """Return a worker's value of a qualification, None if they have none."""
    if entity_id in {N_APPROVED, P_APPROVED}:
        return _record(worker, entity_id)
    if entity_id in SYSTEM:
        return _staff_value(worker, entity_id)
    # A type belongs to one requester, and so do the names of the workers who have it.
    qualification = Qualification.objects.filter(
        qualification_type__entity_id=entity_id,
        worker__worker_id=worker.pk,
        granted=True,
    ).first()
    return None if qualification is None else qualification.value


def _staff_value(worker: Worker, entity_id: str) -> int | None:
    """Return the values noted by staff: of age (0 or 1), and Master."""
    record = WorkerRecord.objects.filter(worker=worker.pk).first()
    if record is None:
        return None
    if entity_id == ADULT:
        return int(record.adult)
    return 1 if record.master else None


def _lives(worker: Worker, requirement: Requirement) -> bool:
    record = WorkerRecord.objects.filter(worker=worker.pk).exclude(country="").first()
    if record is None:
        return False
    there = any(
        place["Country"] == record.country
        and place.get("Subdivision") in {None, record.subdivision}
        for place in requirement.get("LocaleValues") or []
    )
    return there == (requirement["Comparator"] in {"In", "EqualTo"})


def _record(worker: Worker, entity_id: str) -> int:
    """Count over all work on this site, including our own campaigns."""
    of_requesters = RequesterAssignment.objects.filter(worker__worker_id=worker.pk)
    of_campaigns = Assignment.objects.filter(worker_id=worker.pk)
    approved, rejected = (
        of_requesters.filter(state=their_state).count()
        + of_campaigns.filter(state=our_state).count()
        for their_state, our_state in (
            (RequesterAssignment.State.APPROVED, Assignment.State.APPROVED),
            (RequesterAssignment.State.REJECTED, Assignment.State.REJECTED),
        )
    )
    if entity_id == N_APPROVED:
        return approved
    n = approved + rejected
    return 100 if n < ENOUGH_WORK else 100 * approved // n


_ORDER: dict[str, Callable[[int, int], bool]] = {
    "LessThan": lambda value, bound: value < bound,
    "LessThanOrEqualTo": lambda value, bound: value <= bound,
    "GreaterThan": lambda value, bound: value > bound,
    "GreaterThanOrEqualTo": lambda value, bound: value >= bound,
}

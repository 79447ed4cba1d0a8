"""Who may do a HIT: the requirements of its type, checked and applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crowd.models import (
    Assignment,
    Qualification,
    QualificationType,
    RequesterAssignment,
    Worker,
    WorkerRecord,
)
from crowd.requester_api.call import Call
from crowd.requester_api.errors import TurkError, bad_value
from crowd.requester_api.money import MASTERS

Requirement = Mapping[str, Any]
N_APPROVED = "00000000000000000040"
P_APPROVED = "000000000000000000L0"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
SYSTEM = frozenset({N_APPROVED, P_APPROVED, LOCALE, ADULT}) | MASTERS
# Nobody's share of approvals counts before this many assignments.
ENOUGH_WORK = 100
MAX_INTEGERS = 15
MAX_LOCALES = 30
_MANY = frozenset({"In", "NotIn"})
_NONE = frozenset({"Exists", "DoesNotExist"})
_EQUALITY = frozenset({"EqualTo", "NotEqualTo"})


def check(call: Call, requirements: list[Requirement]) -> None:
    """Refuse requirements that cannot be applied."""
    for one in requirements:
        _check_type(call, one["QualificationTypeId"])
        if one["QualificationTypeId"] == LOCALE:
            _check_values(one, "LocaleValues", _MANY | _EQUALITY, MAX_LOCALES)
        else:
            every = _MANY | _NONE | _EQUALITY | set(_ORDER)
            _check_values(one, "IntegerValues", every, MAX_INTEGERS)


def _check_type(call: Call, entity_id: str) -> None:
    if entity_id in SYSTEM:
        return
    found = QualificationType.objects.filter(
        requester=call.requester, entity_id=entity_id, disposed_at=None
    ).first()
    if found is None:
        raise TurkError(
            f"QualificationType {entity_id[:64]} does not exist.",
            "QualificationTypeDoesNotExist",
        )
    if not found.active:
        raise TurkError(
            f"QualificationType {entity_id} is inactive.",
            "InvalidQualificationTypeState",
        )


def _check_values(
    one: Requirement, name: str, comparators: frozenset[str] | set[str], most: int
) -> None:
    other = "LocaleValues" if name == "IntegerValues" else "IntegerValues"
    comparator, n = one["Comparator"], len(one.get(name) or ())
    if comparator not in comparators:
        raise bad_value("Comparator", comparator)
    if one.get(other):
        raise bad_value(other, one[other])
    if comparator in _NONE:
        wanted = n == 0
    elif comparator in _MANY:
        wanted = 1 <= n <= most
    else:
        wanted = n == 1
    if not wanted:
        raise bad_value(name, one.get(name) or "")


def lacking(worker: Worker, requirements: list[Requirement]) -> list[Requirement]:
    """Give the requirements that a worker does not meet."""
    return [one for one in requirements if not meets(worker, one)]


def meets(worker: Worker, one: Requirement) -> bool:
    """Tell whether a worker meets a requirement; what is not known is not met."""
    if one["QualificationTypeId"] == LOCALE:
        return _lives(worker, one)
    value = value_of(worker, one["QualificationTypeId"])
    comparator = one["Comparator"]
    if comparator == "Exists":
        return value is not None
    if comparator == "DoesNotExist":
        return value is None
    if value is None:
        return False
    given = one.get("IntegerValues") or []
    if comparator in _MANY | _EQUALITY:
        return (value in given) == (comparator in {"In", "EqualTo"})
    return _ORDER[comparator](value, given[0])


def guards(one: Requirement, action: str) -> bool:
    """Tell whether a requirement stands before an action: Discover, Preview, Accept."""
    guarded = one.get("ActionsGuarded")
    if guarded is None:
        guarded = "PreviewAndAccept" if one.get("RequiredToPreview") else "Accept"
    return action in str(guarded)


def value_of(worker: Worker, entity_id: str) -> int | None:
    """Give a worker's value of a qualification, None where they have none."""
    if entity_id in {N_APPROVED, P_APPROVED}:
        return _record(worker, entity_id)
    if entity_id in SYSTEM:
        return _known(worker, entity_id)
    # A type is one requester's, and so are the names of the workers who have it.
    found = Qualification.objects.filter(
        qualification_type__entity_id=entity_id,
        worker__worker_id=worker.pk,
        granted=True,
    ).first()
    return None if found is None else found.value


def _known(worker: Worker, entity_id: str) -> int | None:
    """Give what staff noted: of age (0 or 1), and whether they are a Master."""
    record = WorkerRecord.objects.filter(worker=worker.pk).first()
    if record is None:
        return None
    if entity_id == ADULT:
        return int(record.adult)
    return 1 if record.master else None


def _lives(worker: Worker, one: Requirement) -> bool:
    record = WorkerRecord.objects.filter(worker=worker.pk).exclude(country="").first()
    if record is None:
        return False
    there = any(
        place["Country"] == record.country
        and place.get("Subdivision") in {None, record.subdivision}
        for place in one.get("LocaleValues") or []
    )
    return there == (one["Comparator"] in {"In", "EqualTo"})


def _record(worker: Worker, entity_id: str) -> int:
    """Count over all work on this site, our own campaigns' too."""
    posted = RequesterAssignment.objects.filter(worker__worker_id=worker.pk)
    ours = Assignment.objects.filter(worker_id=worker.pk)
    approved, rejected = (
        posted.filter(state=theirs).count() + ours.filter(state=own).count()
        for theirs, own in (
            (RequesterAssignment.State.APPROVED, Assignment.State.APPROVED),
            (RequesterAssignment.State.REJECTED, Assignment.State.REJECTED),
        )
    )
    if entity_id == N_APPROVED:
        return approved
    n = approved + rejected
    return 100 if n < ENOUGH_WORK else 100 * approved // n


_ORDER: dict[str, Callable[[int, int], bool]] = {
    "LessThan": lambda value, given: value < given,
    "LessThanOrEqualTo": lambda value, given: value <= given,
    "GreaterThan": lambda value, given: value > given,
    "GreaterThanOrEqualTo": lambda value, given: value >= given,
}

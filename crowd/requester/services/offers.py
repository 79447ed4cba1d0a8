from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from crowd.campaigns.selectors.work_records import (
    key_of_request,
    key_of_requester,
    records,
)
from crowd.hits.models import WorkRecord
from crowd.pricing import hourly_cents
from crowd.requester.models import (
    QualificationType,
    RequesterAssignment,
    RequesterHIT,
    RequesterHITType,
    WorkerAlias,
)
from crowd.requester.services import requirements as rules
from crowd.requester.services.money import MASTERS
from crowd.requester.services.requirements import guards
from crowd.workers.models.worker import Worker
from genie.lib.seeds import generator, seed_from

_NAMES = {
    rules.N_APPROVED: "Assignments approved",
    rules.P_APPROVED: "Approval rate, in percent",
    rules.LOCALE: "Country of residence",
    rules.ADULT: "Adult content",
    **dict.fromkeys(MASTERS, "Masters"),
}
_WORDS = {
    "LessThan": "less than",
    "LessThanOrEqualTo": "at most",
    "GreaterThan": "more than",
    "GreaterThanOrEqualTo": "at least",
    "EqualTo": "is",
    "NotEqualTo": "is not",
    "Exists": "granted",
    "DoesNotExist": "not granted",
    "In": "one of",
    "NotIn": "none of",
}


@dataclass(frozen=True)
class Need:
    rule: rules.Requirement
    text: str
    met: bool
    # what the worker can ask for in order to meet it
    kind: QualificationType | None = None


def needs_of(hit_type: RequesterHITType, worker: Worker) -> list[Need]:
    requirements = hit_type.requirements
    types = {
        qualification_type.entity_id: qualification_type
        for qualification_type in QualificationType.objects.filter(
            requester=hit_type.requester_id,
            entity_id__in=[rule["QualificationTypeId"] for rule in requirements],
        )
    }
    return [_need(rule, worker, types) for rule in requirements]


def _need(
    rule: rules.Requirement, worker: Worker, types: dict[str, QualificationType]
) -> Need:
    entity_id = rule["QualificationTypeId"]
    qualification_type = types.get(entity_id)
    name = (
        qualification_type.name
        if qualification_type is not None
        else _NAMES.get(entity_id, "Qualification")
    )
    met = rules.meets(worker, rule)
    askable = (
        not met
        and qualification_type is not None
        and qualification_type.active
        and qualification_type.disposed_at is None
        and rules.value_of(worker, entity_id) is None
        and rule["Comparator"] != "DoesNotExist"
    )
    text = f"{name}: {_WORDS[rule['Comparator']]}{_values(rule)}"
    return Need(rule, text, met, qualification_type if askable else None)


def _values(rule: rules.Requirement) -> str:
    locales = [_place(place) for place in rule.get("LocaleValues") or []]
    numbers = [str(number) for number in rule.get("IntegerValues") or []]
    shown = ", ".join(locales or numbers)
    return f" {shown}" if shown else ""


def _place(value: dict[str, Any]) -> str:
    division = value.get("Subdivision")
    return f"{value['Country']}-{division}" if division else str(value["Country"])


State = RequesterAssignment.State
# At most so many HITs of a group are counted: counting all would read all open ones.
COUNTED = 100


@dataclass(frozen=True)
class Group:
    hit_type: RequesterHITType
    n_left: int
    needs: list[Need]
    # how its requester has decided so far
    record: WorkRecord | None = None
    # how long it takes other workers
    pace: WorkRecord | None = None

    @property
    def hourly_cents(self) -> int | None:
        seconds = self.pace.median_seconds if self.pace else None
        return hourly_cents(self.hit_type.reward_cents, seconds)

    @property
    def n_left_shown(self) -> str:
        return f"{self.n_left}{'+' if self.n_left == COUNTED else ''}"

    @property
    def may_accept(self) -> bool:
        return all(need.met for need in self.needs)

    @property
    def may_preview(self) -> bool:
        return self._may("Preview")

    @property
    def is_shown(self) -> bool:
        return self._may("Discover")

    def _may(self, action: str) -> bool:
        return all(need.met or not guards(need.rule, action) for need in self.needs)


def groups(worker: Worker, now: datetime) -> list[Group]:
    left = left_for(worker, now)
    types = RequesterHITType.objects.filter(
        Exists(left.filter(hit_type=OuterRef("pk")))
    ).select_related("requester")
    known = records(
        {key_of_requester(hit_type.requester_id) for hit_type in types}
        | {key_of_request(hit_type.pk) for hit_type in types}
    )
    all_groups = [
        Group(
            hit_type,
            left.filter(hit_type=hit_type)[:COUNTED].count(),
            needs_of(hit_type, worker),
            known.get(key_of_requester(hit_type.requester_id)),
            known.get(key_of_request(hit_type.pk)),
        )
        for hit_type in types
    ]
    shown = [group for group in all_groups if group.is_shown]
    return sorted(shown, key=lambda group: (not group.may_accept, -group.hit_type.pk))


def group(worker: Worker, group_id: str, now: datetime) -> Group | None:
    """Return one group visible to a worker; None if it has no HITs left."""
    hit_type = (
        RequesterHITType.objects.filter(group_id=group_id)
        .select_related("requester")
        .first()
    )
    if hit_type is None:
        return None
    n = left_for(worker, now).filter(hit_type=hit_type)[:COUNTED].count()
    offered = Group(hit_type, n, needs_of(hit_type, worker))
    return offered if n and offered.is_shown else None


def left_for(worker: Worker, now: datetime) -> QuerySet[RequesterHIT]:
    """Return the HITs with a free place that a worker has not taken, oldest first."""
    # Workers limited to some tasks are not invited to requesters' work.
    if worker.excluded or worker.limited_to:
        return RequesterHIT.objects.none()
    taken = RequesterAssignment.objects.filter(worker__worker=worker).exclude(
        state=State.RETURNED
    )
    closed = WorkerAlias.objects.filter(worker=worker, block_reason__isnull=False)
    # Announced HITs have no work left, and the open ones are few among those of years.
    live = RequesterHIT.objects.filter(
        disposed_at=None, announced=False, expires_at__gt=now
    )
    # counted for each row that is read, and not for all at once
    in_use = (
        RequesterAssignment.objects.filter(
            Q(state=State.ACCEPTED, deadline_at__gt=now)
            | Q(state__in=[State.SUBMITTED, State.APPROVED, State.REJECTED]),
            hit=OuterRef("pk"),
        )
        .order_by()
        .values("hit")
        .annotate(n=Count("pk"))
        .values("n")
    )
    return (
        live.exclude(requester__in=closed.values("requester"))
        .exclude(pk__in=taken.values("hit"))
        .filter(max_assignments__gt=Coalesce(Subquery(in_use), 0))
        .select_related("hit_type")
        .order_by("pk")
    )


def next_few(
    worker: Worker, hit_type: RequesterHITType, now: datetime, n: int
) -> list[RequesterHIT]:
    """Return a few HITs of a group, from a random position on.

    A requester's table is often sorted by system. In its order, all workers would get
    one system on one day and the next on another. The position is drawn from the worker
    and their number of HITs in the group, so looking again shows the same.
    """
    left = left_for(worker, now).filter(hit_type=hit_type)
    first, last = left.first(), left.last()
    if first is None or last is None:
        return []
    had = RequesterAssignment.objects.filter(
        worker__worker=worker, hit__hit_type=hit_type
    ).count()
    seed = seed_from("place in a group", worker.pk, hit_type.pk, had)
    place = int(generator(seed).integers(first.pk, last.pk + 1))
    found = list(left.filter(pk__gte=place)[:n])
    return found + list(left.filter(pk__lt=place)[: n - len(found)])


def open_work(worker: Worker, now: datetime) -> QuerySet[RequesterAssignment]:
    return (
        RequesterAssignment.objects.filter(
            worker__worker=worker, state=State.ACCEPTED, deadline_at__gt=now
        )
        .select_related("hit__hit_type__requester")
        .order_by("deadline_at", "pk")
    )

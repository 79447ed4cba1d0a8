"""Count what lists of work say of it, so that nobody waits for that who opens one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from statistics import median
from typing import Any

from django.utils import timezone

from crowd.campaigns.selectors.work_records import (
    SITE,
    key_of_requester,
    key_of_work,
)
from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import Campaign, HITType
from crowd.hits.models.work_record import WorkRecord
from crowd.requester.models.account import Requester, RequesterAssignment, RequesterHIT
from crowd.workers.models.worker import Exclusion

# A pace that fewer people made would show one of them.
ENOUGH_PEOPLE = 5
# So many of the newest times or decisions are counted, of so many campaigns.
NEWEST = 1_000
CAMPAIGNS = 50
# Appeals by whose decisions they are about (their keys): how many, and how many granted.
Appeals = Mapping[str, tuple[int, int]]


def renew(appeals: Appeals) -> None:
    """Count anew what running work takes, and how its decisions came out."""
    kinds = Campaign.objects.filter(state=Campaign.State.RUNNING).order_by()
    for pool, hit_type in kinds.values_list("pool", "hit_type").distinct():
        _keep(key_of_work(pool, hit_type), median_seconds=_pace(pool, hit_type))
    states = Assignment.State
    decided = Assignment.objects.filter(
        state__in=[states.APPROVED, states.REJECTED], hit__campaign__simulated=False
    ).order_by("-pk")
    rows = decided.values_list("state", "submitted_at", "decided_at")[:NEWEST]
    _keep(SITE, **_decisions(rows, states.APPROVED), **_said(appeals, SITE))
    live = RequesterHIT.objects.filter(disposed_at=None, expires_at__gt=timezone.now())
    for pk in Requester.objects.filter(pk__in=live.values("requester")).values_list(
        "pk", flat=True
    ):
        key = key_of_requester(pk)
        _keep(key, **_of_requester(pk), **_said(appeals, key))


def _pace(pool: str, hit_type: int) -> float | None:
    """Give the median of people's own medians; None where they are too few."""
    looks = HITType.objects.get(pk=hit_type)
    alike = HITType.objects.filter(
        template=looks.template, scale=looks.scale, campaign__pool=pool
    )
    # what it pays may have changed meanwhile; what is asked has not
    same = [row.pk for row in alike.distinct() if _asks(row) == _asks(looks)]
    campaigns = Campaign.objects.filter(pool=pool, hit_type__in=same).order_by("-pk")
    times = (
        Assignment.objects.filter(
            hit__campaign__in=list(campaigns.values_list("pk", flat=True)[:CAMPAIGNS]),
            state__in=[Assignment.State.SUBMITTED, Assignment.State.APPROVED],
            active_seconds__gt=0,
            replaced_at=None,
            worker__simulated=False,
        )
        .exclude(worker__in=Exclusion.objects.filter(pool=pool).values("worker"))
        .order_by("-pk")
        .values_list("worker", "active_seconds")[:NEWEST]
    )
    seconds_by_worker: dict[int, list[float]] = {}
    for worker, seconds in times:
        seconds_by_worker.setdefault(worker, []).append(float(seconds or 0))
    if len(seconds_by_worker) < ENOUGH_PEOPLE:
        return None
    return median(median(seconds) for seconds in seconds_by_worker.values())


def _asks(hit_type: HITType) -> tuple[Any, Any]:
    return list(hit_type.criteria.items()), hit_type.form


def _of_requester(pk: int) -> dict[str, Any]:
    states = RequesterAssignment.State
    decided = RequesterAssignment.objects.filter(
        hit__requester=pk, state__in=[states.APPROVED, states.REJECTED]
    ).order_by("-pk")
    rows = decided.values_list("state", "submitted_at", "approved_at", "rejected_at")
    return _decisions(
        (
            (state, submitted, approved if state == states.APPROVED else rejected)
            for state, submitted, approved, rejected in rows[:NEWEST]
        ),
        states.APPROVED,
    )


def _decisions(
    rows: Iterable[tuple[str, datetime | None, datetime | None]], approved: str
) -> dict[str, Any]:
    """Sum up decisions: the state, when the work was sent in, when it was decided on."""
    decided = list(rows)
    waits = [
        (end - begin).total_seconds() for _, begin, end in decided if begin and end
    ]
    n_approved = sum(state == approved for state, _, _ in decided)
    return {
        "n_approved": n_approved,
        "n_rejected": len(decided) - n_approved,
        "decision_seconds": median(waits) if waits else None,
    }


def _said(appeals: Appeals, key: str) -> dict[str, int]:
    n, n_granted = appeals.get(key, (0, 0))
    return {"n_appeals": n, "n_granted": n_granted}


def _keep(key: str, **figures: Any) -> None:
    WorkRecord.objects.update_or_create(key=key, defaults=figures)

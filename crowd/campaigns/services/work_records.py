"""Figures for lists of work, computed ahead so that pages do not wait."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from statistics import median
from typing import Any, TypeVar

from django.db.models import F, Manager, Model, QuerySet

from crowd.campaigns.selectors.work_records import (
    SITE,
    key_of_request,
    key_of_requester,
    key_of_work,
)
from crowd.hits.models import ELSEWHERE, Assignment, Campaign, WorkRecord
from crowd.requester.models import RequesterAssignment
from crowd.workers.models.worker import Exclusion

# The pace of fewer people would reveal one of them.
ENOUGH_PEOPLE = 5
# At most so many of the newest decisions are counted, and at most so much of the newest
# work is searched for them and for people's times.
NEWEST = 1_000
LOOKED_AT = 100_000
# Imported work says nothing about work here, and comes in large amounts.
_DONE_HERE = Assignment.objects.exclude(worker__platform=ELSEWHERE)
Row = TypeVar("Row", bound=Model)
Key = TypeVar("Key")
# a pool, and what its HITs ask
Kind = tuple[str, str, str, str]
# By the keys of the decisions: the number of appeals, and of those granted.
Appeals = Mapping[str, tuple[int, int]]
Decision = tuple[str, datetime | None, datetime | None]


def renew(appeals: Appeals) -> None:
    times = _times()
    running = Campaign.objects.filter(state=Campaign.State.RUNNING).order_by()
    # Work that is done too rarely to be counted keeps its pace.
    paces = {
        key_of_work(campaign.pool_id, campaign.hit_type_id): times[kind]
        for campaign in running.select_related("hit_type")
        if (kind := _kind(campaign)) in times
    }
    for key, seconds in paces.items():
        _keep(key, median_seconds=seconds)
    for hit_type, seconds in _times_of_requests().items():
        _keep(key_of_request(hit_type), median_seconds=seconds)
    site = _decisions(_of_site(), Assignment.State.APPROVED)
    _keep(SITE, **site, **_count_appeals(appeals, SITE))
    for requester, rows in _of_requesters().items():
        key = key_of_requester(requester)
        decided = _decisions(rows, RequesterAssignment.State.APPROVED)
        _keep(key, **decided, **_count_appeals(appeals, key))


def _times() -> dict[Kind, float]:
    rows = (
        _newest(_DONE_HERE)
        .filter(
            state__in=[Assignment.State.SUBMITTED, Assignment.State.APPROVED],
            active_seconds__gt=0,
            replaced_at=None,
            worker__simulated=False,
        )
        .values_list("hit__campaign", "worker", "active_seconds")
    )
    seconds_by_worker: dict[int, dict[int, list[float]]] = {}
    for campaign, worker, seconds in rows.iterator():
        people = seconds_by_worker.setdefault(campaign, {})
        people.setdefault(worker, []).append(float(seconds or 0))
    campaigns = Campaign.objects.filter(pk__in=list(seconds_by_worker))
    careless = set(Exclusion.objects.values_list("pool", "worker"))
    times: dict[Kind, dict[int, list[float]]] = {}
    for campaign_row in campaigns.select_related("hit_type"):
        people = times.setdefault(_kind(campaign_row), {})
        for worker, seconds_of_one in seconds_by_worker[campaign_row.pk].items():
            if (campaign_row.pool_id, worker) not in careless:
                people.setdefault(worker, []).extend(seconds_of_one)
    return _medians(times)


def _times_of_requests() -> dict[int, float]:
    """Return the same by HIT type of requesters, whose pages measure no time.

    It is the time from taking a HIT to submitting it, so hourly pay is never
    overstated.
    """
    states = RequesterAssignment.State
    rows = (
        _newest(RequesterAssignment.objects)
        .filter(
            state__in=[states.SUBMITTED, states.APPROVED],
            submitted_at__gt=F("accepted_at"),
            worker__worker__simulated=False,
        )
        .values_list("hit__hit_type", "worker__worker", "accepted_at", "submitted_at")
    )
    times: dict[int, dict[int, list[float]]] = {}
    for hit_type, worker, begin, end in rows.iterator():
        if end is not None:
            people = times.setdefault(hit_type, {})
            people.setdefault(worker, []).append((end - begin).total_seconds())
    return _medians(times)


def _medians(times: Mapping[Key, Mapping[int, list[float]]]) -> dict[Key, float]:
    return {
        kind: median(median(seconds) for seconds in people.values())
        for kind, people in times.items()
        if len(people) >= ENOUGH_PEOPLE
    }


def _kind(campaign: Campaign) -> Kind:
    asked = campaign.hit_type
    looks = json.dumps([list(asked.criteria.items()), asked.form], sort_keys=True)
    return campaign.pool_id, asked.template, asked.scale, looks


def _of_site() -> Iterable[Decision]:
    states = Assignment.State
    decided = _newest(_DONE_HERE).filter(
        state__in=[states.APPROVED, states.REJECTED], hit__campaign__simulated=False
    )
    return decided.values_list("state", "submitted_at", "decided_at")[:NEWEST]


def _of_requesters() -> dict[int, list[Decision]]:
    states = RequesterAssignment.State
    decided = _newest(RequesterAssignment.objects).filter(
        state__in=[states.APPROVED, states.REJECTED]
    )
    rows = decided.values_list(
        "hit__requester", "state", "submitted_at", "approved_at", "rejected_at"
    )
    by_requester: dict[int, list[Decision]] = {}
    for requester, state, submitted, approved_at, rejected_at in rows.iterator():
        mine = by_requester.setdefault(requester, [])
        if len(mine) < NEWEST:
            at = approved_at if state == states.APPROVED else rejected_at
            mine.append((state, submitted, at))
    return by_requester


def _newest(manager: Manager[Row] | QuerySet[Row]) -> QuerySet[Row]:
    # Not the maximum of all: a database that joins for it reads every row.
    last = manager.order_by("-pk").values_list("pk", flat=True).first() or 0
    return manager.filter(pk__gt=last - LOOKED_AT).order_by("-pk")


def _decisions(rows: Iterable[Decision], approved: str) -> dict[str, Any]:
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


def _count_appeals(appeals: Appeals, key: str) -> dict[str, int]:
    n, n_granted = appeals.get(key, (0, 0))
    return {"n_appeals": n, "n_granted": n_granted}


def _keep(key: str, **figures: Any) -> None:
    WorkRecord.objects.update_or_create(key=key, defaults=figures)

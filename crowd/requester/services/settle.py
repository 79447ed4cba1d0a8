"""Changes due by time alone: work expires or is approved, HITs become reviewable.

Called before each operation, so that requesters always see the current state.
"""

from datetime import datetime
from typing import Any

from django.db import transaction

from crowd.requester.models import Requester, RequesterAssignment, RequesterHIT
from crowd.requester.protocol import clock
from crowd.requester.selectors import n_free, status_of, with_counts
from crowd.requester.services import events, money, policies
from crowd.requester.services.decisions import approve

State = RequesterAssignment.State
TAKES_NO_MORE = frozenset({"Reviewable", "Reviewing"})


def settle_all() -> None:
    now = clock.now()
    for requester in Requester.objects.order_by("pk"):
        settle(requester, now)


def settle(requester: Requester, now: datetime) -> None:
    work = RequesterAssignment.objects.filter(hit__requester=requester)
    late = work.filter(state=State.ACCEPTED, deadline_at__lte=now)
    due = work.filter(state=State.SUBMITTED, auto_approval_at__lte=now)
    over = RequesterHIT.objects.filter(
        requester=requester, announced=False, disposed_at=None, expires_at__lte=now
    )
    lapsed = RequesterHIT.objects.filter(
        requester=requester, held_as_open=True, expires_at__lte=now
    )
    # Checked without a lock, because nearly always nothing is due.
    if not any(rows.exists() for rows in (late, due, over, lapsed)):
        return
    with transaction.atomic():
        locked = Requester.objects.select_for_update().get(pk=requester.pk)
        for row in late.select_related("hit__hit_type", "hit__requester"):
            end(row, now, "AssignmentAbandoned")
        for row in due.select_related("hit__hit_type", "hit__requester"):
            approve(row, now)
        for hit in over.filter(requester=locked):
            announce(hit.pk, now)
        for pk in lapsed.filter(requester=locked).values_list("pk", flat=True):
            money.hold(pk, now)


def end(assignment: RequesterAssignment, now: datetime, event: str) -> bool:
    """Free the place of open work, once; callers lock the requester's row."""
    ended = RequesterAssignment.objects.filter(
        pk=assignment.pk, state=State.ACCEPTED
    ).update(state=State.RETURNED)
    if ended:
        money.hold(assignment.hit_id, now)
        events.about_work(assignment, event, now)
        announce(assignment.hit_id, now)
    return bool(ended)


def announce(hit_pk: int, now: datetime) -> None:
    """Announce, once, that a HIT can get no more submissions, if that is so."""
    hit = _over(hit_pk, now)
    if hit is not None and hit.policies:
        # Its review policy may ask for one more answer.
        policies.review_hit(hit, now)
        hit = _over(hit_pk, now)
    if hit is None:
        return
    RequesterHIT.objects.filter(pk=hit_pk).update(announced=True)
    if n_free(hit):
        events.about_hit(hit, "HITExpired", now)
    events.about_hit(hit, "HITReviewable", now)


def _over(hit_pk: int, now: datetime) -> Any:
    hits = RequesterHIT.objects.filter(pk=hit_pk, announced=False, disposed_at=None)
    hit = with_counts(hits.select_related("requester"), now).first()
    return hit if hit is not None and status_of(hit, now) in TAKES_NO_MORE else None

"""A worker's actions on an assignment: get one, submit it, return it.

An answer, its ratings and its payment are stored in one transaction, or not at all.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import BigIntegerField, Exists, F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from crowd.campaigns.services.claim import (
    GRACE,
    Page,
    checked_page,
    first_of,
    first_on,
    hold_page,
    next_assignment,
    shares_of_time,
)
from crowd.hits.models import Assignment, Campaign, Item, Rating
from crowd.hits.services.build import take_back_slot
from crowd.hits.services.check_answers import (
    Answers,
    CheckedRating,
    SentTelemetry,
    clean_remark,
    keep_telemetry,
    plausible_seconds,
)
from crowd.money.services import budgets, payments
from crowd.workers.models.worker import Worker
from genie.lib.admin import note
from genie.lib.database import prepare
from genie.lib.errors import GenieError
from genie.lib.typing import Account

__all__ = [
    "assignment_of",
    "give_back",
    "next_assignment",
    "release",
    "release_overdue",
    "store",
    "submit",
    "submit_page",
]

State = Assignment.State
OVER = (Campaign.State.STOPPED, Campaign.State.COMPLETE)


def submit(
    assignment: Assignment,
    answers: Answers,
    *,
    active_seconds: float | None = None,
    remark: str = "",
    signals: SentTelemetry | None = None,
) -> Assignment:
    """Store the answers and plan the reward, once; the same answers change nothing.

    Callers have checked whose assignment it is (`assignment_of`).
    """
    submit_page(
        [assignment],
        [answers],
        active_seconds=active_seconds,
        remark=remark,
        signals=signals,
    )
    return assignment


def submit_page(
    page: Page,
    answers: Sequence[Answers],
    *,
    active_seconds: float | None = None,
    remark: str = "",
    signals: SentTelemetry | None = None,
) -> None:
    """Store the answers to all HITs of a page, or none; see `submit`.

    The time is split by the length of the texts. The remark and the signals belong to
    the page and are stored with its first assignment.
    """
    ratings = checked_page(page, answers)
    first, now = first_on(page), timezone.now()
    wall_seconds = (now - first.accepted_at).total_seconds()
    seconds = plausible_seconds(active_seconds, wall_seconds)
    shares = shares_of_time(page)
    changes = {
        one.pk: {
            "state": State.SUBMITTED,
            "submitted_at": now,
            "remark": clean_remark(remark) if one == first else "",
            "active_seconds": seconds if seconds is None else seconds * shares[one.pk],
        }
        for one in page
    }
    with transaction.atomic():
        hold_page(page)
        moved = all(
            _store_sent(one, rated, changes[one.pk], now - GRACE)
            # Code that locks several campaigns locks them in one order.
            for one, rated in sorted(
                zip(page, ratings, strict=True),
                key=lambda pair: (pair[0].hit.campaign_id, pair[0].pk),
            )
        )
        if moved:
            keep_telemetry(first, signals or SentTelemetry(), wall_seconds)
        else:
            transaction.set_rollback(True)
    for one, rated in zip(page, ratings, strict=True):
        if moved:
            vars(one).update(changes[one.pk])
        else:
            # It is gone if staff have just released it.
            names = ("state", "submitted_at", "active_seconds")
            vars(one).update(
                Assignment.objects.filter(pk=one.pk).values(*names).first()
                or {"state": State.RETURNED}
            )
            _same_or_refused(one, rated)


def _store_sent(
    one: Assignment,
    ratings: list[CheckedRating],
    change: dict[str, Any],
    latest: datetime,
) -> bool:
    """Store an answer if its page is still open; callers open the transaction."""
    rows = Assignment.objects.filter(
        pk=one.pk, state=State.ACCEPTED, deadline_at__gt=latest
    )
    if one.reward_cents or one.hit.campaign.fee_cents:
        return _store_paid(one, ratings, rows, change)
    if sent := bool(rows.update(**change)):
        _store_ratings(one, ratings)
    return sent


def _store_paid(
    one: Assignment,
    ratings: list[CheckedRating],
    rows: QuerySet[Assignment],
    change: dict[str, Any],
) -> bool:
    campaign = one.hit.campaign
    # its row is locked, and its account and its pay must be unchanged
    as_read = Exists(
        Campaign.objects.select_for_update(no_key=True).filter(
            pk=campaign.pk,
            state=campaign.state,
            hit_type=campaign.hit_type_id,
            fee_cents=campaign.fee_cents,
        )
    )
    if sent := rows.filter(as_read).update(**change):
        store(one, ratings, campaign)
    elif sent := rows.update(**change):
        store(
            one,
            ratings,
            Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk),
        )
    return bool(sent)


def give_back(assignment: Assignment) -> bool:
    """Return a HIT and its page without penalty; False if it was not open.

    Callers have checked whose assignment it is (`assignment_of`).
    """
    with transaction.atomic():
        first = first_of(assignment)
        return take_back_slot(first.pk, first.hit_id, State.RETURNED)


def release(assignment: Assignment, *, by: Account) -> bool:
    """Take a page back for staff; others or its rater get it. False if it is not open."""
    with transaction.atomic():
        if not take_back_slot(assignment.pk, assignment.hit_id, State.RETURNED):
            return False
        note(
            by,
            assignment.hit.campaign,
            f"Released the page that {assignment.worker} had open.",
        )
        # A worker who has had a HIT, answered or not, does not get it again.
        Assignment.objects.filter(Q(pk=assignment.pk) | Q(page=assignment.pk)).delete()
    return True


def release_overdue(now: datetime | None = None) -> int:
    limit = (now or timezone.now()) - GRACE
    # Over years, nearly every deadline has passed. The index of open pages has the few
    # that count, and SQLite uses it only if the query repeats its condition word by
    # word.
    overdue = (
        Assignment.objects.filter(deadline_at__lte=limit, page=None)
        .extra(where=["crowd_assignment.state = 'ACCEPTED'"])
        .order_by()
        .values_list("pk", "hit_id")
    )
    n = 0
    for pk, hit_pk in sorted(overdue):
        with transaction.atomic():
            n += take_back_slot(pk, hit_pk, State.EXPIRED)
    return n


def assignment_of(worker: Worker, pk: int) -> Assignment:
    """Return the worker's own assignment, with what its page shows.

    Raises
    ------
    GenieError
        ``not-yours``, also if there is none with that number.
    """
    rows = _read_with_items(pk, worker.pk) if pk <= BigIntegerField.MAX_BIGINT else []
    if not rows:
        raise GenieError(gettext("This HIT is not assigned to you."), code="not-yours")
    items = rows[0].hit.items.all()
    vars(items)["_result_cache"] = [
        Item.from_db(DEFAULT_DB_ALIAS, _OF_ITEM, values)
        for row in rows
        if (values := [getattr(row, f"item_{name}") for name in _OF_ITEM])[0]
    ]
    vars(rows[0].hit)["_prefetched_objects_cache"] = {"items": items}
    return rows[0]


_OF_ITEM = [field.attname for field in Item._meta.concrete_fields]
# one row for each item of the HIT
_read_with_items = prepare(
    lambda pk, worker: (
        Assignment.objects.filter(pk=pk, worker=worker)
        .select_related("hit__campaign__hit_type")
        .annotate(**{f"item_{name}": F(f"hit__items__{name}") for name in _OF_ITEM})
        .order_by("hit__items__pk")
    )
)


def store(
    assignment: Assignment, ratings: list[CheckedRating], campaign: Campaign
) -> None:
    """Store checked answers and plan their pay.

    Callers open the transaction and lock the campaign's row. Code that closes the
    campaign's account changes this row first. So either it sees this plan, or this code
    sees that the account is closed.
    """
    _store_ratings(assignment, ratings)
    cents = payments.plan(assignment, campaign)
    if campaign.state in OVER:
        budgets.correct(campaign.key, cents)


def _store_ratings(assignment: Assignment, ratings: list[CheckedRating]) -> None:
    Rating.objects.bulk_create(
        [
            Rating(
                assignment=assignment,
                item_id=rating.item_pk,
                criterion=rating.criterion,
                value=rating.value,
                raw=rating.raw,
                slot=rating.slot,
                detail=rating.detail,
            )
            for rating in ratings
        ]
    )


def _same_or_refused(assignment: Assignment, ratings: list[CheckedRating]) -> None:
    if assignment.state == State.RETURNED:
        raise GenieError(
            gettext("This HIT went back to the pool, so the answer was not stored."),
            code="work-returned",
        )
    if assignment.state in {State.ACCEPTED, State.EXPIRED}:
        with transaction.atomic():
            take_back_slot(assignment.pk, assignment.hit_id, State.EXPIRED)
        raise GenieError(
            gettext(
                "The time for this HIT ran out and it went back to the pool, so the "
                "answer was not stored."
            ),
            code="too-late",
        )
    stored = {
        (answer.item_id, answer.criterion, answer.slot): (answer.value, answer.detail)
        for answer in assignment.ratings.all()
    }
    if stored != {
        (r.item_pk, r.criterion, r.slot): (r.value, r.detail) for r in ratings
    }:
        raise GenieError(
            gettext("You have already answered this, and your first answer counts."),
            code="already-submitted",
        )

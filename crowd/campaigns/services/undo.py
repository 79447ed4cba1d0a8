"""Change an answer for some seconds: the stored one counts until another replaces it.

An answer is stored and its reward planned when it is sent, so it is neither lost nor
paid twice: a change affects only the ratings. Code that changes it locks the campaign's
row first and the assignment's second, as in `review`, so decisions, marks and the end
of the campaign come before or after the change.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from crowd.campaigns.services.claim import Page, checked_page, first_of, first_on
from crowd.hits.models import Assignment, Campaign, Rating
from crowd.hits.selectors import form_of
from crowd.hits.services.check_answers import Answers, CheckedRating, clean_remark
from crowd.workers.models.worker import Pause, Worker
from genie.lib.errors import GenieError

# Undo is offered for some seconds. After pressing it, workers have this long to answer.
TO_ANSWER = timedelta(seconds=60)
# A click that was being sent when the time ran out still counts.
GRACE = timedelta(seconds=3)
# No answer can be changed after this, whatever a campaign's form says.
CHANGEABLE = TO_ANSWER + timedelta(seconds=60) + GRACE
ASKING = (Campaign.State.RUNNING, Campaign.State.PAUSED)

#: Gets an assignment whose answers were changed, within the transaction.
Follower = Callable[[Assignment], None]

_followers: dict[str, Follower] = {}


def register(name: str, follower: Follower) -> None:
    _followers[name] = follower


def last_answered(worker: Worker, before: int | None = None) -> Assignment | None:
    rows = Assignment.objects.filter(worker=worker)
    if before is not None:
        rows = rows.filter(pk__lt=before)
    last = (
        rows.select_related("hit__campaign__hit_type", "page__hit__campaign__hit_type")
        .order_by("-pk")
        .first()
    )
    first = first_of(last) if last is not None else None
    return first if first is not None and seconds_left(first) else None


def seconds_left(assignment: Assignment, now: datetime | None = None) -> int:
    """Return how long Undo is offered, in seconds; 0 if not now."""
    if assignment.state != Assignment.State.SUBMITTED or not assignment.submitted_at:
        return 0
    over_at = assignment.submitted_at + timedelta(seconds=_undo_seconds(assignment))
    return max(0, round((over_at - (now or timezone.now())).total_seconds()))


def may_begin(assignment: Assignment) -> bool:
    return bool(
        _undo_seconds(assignment)
        and seconds_left(assignment, timezone.now() - GRACE)
        and not _is_excluded(assignment)
    )


def change_page(page: Page, answers: Sequence[Answers], *, remark: str = "") -> None:
    """Replace all answers of a page, or none.

    Raises
    ------
    GenieError
        ``too-late-to-change`` after its time, and if the work has been decided;
        the errors of `checked`.
    """
    ratings = checked_page(page, answers)
    first = first_on(page)
    offered = _undo_seconds(first)
    since = timezone.now() - timedelta(seconds=offered) - TO_ANSWER - GRACE
    with transaction.atomic():
        campaigns = Campaign.objects.select_for_update(of=("self",), no_key=True)
        asked = campaigns.filter(pk__in={one.hit.campaign_id for one in page})
        states = {campaign.state for campaign in asked.order_by("pk")}
        over = not states <= set(ASKING) or _is_excluded(first)
        mine = {
            one.pk: one
            for one in Assignment.objects.select_for_update(of=("self",))
            .filter(
                pk__in=[one.pk for one in page],
                state=Assignment.State.SUBMITTED,
                submitted_at__gt=since,
                replaced_at=None,
            )
            .order_by("pk")
        }
        if not offered or len(mine) < len(page) or over:
            raise GenieError(
                _(
                    "This answer can no longer be changed; the one that you gave counts."
                ),
                code="too-late-to-change",
            )
        for one, rated in zip(page, ratings, strict=True):
            _replace(mine[one.pk], rated)
        mine[first.pk].remark = clean_remark(remark)
        mine[first.pk].save(update_fields=["remark"])
        for follow in _followers.values():
            for one in mine.values():
                follow(one)


def _replace(mine: Assignment, ratings: list[CheckedRating]) -> None:
    for rating in ratings:
        Rating.objects.filter(
            assignment=mine,
            item=rating.item_pk,
            criterion=rating.criterion,
            slot=rating.slot,
        ).update(value=rating.value, raw=rating.raw, detail=rating.detail)


def _undo_seconds(assignment: Assignment) -> int:
    return form_of(assignment.hit.campaign.hit_type).undo_seconds


def _is_excluded(assignment: Assignment) -> bool:
    """Check whether the worker gets no more of this work, for good or for now.

    A worker who is paused for an answer must not learn from this which one to change.
    """
    worker, pool = assignment.worker, assignment.hit.campaign.pool_id
    return (
        worker.excluded
        or worker.exclusions.filter(pool=pool).exists()
        or Pause.objects.filter(worker=worker, pool=pool).exists()
    )

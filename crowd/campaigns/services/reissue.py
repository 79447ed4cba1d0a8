"""Ask another worker if a worker's answers do not count, and undo that.

An answer that does not count is marked as replaced, and its HIT gets one more place, as
far as the campaign's budget allows. If its worker is readmitted, the answer counts
again unless that place has been taken.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

from django.db import transaction
from django.utils import timezone

from crowd.hits.models import Assignment, Campaign
from crowd.hits.selectors import progress_of, unit_cents
from crowd.hits.services.build import add_slot, withdraw_slot
from crowd.workers.models.worker import Worker

State = Assignment.State
COUNTED = (State.SUBMITTED, State.APPROVED)
_SHORTAGE = re.compile(r"\d+ answers that do not count were not .*?used up\.")
ASKING = (Campaign.State.RUNNING, Campaign.State.PAUSED)


#: Returns the keys of a campaign's HITs to ask again last.
Waiting = Callable[[Campaign], Iterable[int]]

_waiting: dict[str, Waiting] = {}


def register(name: str, waiting: Waiting) -> None:
    """Register HITs to ask again after all others; one function per name."""
    _waiting[name] = waiting


@transaction.atomic
def replace_answers(worker: Worker, pool: str) -> int:
    """Ask again for what the worker answered, as far as the money goes.

    Each answer is replaced once. Return how many were.
    """
    campaigns = Campaign.objects.filter(
        pool=pool,
        state__in=ASKING,
        hits__assignments__worker=worker,
        hits__assignments__state__in=COUNTED,
        hits__assignments__replaced_at=None,
    ).values_list("pk", flat=True)
    n = 0
    for pk in sorted(set(campaigns)):
        n += _replace_in(pk, worker=worker)
    return n


@transaction.atomic
def replace_lost(campaign_pk: int) -> int:
    pool = Campaign.objects.values_list("pool", flat=True).get(pk=campaign_pk)
    return _replace_in(campaign_pk, worker__exclusions__pool=pool)


@transaction.atomic
def count_again(worker: Worker, pool: str) -> int:
    replaced = (
        Assignment.objects.select_for_update(of=("self",))
        .filter(
            worker=worker,
            hit__campaign__pool=pool,
            state__in=COUNTED,
            replaced_at__isnull=False,
        )
        .order_by("pk")
    )
    n = 0
    for assignment in replaced:
        # Only an open place can be closed. If another worker has it, their answer
        # counts instead of this one.
        if withdraw_slot(assignment.hit_id):
            n += Assignment.objects.filter(pk=assignment.pk).update(replaced_at=None)
    return n


def without_shortage(notice: str) -> str:
    return _SHORTAGE.sub("", notice).strip()


def _replace_in(campaign_pk: int, **whose: Any) -> int:
    # Exclusions of several workers at once are priced one after another.
    campaign = (
        Campaign.objects.select_for_update(of=("self",))
        .select_related("hit_type")
        .get(pk=campaign_pk)
    )
    if campaign.state not in ASKING:
        return 0  # It ended while this waited for the row.
    rows = list(
        Assignment.objects.filter(
            hit__campaign=campaign, state__in=COUNTED, replaced_at=None, **whose
        )
        .order_by("pk")
        .values_list("pk", "hit_id")
    )
    can_wait = {pk for find in _waiting.values() for pk in find(campaign)}
    rows.sort(key=lambda row: row[1] in can_wait)
    affordable = n_affordable(campaign)
    note_shortage(campaign, len(rows) - affordable)
    return _reopen(rows[:affordable])


def note_shortage(campaign: Campaign, n: int) -> None:
    notice = without_shortage(campaign.notice)
    if n > 0:
        notice += (
            f" {n} answers that do not count were not replaced: the campaign's budget "
            f"of ${campaign.budget_cents / 100:,.2f} is used up."
        )
    if (notice := notice.strip()[:600]) != campaign.notice:
        Campaign.objects.filter(pk=campaign.pk).update(notice=notice)


def _reopen(rows: Iterable[tuple[int, int]]) -> int:
    n = 0
    for pk, hit_pk in rows:
        changed = Assignment.objects.filter(
            pk=pk, state__in=COUNTED, replaced_at=None
        ).update(replaced_at=timezone.now())
        if changed:
            add_slot(hit_pk)
        n += changed
    return n


def n_affordable(campaign: Campaign) -> int:
    left = campaign.budget_cents - progress_of([campaign])[campaign.pk].committed_cents
    unit = unit_cents(campaign)
    if unit == 0:
        return campaign.hits.count()
    return max(0, left // unit)

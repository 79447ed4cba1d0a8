"""Take a rejection back: the work is approved and paid after all, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from crowd.models import HIT, Assignment, Campaign, Commitment
from crowd.selectors.progress import campaign_progress
from crowd.services import fund, pay, slots
from crowd.services.log import note
from crowd.services.review import ASKING
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

State = Assignment.State
IN_PLACE = (State.ACCEPTED, State.SUBMITTED, State.APPROVED)


def overturn(assignment_pk: int, *, by: AbstractBaseUser, reason: str) -> bool:
    """Approve rejected work and plan its reward; False when it is not rejected.

    Its answers count again, unless somebody else has answered in its place meanwhile.

    Raises
    ------
    GenieError
        ``decided-by-platform`` for work on another platform, ``over-budget`` where the
        pool's or the site's budget has no room for it any more.
    """
    with transaction.atomic():
        # In the order in which `review.reject` locks them.
        campaign = (
            Campaign.objects.select_for_update(of=("self",))
            .select_related("hit_type")
            .get(hits__assignments=assignment_pk)
        )
        assignment = Assignment.objects.select_for_update(of=("self",)).get(
            pk=assignment_pk
        )
        if assignment.state != State.REJECTED:
            return False
        if campaign.platform != "selfhosted":
            raise GenieError(
                f"Rejections on {campaign.platform} are taken back there.",
                code="decided-by-platform",
            )
        fits = assignment.replaced_at is None and _takes_its_place(assignment)
        if not fits and assignment.replaced_at is None:
            _stand_beside(assignment)
        Assignment.objects.filter(pk=assignment_pk).update(
            state=State.APPROVED, decided_at=timezone.now(), feedback=""
        )
        cents = pay.plan_again(assignment, campaign)
        _set_aside(campaign, cents, by)
        note(by, assignment, f"Rejection taken back: {reason}")
    return True


def _takes_its_place(assignment: Assignment) -> bool:
    """Tell whether the HIT still has the place that the rejection gave up, and take it."""
    if slots.take(assignment.hit_id):
        return True
    hit = HIT.objects.get(pk=assignment.hit_id)
    others = hit.assignments.filter(state__in=IN_PLACE).exclude(pk=assignment.pk)
    # Work that was rejected after the end left its place empty.
    return others.count() < hit.max_assignments


def _stand_beside(assignment: Assignment) -> None:
    """Pay for an answer that another one has replaced: it has a place, and no say."""
    HIT.objects.filter(pk=assignment.hit_id).update(
        max_assignments=F("max_assignments") + 1
    )
    Assignment.objects.filter(pk=assignment.pk).update(replaced_at=timezone.now())


def _set_aside(campaign: Campaign, cents: int, by: AbstractBaseUser) -> None:
    """Find the money for it, within the budgets of the pool and the site."""
    progress = campaign_progress(campaign)
    short = max(0, progress.committed_cents - campaign.budget_cents)
    over = campaign.state not in ASKING
    extra = cents if over else short
    if extra == 0:
        return
    fund.commit(key=campaign.key, pool=campaign.pool, amount_cents=0, by=by)
    account = Commitment.objects.get(key=campaign.key)
    fund.set_aside_again(
        key=campaign.key,
        pool=campaign.pool,
        cents=extra,
        at_most=account.amount_cents + extra,
    )
    Campaign.objects.filter(pk=campaign.pk).update(
        budget_cents=F("budget_cents") + short
    )
    if over:
        fund.settle(campaign.key, progress.spent_cents)

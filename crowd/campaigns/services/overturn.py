"""Reverse a rejection: the work is approved and paid, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from crowd.campaigns.selectors.rejection_reversal import taking_back
from crowd.campaigns.services import outbox
from crowd.campaigns.services.review import ASKING
from crowd.hits.models import HIT, Assignment, Campaign
from crowd.hits.selectors import campaign_progress
from crowd.hits.services.build import take_slot
from crowd.hits.services.platforms import pays_itself
from crowd.money.models import Commitment, LedgerEntry
from crowd.money.services import bonuses, budgets, payments
from genie.lib.admin import note
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

State = Assignment.State
IN_PLACE = (State.ACCEPTED, State.SUBMITTED, State.APPROVED)


def overturn(
    assignment_pk: int, *, by: AbstractBaseUser, reason: str, message: str = ""
) -> bool:
    """Approve rejected work and plan its reward; False if it is not rejected.

    Its answers count again, unless another worker has answered in its place. If the
    platform knows of the rejection, an outward call reverses it there; `message` is
    what the worker reads on it.

    Raises
    ------
    GenieError
        ``stands-there`` if the platform does not reverse it, ``over-budget`` if the
        pool's or the site's budget has no room for it.
    """
    with transaction.atomic():
        campaign, assignment = _lock(assignment_pk)
        if assignment.state != State.REJECTED:
            return False
        way = taking_back(assignment, timezone.now())
        if not way.possible:
            raise GenieError(way.sentence, code="stands-there")
        now = timezone.now()
        if assignment.replaced_at is None and not _takes_its_place(assignment):
            HIT.objects.filter(pk=assignment.hit_id).update(
                max_assignments=F("max_assignments") + 1
            )
            Assignment.objects.filter(pk=assignment.pk).update(replaced_at=now)
        Assignment.objects.filter(pk=assignment_pk).update(
            state=State.APPROVED, decided_at=now, overturned_at=now, feedback=""
        )
        # A platform pays work once, so the entries keep their keys. Here a cancelled
        # payment stays recorded and a new one is made.
        if pays_itself(campaign):
            cents = payments.plan_after_all(assignment, "Rejection reversed.")
        else:
            cents = payments.plan(assignment, campaign, "-again")
        _set_aside(campaign, cents, by)
        if way.tells:
            # In the same transaction, so that the platform hears of every approval.
            outbox.plan_override(campaign, assignment, message)
        note(by, assignment, f"Rejection reversed: {reason}")
    return True


def pay_instead(
    assignment_pk: int, *, by: AbstractBaseUser, reason: str, message: str
) -> LedgerEntry:
    """Plan a bonus of the reward, once, if a rejection cannot be reversed.

    Raises
    ------
    GenieError
        ``can-be-taken-back`` if it can, and the errors of `bonus.give`.
    """
    with transaction.atomic():
        _, assignment = _lock(assignment_pk)
        way = taking_back(assignment, timezone.now())
        if way.possible or assignment.state != State.REJECTED:
            raise GenieError(
                "A bonus is only for a rejection that cannot be reversed.",
                code="can-be-taken-back",
            )
        entry = bonuses.give(
            assignment_pk,
            assignment.reward_cents,
            key="instead",
            reason=message,
            by=by,
            rejected_too=True,
        )
        note(by, assignment, f"A bonus in place of the reward: {reason}")
    return entry


def _lock(assignment_pk: int) -> tuple[Campaign, Assignment]:
    campaign = (
        Campaign.objects.select_for_update(of=("self",))
        .select_related("hit_type")
        .get(hits__assignments=assignment_pk)
    )
    assignment = Assignment.objects.select_for_update(of=("self",)).get(
        pk=assignment_pk
    )
    return campaign, assignment


def _takes_its_place(assignment: Assignment) -> bool:
    if take_slot(assignment.hit_id):
        return True
    hit = HIT.objects.get(pk=assignment.hit_id)
    others = hit.assignments.filter(state__in=IN_PLACE).exclude(pk=assignment.pk)
    # Work rejected after the end left its place empty.
    return others.count() < hit.max_assignments


def _set_aside(campaign: Campaign, cents: int, by: AbstractBaseUser) -> None:
    progress = campaign_progress(campaign)
    short = max(0, progress.committed_cents - campaign.budget_cents)
    over = campaign.state not in ASKING
    # The account of a running campaign covers its whole budget. A closed one holds what
    # was spent and needs the whole sum.
    extra = cents if over else short
    if extra == 0:
        return
    budgets.commit(key=campaign.key, pool=campaign.pool_id, amount_cents=0, by=by)
    account = Commitment.objects.get(key=campaign.key)
    budgets.set_aside_again(
        key=campaign.key,
        pool=campaign.pool_id,
        cents=extra,
        at_most=account.amount_cents + extra,
    )
    Campaign.objects.filter(pk=campaign.pk).update(
        budget_cents=F("budget_cents") + short
    )
    if over:
        budgets.settle(campaign.key, progress.spent_cents)

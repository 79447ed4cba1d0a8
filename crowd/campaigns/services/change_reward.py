from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from crowd.campaigns.selectors.new_reward import NewReward, price_reward
from crowd.elsewhere.models import ExternalCampaign, OutwardCall
from crowd.hits.models import HIT, Campaign, HITType, Item, RewardChange
from crowd.hits.services.build import BATCH, HITTypeSpec, shared_hit_type
from crowd.hits.services.platforms import can
from crowd.money.services import budgets
from genie.lib import jobs
from genie.lib.admin import note
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

Kind = OutwardCall.Kind


@transaction.atomic
def change_reward(
    campaign_pk: int,
    reward_cents: int,
    *,
    shown_cents: int,
    agreed_cents: int,
    by: AbstractBaseUser,
    reason: str,
) -> NewReward:
    """Change the reward from now on, once; raise the budget by what is missing.

    Assignments taken or answered keep their reward. On other platforms, untouched HITs
    move to a new HIT type; HITs with work keep theirs.

    Parameters
    ----------
    shown_cents : int
        The reward the person saw, so a form that is sent twice changes once.
    agreed_cents : int
        The amount the person agreed to add to the campaign's budget.

    Raises
    ------
    GenieError
        ``reason-missing``, ``reward-changed`` if it has changed since,
        ``cost-changed`` if more or less must be added, ``platform-busy`` while HITs
        are being posted, ``over-budget`` if the pool's or the site's budget has no
        room, and the errors of `price_reward`.
    """
    campaign = (
        Campaign.objects.select_for_update(of=("self",))
        .select_related("hit_type")
        .get(pk=campaign_pk)
    )
    _check(campaign, shown_cents, reason)
    new = price_reward(campaign, reward_cents)
    if new.added_cents != agreed_cents:
        raise GenieError(
            f"This now adds ${new.added_cents / 100:,.2f} to the budget, not "
            f"${agreed_cents / 100:,.2f}; please check it again.",
            code="cost-changed",
        )
    if new.added_cents:
        budgets.add(campaign, new.added_cents, by)
    old = campaign.hit_type
    if can(campaign.platform).external:
        _keep_type_of_posted(campaign)
    hit_type = shared_hit_type(replace(_spec_of(old), reward_cents=reward_cents))
    Campaign.objects.filter(pk=campaign_pk).update(
        hit_type=hit_type, fee_cents=new.fee_cents
    )
    RewardChange.objects.create(
        campaign=campaign,
        old=old,
        new=hit_type,
        old_fee_cents=campaign.fee_cents,
        new_fee_cents=new.fee_cents,
        n_places=new.n_places,
        added_cents=new.added_cents,
        reason=reason.strip(),
        by_id=by.pk,
    )
    sentence = (
        f"The reward changed from ${old.reward_cents / 100:,.2f} to "
        f"${reward_cents / 100:,.2f} for the {new.n_places:,} assignments still to be "
        f"taken; ${new.added_cents / 100:,.2f} added to the budget."
    )
    note(by, campaign, sentence, reason)
    return new


def reword(campaign: Campaign, new: HITTypeSpec, labels: Mapping[str, str]) -> None:
    """Ask in other words; `labels` has new labels of inputs by the old ones."""
    form = {**campaign.hit_type.form, "instructions": new.form.get("instructions", "")}
    spec = replace(
        _spec_of(campaign.hit_type), title=new.title, criteria=new.criteria, form=form
    )
    Campaign.objects.filter(pk=campaign.pk).update(hit_type=shared_hit_type(spec))
    items = list(campaign.items.all())
    for field in chain.from_iterable(one.data.get("fields", ()) for one in items):
        field["label"] = labels.get(field["label"], field["label"])
    Item.objects.bulk_update(items, ["data"], batch_size=BATCH)


def _check(campaign: Campaign, shown_cents: int, reason: str) -> None:
    if not reason.strip():
        raise GenieError("Give a reason for the new reward.", code="reason-missing")
    if campaign.hit_type.reward_cents != shown_cents:
        raise GenieError(
            f"The reward has changed from ${shown_cents / 100:,.2f} to "
            f"${campaign.hit_type.reward_cents / 100:,.2f}; no change was made. "
            "Reload the page.",
            code="reward-changed",
        )


def _keep_type_of_posted(campaign: Campaign) -> None:
    """Store the type of HITs that are posted, or may be.

    No HIT is posted meanwhile: a process that posts locks the campaign's place on the
    platform and reads the campaign only then.
    """
    place = (
        ExternalCampaign.objects.select_for_update(of=("self",))
        .filter(campaign=campaign)
        .first()
    )
    unsure = OutwardCall.objects.filter(
        campaign=campaign,
        kind__in=[Kind.PUBLISH, Kind.RETYPE],
        state=OutwardCall.State.SENDING,
    )
    busy = place is not None and place.busy_until and place.busy_until > timezone.now()
    if busy or unsure.exists():
        raise GenieError(
            "HITs of this campaign are being posted right now; try again in a minute.",
            code="platform-busy",
        )
    sent = OutwardCall.objects.filter(
        campaign=campaign, kind=Kind.POST, first_sent_at__isnull=False
    ).exclude(state=OutwardCall.State.FAILED)
    HIT.objects.filter(pk__in=sent.values("hit"), posted_as=None).update(
        posted_as=campaign.hit_type
    )
    jobs.enqueue("crowd.jobs.sync_campaign", campaign=campaign.pk)


def _spec_of(hit_type: HITType) -> HITTypeSpec:
    names = HITTypeSpec.__dataclass_fields__
    return HITTypeSpec(**{name: getattr(hit_type, name) for name in names})

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max

from crowd import hit_templates
from crowd.hits.models import Campaign
from crowd.hits.selectors import campaign_progress, unit_cents
from crowd.hits.services.build import ItemSpec, add_hits
from genie.lib.errors import GenieError
from genie.lib.seeds import seed_from


@dataclass(frozen=True)
class Room:
    left_cents: int
    unit_cents: int

    @property
    def n_assignments(self) -> int | None:
        if self.unit_cents == 0:
            return None
        return max(0, self.left_cents // self.unit_cents)


def room(campaign: Campaign) -> Room:
    committed = campaign_progress(campaign).committed_cents
    return Room(campaign.budget_cents - committed, unit_cents(campaign))


@transaction.atomic
def extend(
    campaign_pk: int, items: Sequence[ItemSpec], *, max_assignments: int = 1
) -> int:
    """Add a HIT for each new item; return how many were added.

    They come after the present HITs, in an order that the campaign's seed determines
    and the rows store.

    Raises
    ------
    GenieError
        ``campaign-over`` if no one would be asked, ``over-budget`` if the campaign's
        budget does not cover all of them.
    """
    # Locked to the end, so that two waves cannot both use the same budget.
    campaign = (
        Campaign.objects.select_for_update(of=("self",))
        .select_related("hit_type")
        .get(pk=campaign_pk)
    )
    if campaign.state not in {Campaign.State.RUNNING, Campaign.State.SCHEDULED}:
        raise GenieError("The campaign has ended.", code="campaign-over")
    known = set(campaign.items.values_list("key", flat=True))
    new = [item for item in items if item.key not in known]
    template = hit_templates.get(campaign.hit_type.template)
    for item in new:
        template.check(item.data)
    affordable = room(campaign).n_assignments
    if affordable is not None and len(new) * max_assignments > affordable:
        raise GenieError(
            f"{len(new) * max_assignments:,} more assignments are needed, but the "
            f"campaign's budget pays for only {affordable:,}.",
            code="over-budget",
        )
    last = campaign.hits.aggregate(last=Max("position"))["last"]
    start = 0 if last is None else last + 1
    add_hits(
        campaign,
        new,
        max_assignments,
        # The position is part of the seed, so each wave has a separate order.
        seed=seed_from("order of HITs", campaign.seed, start),
        start=start,
    )
    return len(new)

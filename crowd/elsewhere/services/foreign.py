from collections.abc import Mapping
from itertools import groupby

from django.db.models import QuerySet

from crowd.elsewhere.models import ExternalCampaign
from crowd.money.models import LedgerEntry
from crowd.money.selectors.rates import there

Kind = LedgerEntry.Kind


def note(
    campaign_pk: int,
    entries: QuerySet[LedgerEntry],
    whole: Mapping[str, int] | None = None,
) -> None:
    """Divide what was paid there among our entries, in proportion.

    `whole` is the amount for each kind; by default it is computed from our cents.
    """
    place = ExternalCampaign.objects.select_related("rate").filter(campaign=campaign_pk)
    rate = next((one.rate for one in place), None)
    if rate is None:
        return
    rows = sorted(entries, key=lambda row: (row.kind, row.pk))
    for kind, of_kind in groupby(rows, key=lambda row: row.kind):
        same = list(of_kind)
        cents = sum(row.amount_cents for row in same)
        amount = there(cents, rate) if whole is None else whole[kind]
        left = amount
        for row in same:
            part = (
                left if row is same[-1] else amount * row.amount_cents // (cents or 1)
            )
            left -= part
            LedgerEntry.objects.filter(pk=row.pk).update(foreign_amount=part, rate=rate)


def of_place(place: ExternalCampaign) -> Mapping[str, int]:
    """Return what one place cost there: the reward, and the rest of its cost."""
    amount = there(place.campaign.hit_type.reward_cents * place.place_size, place.rate)
    return {Kind.REWARD: amount, Kind.FEE: max(0, (place.place_cost or 0) - amount)}

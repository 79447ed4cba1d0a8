"""The inputs that HITs show: nobody is given the same one twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crowd.hits.models.campaign import HIT, Campaign, Input

BATCH = 2_000
# ends the scope of inputs that `count_by_campaign` made
AGAIN = "#again"


def inputs_for(campaign: Campaign, content_keys: Iterable[str]) -> dict[str, Input]:
    """Give the input of each content key, made where it is new.

    Where exposure is counted by campaign, its inputs are the campaign's own; what they
    are in the pool is kept, too, because other campaigns of the pool count by that.
    """
    keys = sorted(set(content_keys))
    in_pool = _kept(campaign.pool, keys, {})
    scope = campaign.input_scope
    return in_pool if scope == campaign.pool else _kept(scope, keys, in_pool)


def count_by_campaign(campaign: Campaign, hits: Iterable[HIT]) -> None:
    """Offer these HITs to workers who were shown their inputs by another HIT, too.

    From now on they count as seen by who was given one of these HITs; other campaigns of
    the pool count as before.
    """
    rows = list(hits)
    keys = sorted({row.input.content_key for row in rows})
    in_pool = _kept(campaign.pool, keys, {})
    scope = f"{campaign.pool}#{campaign.pk}{AGAIN}"
    inputs = _kept(scope, keys, in_pool)
    for row in rows:
        row.input = inputs[row.input.content_key]
    HIT.objects.bulk_update(rows, ["input"], batch_size=BATCH)


def _kept(
    scope: str, keys: list[str], in_pool: Mapping[str, Input]
) -> dict[str, Input]:
    # Two campaigns of a pool may be built at the same moment; the row that came first
    # is kept.
    Input.objects.bulk_create(
        [Input(scope=scope, content_key=key, in_pool=in_pool.get(key)) for key in keys],
        batch_size=BATCH,
        ignore_conflicts=True,
    )
    return {row.content_key: row for row in Input.objects.filter(scope=scope)}

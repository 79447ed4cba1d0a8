"""The inputs that HITs show; no worker gets the same one twice."""

from collections.abc import Collection, Iterable, Mapping
from itertools import chain

from crowd.hits.models import HIT, Campaign, Input

BATCH = 2_000
# ends the scope of inputs that `count_by_campaign` made
AGAIN = "#again"
# ends the scope of inputs that `keep_apart` made
LENT = "#lent"


def inputs_for(campaign: Campaign, content_keys: Iterable[str]) -> dict[str, Input]:
    """Return the input of each content key, creating new ones.

    If exposure is counted by campaign, the inputs belong to the campaign. They refer to
    the pool's inputs, because other campaigns of the pool use those.
    """
    keys = sorted(set(content_keys))
    in_pool = _kept(campaign.pool, keys, {})
    scope = campaign.input_scope
    return in_pool if scope == campaign.pool else _kept(scope, keys, in_pool)


def count_by_campaign(campaign: Campaign, hits: Iterable[HIT]) -> None:
    """Offer these HITs also to workers who saw their inputs in another HIT.

    From now on a worker has seen them if they got one of these HITs. For other
    campaigns of the pool nothing changes.
    """
    rows = list(hits)
    keys = sorted({row.input.content_key for row in rows})
    in_pool = _kept(campaign.pool, keys, {})
    scope = f"{campaign.pool}#{campaign.pk}{AGAIN}"
    inputs = _kept(scope, keys, in_pool)
    for row in rows:
        row.input = inputs[row.input.content_key]
    HIT.objects.bulk_update(rows, ["input"], batch_size=BATCH)


def keep_apart(campaign: Campaign, others_of: Mapping[int, Collection[int]]) -> None:
    """Keep HITs from workers who saw their inputs in other campaigns, and vice versa.

    If exposure is counted by pool, all campaigns are kept apart anyway. `others_of` has
    the other campaigns of the pool by HIT.
    """
    if campaign.input_scope == campaign.pool:
        return
    rows = list(HIT.objects.filter(pk__in=others_of).select_related("input"))
    keys = sorted({row.input.content_key for row in rows})
    lent = _kept(f"{campaign.input_scope}{LENT}", keys, _kept(campaign.pool, keys, {}))
    scopes = {
        f"{campaign.pool}#{pk}" for pk in chain([campaign.pk], *others_of.values())
    }
    shown = {
        (row.scope, row.content_key): row.pk
        for row in Input.objects.filter(scope__in=scopes, content_key__in=keys)
    }
    pairs = set()
    for row in rows:
        key = row.input.content_key
        row.input = lent[key]
        for pk in (campaign.pk, *others_of[row.pk]):
            other = shown.get((f"{campaign.pool}#{pk}", key))
            if other is not None:
                pairs |= {(lent[key].pk, other), (other, lent[key].pk)}
    HIT.objects.bulk_update(rows, ["input"], batch_size=BATCH)
    closes = Input.closes.through
    closes.objects.bulk_create(
        [closes(from_input_id=one, to_input_id=two) for one, two in sorted(pairs)],
        batch_size=BATCH,
        ignore_conflicts=True,
    )


def _kept(
    scope: str, keys: list[str], in_pool: Mapping[str, Input]
) -> dict[str, Input]:
    # Two campaigns of a pool may be built at once; the first row is kept.
    Input.objects.bulk_create(
        [Input(scope=scope, content_key=key, in_pool=in_pool.get(key)) for key in keys],
        batch_size=BATCH,
        ignore_conflicts=True,
    )
    return {row.content_key: row for row in Input.objects.filter(scope=scope)}

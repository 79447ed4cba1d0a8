"""The order in which a worker gets the campaigns of a pool that are open together.

If campaigns were completed one after another, each would have different days and
workers, and a comparison of their systems would compare days and workers. So workers
get campaigns in rounds: every open campaign has one turn in a round, in a random order
stored for the worker (`DrawnOrder`). A campaign that opens later joins the next round.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from crowd.hits.models import Campaign, DrawnOrder
from crowd.workers.models.worker import Worker
from genie.lib.seeds import generator, seed_from

# If a pool has several kinds of HITs, so many of a kind come in a row. Workers make
# more mistakes when the kind changes each time.
RUN = 5


@dataclass(frozen=True)
class Turn:
    campaign: Campaign
    # None: the only campaign of its pool, which needs no drawn order
    order: DrawnOrder | None = None
    place: int = 0

    def keep(self) -> None:
        """Store that it is this campaign's turn; callers lock the worker's row."""
        if self.order is None:
            return
        self.order.n_taken = self.place + 1
        self.order.save(update_fields=["n_taken"] if self.order.pk else None)


def turns(worker: Worker, campaigns: Sequence[Campaign]) -> list[Turn]:
    """Return the campaigns open to a worker in the order of their turns.

    Pools come one after another, in the order of the campaigns. Nothing is stored: the
    draw is the same until one of the turns is kept.
    """
    pools: dict[str, list[Campaign]] = {}
    for campaign in campaigns:
        pools.setdefault(campaign.pool, []).append(campaign)
    is_drawn = any(len(group) > 1 for group in pools.values())
    latest = _latest(worker) if is_drawn else {}
    return [
        turn
        for pool, group in pools.items()
        for turn in _turns(worker, pool, group, latest.get(pool))
    ]


def _latest(worker: Worker) -> dict[str, DrawnOrder]:
    rounds = DrawnOrder.objects.filter(worker=worker)
    newer = rounds.filter(pool=OuterRef("pool"), number__gt=OuterRef("number"))
    return {order.pool: order for order in rounds.filter(~Exists(newer))}


def _turns(
    worker: Worker, pool: str, group: Sequence[Campaign], current: DrawnOrder | None
) -> Iterator[Turn]:
    if len(group) == 1:
        yield Turn(group[0])
        return
    waiting = {campaign.pk: campaign for campaign in group}
    orders = [_drawn(worker, pool, group, 0 if current is None else current.number + 1)]
    if current is not None:
        orders.insert(0, current)
    for order in orders:
        for place in range(order.n_taken, len(order.campaigns)):
            campaign = waiting.pop(order.campaigns[place], None)
            if campaign is not None:
                yield Turn(campaign, order, place)


def _drawn(
    worker: Worker, pool: str, group: Sequence[Campaign], number: int
) -> DrawnOrder:
    seed = seed_from("order of campaigns", worker.pk, pool, number)
    rng = generator(seed)
    kinds: dict[int, list[int]] = {}
    for campaign in group:
        kinds.setdefault(campaign.hit_type_id, []).append(campaign.pk)
    again = math.ceil(RUN / min(map(len, kinds.values()))) if len(kinds) > 1 else 1
    drawn = [
        int(pk)
        for kind in rng.permutation(list(kinds))
        for _ in range(again)
        for pk in rng.permutation(kinds[int(kind)])
    ]
    return DrawnOrder(
        worker=worker, pool=pool, number=number, seed=seed, campaigns=drawn
    )

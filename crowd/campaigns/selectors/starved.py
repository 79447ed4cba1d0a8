"""Whether a campaign waits for workers who will not come, and who could come."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from crowd.hits.models import Assignment, Campaign, DrawnOrder, Reservation
from crowd.platforms.selfhosted import SelfHosted
from crowd.workers.models.requirement import Requirement
from crowd.workers.models.worker import Exclusion, Invitation, Pause, Worker
from crowd.workers.selectors.eligible import first_unseen, with_full_share
from crowd.workers.selectors.requirements import standings_of, unmet
from genie.lib.seeds import generator, seed_from

# Workers who neither joined nor took work for this long count as inactive.
ACTIVE = timedelta(days=30)
# If no HIT is taken for this long, the remaining workers do not seem to come.
QUIET = timedelta(days=1)
LOOKED_AT = 200
HERE = SelfHosted.slug


def is_starved(campaign: Campaign, now: datetime) -> bool:
    """Check whether HITs wait, none is in work, and no active worker may take one.

    All active workers are excluded or paused, lack a requirement that no test can give
    them, or have seen every input that is left. On other platforms the workers are not
    known.
    """
    if campaign.platform != HERE or not _waits(campaign):
        return False
    # Recently seen workers come first, so the first few nearly always decide it.
    return not any(True for _ in _able(campaign, now))


def is_held_by_shares(campaign: Campaign, now: datetime) -> bool:
    """Check whether HITs wait because the willing workers have reached their share.

    No other active worker may take one, or none did for a day.
    """
    full = with_full_share(campaign)
    if not full or not _waits(campaign):
        return False
    taken = Assignment.objects.filter(hit__campaign=campaign)
    if not taken.filter(accepted_at__gt=now - QUIET).exists():
        return True
    if campaign.platform != HERE:
        return False
    held = False
    for worker in _able(campaign, now):
        if worker.pk not in full:
            return False
        held = True
    return held


def n_able(campaign: Campaign, now: datetime, *, enough: int) -> int:
    """Count the active workers who may take one of the waiting HITs, up to `enough`.

    Shares are ignored. Only the `LOOKED_AT` most recently seen workers are checked.
    """
    return sum(1 for _ in islice(_able(campaign, now, LOOKED_AT), enough))


def nobody_else_comes(campaign: Campaign, now: datetime) -> bool:
    """Check whether HITs wait for workers who do not seem to exist.

    No active worker may take one, and either none was taken for a day or the campaign
    has at most twice as many active workers as each of its HITs asks for.
    """
    if not is_starved(campaign, now):
        return False
    taken = Assignment.objects.filter(hit__campaign=campaign)
    if campaign.simulated or not taken.filter(accepted_at__gt=now - QUIET).exists():
        return True
    each = campaign.hits.aggregate(n=Max("max_assignments"))["n"] or 1
    return _counted_on(campaign, now).count() <= 2 * each


def _waits(campaign: Campaign) -> bool:
    at_work = Assignment.objects.filter(
        hit__campaign=campaign, state=Assignment.State.ACCEPTED
    )
    return (
        campaign.state == Campaign.State.RUNNING
        and campaign.hits.filter(n_available__gt=0).exists()
        and not at_work.exists()
    )


def _able(
    campaign: Campaign, now: datetime, looked_at: int | None = None
) -> Iterator[Worker]:
    for worker in _counted_on(campaign, now)[:looked_at].iterator(chunk_size=50):
        found = first_unseen(worker.pk, campaign.pk)
        if found and _may_qualify(worker, campaign, now):
            yield worker


def _may_qualify(worker: Worker, campaign: Campaign, now: datetime) -> bool:
    lacking = unmet(worker, [campaign], now).get(campaign.pk, [])
    names = {row.test_name for row in lacking if row.kind == Requirement.Kind.TEST}
    if len(names) < len(lacking):
        return False
    standings = standings_of(worker, names, now) if names else {}
    return all(name in standings and not standings[name].hopeless for name in names)


def _counted_on(campaign: Campaign, now: datetime) -> QuerySet[Worker]:
    excluded, paused = (
        closed.filter(pool=campaign.pool_id).values_list("worker", flat=True)
        for closed in (Exclusion.objects.all(), Pause.objects.all())
    )
    workers = Worker.objects.filter(platform=campaign.platform, excluded=False)
    workers = workers.exclude(pk__in=excluded).exclude(pk__in=paused)
    # If the campaign is reserved for one worker, other workers are not waited for.
    reserved = Reservation.objects.filter(campaign=campaign, worker__isnull=False)
    if reserved.exists():
        workers = workers.filter(pk__in=reserved.values("worker"))
    links = Invitation.objects.filter(Q(campaign=campaign) | Q(pool=campaign.pool_id))
    if links.exists():
        guests = Worker.objects.filter(
            Q(invited_to__in=links)
            | Q(came_by__in=links)
            | Q(consents__pool=campaign.pool_id)
        )
        workers = workers.filter(pk__in=guests.values("pk"))
    if not campaign.simulated:
        workers = workers.filter(simulated=False)
    with_last_work = workers.annotate(took_at=Max("assignments__accepted_at"))
    return with_last_work.filter(
        Q(took_at__gte=now - ACTIVE) | Q(created_at__gte=now - ACTIVE)
    ).order_by(Coalesce("took_at", "created_at").desc(), "pk")


# The order in which a worker gets the campaigns of a pool that are open together.
#
# If campaigns were completed one after another, each would have different days and
# workers, and a comparison of their systems would compare days and workers. So workers
# get campaigns in rounds: every open campaign has one turn in a round, in a random order
# stored for the worker (`DrawnOrder`). A campaign that opens later joins the next round.

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
        pools.setdefault(campaign.pool_id, []).append(campaign)
    latest = _latest(worker) if any(len(group) > 1 for group in pools.values()) else {}
    return [
        turn
        for pool, group in pools.items()
        for turn in _turns(worker, pool, group, latest.get(pool))
    ]


def _latest(worker: Worker) -> dict[str, DrawnOrder]:
    rounds = DrawnOrder.objects.filter(worker=worker)
    newer = rounds.filter(pool=OuterRef("pool"), number__gt=OuterRef("number"))
    return {order.pool_id: order for order in rounds.filter(~Exists(newer))}


def _turns(
    worker: Worker, pool: str, group: Sequence[Campaign], current: DrawnOrder | None
) -> Iterator[Turn]:
    if len(group) == 1:
        yield Turn(group[0])
        return
    waiting = {campaign.pk: campaign for campaign in group}
    orders = [
        _draw_order(worker, pool, group, 0 if current is None else current.number + 1)
    ]
    if current is not None:
        orders.insert(0, current)
    for order in orders:
        for place in range(order.n_taken, len(order.campaigns)):
            campaign = waiting.pop(order.campaigns[place], None)
            if campaign is not None:
                yield Turn(campaign, order, place)


def _draw_order(
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
        worker=worker, pool_id=pool, number=number, seed=seed, campaigns=drawn
    )

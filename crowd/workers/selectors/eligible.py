"""The work that a worker may get next.

A worker sees an input once, whichever HIT shows it. So the search for work goes through
the inputs, which are few, and not through the HITs, of which there may be a hundred
thousand in a hundred campaigns.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from django.db.models import (
    Case,
    CharField,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Cast, Concat
from django.utils import timezone

from crowd.hits.models import HIT, Assignment, Campaign, Input, Reservation
from crowd.platforms.selfhosted import SelfHosted
from crowd.workers.models.worker import Exclusion, Invitation, Pause, Worker
from crowd.workers.selectors.consent import consented
from crowd.workers.selectors.requirements import unmet
from crowd.workers.selectors.shares import used_up

# How many HITs a worker is offered for the next one, because others may be faster.
CANDIDATES = 8
# With so few inputs left, their HITs are looked up instead of going through campaigns.
FEW = 16
# The first with work is searched among so many campaigns; more than are ever open
# together in one pool.
WINDOW = 50
# The rest is counted up to this, and then shown as "1,000+".
COUNTED = 1_000
# The scope of a campaign's inputs, as in `Campaign.input_scope`.
SCOPE = Case(
    When(
        exposure="campaign",
        then=Concat("pool", Value("#"), Cast("pk", CharField())),
    ),
    default=F("pool"),
)


class _CountRows(Subquery):
    """Count the rows of a subquery, which may be sliced."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS counted)"
    output_field = IntegerField()


def open_campaigns(
    worker: Worker,
    among: Iterable[int] | None = None,
    pools: Collection[str] | None = None,
) -> list[Campaign]:
    """Return the running campaigns that are not closed to the worker, oldest first.

    Those whose link the worker came by are first.
    """
    rows = _in_order(worker, _open(worker, among))
    if pools is not None:
        rows = rows.filter(pool__in=pools)
    # campaigns share their HIT types: each is read once
    return list(rows.prefetch_related("hit_type"))


def open_pools(worker: Worker) -> list[str]:
    """Return the pools of `open_campaigns`, in order, without reading campaigns."""
    rows = _in_order(worker, _open(worker, None))
    return list(dict.fromkeys(rows.values_list("pool", flat=True)))


def _in_order(worker: Worker, campaigns: QuerySet[Campaign]) -> QuerySet[Campaign]:
    link = _links_of(worker).filter(
        Q(campaign=OuterRef("pk")) | Q(pool=OuterRef("pool"))
    )
    return campaigns.order_by(Exists(link).desc(), "starts_at", "pk")


def is_open(worker: Worker, campaign: Campaign, *, newest: int | None = None) -> bool:
    """Check whether a campaign is running and not closed to the worker.

    With `newest`, the key of their last known assignment, also that there is no newer
    one.
    """
    rows = _open(worker, [campaign.pk])
    if newest is not None:
        since = Assignment.objects.filter(worker=worker, pk__gt=newest)
        rows = rows.exclude(Exists(since))
    return rows.exists()


def _open(worker: Worker, among: Iterable[int] | None) -> QuerySet[Campaign]:
    if worker.excluded:
        return Campaign.objects.none()
    running = Campaign.objects.filter(
        state=Campaign.State.RUNNING, platform=worker.platform
    ).exclude(
        Q(pool__in=Exclusion.objects.filter(worker=worker).values("pool"))
        | Q(pool__in=Pause.objects.filter(worker=worker).values("pool"))
    )
    # Reserved for a different worker; one that no worker has begun is open to all.
    others = Reservation.objects.exclude(worker=None).exclude(worker=worker)
    running = running.exclude(pk__in=others.values("campaign"))
    its_campaign, its_pool = _linked(Invitation.objects.all())
    my_campaign, my_pool = _linked(_links_of(worker))
    # Workers who agreed to take part before there was a link keep the study.
    agreed = Q(pool__in=worker.consents.values("pool"))
    invited = my_pool | agreed | Q(pool__in=worker.limited_to)
    by_link = its_pool & Q(platform=SelfHosted.slug)
    running = running.exclude((its_campaign & ~my_campaign) | (by_link & ~invited))
    if worker.limited_to:
        running = running.filter(Q(pool__in=worker.limited_to) | my_campaign | my_pool)
    if among is not None:
        running = running.filter(pk__in=among)
    return running.filter(simulated=True) if worker.simulated else running


def _links_of(worker: Worker) -> QuerySet[Invitation]:
    return Invitation.objects.filter(Q(guests=worker) | Q(workers=worker)).order_by()


def _linked(links: QuerySet[Invitation]) -> tuple[Q, Q]:
    links = links.order_by()
    # A NULL among the values would make SQL's NOT IN true for no row.
    campaigns = links.exclude(campaign=None).values("campaign")
    return Q(pk__in=campaigns), Q(pool__in=links.exclude(pool="").values("pool"))


def campaigns_for(
    worker: Worker, pool: str | None = None, only: Campaign | None = None
) -> list[Campaign]:
    """Return the open campaigns whose work the worker may get: all, or those named.

    The worker has consented to the pool's text, meets the requirements, and has not
    reached their share.
    """
    campaigns = open_campaigns(worker, None if only is None else [only.pk])
    if pool is not None:
        campaigns = [campaign for campaign in campaigns if campaign.pool == pool]
    agreed = consented(worker, {campaign.pool for campaign in campaigns})
    agreeable = [campaign for campaign in campaigns if campaign.pool in agreed]
    lacking = unmet(worker, agreeable, timezone.now())
    closed = lacking.keys() | used_up(worker, agreeable)
    return [campaign for campaign in agreeable if campaign.pk not in closed]


def unseen_hits(worker: Worker, campaign: Campaign | OuterRef) -> QuerySet[HIT]:
    return (
        HIT.objects.filter(campaign=campaign, n_available__gt=0)
        .exclude(_seen(worker, "input"))
        .order_by("position")
    )


def in_turns_with(worker: Worker, campaign: Campaign) -> list[Campaign]:
    """Return the campaigns of which the worker gets HITs in turns, including this one.

    On other platforms, a worker comes for one campaign only.
    """
    if campaign.platform != SelfHosted.slug:
        return [campaign]
    others = campaigns_for(worker, campaign.pool)
    return others if campaign in others else [campaign, *others]


def n_unseen(worker: Worker, campaigns: Sequence[Campaign]) -> int:
    """Count the available inputs that the worker has not seen, up to `COUNTED`.

    Inputs, not HITs: once a worker has one HIT of an input, the others are closed.
    """
    scopes = {campaign.input_scope for campaign in campaigns}
    inputs = _unseen_inputs(worker, campaigns).filter(scope__in=scopes)
    return len(inputs.values("pk")[:COUNTED])


def candidates(
    worker: Worker, campaigns: Sequence[Campaign]
) -> tuple[Campaign, list[int]] | None:
    """Return the first campaign with unseen work, and its first few HITs.

    The campaigns must be in the order in which they hand out work.
    """
    for campaign in _likely(worker, campaigns):
        hits = unseen_hits(worker, campaign).values_list("pk", flat=True)
        if hit_pks := list(hits[:CANDIDATES]):
            return campaign, hit_pks
    return None


def n_unseen_by_kind(
    worker: Worker, campaigns: Sequence[Campaign]
) -> dict[tuple[str, int], tuple[int, bool]]:
    """Count available unseen inputs by scope and HIT type, in one query.

    The value is the number of inputs left in the scope, at most `COUNTED` divided by
    the number of scopes, and whether any is of that HIT type.
    """
    firsts = {(c.input_scope, c.hit_type_id): c.pk for c in campaigns}
    unseen = _unseen_inputs(worker, campaigns).filter(scope=OuterRef("scope"))
    rows = (
        Campaign.objects.filter(pk__in=firsts.values())
        .annotate(scope=SCOPE)
        .annotate(n=_CountRows(unseen.values("pk")[: counted_to(campaigns)]))
    )
    if len(firsts) > len({scope for scope, _ in firsts}):
        of_type = HIT.objects.filter(
            input=OuterRef("pk"),
            n_available__gt=0,
            campaign__in=campaigns,
            campaign__hit_type=OuterRef(OuterRef("hit_type")),
        )
        rows = rows.annotate(some=Exists(unseen.filter(Exists(of_type))))
    else:
        # all that is left in a scope has its one type
        rows = rows.annotate(some=Q(n__gt=0))
    return {
        (scope, hit_type): (n, bool(some))
        for scope, hit_type, n, some in rows.values_list(
            "scope", "hit_type", "n", "some"
        )
    }


def counted_to(campaigns: Sequence[Campaign]) -> int:
    return max(50, COUNTED // len({campaign.input_scope for campaign in campaigns}))


def _likely(worker: Worker, campaigns: Sequence[Campaign]) -> Iterator[Campaign]:
    yield from campaigns[:2]
    later = campaigns[2:]
    scopes = {campaign.input_scope for campaign in later}
    inputs = _unseen_inputs(worker, later).filter(scope__in=scopes).values("pk")
    left = [row["pk"] for row in inputs[: FEW + 1]] if later else []
    if not left:
        return
    if len(left) <= FEW:
        hits = HIT.objects.filter(input__in=left, n_available__gt=0, campaign__in=later)
        having = set(hits.order_by().values_list("campaign", flat=True))
    else:
        having = _having_work(worker, later[:WINDOW])
        # of very many campaigns nearly all of which are used up: any that is not
        having = having or _having_work(worker, later[WINDOW:], at_most=1)
    yield from [campaign for campaign in later if campaign.pk in having][:1]


def _having_work(
    worker: Worker, campaigns: Sequence[Campaign], at_most: int | None = None
) -> set[int]:
    rows = Campaign.objects.filter(pk__in=[campaign.pk for campaign in campaigns])
    rows = rows.filter(Exists(unseen_hits(worker, OuterRef("pk"))))
    return set(rows.order_by("pk").values_list("pk", flat=True)[:at_most])


def _unseen_inputs(worker: Worker, campaigns: Sequence[Campaign]) -> QuerySet[Input]:
    """Return unseen inputs that an open HIT of the campaigns shows.

    Callers filter by scope. For a worker who has seen n inputs, this passes over at
    most n rows before an unseen one, however many HITs show them.
    """
    available = HIT.objects.filter(
        input=OuterRef("pk"), n_available__gt=0, campaign__in=campaigns
    )
    return (
        Input.objects.filter(Exists(available)).exclude(_seen(worker, "pk")).order_by()
    )


def _seen(worker: Worker, field: str) -> Q:
    """Match the inputs that the worker has seen, in any state of the assignment.

    HITs are looked up one by one and not joined: a database that expects few rows can
    read all HITs for a join.
    """
    shown = Assignment.objects.filter(worker=worker).order_by()
    hit = HIT.objects.filter(pk=OuterRef("hit_id")).order_by()
    inputs = shown.annotate(seen=Subquery(hit.values("input")))
    in_pool = shown.annotate(seen=Subquery(hit.values("input__in_pool")))
    closed = Input.closes.through.objects.filter(from_input__in=inputs.values("seen"))
    return (
        Q(**{f"{field}__in": inputs.values("seen")})
        # A NULL among the values would make SQL's NOT IN true for no row.
        | Q(**{f"{field}__in": in_pool.filter(seen__isnull=False).values("seen")})
        | Q(**{f"{field}__in": closed.values("to_input")})
    )

"""The work that a worker may get next.

A worker sees an input once, whichever HIT shows it. So the search for work goes through
the inputs, which are few, and not through the HITs, of which there may be a hundred
thousand in a hundred campaigns.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from django.db.models import (
    Case,
    CharField,
    Count,
    Exists,
    F,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
    prefetch_related_objects,
)
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast, Concat
from django.utils import timezone
from django.utils.translation import get_language, gettext_lazy

from crowd.hit_templates.consent import Consent as Text
from crowd.hit_templates.consent import consents_for
from crowd.hits.models import HIT, Assignment, Campaign, Input, Reservation
from crowd.platforms.selfhosted import SelfHosted
from crowd.workers.models.requirement import Requirement
from crowd.workers.models.worker import Consent, Exclusion, Invitation, Pause, Worker
from crowd.workers.selectors.requirements import unmet
from genie.lib.database import prepare
from genie.lib.serving.caches import computed

# The text for workers who have reached their share.
SHARE_DONE = gettext_lazy(
    "You have done your share of this task. Its scores need many people, so each does "
    "only part of it. Thank you!"
)

State = Assignment.State
# Returned or expired assignments do not count.
TAKEN = (State.ACCEPTED, State.SUBMITTED, State.APPROVED, State.REJECTED)


def left_of_share(worker: Worker, campaigns: Iterable[Campaign]) -> dict[int, int]:
    """Return how many more HITs the worker may do, by campaign with a limit.

    At most one query, however many campaigns.
    """
    limits = {
        campaign.pk: campaign.hits_per_worker
        for campaign in campaigns
        if campaign.hits_per_worker is not None
    }
    if not limits:
        return {}
    taken = dict(_count_taken(worker.pk, *limits))
    # Negative if the limit was lowered meanwhile.
    return {pk: max(0, limit - taken.get(pk, 0)) for pk, limit in limits.items()}


_count_taken = prepare(
    lambda worker, *campaigns: (
        Assignment.objects.filter(
            worker=worker, state__in=TAKEN, hit__campaign__pk__in=campaigns
        )
        .order_by()
        .values_list("hit__campaign")
        .annotate(n=Count("pk"))
    )
)


def used_up(worker: Worker, campaigns: Iterable[Campaign]) -> set[int]:
    left = left_of_share(worker, campaigns)
    return {pk for pk, n in left.items() if n == 0}


def most_left(campaigns: Collection[Campaign], left: Mapping[int, int]) -> int | None:
    """Sum what is left of the shares; None if one of the campaigns has no limit.

    `left` is the result of `left_of_share`.
    """
    shares = [left.get(campaign.pk) for campaign in campaigns]
    limited = [n for n in shares if n is not None]
    return sum(limited) if len(limited) == len(shares) else None


def with_full_share(campaign: Campaign) -> set[int]:
    if campaign.hits_per_worker is None:
        return set()
    rows = (
        Assignment.objects.filter(hit__campaign=campaign, state__in=TAKEN)
        .order_by()
        .values("worker")
        .annotate(n=Count("pk"))
        .filter(n__gte=campaign.hits_per_worker)
    )
    return set(rows.values_list("worker", flat=True))


@dataclass(frozen=True)
class ConsentText:
    pool: str
    html: str
    sha256: str
    language: str


def consent_text(pool: str, language: str | None = None) -> ConsentText:
    """Return the text of a pool: its newest campaign's, its template's, or our own.

    In the given language, by default the page's, or in the task's if there is no
    translation.
    """
    texts = _texts([pool])[pool]
    wanted = language or get_language() or ""
    for one in (wanted, wanted.partition("-")[0], next(iter(texts))):
        if one in texts:
            break
    return ConsentText(pool, texts[one].html, texts[one].sha256, one)


def agreed_text(worker: Worker, pool: str) -> tuple[ConsentText, Consent] | None:
    texts = {text.sha256: text for text in _texts([pool])[pool].values()}
    given = Consent.objects.filter(worker=worker, pool=pool, text_sha256__in=texts)
    if (row := given.first()) is None:
        return None
    return consent_text(pool, texts[row.text_sha256].language), row


def consented_pools(worker: Worker, pools: Collection[str]) -> set[str]:
    """Return the pools to whose present text the worker has consented, in any language."""
    # Programs have nothing to agree to.
    if not pools or worker.simulated:
        return set(pools)
    agreed_texts = set(_read_agreed(worker.pk, *pools))
    return {
        pool
        for pool, texts in _texts(pools).items()
        if any((pool, text.sha256) in agreed_texts for text in texts.values())
    }


def _texts(pools: Collection[str]) -> Mapping[str, Mapping[str, Text]]:
    asked = {pool: (template, form) for pool, template, form in _read_newest(*pools)}
    return {pool: consents_for(*asked.get(pool, (None, {}))) for pool in pools}


_read_agreed = prepare(
    lambda worker, *pools: (
        Consent.objects.filter(worker=worker, pool__slug__in=pools)
        .order_by()
        .values_list("pool", "text_sha256")
    )
)
_read_newest = prepare(
    lambda *pools: Campaign.objects.filter(
        pk__in=Campaign.objects.filter(pool__slug__in=pools)
        .order_by()
        .values("pool")
        .annotate(newest=Max("pk"))
        .values("newest")
    ).values_list("pool", "hit_type__template", "hit_type__form")
)


# How many HITs a worker is offered for the next one, because others may be faster.
CANDIDATES = 8
# With so few inputs left, their HITs are looked up instead of going through campaigns.
FEW = 16
# The first with work is searched among so many campaigns; more than are ever open
# together in one pool.
WINDOW = 50
CONSENT_KEPT_SECONDS = 600
# The rest is counted up to this, and then shown as "1,000+".
COUNTED = 1_000
# The scope of a campaign's inputs, as in `Campaign.input_scope`.
SCOPE = Case(
    When(exposure="campaign", then=Concat("pool", Value("#"), Cast("pk", CharField()))),
    default=F("pool"),
)


class _CountRows(Subquery):
    """Count the rows of a subquery, which may be sliced."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS counted)"
    output_field = IntegerField()


def open_campaigns(
    worker: Worker, only: Campaign | None = None, pools: Collection[str] | None = None
) -> list[Campaign]:
    """Return the running campaigns that are not closed to the worker, oldest first.

    Those whose link the worker came by are first.
    """
    if pools is None:
        rows = _read_open(worker.pk, only.pk if only else None, **_terms(worker))
    else:
        rows = list(_write_open(worker.pk, **_terms(worker)).filter(pool__in=pools))
    # Campaigns share their HIT types: each is read once.
    prefetch_related_objects(rows, "hit_type")
    return rows


def open_pools(worker: Worker) -> list[str]:
    """Return the pools of `open_campaigns`, in order, without reading campaigns."""
    rows = _write_open(worker.pk, **_terms(worker))
    return list(dict.fromkeys(rows.values_list("pool", flat=True)))


def is_open(worker: Worker, campaign: Campaign) -> bool:
    return bool(_read_open(worker.pk, campaign.pk, **_terms(worker)))


def still_open(worker: Worker, campaign: Campaign, newest: int) -> RawSQL:
    """Return the condition of `is_open`, and of no assignment since the `newest`."""
    return _read_open.finds_any(worker.pk, campaign.pk, newest, **_terms(worker))


def _terms(worker: Worker) -> dict[str, Any]:
    return {"limited_to": tuple(worker.limited_to), "simulated": worker.simulated}


def _write_open(
    worker: Any,
    only: Any = None,
    newest: Any = None,
    pool: Any = None,
    *,
    limited_to: tuple[str, ...],
    simulated: bool,
    whole: bool = False,
) -> QuerySet[Campaign]:
    able = Worker.objects.filter(pk=worker, excluded=False)
    running = Campaign.objects.filter(
        Exists(able.filter(platform=OuterRef("platform"))), state=Campaign.State.RUNNING
    ).exclude(
        Q(pool__in=Exclusion.objects.filter(worker=worker).values("pool"))
        | Q(pool__in=Pause.objects.filter(worker=worker).values("pool"))
    )
    # Reserved for a different worker; one that no worker has begun is open to all.
    others = Reservation.objects.exclude(worker=None).exclude(worker=worker)
    running = running.exclude(pk__in=others.values("campaign"))
    its_campaign, its_pool = _match_links(Invitation.objects.all())
    my_campaign, my_pool = _match_links(_links_of(worker))
    # Workers who agreed to take part before there was a link keep the study.
    agreed = Q(pool__in=Consent.objects.filter(worker=worker).values("pool"))
    invited = my_pool | agreed | Q(pool__in=limited_to)
    by_link = its_pool & Q(platform=SelfHosted.slug)
    running = running.exclude((its_campaign & ~my_campaign) | (by_link & ~invited))
    if limited_to:
        running = running.filter(Q(pool__in=limited_to) | my_campaign | my_pool)
    if only is not None:
        running = running.filter(pk=only)
    if pool is not None:
        running = running.filter(pool__pk=pool)
    if whole:
        running = _add_terms(running)
    if newest is not None:
        since = Assignment.objects.filter(worker=worker, pk__gt=newest)
        running = running.exclude(Exists(since))
    if simulated:
        running = running.filter(simulated=True)
    link = _links_of(worker).filter(
        Q(campaign=OuterRef("pk")) | Q(pool=OuterRef("pool"))
    )
    return running.order_by(Exists(link).desc(), "starts_at", "pk")


def _add_terms(running: QuerySet[Campaign]) -> QuerySet[Campaign]:
    of_pool = Campaign.objects.filter(pool=OuterRef("pool")).order_by("-pk")
    asked = Requirement.objects.filter(
        Q(pool=OuterRef("pool")) | Q(campaign=OuterRef("pk"))
    )
    # Most campaigns have neither, and then nothing more is read about them.
    terms: dict[str, Any] = {
        "has_requirements": Exists(asked),
        "is_reserved": Exists(Reservation.objects.filter(campaign=OuterRef("pk"))),
        "newest_of_pool": Subquery(of_pool.values("pk")[:1]),
    }
    return running.select_related("hit_type").annotate(**terms)


_read_open = prepare(_write_open)


def _links_of(worker: Any) -> QuerySet[Invitation]:
    return Invitation.objects.filter(Q(guests=worker) | Q(workers=worker)).order_by()


def _match_links(links: QuerySet[Invitation]) -> tuple[Q, Q]:
    links = links.order_by()
    # A NULL among the values would make SQL's NOT IN true for no row.
    campaigns = links.exclude(campaign=None).values("campaign")
    return Q(pk__in=campaigns), Q(pool__in=links.exclude(pool=None).values("pool"))


def campaigns_for(
    worker: Worker, pool: str | None = None, only: Campaign | None = None
) -> list[Campaign]:
    """Return the open campaigns whose work the worker may get: all, or those named.

    The worker has consented to the pool's text, meets the requirements, and has not
    reached their share.
    """
    terms = _terms(worker)
    campaigns = _read_open(
        worker.pk, only.pk if only else None, None, pool, **terms, whole=True
    )
    agreed = _still_consented(worker, {c.pool_id: c.newest_of_pool for c in campaigns})
    agreeable = [campaign for campaign in campaigns if campaign.pool_id in agreed]
    asking = [campaign for campaign in agreeable if campaign.has_requirements]
    lacking = unmet(worker, asking, timezone.now())
    closed = lacking.keys() | used_up(worker, agreeable)
    return [campaign for campaign in agreeable if campaign.pk not in closed]


def _still_consented(worker: Worker, newest: dict[str, int]) -> set[str]:
    # Consent is never withdrawn, and a pool's text changes only with a new campaign.
    keys = {
        pool: f"consented-{worker.pk}-{crc32(f'{pool} {pk}'.encode())}"
        for pool, pk in newest.items()
    }
    known = computed.get_many(keys.values())
    agreed = {pool for pool, key in keys.items() if key in known}
    if unknown := newest.keys() - agreed:
        found = consented_pools(worker, unknown)
        computed.set_many({keys[pool]: True for pool in found}, CONSENT_KEPT_SECONDS)
        agreed |= found
    return agreed


def unseen_hits(worker: Any, campaign: Any) -> QuerySet[HIT]:
    return (
        HIT.objects.filter(campaign=campaign, n_available__gt=0)
        .exclude(_match_seen(worker, "input"))
        .order_by("position")
    )


first_unseen = prepare(
    lambda worker, campaign: unseen_hits(worker, campaign).values_list("pk", flat=True)[
        :CANDIDATES
    ]
)


def in_turns_with(worker: Worker, campaign: Campaign) -> list[Campaign]:
    """Return the campaigns of which the worker gets HITs in turns, including this one.

    On other platforms, a worker comes for one campaign only.
    """
    if campaign.platform != SelfHosted.slug:
        return [campaign]
    others = campaigns_for(worker, campaign.pool_id)
    return others if campaign in others else [campaign, *others]


def candidates(
    worker: Worker, campaigns: Sequence[Campaign]
) -> tuple[Campaign, list[int]] | None:
    """Return the first campaign with unseen work, and its first few HITs.

    The campaigns must be in the order in which they hand out work.
    """
    for campaign in _likely(worker, campaigns):
        if hit_pks := first_unseen(worker.pk, campaign.pk):
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
    pks = [campaign.pk for campaign in campaigns]
    unseen = _unseen_inputs(worker, pks).filter(scope=OuterRef("scope"))
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
    left = first_unseen_inputs(worker, later, FEW + 1) if later else []
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


def first_unseen_inputs(
    worker: Worker, campaigns: Sequence[Campaign], limit: int = COUNTED
) -> list[int]:
    """Return available inputs that the worker has not seen.

    Inputs, not HITs: once a worker has one HIT of an input, the others are closed.
    """
    pks = [campaign.pk for campaign in campaigns]
    scopes = {campaign.input_scope for campaign in campaigns}
    return _read_unseen_inputs(worker.pk, *pks, *scopes, n=len(pks), limit=limit)


_read_unseen_inputs = prepare(
    lambda worker, *given, n, limit: (
        _unseen_inputs(worker, given[:n])
        .filter(scope__in=given[n:])
        .values_list("pk", flat=True)[:limit]
    )
)


def _unseen_inputs(worker: Any, campaigns: Collection[Any]) -> QuerySet[Input]:
    """Return unseen inputs that an open HIT of the campaigns shows.

    Callers filter by scope. For a worker who has seen n inputs, this passes over at
    most n rows before an unseen one, however many HITs show them.
    """
    available = HIT.objects.filter(
        input=OuterRef("pk"), n_available__gt=0, campaign__pk__in=campaigns
    )
    return (
        Input.objects.filter(Exists(available))
        .exclude(_match_seen(worker, "pk"))
        .order_by()
    )


def _match_seen(worker: Any, field: str) -> Q:
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

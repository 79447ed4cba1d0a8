"""Whether a worker's next HIT is a test question, and when workers are paused.

Registered with `crowd.campaigns.services.claim`, which knows nothing of tests.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Exists, Max, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from crowd.hits.models import HIT, Assignment, Campaign
from crowd.workers.models.worker import Worker
from crowd.workers.selectors.eligible import CANDIDATES, unseen_hits
from crowd.workers.services import exclusions
from genie.lib.database import prepare
from genie.lib.seeds import generator
from genie.lib.serving.caches import computed
from genie.lib.unguessable import seed_for
from quality.bans.selectors import detector_of, named_detector
from quality.bans.services import decided_workers
from quality.detection.models import ALL_EVIDENCE, DetectorFit, Standing
from quality.detection.services.evidence import Record, record_of
from quality.detection.stats.assess import AssessOptions
from quality.detection.stats.schedule import (
    Allowance,
    EarlyStop,
    ScheduleOptions,
    affordable,
    test_probability,
)
from quality.test_questions.models import Polarity, TestQuestion

# Presumed share of careless workers in a pool that has not been assessed yet.
NEW_POOL = AssessOptions.share_careless
# Count a campaign's HITs again after this many were assigned, or this much time.
COUNT_AGAIN, COUNTED_SECONDS = 500, 60
_IS_TEST = Exists(TestQuestion.objects.filter(item__hit=OuterRef("pk")))


def choose(
    worker: Worker, campaign: Campaign, among: Collection[int] = ()
) -> Sequence[int] | None:
    """Return the HITs to try, test questions or real ones first; none for a pause.

    Drawn from the site's secret, so that only the site can predict it, and from the
    number of HITs the worker was given, so that asking again gives the same answer. If
    one sort has run out, the other is returned: all approved items are answered.
    """
    allowance = _affordable(campaign)
    if allowance is None:
        return None
    pool = campaign.pool_id
    record = record_of(worker, pool)
    p_careless, fitted = _p_careless(worker, pool, record)
    # A fit's bans are carried out already; workers who wait for a person are paused.
    if not fitted and _waits(worker, pool, p_careless):
        return []
    # Query both each time, so that the response time does not reveal the choice.
    asked = Counter(polarity for (polarity, _), _ in record.tests)
    rarer = min(Polarity.values, key=asked.__getitem__)
    found_tests = [
        hit
        for first in (True, False)
        for hit in _read_tests(worker.pk, campaign.pk, rarer, *among, first=first)
    ]
    found_real = _read_real(worker.pk, campaign.pk, *among)
    wanted = test_probability(
        record.n_tests, p_careless, allowance, options=ScheduleOptions()
    )
    if _draw(worker, pool, record) < wanted:
        return [*found_tests, *found_real]
    return [*found_real, *found_tests]


def _waits(worker: Worker, pool: str, p_careless: float) -> bool:
    """Check whether the worker is paused; never after people decided about them.

    Genie's detectors pause no worker: only a fit to all evidence ends a pause.
    """
    if p_careless <= settings.GENIE["PAUSE_ABOVE"]:
        return False
    if detector_of(pool) != ALL_EVIDENCE:
        return False
    if worker.pk in decided_workers(pool):
        return False
    exclusions.pause(worker, pool)
    return True


@prepare
def _read_real(worker: Any, campaign: Any, *among: Any) -> QuerySet[HIT, int]:
    rows = unseen_hits(worker, campaign).exclude(_IS_TEST)
    rows = rows.filter(pk__in=among) if among else rows
    return rows.values_list("pk", flat=True)[:CANDIDATES]


@prepare
def _read_tests(
    worker: Any, campaign: Any, rarer: Any, *among: Any, first: bool
) -> QuerySet[TestQuestion, int]:
    # From the test questions: late in a campaign few of very many HITs are tests.
    unseen = unseen_hits(worker, campaign).order_by()
    unseen = unseen.filter(pk__in=among) if among else unseen
    left = TestQuestion.objects.filter(
        Exists(unseen.filter(pk=OuterRef("item__hit"))), campaign=campaign
    ).order_by("pk")
    wanted = Q(polarity=rarer, retired_at=None)
    rows = left.filter(wanted) if first else left.exclude(wanted)
    return rows.values_list("item__hit", flat=True)[:CANDIDATES]


def _p_careless(worker: Worker, pool: str, record: Record) -> tuple[float, bool]:
    """Return the probability that the worker is careless, and whether a fit found it.

    It updates the last fit's with the answers to test questions since.
    """
    standing = next(iter(_read_standing(worker.pk, pool)), None)
    if standing is None:
        known = next(iter(_read_fits(pool)), None) or {}
        presumed = min(known.get("share_careless", NEW_POOL), AssessOptions.innocence)
        return _update_probability(record, presumed, known, 0), False
    if standing.n_questions >= record.n_tests:
        return standing.p_careless, True
    before, known = standing.p_careless, standing.fit.parameters
    return _update_probability(record, before, known, standing.n_questions), False


_read_standing = prepare(
    lambda worker, pool: Standing.objects.filter(
        worker=worker, pool=pool
    ).select_related("fit")
)
_read_fits = prepare(
    lambda pool: DetectorFit.objects.filter(
        pool=pool, polarity="", detector=ALL_EVIDENCE
    ).values_list("parameters", flat=True)[:1]
)


def _update_probability(
    record: Record, before: float, known: Mapping[str, Any], n_seen: int
) -> float:
    counts, rates = record.counts(), known.get("good_accuracy", {})
    good: dict[Hashable, float] = {
        kind: rates[kind[0]] for kind in counts if kind[0] in rates
    }
    early = EarlyStop(before, good, record.counts(n_seen))
    return early.probability(counts, {kind: kind[1] for kind in counts})


def _affordable(campaign: Campaign) -> Allowance | None:
    """Return the allowance that keeps tests at the share that staff approved.

    None if there are no tests. All HITs are counted from time to time; in between only
    the new assignments are added, so that a claim never waits for a sum over the
    campaign.
    """
    key = f"tests-affordable-{campaign.pk}-{campaign.created_at.timestamp()}"
    counted: _Places | None = computed.get(key)
    if counted is not None and not counted.n_tests:
        return None
    since = _read_handed_out(campaign.pk, counted.newest) if counted else []
    if counted is None or len(since) >= COUNT_AGAIN:
        counted, since = _count(campaign), []
        computed.set(key, counted, COUNTED_SECONDS)
    if not counted.n_tests:
        return None
    done = counted.n_done + len(since)
    tests_done = counted.n_tests_done + sum(since)
    planned = max(counted.n_places, 1)
    return affordable(done, tests_done, counted.n_tests / planned, planned=planned)


class _Places(NamedTuple):
    """Places of a campaign's HITs; `newest` is the last taken."""

    newest: int
    n_places: int = 0
    n_done: int = 0
    n_tests: int = 0
    n_tests_done: int = 0


def _count(campaign: Campaign) -> _Places:
    # Before the sums: concurrent assignments are counted twice rather than never.
    newest = Assignment.objects.aggregate(pk=Max("pk"))["pk"] or 0
    if named_detector(campaign.pool_id):
        return _Places(newest)  # a published method leaves HITs in their random order
    hits = HIT.objects.filter(campaign=campaign).order_by()
    asking = (
        TestQuestion.objects.filter(campaign=campaign).order_by().values("item__hit")
    )
    every, tests = (
        rows.aggregate(
            n=Coalesce(Sum("max_assignments"), 0), left=Coalesce(Sum("n_available"), 0)
        )
        for rows in (hits, hits.filter(pk__in=asking))
    )
    return _Places(
        newest,
        every["n"],
        every["n"] - every["left"],
        tests["n"],
        tests["n"] - tests["left"],
    )


# For each of the assignments since one, whether it is a test question.
_read_handed_out = prepare(
    lambda campaign, newest: (
        Assignment.objects.filter(
            Exists(HIT.objects.filter(pk=OuterRef("hit"), campaign=campaign)),
            pk__gt=newest,
        )
        .order_by("pk")
        .values_list(
            Exists(TestQuestion.objects.filter(item__hit=OuterRef("hit"))), flat=True
        )[:COUNT_AGAIN]
    )
)


def _draw(worker: Worker, pool: str, record: Record) -> float:
    seed = seed_for("next HIT", pool, worker.pk, record.n_shown)
    return float(generator(seed).random())

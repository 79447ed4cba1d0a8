"""Whether a worker's next HIT is a test question, and when they get none for now.

Registered with `crowd.campaigns.services.preference`, which knows nothing of tests.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db.models import Case, IntegerField, Q, QuerySet, Sum, Value, When

from crowd.hits.models.campaign import HIT, Campaign
from crowd.workers.models.worker import Worker
from crowd.workers.selectors.eligible import CANDIDATES
from crowd.workers.services import exclusions
from genie.lib.seeds import generator
from genie.lib.unguessable import seed_for
from quality.bans.services.held_exclusions import decided_workers
from quality.detection.models import ALL_EVIDENCE, DetectorFit, Standing
from quality.detection.services.record import Record, record_of
from quality.detection.stats.assess import AssessOptions
from quality.detection.stats.early_stop import EarlyStop
from quality.detection.stats.schedule import (
    ScheduleOptions,
    affordable,
    test_probability,
)
from quality.test_questions.models import Placement, Polarity

# Share of careless workers presumed of a pool that has not been assessed yet.
NEW_POOL = AssessOptions.share_careless
KINDS = (Polarity.POSITIVE.value, Polarity.NEGATIVE.value)


def choose(
    worker: Worker, campaign: Campaign, unseen: QuerySet[HIT]
) -> Sequence[int] | None:
    """Give the HITs to try: test questions first or real ones first; none for a pause.

    Drawn from the site's secret, so that nobody else can tell, and from how many HITs
    the worker was given, so that asking again gives the same. Where one sort has run
    out, the other one is given: what staff approved is answered, no more and no less.
    """
    if not Placement.objects.filter(campaign=campaign).exists():
        return None
    pool = campaign.pool
    record = record_of(worker, pool)
    p_careless, fitted = _p_careless(worker, pool, record)
    # What a fit says is carried out already: whoever waits for a person is paused.
    if not fitted and _waits(worker, pool, p_careless):
        return []
    # Both are looked for each time: how long it takes does not tell which was wanted.
    of_tests = _hits_of(Q(campaign=campaign))
    tests = unseen.filter(of_tests).order_by(_rarer_first(campaign, record), "position")
    found_tests = list(tests.values_list("pk", flat=True)[:CANDIDATES])
    found_real = list(
        unseen.exclude(of_tests).values_list("pk", flat=True)[:CANDIDATES]
    )
    wanted = test_probability(
        record.n_answered,
        record.n_tests,
        p_careless,
        options=ScheduleOptions(scale=_affordable(campaign)),
    )
    if _draw(worker, pool, record) < wanted:
        return [*found_tests, *found_real]
    return [*found_real, *found_tests]


def _waits(worker: Worker, pool: str, p_careless: float) -> bool:
    """Pause who is careless beyond the stated error; not whom people decided about.

    Genie's detectors pause nobody: only a fit to all evidence gives work again.
    """
    if settings.GENIE["DETECTOR"] != ALL_EVIDENCE:
        return False
    if p_careless <= settings.GENIE["PAUSE_ABOVE"]:
        return False
    if worker.pk in decided_workers(pool):
        return False
    exclusions.pause(worker, pool)
    return True


def _hits_of(placements: Q) -> Q:
    return Q(pk__in=Placement.objects.filter(placements).order_by().values("item__hit"))


def _p_careless(worker: Worker, pool: str, record: Record) -> tuple[float, bool]:
    """Give the probability that the worker is careless, and whether a fit says so.

    The last fit's, brought up to date with the answers to test questions since.
    """
    fits = DetectorFit.objects.filter(pool=pool, polarity="", detector=ALL_EVIDENCE)
    known = fits.values_list("parameters", flat=True).first() or {}
    standing = Standing.objects.filter(worker=worker, pool=pool).first()
    good = known.get("good_accuracy")
    if standing is None:
        share = known.get("share_careless", NEW_POOL)
        early = EarlyStop(min(share, AssessOptions.innocence), good)
        return early.probability(record.counts(), KINDS), False
    if standing.n_questions >= record.n_tests:
        return standing.p_careless, True
    seen = record.counts(standing.n_questions)
    early = EarlyStop(standing.p_careless, good, seen)
    return early.probability(record.counts(), KINDS), False


def _rarer_first(campaign: Campaign, record: Record) -> Case:
    """Order test questions so that those of the polarity asked less come first."""
    counts = record.counts()
    asked = {kind: counts.get(kind, (0, 0))[1] for kind in KINDS}
    rarer = min(KINDS, key=lambda kind: asked[kind])
    wanted = Q(campaign=campaign, polarity=rarer, retirement=None)
    return Case(
        When(_hits_of(wanted), then=Value(0)),
        default=Value(1),
        output_field=IntegerField(),
    )


def _affordable(campaign: Campaign) -> float:
    """Keep tests at the share of answers that staff approved, as far as one can tell."""
    places = {
        is_test: (n, n - n_left)
        for is_test, n, n_left in HIT.objects.filter(campaign=campaign)
        .order_by()
        .annotate(is_test=Case(When(_hits_of(Q(campaign=campaign)), then=1), default=0))
        .values_list("is_test")
        .annotate(n=Sum("max_assignments"), n_left=Sum("n_available"))
    }
    (n_tests, tests_done), (n_real, real_done) = (
        places.get(is_test, (0, 0)) for is_test in (1, 0)
    )
    done = tests_done + real_done
    planned = max(n_tests + n_real, 1)
    return affordable(done, tests_done, n_tests / planned, planned=planned)


def _draw(worker: Worker, pool: str, record: Record) -> float:
    seed = seed_for("next HIT", pool, worker.pk, record.n_shown)
    return float(generator(seed).random())

"""Whether a worker's next HIT is a test question, and when they get none for now.

Registered with `crowd.campaigns.services.preference`, which knows nothing of tests.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

from crowd.hits.models.campaign import HIT, Campaign
from crowd.workers.models.worker import Worker
from crowd.workers.selectors.eligible import CANDIDATES
from crowd.workers.services import exclusions
from genie.lib.seeds import generator
from genie.lib.unguessable import seed_for
from quality.bans.services.held_exclusions import decided_workers
from quality.detection.models import Standing
from quality.detection.services.record import Record, record_of
from quality.detection.stats.early_stop import EarlyStop
from quality.detection.stats.schedule import test_probability
from quality.test_questions.models import Placement, Polarity

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
    p_careless = _p_careless(worker, pool, record)
    if _waits(worker, pool, p_careless):
        return []
    # Both are looked for each time: how long it takes does not tell which was wanted.
    of_tests = _hits_of(Q(campaign=campaign))
    tests = unseen.filter(of_tests).order_by(_rarer_first(campaign, record), "position")
    found_tests = list(tests.values_list("pk", flat=True)[:CANDIDATES])
    found_real = list(
        unseen.exclude(of_tests).values_list("pk", flat=True)[:CANDIDATES]
    )
    if _is_test(worker, pool, record, p_careless):
        return [*found_tests, *found_real]
    return [*found_real, *found_tests]


def _waits(worker: Worker, pool: str, p_careless: float) -> bool:
    """Pause who is careless beyond the stated error; not whom people decided about."""
    if p_careless <= settings.GENIE["PAUSE_ABOVE"]:
        return False
    if worker.pk in decided_workers(pool):
        return False
    exclusions.pause(worker, pool)
    return True


def _hits_of(placements: Q) -> Q:
    return Q(pk__in=Placement.objects.filter(placements).order_by().values("item__hit"))


def _p_careless(worker: Worker, pool: str, record: Record) -> float:
    """Take what the last fit says, or the first answers where it has not seen them all."""
    standing = (
        Standing.objects.filter(worker=worker, pool=pool).select_related("fit").first()
    )
    if standing is not None and standing.n_questions >= record.n_tests:
        return standing.p_careless
    early = EarlyStop()
    if standing is not None and "good_accuracy" in standing.fit.parameters:
        known = standing.fit.parameters
        early = EarlyStop(known["share_careless"], known["good_accuracy"])
    return early.probability(record.tests, KINDS)


def _rarer_first(campaign: Campaign, record: Record) -> Case:
    """Order test questions so that those of the polarity asked less come first."""
    asked = {kind: record.tests.get(kind, (0, 0))[1] for kind in KINDS}
    rarer = min(KINDS, key=lambda kind: asked[kind])
    wanted = Q(campaign=campaign, polarity=rarer, retirement=None)
    return Case(
        When(_hits_of(wanted), then=Value(0)),
        default=Value(1),
        output_field=IntegerField(),
    )


def _is_test(worker: Worker, pool: str, record: Record, p_careless: float) -> bool:
    wanted = test_probability(record.n_answered, record.n_tests, p_careless)
    rng = generator(seed_for("next HIT", pool, worker.pk, record.n_shown))
    return bool(rng.random() < wanted)

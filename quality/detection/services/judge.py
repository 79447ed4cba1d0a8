"""Assess workers: fit, verdicts, bans.

By all evidence (`assess_pool`), or by one of Genie's detectors if the site or the pool's
task names one. These use counts of test questions only. Positive and negative ones are fitted
separately, because a worker who always says yes fails only the negative ones. A fit
uses the counts of the whole pool, and the same counts are fitted once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count, Q

from genie.lib.seeds import seed_from
from quality.bans.models import Ban
from quality.bans.selectors import detector_of
from quality.bans.services import carry_out
from quality.detection.models import ALL_EVIDENCE, DetectorFit, Verdict
from quality.detection.services.assess_pool import assess, changed_verdicts, posteriors
from quality.detection.stats.detectors import Detection, detect
from quality.test_questions.models import Grade, Polarity


def judge(
    pool: str,
    *,
    simulated: bool = False,
    noisy_below: Mapping[str, float] | None = None,
    complete: bool = True,
) -> list[Ban]:
    """Fit the pool's evidence; ban careless workers, or those noisy on either polarity.

    For Genie's detectors a worker is noisy who is right on less than `noisy_below` of
    the questions of a polarity (default: the site's setting). If too many would be
    banned, a person decides. Repeating it on the same data does nothing. Programs and
    people are never fitted together. Unless `complete`, a few new answers wait for
    more.
    """
    detector = detector_of(pool)
    if detector == ALL_EVIDENCE:
        return assess(pool, simulated=simulated, complete=complete)
    bans: list[Ban] = []
    for polarity in Polarity.values:
        rate = (noisy_below or {}).get(polarity, settings.GENIE["NOISY_BELOW"])
        counts = counts_of(pool, polarity, simulated=simulated)
        if not counts.workers or _is_known(pool, polarity, detector, counts, rate):
            continue
        # Seeded by the pool and the polarity only: the same counts give the same
        # verdicts everywhere.
        seed = seed_from("detector", pool, polarity)
        detection = detect(
            counts.n_correct,
            counts.n_questions,
            detector=detector,
            threshold_rate=rate,
            threshold_posterior=settings.GENIE["BAN_THRESHOLD"],
            seed=seed,
        )
        fit = DetectorFit(
            pool_id=pool,
            polarity=polarity,
            detector=detector,
            threshold_rate=rate,
            parameters=detection.parameters,
            counts_sha256=counts.sha256,
            n_workers=len(counts.workers),
            seed=seed,
            code_version=settings.VERSION,
        )
        bans += _write(fit, counts, detection, simulated=simulated)
    return bans


def _is_known(
    pool: str, polarity: str, detector: str, counts: Counts, threshold_rate: float
) -> bool:
    return DetectorFit.objects.filter(
        pool=pool,
        polarity=polarity,
        detector=detector,
        threshold_rate=threshold_rate,
        counts_sha256=counts.sha256,
    ).exists()


@transaction.atomic
def _write(
    fit: DetectorFit, counts: Counts, detection: Detection, *, simulated: bool
) -> list[Ban]:
    try:
        # A savepoint: the refused row must not end the outer transaction.
        with transaction.atomic():
            fit.save()
    except IntegrityError:
        return []  # another process stored the same fit
    verdicts = [
        Verdict(
            fit=fit,
            worker_id=worker_id,
            n_questions=counts.n_questions[i],
            n_correct=counts.n_correct[i],
            p_noisy=float(detection.p_noisy[i]),
            threshold=settings.GENIE["BAN_THRESHOLD"],
            noisy=bool(detection.flagged[i]),
        )
        for i, worker_id in enumerate(counts.workers)
    ]
    fit.posteriors = posteriors(verdicts)
    fit.save(update_fields=["posteriors"])
    Verdict.objects.bulk_create(changed_verdicts(fit, verdicts))
    return carry_out(fit, simulated=simulated)


@dataclass(frozen=True)
class Counts:
    """Test questions of one polarity that each worker answered, and answered right."""

    workers: list[int]
    n_correct: list[int]
    n_questions: list[int]

    @property
    def sha256(self) -> str:
        rows = [self.workers, self.n_correct, self.n_questions]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def counts_of(pool: str, polarity: str, *, simulated: bool) -> Counts:
    """Count right and all answers by worker, in the order of the workers' keys."""
    rows = list(
        Grade.objects.filter(pool=pool, polarity=polarity, worker__simulated=simulated)
        .values("worker_id")
        .annotate(n=Count("pk"), right=Count("pk", filter=Q(correct=True)))
        # In one order, so that the same counts have the same hash.
        .order_by("worker_id")
    )
    return Counts(
        workers=[row["worker_id"] for row in rows],
        n_correct=[row["right"] for row in rows],
        n_questions=[row["n"] for row in rows],
    )

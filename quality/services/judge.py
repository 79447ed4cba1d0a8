"""Judge workers by their test questions: fit, verdicts, bans."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q

from crowd.models import Worker
from genie.lib.seeds import seed_from
from quality.models import Ban, DetectorFit, Grade, Verdict
from quality.models.test_question import Polarity
from quality.services.ban import ban
from quality.services.verdicts import changed, posteriors
from quality.stats.detectors import Detection, detect


@dataclass(frozen=True)
class Counts:
    """How many test questions of one polarity each worker answered, and how well."""

    workers: list[int]
    n_correct: list[int]
    n_questions: list[int]

    @property
    def sha256(self) -> str:
        rows = [self.workers, self.n_correct, self.n_questions]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def judge(pool: str, *, simulated: bool = False) -> list[Ban]:
    """Fit both polarities on all that is known of the pool; ban who is noisy on either.

    The same counts are judged once. Answers of programs and of people are never
    fitted together.
    """
    bans: list[Ban] = []
    for polarity in Polarity.values:
        counts = counts_of(pool, polarity, simulated=simulated)
        if not counts.workers or _known(pool, polarity, counts):
            continue
        seed = seed_from("detector", pool, polarity)
        detection = detect(
            counts.n_correct,
            counts.n_questions,
            detector=settings.GENIE["DETECTOR"],
            threshold_posterior=settings.GENIE["BAN_THRESHOLD"],
            seed=seed,
        )
        bans += _write(pool, polarity, counts, detection, seed)
    return bans


def counts_of(pool: str, polarity: str, *, simulated: bool) -> Counts:
    """Count right and wrong answers by worker, in the order of the workers' keys."""
    rows = list(
        Grade.objects.filter(pool=pool, polarity=polarity, worker__simulated=simulated)
        .values("worker_id")
        .annotate(n=Count("pk"), right=Count("pk", filter=Q(correct=True)))
        .order_by("worker_id")
    )
    return Counts(
        workers=[row["worker_id"] for row in rows],
        n_correct=[row["right"] for row in rows],
        n_questions=[row["n"] for row in rows],
    )


def _known(pool: str, polarity: str, counts: Counts) -> bool:
    return DetectorFit.objects.filter(
        pool=pool,
        polarity=polarity,
        detector=settings.GENIE["DETECTOR"],
        counts_sha256=counts.sha256,
    ).exists()


@transaction.atomic
def _write(
    pool: str, polarity: str, counts: Counts, detection: Detection, seed: int
) -> list[Ban]:
    fit, new = DetectorFit.objects.get_or_create(
        pool=pool,
        polarity=polarity,
        detector=settings.GENIE["DETECTOR"],
        counts_sha256=counts.sha256,
        defaults={
            "parameters": detection.parameters,
            "n_workers": len(counts.workers),
            "seed": seed,
            "code_version": settings.VERSION,
        },
    )
    if not new:
        return []
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
    Verdict.objects.bulk_create(changed(fit, verdicts))
    return _ban_noisy(pool, fit)


def _ban_noisy(pool: str, fit: DetectorFit) -> list[Ban]:
    # Whom staff let back in, the detector does not ban a second time by itself.
    spoken_for = set(Ban.objects.filter(pool=pool).values_list("worker_id", flat=True))
    bans = []
    noisy = Verdict.objects.filter(fit=fit, noisy=True)
    # All at once and in order: who bans one of them meanwhile waits with empty hands.
    list(
        Worker.objects.select_for_update(of=("self",))
        .filter(pk__in=noisy.values("worker"))
        .order_by("pk")
    )
    for verdict in noisy.select_related("worker"):
        if verdict.worker_id in spoken_for:
            continue
        bans.append(
            ban(
                verdict.worker,
                pool,
                by=None,
                reason=_reason(verdict, fit),
                verdict=verdict,
            )
        )
    return bans


def _reason(verdict: Verdict, fit: DetectorFit) -> str:
    return (
        f"{verdict.n_correct} of {verdict.n_questions} {fit.polarity.lower()} test "
        f"questions right; probability of being noisy {verdict.p_noisy:.4f}, above "
        f"{verdict.threshold:g} ({fit.detector})."
    )


def evidence(worker: Worker, pool: str) -> dict[str, tuple[int, int]]:
    """Give (right, asked) for each polarity, for staff."""
    rows = (
        Grade.objects.filter(worker=worker, pool=pool)
        .values("polarity")
        .annotate(n=Count("pk"), right=Count("pk", filter=Q(correct=True)))
    )
    return {row["polarity"]: (row["right"], row["n"]) for row in rows}

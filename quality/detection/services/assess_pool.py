"""Assess a pool's workers by all evidence: one fit, verdicts, standings, bans.

Careless workers are banned if the fit is sure and not too many would go at once. A
person decides about the others, who get no more work until then.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from crowd.campaigns.services.run import tell_of_bad_crowd
from crowd.hits.models import Assignment
from crowd.workers.models.worker import Pause
from crowd.workers.services import exclusions
from genie.lib.errors import GenieError
from genie.lib.seeds import seed_from
from genie.lib.typing import Account
from quality.bans.models import Ban
from quality.bans.services import carry_out, decided_workers, waiting_workers
from quality.counts import Floats
from quality.detection.models import ALL_EVIDENCE, DetectorFit, Standing, Verdict
from quality.detection.selectors import last_verdicts
from quality.detection.services.evidence import (
    Evidence,
    evidence_of,
    label_of,
    stamp_of,
)
from quality.detection.stats.assess import (
    LEAST_WORKERS,
    Assessment,
    AssessOptions,
    assess_workers,
    can_tell,
    excluded_by,
)
from quality.detection.stats.schedule import FIT_EVERY
from quality.test_questions.models import Grade, RetiredQuestion, TestQuestion


# Test questions that careful workers fail: retired with a note, restored by staff.
def retire(fit: DetectorFit, test_questions: Sequence[int]) -> int:
    """Retire these questions, except those that staff have restored; return the count.

    Their answers stay, and the next fit leaves them out.
    """
    return sum(
        TestQuestion.objects.filter(pk=pk, retired_at=None).update(
            retired_at=timezone.now(), retired_by_fit=fit, retired_because=_reason(pk)
        )
        for pk in test_questions
    )


def _reason(test_question: int) -> str:
    marks = list(
        Grade.objects.filter(test_question=test_question).values_list(
            "correct", flat=True
        )
    )
    return (
        f"{sum(marks)} of {len(marks)} workers right. Workers who are careful elsewhere "
        "are more often wrong than right on it, so the key is probably wrong."
    )


def restore(pk: int, *, by: Account, reason: str) -> RetiredQuestion:
    """Let a retired question count again, permanently.

    Raises
    ------
    GenieError
        ``reason-missing`` or ``already-decided``.
    """
    if not reason.strip():
        raise GenieError("Give a reason for your decision.", code="reason-missing")
    restored = RetiredQuestion.objects.filter(pk=pk, restored_at=None).update(
        restored_at=timezone.now(), restored_by=by, restored_reason=reason
    )
    question = RetiredQuestion.objects.get(pk=pk)
    if not restored:
        raise GenieError(
            "This test question has already been restored.", code="already-decided"
        )
    return question


# Facts about a worker's answers that staff see beside the evidence.

# Workers with fewer ratings get no such facts.
_LEAST = 10
# A worker who reads rarely reaches this.
_ALIKE, _QUICK = 0.8, 0.4


def facts_beside(
    pool: str, evidence: Evidence, numbers: Collection[int]
) -> dict[int, list[str]]:
    """Describe, by worker number, whether they answer alike or quickly."""
    facts: dict[int, list[str]] = {number: [] for number in numbers}
    seconds = _seconds(pool, [evidence.workers[number] for number in numbers])
    usual = _usual_seconds(pool) if seconds else None
    for number, said in facts.items():
        said += _alike(evidence, number)
        own = seconds.get(evidence.workers[number], [])
        if usual and len(own) >= _LEAST and median(own) < _QUICK * usual:
            said.append(
                f"a median of {median(own):.0f} s a HIT, where others take {usual:.0f} s"
            )
    return facts


def _alike(evidence: Evidence, number: int) -> list[str]:
    if evidence.ratings is None:
        return []
    values = evidence.ratings.value[evidence.ratings.worker == number]
    if len(values) < _LEAST:
        return []
    most = int(np.unique(values, return_counts=True)[1].max())
    if most < _ALIKE * len(values):
        return []
    return [f"{most} of {len(values)} ratings of real items are the same"]


def _seconds(pool: str, workers: Collection[int]) -> dict[int, list[float]]:
    rows = Assignment.objects.filter(
        worker__in=workers, hit__campaign__pool=pool, active_seconds__gt=0
    ).order_by("pk")
    seconds: dict[int, list[float]] = {}
    for worker, own in rows.values_list("worker", "active_seconds"):
        seconds.setdefault(worker, []).append(float(own or 0.0))
    return seconds


def _usual_seconds(pool: str) -> float | None:
    rows = Assignment.objects.filter(hit__campaign__pool=pool, active_seconds__gt=0)
    newest = list(rows.order_by("-pk").values_list("active_seconds", flat=True)[:1_000])
    return median(map(float, filter(None, newest))) if newest else None


# How much each rating counts: the probability that it was given with care, in steps.
#: Weights have steps, so that a score does not change with every answer.
STEP = 0.05
#: Workers whose ratings differ by more are weighted rating by rating, in steps as wide
#: as these, because each step is one more worker to the model of scores.
_TURN, _TURN_STEP = 0.6, 0.25


def rating_weights(worker: npt.ArrayLike, p_rating: npt.ArrayLike) -> Floats:
    """Return the weight of each rating.

    Returns
    -------
    ndarray, shape (n,)
        The same for all ratings of a worker, except workers who seem to have begun with
        care and then stopped: their earlier ratings keep their weight.

    Examples
    --------
    >>> rating_weights([0, 0, 1, 1], [0.02, 0.04, 0.0, 0.9]).tolist()
    [0.95, 0.95, 1.0, 0.0]
    """
    who = np.asarray(worker, dtype=np.int64)
    weight = 1 - np.asarray(p_rating, dtype=np.float64)
    if not len(who):
        return weight
    n = int(who.max()) + 1
    low, high = np.ones(n), np.zeros(n)
    np.minimum.at(low, who, weight)
    np.maximum.at(high, who, weight)
    mean = np.bincount(who, weight, n) / np.maximum(np.bincount(who, minlength=n), 1)
    turned = (high - low > _TURN)[who]
    return np.where(turned, steps(weight, _TURN_STEP), steps(mean, STEP)[who])


def steps(weight: Floats, step: float = STEP) -> Floats:
    """Round to steps.

    Examples
    --------
    >>> steps(np.array([0.96, 0.12])).tolist()
    [0.95, 0.1]
    """
    return np.round(np.round(weight / step) * step, 2)


# In a crowd that disagrees, staff decide about whom the odds are against.
_DOUBTFUL = 0.5
# Ratings alone cause a new fit after this relative growth.
NEW_RATINGS = 0.05
# Other answers cause one after this relative growth. Test questions do not count:
# most are asked of doubtful workers, and a fit that runs when a worker is doubtful
# excludes more people by bad luck.
NEW_ANSWERS = 0.01
# A paused worker waits no longer than this for a new fit.
PATIENCE = timedelta(minutes=30)


def assess(pool: str, *, simulated: bool, complete: bool = True) -> list[Ban]:
    """Fit all evidence of the pool unless that was done; return the new bans.

    Unless `complete`, few new answers, and paused workers, wait for a later fit.
    """
    fits = DetectorFit.objects.filter(pool=pool, polarity="", detector=ALL_EVIDENCE)
    stamp = stamp_of(pool, simulated=simulated)
    last = fits.order_by("-pk").defer("posteriors").first()
    if not stamp[0] or not _says_more(stamp, last):
        _resume(pool)
        return []
    due = complete or _is_due(stamp, last) or _has_waited(pool, simulated=simulated)
    if not due:
        return []
    evidence = evidence_of(pool, simulated=simulated)
    sha256 = _judged_once(pool, evidence)
    if not len(evidence.tests.worker) or fits.filter(counts_sha256=sha256).exists():
        _resume(pool)
        return []
    seed = seed_from("assessment", pool)
    found = assess_workers(
        len(evidence.workers),
        evidence.tests,
        evidence.ratings,
        options=AssessOptions(guesses=evidence.guesses),
        seed=seed,
    )
    fit = DetectorFit(
        pool_id=pool,
        polarity="",
        detector=ALL_EVIDENCE,
        # No rate is compared with it, but it is part of a fit's unique key.
        threshold_rate=0.0,
        parameters={**_parameters(evidence, found), "stamp": stamp},
        counts_sha256=sha256,
        n_workers=len(evidence.workers),
        seed=seed,
        code_version=settings.VERSION,
    )
    return _write(fit, evidence, found, simulated=simulated)


def _judged_once(pool: str, evidence: Evidence) -> str:
    """Return the hash of the evidence, which restored questions change."""
    restored = RetiredQuestion.objects.filter(
        campaign__pool=pool, restored_at__isnull=False
    ).count()
    if not restored:
        return evidence.sha256
    return hashlib.sha256(f"{evidence.sha256} {restored}".encode()).hexdigest()


def _says_more(stamp: list[int], last: DetectorFit | None) -> bool:
    before = last.parameters.get("stamp") if last is not None else None
    if before is None or stamp[:-1] != before[:-1]:
        return True
    return bool(abs(stamp[-1] - before[-1]) > NEW_RATINGS * before[-1])


def _is_due(stamp: list[int], last: DetectorFit | None) -> bool:
    before = last.parameters.get("stamp") if last else [0, 0, stamp[2], 0]
    # a question was retired or restored, or grades were deleted
    if before is None or stamp[2] != before[2] or stamp[0] < before[0]:
        return True
    return bool(stamp[3] - before[3] >= max(FIT_EVERY, NEW_ANSWERS * before[3]))


def _has_waited(pool: str, *, simulated: bool) -> bool:
    """Check whether a worker is paused for long without a person having to decide.

    Simulated workers count at once.
    """
    since = timezone.now() - (timedelta() if simulated else PATIENCE)
    paused = Pause.objects.filter(
        pool=pool, worker__simulated=simulated, created_at__lte=since
    )
    return paused.exclude(worker__in=waiting_workers(pool)).exists()


def _parameters(evidence: Evidence, found: Assessment) -> dict[str, Any]:
    by_kind = dict(zip(evidence.kinds, found.good_accuracy.tolist(), strict=True))
    share, n = found.share_careless, max(len(evidence.workers), 1)
    n_tests = float(np.median(evidence.n_questions))
    return {
        **found.parameters,
        "kinds": evidence.kinds,
        "n_tests": len(evidence.tests.worker),
        "n_ratings": evidence.n_ratings,
        "good_by_kind": by_kind,
        "good_accuracy": _by_polarity(by_kind),
        "share_careless": share.estimate,
        "share_careless_low": share.low,
        "share_careless_high": share.high,
        "can_tell": can_tell(n, n_tests, evidence.n_ratings / n),
        "explained": found.explained.estimate,
        "explained_low": found.explained.low,
        "explained_high": found.explained.high,
    }


def _by_polarity(by_kind: dict[str, float]) -> dict[str, float]:
    groups: dict[str, list[float]] = {}
    for kind, rate in by_kind.items():
        groups.setdefault(kind.partition(":")[0], []).append(rate)
    return {polarity: float(np.mean(rates)) for polarity, rates in groups.items()}


@transaction.atomic
def _write(
    fit: DetectorFit, evidence: Evidence, found: Assessment, *, simulated: bool
) -> list[Ban]:
    try:
        # A savepoint: the refused row must not end the outer transaction.
        with transaction.atomic():
            fit.save()
    except IntegrityError:
        return []  # another process stored the same fit
    retire(fit, sorted({evidence.questions[int(i)][0] for i in found.retired}))
    verdicts = _verdicts(fit, evidence, found)
    # Only those of the newest fit are used.
    DetectorFit.objects.filter(pool=fit.pool_id, polarity="").exclude(pk=fit.pk).update(
        posteriors=[]
    )
    fit.posteriors = [
        [v.worker_id, v.n_correct, v.n_questions, v.p_noisy, v.noisy] for v in verdicts
    ]
    fit.save(update_fields=["posteriors"])
    Verdict.objects.bulk_create(changed_verdicts(fit, verdicts))
    _update_standings(fit, evidence, found)
    for_people = {
        worker
        for worker, surely in zip(evidence.workers, found.surely, strict=True)
        if not surely or found.alarm
    }
    tell_of_bad_crowd(fit.pool_id, found.alarm)
    bans = carry_out(fit, simulated=simulated, for_people=for_people)
    _resume(fit.pool_id)
    return bans


def _verdicts(fit: DetectorFit, evidence: Evidence, found: Assessment) -> list[Verdict]:
    threshold = settings.GENIE["BAN_THRESHOLD"]
    noisy = excluded_by(found.p_careless, threshold)
    if found.alarm:
        # Nothing is published before a person has decided about the most doubtful.
        noisy |= found.p_careless >= min(_DOUBTFUL, found.p_careless.max(initial=0))
    facts = facts_beside(fit.pool_id, evidence, np.flatnonzero(noisy).tolist())
    tested = np.bincount(evidence.tests.worker, minlength=len(evidence.workers))
    right = np.bincount(
        evidence.tests.worker, evidence.tests.correct, len(evidence.workers)
    )
    return [
        Verdict(
            fit=fit,
            worker_id=worker,
            n_questions=int(tested[i]),
            n_correct=int(right[i]),
            p_noisy=float(found.p_careless[i]),
            threshold=threshold,
            noisy=bool(noisy[i]),
            parts=_parts(i, evidence, found, facts.get(i, [])),
        )
        for i, worker in enumerate(evidence.workers)
    ]


def _parts(
    i: int, evidence: Evidence, found: Assessment, facts: Sequence[str]
) -> dict[str, Any]:
    own = evidence.tests.worker == i
    kinds, rights = evidence.tests.kind[own], evidence.tests.correct[own]
    tests: dict[str, list[int]] = {}
    for kind, right in sorted(zip(kinds.tolist(), rights.tolist(), strict=True)):
        count = tests.setdefault(label_of(evidence.kinds[kind]), [0, 0])
        count[0] += right
        count[1] += 1
    return {
        "tests": [[label, *count] for label, count in tests.items()],
        "odds": {name: round(float(odds[i]), 2) for name, odds in found.parts.items()},
        "beside": list(facts),
    }


def _update_standings(fit: DetectorFit, evidence: Evidence, found: Assessment) -> None:
    """Store the assessment of each worker; weights change by whole steps only."""
    before = {
        row.worker_id: row
        for row in Standing.objects.filter(
            pool=fit.pool_id, worker__in=evidence.workers
        )
    }
    tested = evidence.n_questions
    weights = _weights(evidence, found)
    now = timezone.now()
    rows = []
    for i, worker in enumerate(evidence.workers):
        p = float(found.p_careless[i])
        row = before.get(worker) or Standing(
            worker_id=worker, pool_id=fit.pool_id, weighed_at=now
        )
        row.fit, row.n_questions, row.p_careless = fit, int(tested[i]), p
        weight, earlier = weights[i]
        ends = {0.0, 1.0}
        if (
            abs(weight - row.weight) > 1.5 * STEP
            or (weight in ends) != (row.weight in ends)
            or earlier != row.earlier
        ):
            row.weight, row.earlier, row.weighed_at = weight, earlier, now
        rows.append(row)
    Standing.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["pool", "worker"],
        update_fields=[
            *("fit", "n_questions", "p_careless", "weight", "earlier", "weighed_at")
        ],
        batch_size=2_000,
    )


def _weights(
    evidence: Evidence, found: Assessment
) -> list[tuple[float, dict[str, float]]]:
    """Return each worker's weight, and the weights of items that differ from it."""
    weights = [(1.0, dict[str, float]()) for _ in evidence.workers]
    if evidence.ratings is None:
        if len(evidence.workers) >= LEAST_WORKERS:
            return [(float(w), {}) for w in steps(1 - found.p_careless)]
        return weights
    ratings = evidence.ratings
    own = rating_weights(ratings.worker, found.p_rating)
    # They are in the order of answering, so the newest of each worker stays.
    weight_of = dict(zip(ratings.worker.tolist(), own.tolist(), strict=True))
    for worker, weight in weight_of.items():
        weights[worker] = (weight, {})
    for worker, item, weight in zip(
        ratings.worker.tolist(), evidence.rated_items, own.tolist(), strict=True
    ):
        if weight != weight_of[worker]:
            weights[worker][1][str(item)] = weight
    return weights


def _resume(pool: str) -> None:
    exclusions.resume(pool, but=waiting_workers(pool))


# A smaller change of the probability since the stored verdict is ignored.
TOLERANCE = 0.01


def posteriors(verdicts: Iterable[Verdict]) -> list[list[float | int | bool]]:
    outcome_of = {(v.n_correct, v.n_questions): (v.p_noisy, v.noisy) for v in verdicts}
    return [[*counts, *outcome] for counts, outcome in sorted(outcome_of.items())]


def changed_verdicts(fit: DetectorFit, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts to store.

    These are the ones of workers with other counts, another outcome, threshold or
    probability than in their last stored verdict, and of undecided noisy workers. At
    least one is stored: `verdicts_of` needs it to know a fit's workers.
    """
    last = last_verdicts(fit)
    decided = decided_workers(fit.pool_id)
    new = [
        verdict
        for verdict in verdicts
        if (verdict.noisy and verdict.worker_id not in decided)
        or verdict.worker_id not in last
        or _differ(verdict, last[verdict.worker_id])
    ]
    return new or list(verdicts[:1])


def _differ(new: Verdict, old: Verdict) -> bool:
    same = ("n_correct", "n_questions", "noisy", "threshold")
    return (
        any(getattr(new, name) != getattr(old, name) for name in same)
        or abs(new.p_noisy - old.p_noisy) > TOLERANCE
    )

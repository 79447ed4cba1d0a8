"""Verdicts of the noisy-worker model on each worker."""

from django.db.models import Max

from quality.detection.models import ALL_EVIDENCE, DetectorFit, Verdict

# Limits of what answers tell about workers, for the approval page, boards and Methods.
TOO_SMALL = (
    "Too few workers, or answers of each, to tell careful workers from careless ones: "
    "no worker is excluded without a person's decision, unless they clearly fail test "
    "questions."
)
LIMIT = "Ratings alone cannot expose a program that rates like a weak rater."


def limits_of(pool: str) -> list[str]:
    """Return the limits of the pool's newest fit; empty without one."""
    fits = DetectorFit.objects.filter(pool=pool, polarity="", detector=ALL_EVIDENCE)
    told = fits.order_by("-pk").values_list("parameters__can_tell", flat=True).first()
    if told is None:
        return []
    return [LIMIT] if told else [LIMIT, TOO_SMALL]


def last_verdicts(fit: DetectorFit) -> dict[int, Verdict]:
    """Return each worker's last stored verdict up to a fit, by the same detector."""
    newest = (
        Verdict.objects.filter(
            fit__pool=fit.pool_id,
            fit__polarity=fit.polarity,
            fit__detector=fit.detector,
            fit__lte=fit.pk,
        )
        .order_by()
        .values("worker")
        .annotate(newest=Max("pk"))
        .values("newest")
    )
    return {row.worker_id: row for row in Verdict.objects.filter(pk__in=newest)}


def verdicts_of(fit: DetectorFit) -> list[Verdict]:
    """Return a fit's verdict on every worker that it was fitted to, by worker.

    Workers without a new verdict have the counts of their last one.
    """
    kept = list(Verdict.objects.filter(fit=fit).order_by("worker"))
    if not fit.posteriors or not kept:
        return kept
    if not fit.polarity:
        return _of_each(fit, kept[0].threshold)
    outcome_of = {(k, n): (p, noisy) for k, n, p, noisy in fit.posteriors}
    rows = Verdict.objects.filter(
        pk__in=[row.pk for row in last_verdicts(fit).values()],
        worker__simulated=kept[0].worker.simulated,
    )
    verdicts = [
        row
        for row in rows.order_by("worker")
        if (row.n_correct, row.n_questions) in outcome_of
    ]
    for verdict in verdicts:
        verdict.fit, verdict.threshold = fit, kept[0].threshold
        verdict.p_noisy, verdict.noisy = outcome_of[
            verdict.n_correct, verdict.n_questions
        ]
    return verdicts


def _of_each(fit: DetectorFit, threshold: float) -> list[Verdict]:
    """Return the verdicts of the newest fit to all evidence: one for each worker."""
    last = last_verdicts(fit)
    verdicts = []
    for worker, n_correct, n_questions, p_noisy, noisy in fit.posteriors:
        verdict = last[worker]
        verdict.fit, verdict.threshold = fit, threshold
        verdict.n_correct, verdict.n_questions = n_correct, n_questions
        verdict.p_noisy, verdict.noisy = p_noisy, noisy
        verdicts.append(verdict)
    return verdicts

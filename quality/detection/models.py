"""Fits of the detector and their verdicts on workers.

A fit stores everything needed to repeat it. A verdict is stored if it differs from the
worker's last one.
"""

from collections.abc import Mapping
from typing import Any

from django.db import models

from quality.test_questions.models import Polarity

# Plain sentences about the evidence of a verdict.

# The subject of each part of the evidence, and its sentence if it counts against a
# worker.
_ABOUT = {
    "tests": "test questions",
    "ratings": "ratings of real items",
    "habits": "use of the scale, time, sequence and company (for weights only)",
}
#: Evidence weaker than this (log-odds, either way) is ignored.
_SILENT = 0.7
_STRONG = 3.0


def describe_suspicion(
    parts: Mapping[str, Any], p_careless: float, threshold: float
) -> str:
    """Describe how probable it is that a worker is careless, and why.

    Parameters
    ----------
    parts : mapping
        `tests`: label, right and asked of each kind of question; `odds`: log-odds by
        kind of evidence; `beside`: facts that are shown and not counted.
    """
    above = "above" if p_careless > threshold else "not above"
    sentences = [
        f"Probability of being careless {p_careless:.4f}, {above} {threshold:g}."
    ]
    tests = [
        f"{right} of {asked} {label}" for label, right, asked in parts.get("tests", ())
    ]
    if tests:
        sentences.append(f"Test questions right: {', '.join(tests)}.")
    sentences += [
        f"{_strength(odds)} {_ABOUT.get(name, name)}."
        for name, odds in parts.get("odds", {}).items()
        if abs(odds) > _SILENT
    ]
    sentences += [f"Shown, not counted: {fact}." for fact in parts.get("beside", ())]
    return " ".join(sentences)


def _strength(odds: float) -> str:
    direction = "Against the worker" if odds > 0 else "In the worker's favor"
    return f"{direction}, {'strongly' if abs(odds) > _STRONG else 'somewhat'}:"


#: The detector that also uses real items: quality.detection.stats.assess.
ALL_EVIDENCE = "all-evidence"


# Parameters of a fit to all evidence that reveal nothing about its questions.
_PUBLIC = (
    *("options", "n_tests", "n_ratings", "good_accuracy"),
    *("share_careless", "share_careless_low", "share_careless_high"),
    *("explained", "explained_low", "explained_high"),
)


class DetectorFit(models.Model):
    """One fit of the noisy-worker model, with everything needed to repeat it."""

    pool = models.ForeignKey("crowd.Pool", on_delete=models.PROTECT)
    # empty: fitted to questions of both polarities and to ratings of real items
    polarity = models.CharField(max_length=8, choices=Polarity.choices, blank=True)
    detector = models.CharField(max_length=50)
    parameters = models.JSONField(default=dict)
    # noisy: right on less than this share of the test questions
    threshold_rate = models.FloatField(default=0.9)
    # hash of the sorted (correct, n) pairs that the model was fitted to
    counts_sha256 = models.CharField(max_length=64)
    n_workers = models.PositiveIntegerField()
    # [n_correct, n_questions, P(noisy), noisy] of every pair of counts among the
    # workers
    posteriors = models.JSONField(default=list)
    seed = models.BigIntegerField()
    code_version = models.CharField(max_length=50)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "pool",
                    "polarity",
                    "detector",
                    "threshold_rate",
                    "counts_sha256",
                ],
                name="fit_once_per_data",
            )
        ]

    def __str__(self) -> str:
        polarity = self.polarity.lower() or "all evidence"
        return f"{self.detector} on {self.pool}, {polarity}"

    @property
    def public_parameters(self) -> dict[str, Any]:
        """Return the parameters that may be published while questions are in use."""
        if self.polarity:
            return dict(self.parameters)
        known = self.parameters
        return {name: known[name] for name in _PUBLIC if name in known}


class Verdict(models.Model):
    """A fit's finding about one worker, stored if it differs from the one before.

    Workers with the same counts have the same verdict, so any worker's verdict can be
    looked up, see `DetectorFit.posteriors`.
    """

    fit = models.ForeignKey(
        DetectorFit, on_delete=models.CASCADE, related_name="verdicts"
    )
    worker = models.ForeignKey(
        "crowd.Worker", on_delete=models.CASCADE, related_name="verdicts"
    )
    n_questions = models.PositiveIntegerField()
    n_correct = models.PositiveIntegerField()
    p_noisy = models.FloatField()
    threshold = models.FloatField()
    noisy = models.BooleanField()
    # the evidence of a fit to all of it, see `quality.detection.selectors`
    parts = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["fit", "worker"], name="verdict_once")
        ]

    def __str__(self) -> str:
        return f"{self.worker}: P(noisy) = {self.p_noisy:.3f}"

    @property
    def sentence(self) -> str:
        if not self.fit.polarity:
            return describe_suspicion(self.parts, self.p_noisy, self.threshold)
        return (
            f"{self.n_correct} of {self.n_questions} {self.fit.polarity.lower()} test "
            f"questions right; probability of being noisy {self.p_noisy:.4f}, above "
            f"{self.threshold:g} ({self.fit.detector}, noisy below "
            f"{100 * self.fit.threshold_rate:g}% right)."
        )


class Standing(models.Model):
    """The current assessment of a worker of a pool: one row each, updated in place."""

    worker = models.ForeignKey(
        "crowd.Worker", on_delete=models.CASCADE, related_name="standings"
    )
    pool = models.ForeignKey("crowd.Pool", on_delete=models.PROTECT)
    # the last fit
    fit = models.ForeignKey(DetectorFit, on_delete=models.CASCADE, related_name="+")
    # test questions in that fit
    n_questions = models.PositiveIntegerField()
    p_careless = models.FloatField()
    # weight of the worker's ratings, 0 to 1, unless a person has decided
    weight = models.FloatField(default=1.0)
    # item -> weight of ratings given before the worker seems to have stopped reading
    earlier = models.JSONField(default=dict, blank=True)
    weighed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["pool", "worker"], name="standing_once")
        ]

    def __str__(self) -> str:
        return f"{self.worker} · {self.pool}: {self.weight:g}"

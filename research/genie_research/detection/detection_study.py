"""Genie's simulation study: precision and recall of detectors of noisy workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from genie_research.files import without_nan
from quality.counts import Floats, Ints
from quality.detection.stats.detectors import (
    DETECTORS,
    FittedDetector,
    fit_detector,
    flag,
    with_fit,
)
from quality.detection.stats.mixture import Fit, fit

#: Workers are grouped by the number of test questions they answered: [low, high).
BUCKETS: tuple[tuple[int, int], ...] = ((1, 5), (5, 15), (15, 10**9 + 1))
BUCKET_NAMES: tuple[str, ...] = ("1-4", "5-14", "15+")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Cell:
    """One detector on one bucket, pooled over the rounds.

    Attributes
    ----------
    precision, recall : float
        Shares 0 to 1; NaN if no worker was flagged or noisy.
    precision_interval, recall_interval : tuple of float
        95% percentile bootstrap over whole rounds, because workers of one round share
        its noisy workers' accuracy.
    n_noisy, n_flagged : int
        The denominators.
    """

    precision: float
    recall: float
    precision_interval: tuple[float, float]
    recall_interval: tuple[float, float]
    n_noisy: int
    n_flagged: int


@dataclass(frozen=True)
class DetectionStudy:
    """Counts of right and wrong flags in every round.

    Attributes
    ----------
    detectors : tuple of str
        Slugs, in the order of the second axis.
    n_noisy : ndarray of int64, shape (n_rounds, n_buckets)
        Noisy workers.
    n_right, n_wrong : ndarray of int64, shape (n_rounds, n_detectors, n_buckets)
        Flagged workers who were noisy, and who were not.
    parameters : dict
        Seed, thresholds and question counts, which reproduce the study.
    """

    detectors: tuple[str, ...]
    n_noisy: Ints
    n_right: Ints
    n_wrong: Ints
    parameters: dict[str, Any]

    @property
    def n_rounds(self) -> int:
        return len(self.n_noisy)

    def first(self, n_rounds: int) -> DetectionStudy:
        """Return the study of the first rounds, as if it had stopped there."""
        if not 1 <= n_rounds <= self.n_rounds:
            raise ValueError(f"The study has {self.n_rounds} rounds, not {n_rounds}.")
        return replace(
            self,
            n_noisy=self.n_noisy[:n_rounds],
            n_right=self.n_right[:n_rounds],
            n_wrong=self.n_wrong[:n_rounds],
        )

    def cell(self, detector: str, bucket: int, *, n_resamples: int = 1_000) -> Cell:
        """Return one detector's precision and recall; `bucket` indexes BUCKET_NAMES."""
        if detector not in self.detectors:
            raise ValueError(f"The detector {detector!r} was not in this study.")
        row = self.detectors.index(detector)
        right = self.n_right[:, row, bucket]
        flagged = right + self.n_wrong[:, row, bucket]
        noisy = self.n_noisy[:, bucket]
        rng = np.random.default_rng(self.parameters["seed"])
        # How often each round is drawn: rounds are independent of each other, their
        # workers are not.
        drawn = rng.multinomial(
            self.n_rounds, np.full(self.n_rounds, 1 / self.n_rounds), n_resamples
        )
        return Cell(
            precision=float(_share(right.sum(), flagged.sum())),
            recall=float(_share(right.sum(), noisy.sum())),
            precision_interval=_interval(_share(drawn @ right, drawn @ flagged)),
            recall_interval=_interval(_share(drawn @ right, drawn @ noisy)),
            n_noisy=int(noisy.sum()),
            n_flagged=int(flagged.sum()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serializable form: one entry per detector and bucket."""
        cells = [
            {"detector": slug, "bucket": name}
            | without_nan(vars(self.cell(slug, bucket)))
            for slug in self.detectors
            for bucket, name in enumerate(BUCKET_NAMES)
        ]
        return {
            "n_rounds": self.n_rounds,
            "parameters": self.parameters,
            "cells": cells,
        }


def _share(part: npt.ArrayLike, whole: npt.ArrayLike) -> Floats:
    top, bottom = np.asarray(part, dtype=float), np.asarray(whole, dtype=float)
    with np.errstate(invalid="ignore"):
        share: Floats = np.where(bottom > 0, top / np.maximum(bottom, 1), np.nan)
    return share


def _interval(shares: Floats) -> tuple[float, float]:
    known = shares[~np.isnan(shares)]
    if not known.size:
        return (float("nan"), float("nan"))
    low, high = np.quantile(known, [0.025, 0.975])
    return (float(low), float(high))


def simulate_round(
    n: npt.ArrayLike, rng: np.random.Generator
) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Draw one round of annotation by Genie's appendix B.2.

    Returns
    -------
    tuple of ndarray, shape (n_workers,)
        Right answers, and who is noisy.

    References
    ----------
    D. Khashabi et al., "Genie" (EMNLP 2022), appendix B.2: share of noisy workers
    uniform on [.01, .1]; their rates beta with mean uniform on [0, .5] and
    concentration uniform on [5, 50]; the others' with mean uniform on [.95, 1] and
    concentration uniform on [100, 1000].
    """
    n_questions = np.asarray(n, dtype=np.int64)
    noisy = rng.random(n_questions.size) < rng.uniform(0.01, 0.10)
    low = _beta(rng, rng.uniform(0.0, 0.5), rng.uniform(5, 50), n_questions.size)
    high = _beta(rng, rng.uniform(0.95, 1.0), rng.uniform(100, 1_000), n_questions.size)
    return rng.binomial(n_questions, np.where(noisy, low, high)), noisy


def _beta(
    rng: np.random.Generator, mean: float, concentration: float, size: int
) -> Floats:
    # A beta distribution has no parameter of 0.
    inside = min(max(mean, 1e-12), 1 - 1e-12)
    return rng.beta(inside * concentration, (1 - inside) * concentration, size)


def simulate_detection(
    n: npt.ArrayLike,
    *,
    n_rounds: int = 25,
    seed: int = 0,
    detectors: Sequence[str] = tuple(DETECTORS),
    threshold_rate: float = 0.9,
    threshold_posterior: float = 0.99,
    progress: Progress | None = None,
) -> DetectionStudy:
    """Simulate rounds of annotation and count right and wrong flags.

    Parameters
    ----------
    n : array_like of int, shape (n_workers,)
        Test questions each worker answers, >= 1.
    n_rounds : int, default 25
        Rounds; round i is the same for any number of rounds.
    detectors : sequence of str
        Slugs of :data:`~quality.detection.stats.detectors.DETECTORS`.
    threshold_rate, threshold_posterior : float
        As in :func:`~quality.detection.stats.detectors.detect`.
    progress : callable, optional
        Called with (rounds done, rounds) after each round.

    References
    ----------
    D. Khashabi et al., "Genie" (EMNLP 2022), section 5, table 1 and appendix B.2.
    """
    n_questions = np.asarray(n, dtype=np.int64)
    if (
        n_questions.size == 0
        or n_rounds < 1
        or not detectors
        or (n_questions < 1).any()
    ):
        raise ValueError(
            "A study needs workers with at least one question, a round and a detector."
        )
    for slug in detectors:
        fit_detector([], [], detector=slug, threshold_rate=threshold_rate)
    buckets = np.stack(
        [(n_questions >= low) & (n_questions < high) for low, high in BUCKETS]
    )
    n_noisy = np.zeros((n_rounds, len(BUCKETS)), dtype=np.int64)
    n_right = np.zeros((n_rounds, len(detectors), len(BUCKETS)), dtype=np.int64)
    n_wrong = np.zeros_like(n_right)
    # A child seed for each round: round i is the same for any number of rounds.
    for index, child in enumerate(np.random.SeedSequence(seed).spawn(n_rounds)):
        right, noisy = simulate_round(n_questions, np.random.default_rng(child))
        n_noisy[index] = buckets @ noisy.astype(np.int64)
        judged = _judge(right, n_questions, detectors, threshold_rate, seed + index)
        for row, p_noisy in enumerate(judged):
            flagged = flag(p_noisy, threshold_posterior)
            n_right[index, row] = buckets @ (flagged & noisy).astype(np.int64)
            n_wrong[index, row] = buckets @ (flagged & ~noisy).astype(np.int64)
        if progress is not None:
            progress(index + 1, n_rounds)
    parameters = {
        "seed": seed,
        "threshold_rate": threshold_rate,
        "threshold_posterior": threshold_posterior,
        "detectors": list(detectors),
        "n_questions": n_questions.tolist(),
    }
    return DetectionStudy(tuple(detectors), n_noisy, n_right, n_wrong, parameters)


def _judge(
    right: Ints,
    n_questions: Ints,
    detectors: Sequence[str],
    threshold_rate: float,
    seed: int,
) -> list[Floats]:
    fits: dict[int, Fit] = {}
    # Workers with the same counts have the same posterior.
    rows, row_of = np.unique(
        np.stack([right, n_questions]), axis=1, return_inverse=True
    )
    judged = []
    for slug in detectors:
        spec = DETECTORS[slug]
        fitted: FittedDetector
        if spec.prior is not None:
            fitted = FittedDetector(spec, spec.prior, threshold_rate)
        else:
            k = spec.n_components
            if k not in fits:
                fits[k] = fit(right, n_questions, k=k, seed=seed)
            fitted = with_fit(fits[k], detector=slug, threshold_rate=threshold_rate)
        judged.append(fitted.p_noisy(rows[0], rows[1])[row_of])
    return judged

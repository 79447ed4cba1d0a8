"""Genie's simulation study: precision and recall of detectors of noisy workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quality.counts import Floats, Ints
from quality.detection.stats.detectors import (
    DETECTORS,
    FittedDetector,
    flag,
    with_fit,
)
from quality.detection.stats.mixture import Fit, fit

#: Workers are grouped by the number of test questions they answered: [low, high).
BUCKETS: tuple[tuple[int, int], ...] = ((1, 5), (5, 15), (15, 10**9 + 1))
BUCKET_NAMES: tuple[str, ...] = ("1-4", "5-14", "15+")


@dataclass(frozen=True)
class Cell:
    """One detector on one bucket, pooled over the rounds; NaN without such workers."""

    precision: float
    recall: float


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
    """

    detectors: tuple[str, ...]
    n_noisy: Ints
    n_right: Ints
    n_wrong: Ints

    @property
    def n_rounds(self) -> int:
        return len(self.n_noisy)

    def cell(self, detector: str, bucket: int) -> Cell:
        """Return one detector's precision and recall; `bucket` indexes BUCKET_NAMES."""
        row = self.detectors.index(detector)
        right = self.n_right[:, row, bucket].sum()
        flagged = right + self.n_wrong[:, row, bucket].sum()
        noisy = self.n_noisy[:, bucket].sum()
        return Cell(_share(right, flagged), _share(right, noisy))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


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

    References
    ----------
    D. Khashabi et al., "Genie" (EMNLP 2022), section 5, table 1 and appendix B.2.
    """
    n_questions = np.asarray(n, dtype=np.int64)
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
        judged = _judge(right, n_questions, detectors, seed + index)
        for row, p_noisy in enumerate(judged):
            flagged = flag(p_noisy, 0.99)
            n_right[index, row] = buckets @ (flagged & noisy).astype(np.int64)
            n_wrong[index, row] = buckets @ (flagged & ~noisy).astype(np.int64)
    return DetectionStudy(tuple(detectors), n_noisy, n_right, n_wrong)


def _judge(
    right: Ints,
    n_questions: Ints,
    detectors: Sequence[str],
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
            fitted = FittedDetector(spec, spec.prior, 0.9)
        else:
            k = spec.n_components
            if k not in fits:
                fits[k] = fit(right, n_questions, k=k, seed=seed)
            fitted = with_fit(fits[k], detector=slug, threshold_rate=0.9)
        judged.append(fitted.p_noisy(rows[0], rows[1])[row_of])
    return judged

"""How many honest workers a detector excludes where the key is hard, and with the brake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quality.bans.exclusion_limit import most_excluded
from quality.counts import Ints
from quality.detection.stats.detectors import DEFAULT_DETECTOR, detect
from quality.detection.stats.fitted_detector import Bools

#: Shares of the key that honest workers agree with.
ACCURACIES = (0.95, 0.86, 0.75, 0.62)
#: Test questions that the median worker has answered.
MEDIANS = (2, 8, 30)
#: Workers agree with the key to different degrees: beta with this concentration.
CONCENTRATION = 50.0
#: Log-scale spread of the numbers of questions: a few workers do most.
SPREAD = 1.0


@dataclass(frozen=True)
class HonestCell:
    """One accuracy and median number of test questions.

    Attributes
    ----------
    accuracy, median : float
        What was simulated.
    without_brake, with_brake : float
        Shares of the workers, all of them honest, that are excluded by the detector.
    held : float
        Share of the rounds in which exclusions waited for a person.
    """

    accuracy: float
    median: float
    without_brake: float
    with_brake: float
    held: float


def honest_study(
    *,
    n_workers: int = 60,
    n_rounds: int = 20,
    n_looks: int = 4,
    seed: int = 0,
    detector: str = DEFAULT_DETECTOR,
    threshold_rate: float = 0.9,
    threshold_posterior: float = 0.99,
    share: float = 0.2,
    accuracies: Sequence[float] = ACCURACIES,
    medians: Sequence[float] = MEDIANS,
) -> list[HonestCell]:
    """Simulate pools in which everybody is honest, and judge them as answers come in.

    Parameters
    ----------
    n_workers, n_rounds : int
        Workers of a pool, and pools.
    n_looks : int, default 4
        How often the pool is judged, after equal parts of the answers. Who was
        excluded stays so.
    seed : int, default 0
        Seed of the answers.
    detector, threshold_rate, threshold_posterior
        As in :func:`quality.detection.stats.detectors.detect`.
    share : float, default 0.2
        As in :func:`quality.bans.exclusion_limit.most_excluded`.
    accuracies, medians : sequence of float
        One cell for each combination.

    Returns
    -------
    list of HonestCell
        In the order of accuracies, then medians.

    Examples
    --------
    >>> [cell] = honest_study(n_rounds=1, accuracies=[0.62], medians=[30])
    >>> cell.without_brake > 0.5, cell.with_brake <= 0.2
    (True, True)
    """
    rng = np.random.default_rng(seed)
    cells = []
    for accuracy in accuracies:
        for median in medians:
            free, braked, n_held = [], [], 0
            for _ in range(n_rounds):
                flags = [
                    detect(
                        right,
                        n_questions,
                        detector=detector,
                        threshold_rate=threshold_rate,
                        threshold_posterior=threshold_posterior,
                        seed=seed,
                    ).flagged
                    for right, n_questions in _looks(
                        rng, n_workers, n_looks, accuracy, median
                    )
                ]
                free.append(np.any(flags, axis=0).mean())
                excluded, held = _braked(flags, most_excluded(n_workers, share))
                braked.append(excluded / n_workers)
                n_held += held
            cells.append(
                HonestCell(
                    accuracy,
                    median,
                    float(np.mean(free)),
                    float(np.mean(braked)),
                    n_held / n_rounds,
                )
            )
    return cells


def _looks(
    rng: np.random.Generator,
    n_workers: int,
    n_looks: int,
    accuracy: float,
    median: float,
) -> list[tuple[Ints, Ints]]:
    """Give right answers and questions so far of each worker, look by look."""
    counts = np.exp(rng.normal(np.log(median), SPREAD, n_workers)).round()
    n_questions = np.clip(counts, 1, 500).astype(np.int64)
    rates = rng.beta(
        CONCENTRATION * accuracy, CONCENTRATION * (1 - accuracy), n_workers
    )
    last = np.zeros(n_workers, dtype=np.int64)
    right = np.zeros(n_workers, dtype=np.int64)
    looks = []
    for look in range(1, n_looks + 1):
        until = np.maximum(n_questions * look // n_looks, 1)
        right = right + rng.binomial(until - last, rates)
        last = until
        looks.append((right, until))
    return looks


def _braked(flags: Sequence[Bools], most: int) -> tuple[int, bool]:
    """Count who is excluded without a person, and tell whether anybody was held."""
    excluded = np.zeros(len(flags[0]), dtype=bool)
    held = False
    for flagged in flags:
        if (excluded | flagged).sum() <= most:
            excluded |= flagged
        else:
            held = True
    return int(excluded.sum()), held


def honest_table(cells: Sequence[HonestCell]) -> str:
    """Write the cells as lines of text, in percent.

    Examples
    --------
    >>> print(honest_table([HonestCell(0.75, 8, 0.31, 0.02, 0.9)]))
    honest workers excluded, percent
    agree with gold     median tests  without limit  with limit  pools held
    75                  8             31.0           2.0         90
    """
    lines = [
        "honest workers excluded, percent",
        "agree with gold     median tests  without limit  with limit  pools held",
    ]
    lines += [
        f"{100 * cell.accuracy:<20.0f}{cell.median:<14g}{100 * cell.without_brake:<15.1f}"
        f"{100 * cell.with_brake:<12.1f}{100 * cell.held:.0f}"
        for cell in cells
    ]
    return "\n".join(lines)

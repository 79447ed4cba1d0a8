"""How many honest workers a hard key excludes, and how many careless ones it finds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genie_research.crowds.people import (
    COPYING,
    CrowdPlan,
    answer_test,
    draw_crowd,
)
from quality.detection.stats.assess import AssessOptions, Tests, assess_workers
from quality.detection.stats.detectors import DEFAULT_DETECTOR, detect
from quality.detection.stats.workers.answers import NO_YES

ACCURACIES = (0.95, 0.86, 0.75, 0.62)
#: Test questions of each polarity.
NUMBERS = (1, 3, 6, 12, 15)


@dataclass(frozen=True)
class KeyCell:
    """One accuracy of careful people on positive questions, and one number of tests.

    Attributes
    ----------
    n_each : int
        Tests of each polarity.
    excluded, caught : float
        Shares of the honest and of the careless (without those who copy a language
        model, who know the answers) whose probability is above the threshold.
    excluded_error, caught_error : float
        Monte-Carlo standard errors.
    excluded_fixed, caught_fixed : float
        The same if workers right on less than .9 count as noisy.
    """

    accuracy: float
    n_each: int
    excluded: float
    excluded_error: float
    caught: float
    caught_error: float
    excluded_fixed: float
    caught_fixed: float


def key_study(
    *,
    n_pools: int,
    seed: int,
    negative: float = 0.95,
    accuracies: Sequence[float] = ACCURACIES,
    numbers: Sequence[int] = NUMBERS,
    threshold: float = 0.99,
) -> list[KeyCell]:
    """Assess pools by test questions alone, with keys of several degrees of hardness.

    Parameters
    ----------
    negative : float, default 0.95
        Agreement of careful people with the key on negative questions.
    accuracies : sequence of float
        The same on positive questions.
    numbers : sequence of int
        Tests of each polarity that each worker answers.

    Examples
    --------
    >>> [cell] = key_study(n_pools=2, seed=1, accuracies=[0.62], numbers=[12])
    >>> cell.excluded < cell.excluded_fixed
    True
    """
    if n_pools < 2:
        raise ValueError("At least two pools are needed.")
    options = AssessOptions(guesses=NO_YES)
    cells = []
    for accuracy in accuracies:
        here = CrowdPlan(accuracy=(accuracy, negative))
        for n_each in numbers:
            rows = np.array(
                [
                    _one_pool(here, n_each, options, threshold, [seed, n_each, pool])
                    for pool in range(n_pools)
                ]
            )
            mean, error = rows.mean(axis=0), rows.std(axis=0, ddof=1) / n_pools**0.5
            cells.append(
                KeyCell(
                    accuracy,
                    n_each,
                    excluded=float(mean[0]),
                    excluded_error=float(error[0]),
                    caught=float(mean[1]),
                    caught_error=float(error[1]),
                    excluded_fixed=float(mean[2]),
                    caught_fixed=float(mean[3]),
                )
            )
    return cells


def _one_pool(
    plan: CrowdPlan,
    n_each: int,
    options: AssessOptions,
    threshold: float,
    seed: Sequence[int],
) -> list[float]:
    rng = np.random.default_rng(seed)
    crowd = draw_crowd(plan, rng)
    n, most = plan.n_workers, plan.n_questions
    rows = []
    for worker in range(n):
        for positive in (0, 1):
            chosen = rng.permutation(most)[np.arange(n_each) % most]
            for question in chosen.tolist():
                right = answer_test(crowd, worker, 10**6, positive, question, rng)
                rows.append((worker, 2 * question + positive, positive, right))
    worker, question, kind, right = np.array(rows, dtype=np.int64).T
    tests = Tests(worker, question, kind, right > 0)
    found = assess_workers(n, tests, None, options=options, seed=0)
    flagged = found.p_careless > threshold
    fixed = np.zeros(n, dtype=bool)
    for positive in (0, 1):
        correct = np.bincount(worker, right * (kind == positive), n)
        fixed |= detect(correct, np.full(n, n_each), detector=DEFAULT_DETECTOR).flagged
    bad = crowd.bad & (crowd.kind != COPYING)
    return [
        float(found_by[who].mean()) if who.any() else 0.0
        for found_by in (flagged, fixed)
        for who in (~crowd.bad, bad)
    ]


def key_table(cells: Sequence[KeyCell]) -> str:
    """Write the cells as lines of text, in percent with Monte-Carlo errors.

    Examples
    --------
    >>> print(key_table([KeyCell(0.75, 12, 0.001, 0.001, 0.9, 0.01, 0.3, 0.99)]))
                             by the model                   right on less than .9
    agree with key  tests    honest excluded  bad caught    honest excluded  bad caught
              75 %  12 + 12      0.1 (0.1)    90.0 (1.0)             30.0        99.0
    """
    lines = [
        f"{'':25}{'by the model':31}right on less than .9",
        f"agree with key  tests    {'honest excluded  bad caught':31}"
        "honest excluded  bad caught",
    ]
    for cell in cells:
        tests = f"{cell.n_each} + {cell.n_each}"
        excluded = f"{100 * cell.excluded:.1f} ({100 * cell.excluded_error:.1f})"
        caught = f"{100 * cell.caught:.1f} ({100 * cell.caught_error:.1f})"
        lines.append(
            f"{100 * cell.accuracy:12.0f} %  {tests:9}{excluded:>13}{caught:>14}"
            f"{100 * cell.excluded_fixed:17.1f}{100 * cell.caught_fixed:12.1f}"
        )
    return "\n".join(lines)

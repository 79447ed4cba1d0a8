"""What a judge's labels are worth in people's, and how to split money between the two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.clustered import clustered_mean
from leaderboard.stats.intervals import Interval
from leaderboard.stats.judges.alternative_annotator import Label
from leaderboard.stats.resampling import Floats

Counts = npt.NDArray[np.int64]
# people's ratings are not split thinner than a weight can be tuned on
_FEWEST = 20


@dataclass(frozen=True)
class Split:
    """How many instances people rate, and how many a judge.

    Parameters
    ----------
    n_people, n_judge : int
        The judge scores those of people, too; 0 where it is not worth its money.
    variance_ratio : float
        Expected variance over that of all money spent on people; 1 without a judge.
    """

    n_people: int
    n_judge: int
    variance_ratio: float


def split_money(
    budget: float,
    *,
    person_cost: float,
    judge_cost: float,
    explained: float,
    instances: int,
) -> Split:
    """Split a budget between people's ratings and a judge's.

    Parameters
    ----------
    budget, person_cost, judge_cost : float
        In one currency; costs of one instance, that of people above 0.
    explained : float
        Share of the variance between people's ratings of instances that the judge
        foretells, 0 <= explained <= 1, as `judged_mean` measures it in a pilot.
    instances : int
        Those there are: most that either can be asked about.

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        On a number out of range, or a budget for fewer than 20 instances by people.

    Notes
    -----
    The variance is (1 - e)/n + e/N for n instances by people and N by the judge, times
    the price of a tuned weight. What workers share (strictness) is no part of it: that
    falls with more workers only.

    References
    ----------
    Chaganty, Mussmann and Liang (2018), ACL, section 3.2; Cochran (1977), Sampling
    Techniques, section 12.3 (optimum split in double sampling) and 7.7.

    Examples
    --------
    >>> plan = split_money(
    ...     100, person_cost=0.5, judge_cost=0.01, explained=0.6, instances=5_000
    ... )
    >>> plan.n_people, plan.n_judge, round(plan.variance_ratio, 2)
    (171, 1450, 0.56)
    >>> split_money(
    ...     100, person_cost=0.5, judge_cost=0.01, explained=0.0, instances=5_000
    ... ).n_judge
    0
    """
    most = min(int(budget / person_cost), instances) if person_cost > 0 else 0
    if not (most >= _FEWEST and judge_cost >= 0 and 0 <= explained <= 1):
        raise ValueError(
            f"A split needs money for {_FEWEST} instances by people, costs of at least 0 "
            "and an explained share from 0 to 1."
        )
    n = np.arange(_FEWEST, most + 1, dtype=np.int64)
    left = budget - n * person_cost
    judged = np.full(len(n), instances, dtype=np.int64)
    if judge_cost > 0:
        judged = np.minimum((left / judge_cost + 1e-9).astype(np.int64), instances)
    ratio = _variance(n, judged, explained) * most
    ratio[judged < n] = np.inf
    best = int(np.argmin(ratio))
    if ratio[best] >= 1:
        return Split(most, 0, 1.0)
    return Split(int(n[best]), int(judged[best]), float(ratio[best]))


def split_regret(plan: Split, best: Split, explained: float) -> float:
    """Give by which share a plan's variance lies above that of the best plan.

    Parameters
    ----------
    plan, best : Split
        Of the same budget: by what a pilot said of the judge, and by the truth.
    explained : float
        The truth.

    Returns
    -------
    float
        0 or more.

    Examples
    --------
    >>> split_regret(Split(200, 0, 1.0), Split(200, 0, 1.0), 0.5)
    0.0
    """
    found = []
    for one in (plan, best):
        n = np.array([one.n_people])
        alone = 1 / one.n_people
        used = float(_variance(n, np.array([one.n_judge or 1]), explained)[0])
        found.append(used if one.n_judge else alone)
    return found[0] / found[1] - 1


def _variance(n: Counts, judged: Counts, explained: float) -> Floats:
    price = (n - 1) / (n - 2) * (1 + 1 / (n - 3))
    return np.asarray(price * (1 - explained) / n + explained / np.maximum(judged, 1))


def share_saved(
    people: Mapping[str, Mapping[str, Label]],
    judge: Mapping[str, Label],
    *,
    numbers: bool,
    seed: int,
    folds: int = 10,
) -> Interval:
    """Estimate which share of people's labels a judge's labels make needless.

    Parameters
    ----------
    people, judge : mapping
        As in `alternative_annotator_test`.
    numbers : bool
        Whether the mean of numbers is wanted; else the share of each label.
    seed : int
        Of which instances are left out together, and of the interval.
    folds : int
        Parts of the instances, at least 2.

    Returns
    -------
    Interval
        Of one minus the ratio of squared errors with the judge and without, one label
        of a person at a time, on instances left out: were the judge asked about very
        many more instances, people's labels could be fewer by this share for the same
        precision. Negative where the judge foretells nothing and costs a little.
        Covers people and instances.

    Raises
    ------
    ValueError
        On fewer labels than folds, one person and instance only, or a label that is no
        number where numbers are wanted.

    Notes
    -----
    The variance of PPI++ with unlimited predictions is that of the residuals. For
    labels without an order, squared errors are added up over the shares of all labels
    (Brier's score); a judge's label stands for the mean of people's where it was given,
    with one label's worth of the overall mean mixed in.

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++, section 6.

    Examples
    --------
    >>> people = {name: {str(i): i % 5 for i in range(60)} for name in "ab"}
    >>> share_saved(people, people["a"], numbers=True, seed=1).estimate
    1.0
    """
    rows = [
        (person, instance, label)
        for person, labels in sorted(people.items())
        for instance, label in sorted(labels.items())
        if instance in judge
    ]
    names = sorted({instance for _, instance, _ in rows})
    if len(names) < max(folds, 2):
        raise ValueError(
            f"The judge shares {len(names)} instances with people: too few."
        )
    part = np.random.default_rng(seed).permutation(len(names)) % folds
    fold_of = dict(zip(names, part.tolist(), strict=True))
    fold = np.array([fold_of[instance] for _, instance, _ in rows])
    wanted = _coded([label for *_, label in rows], numbers)
    told = _coded([judge[instance] for _, instance, _ in rows], numbers)
    errors = np.zeros((2, len(rows)))
    for number in range(folds):
        out = fold == number
        if out.any():
            errors[:, out] = _left_out(wanted, told, out, numbers)
    with_judge, without = errors
    if not without.sum() > 0:
        raise ValueError("All people's labels are the same: nothing can be saved.")
    share = 1 - with_judge.sum() / without.sum()
    # a ratio of sums, as a mean of what each label moves it by
    moves = share + ((1 - share) * without - with_judge) / without.mean()
    factors = {
        "person": [person for person, *_ in rows],
        "instance": [instance for _, instance, _ in rows],
    }
    return clustered_mean(moves, factors, seed=seed)


def _coded(labels: list[Label], numbers: bool) -> Floats:
    if numbers:
        return np.array([[float(label)] for label in labels])
    _, codes = np.unique([str(label) for label in labels], return_inverse=True)
    return np.asarray(np.eye(int(codes.max()) + 1)[codes])


def _left_out(
    wanted: Floats, told: Floats, out: np.ndarray, numbers: bool
) -> tuple[Floats, Floats]:
    """Give squared errors on the instances left out: with the judge, and without."""
    level = wanted[~out].mean(axis=0)
    known, asked = told[~out], told[out]
    if numbers:
        centre = known.mean(axis=0)
        weight = np.linalg.lstsq(known - centre, wanted[~out] - level, rcond=1e-10)[0]
        foretold = level + (asked - centre) @ weight
    else:
        sums = known.T @ wanted[~out] + level
        foretold = asked @ (sums / (known.sum(axis=0) + 1)[:, None])
    return (
        ((wanted[out] - foretold) ** 2).sum(axis=1),
        ((wanted[out] - level) ** 2).sum(axis=1),
    )

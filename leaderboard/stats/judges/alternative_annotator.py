"""The alternative annotator test: whether a judge can replace any of the people.

Each person is left out in turn. The person left out, or the judge in their place, wins
an instance by fitting the others' labels better.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.stats.multiplicity import benjamini_hochberg
from leaderboard.stats.resampling import Floats

Label = str | int | float
FEWEST_INSTANCES = 30
FEWEST_PEOPLE = 3
PASSES = 0.5


@dataclass(frozen=True)
class AgainstPerson:
    """The judge against one person.

    Parameters
    ----------
    n : int
        Instances that the person, another person and the judge have labeled.
    judge_wins, person_wins : float
        Shares of instances on which each fits the others' labels at least as well as
        the other one; both on a tie.
    p_value : float
        One-sided, of the person being better by more than epsilon or as much.
    """

    person: str
    n: int
    judge_wins: float
    person_wins: float
    p_value: float
    rejected: bool


@dataclass(frozen=True)
class AlternativeAnnotator:
    """The test's result for one judge.

    Parameters
    ----------
    people : list of AgainstPerson
        Those with enough instances, by name.
    winning_rate : float
        Omega: share of people whom the judge can replace; NaN without any.
    advantage_probability : float
        Rho: mean over people of `judge_wins`; NaN without any.
    n_skipped : int
        People with too few instances, whose labels still count as those of others.
    """

    people: list[AgainstPerson]
    winning_rate: float
    advantage_probability: float
    n_skipped: int

    @property
    def passed(self) -> bool:
        return self.winning_rate >= PASSES


def _accuracy(label: Label, others: Sequence[Label]) -> float:
    return sum(label == other for other in others) / len(others)


def _closeness(label: Label, others: Sequence[Label]) -> float:
    gaps = np.asarray(others, dtype=np.float64) - float(label)
    return -float(np.sqrt((gaps**2).mean()))


SCORES: dict[str, Callable[[Label, Sequence[Label]], float]] = {
    "accuracy": _accuracy,
    "rmse": _closeness,
}


def alternative_annotator_test(
    people: Mapping[str, Mapping[str, Label]],
    judge: Mapping[str, Label],
    *,
    score: str = "accuracy",
    epsilon: float = 0.2,
    q: float = 0.05,
    fewest: int = FEWEST_INSTANCES,
) -> AlternativeAnnotator:
    """Test whether a judge can be used in place of a person.

    Parameters
    ----------
    people : mapping of str to mapping of str to label
        Labels by person and instance; instances may be missing.
    score : {"accuracy", "rmse"}
        Fit of a label to those of others: the share of equal ones, or minus the
        root mean squared difference.
    epsilon : float
        Extra cost of a person over the judge, as a share of instances, 0 <= epsilon <
        1.
    q : float
        Upper limit of the expected share of false rejections; 0 < q < 1.
    fewest : int
        Smallest number of a tested person's instances, at least 2.

    Returns
    -------
    AlternativeAnnotator
        The same for any order of people and instances.

    Raises
    ------
    ValueError
        On fewer than three people, an unknown score, a number out of range, or a label
        that is no number although the score needs numbers.

    References
    ----------
    Calderon, Reichart and Dror (2025), The Alternative Annotator Test, section 3;
    Benjamini and Yekutieli (2001), Annals of Statistics 29, theorem 1.3.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.integers(0, 2, 200)
    >>> def noisy(share):
    ...     return {str(i): int(t ^ (rng.random() < share)) for i, t in enumerate(truth)}
    >>> people = {name: noisy(0.2) for name in "abc"}
    >>> alternative_annotator_test(people, noisy(0.1)).winning_rate
    1.0
    >>> alternative_annotator_test(people, noisy(0.5)).winning_rate
    0.0
    """
    _check(people, score, epsilon, q, fewest)
    fit = SCORES[score]
    rows, n_skipped = [], 0
    for person in sorted(people):
        wins = _wins(people, person, judge, fit)
        if len(wins) < fewest:
            n_skipped += 1
            continue
        judge_wins, person_wins = wins.mean(axis=0)
        p = _p_value(wins[:, 1] - wins[:, 0], epsilon)
        rows.append((person, len(wins), float(judge_wins), float(person_wins), p))
    if not rows:
        return AlternativeAnnotator([], float("nan"), float("nan"), n_skipped)
    n_tests = np.arange(1, len(rows) + 1)
    adjusted = benjamini_hochberg([row[-1] for row in rows]) * (1 / n_tests).sum()
    found = [
        AgainstPerson(*row, rejected=bool(p <= q))
        for row, p in zip(rows, adjusted, strict=True)
    ]
    return AlternativeAnnotator(
        found,
        sum(one.rejected for one in found) / len(found),
        sum(one.judge_wins for one in found) / len(found),
        n_skipped,
    )


def _wins(
    people: Mapping[str, Mapping[str, Label]],
    person: str,
    judge: Mapping[str, Label],
    fit: Callable[[Label, Sequence[Label]], float],
) -> Floats:
    rows = []
    for instance in sorted(people[person]):
        others = [
            labels[instance]
            for name, labels in people.items()
            if name != person and instance in labels
        ]
        if others and instance in judge:
            own = fit(people[person][instance], others)
            judges = fit(judge[instance], others)
            rows.append((judges >= own, own >= judges))
    return np.asarray(rows, dtype=np.float64).reshape(-1, 2)


def _p_value(gaps: Floats, epsilon: float) -> float:
    """One-sided t-test of a mean below epsilon; 0 or 1 without variation."""
    from scipy.special import stdtr

    mean, error = gaps.mean(), gaps.std(ddof=1) / np.sqrt(len(gaps))
    if error == 0:
        return 0.0 if mean < epsilon else 1.0
    return float(stdtr(len(gaps) - 1, (mean - epsilon) / error))


def _check(
    people: Mapping[str, Mapping[str, Label]],
    score: str,
    epsilon: float,
    q: float,
    fewest: int,
) -> None:
    if len(people) < FEWEST_PEOPLE:
        raise ValueError(f"The test needs at least three people, not {len(people)}.")
    if score not in SCORES:
        raise ValueError(f"The score is one of {', '.join(SCORES)}, not {score!r}.")
    if not (0 <= epsilon < 1 and 0 < q < 1 and fewest >= 2):
        raise ValueError(
            "Epsilon is from 0 to below 1, q between 0 and 1, and at least two instances "
            f"are needed, not {epsilon}, {q} and {fewest}."
        )

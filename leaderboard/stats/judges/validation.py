"""Validation of a judge against people: a list of reasons, each of which holds or not.

The alternative annotator test leaves out each person in turn: the person, or the judge
in their place, wins an instance by fitting the others' labels better. A judge that knows
only how good a system is, how hard an instance is, or where the center of the scale is
has no association with people left within systems and instances.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from genie.lib.interval import Interval
from leaderboard.stats.clustered import Codes, clustered_mean
from leaderboard.stats.intervals import Floats
from leaderboard.stats.multiplicity import benjamini_hochberg

Label = str | int | float
Labels = Mapping[str, Label]
FEWEST_INSTANCES = 30
FEWEST_PEOPLE = 3
PASSES = 0.5
# upper limit of the expected share of false rejections
_FALSE_REJECTIONS = 0.05
#: Between the parts of a name: `text__system__criterion`, `system/other/instance`.
SEPARATORS = ("__", "/")
_ROUNDS, _STILL = 2_000, 1e-9


@dataclass(frozen=True)
class Reason:
    name: str
    holds: bool
    words: str


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
    def passes(self) -> bool:
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
    people: Mapping[str, Labels],
    judge: Labels,
    *,
    score: str = "accuracy",
    epsilon: float = 0.2,
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

    Returns
    -------
    AlternativeAnnotator
        The same for any order of people and instances.

    Raises
    ------
    ValueError
        On fewer than three people, an unknown score, an epsilon out of range, or a
        label that is no number although the score needs numbers.

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
    if len(people) < FEWEST_PEOPLE:
        raise ValueError(f"The test needs at least three people, not {len(people)}.")
    if score not in SCORES or not 0 <= epsilon < 1:
        raise ValueError(
            f"The score is one of {', '.join(SCORES)}, and epsilon from 0 to below 1, not "
            f"{score!r} and {epsilon}."
        )
    won: dict[str, list[tuple[bool, bool]]] = {person: [] for person in people}
    for person, _instance, own, (judges,) in _fits(people, [judge], score):
        won[person].append((judges >= own, own >= judges))
    rows, n_skipped = [], 0
    for person, pairs in sorted(won.items()):
        if len(pairs) < FEWEST_INSTANCES:
            n_skipped += 1
            continue
        wins = np.asarray(pairs, dtype=np.float64)
        judge_wins, person_wins = wins.mean(axis=0)
        p = _p_value(wins[:, 1] - wins[:, 0], epsilon)
        rows.append((person, len(wins), float(judge_wins), float(person_wins), p))
    if not rows:
        return AlternativeAnnotator([], float("nan"), float("nan"), n_skipped)
    n_tests = np.arange(1, len(rows) + 1)
    adjusted = benjamini_hochberg([row[-1] for row in rows]) * (1 / n_tests).sum()
    found = [
        AgainstPerson(*row, rejected=bool(p <= _FALSE_REJECTIONS))
        for row, p in zip(rows, adjusted, strict=True)
    ]
    return AlternativeAnnotator(
        found,
        sum(one.rejected for one in found) / len(found),
        sum(one.judge_wins for one in found) / len(found),
        n_skipped,
    )


def _fits(
    people: Mapping[str, Labels], judges: Sequence[Labels], score: str
) -> list[tuple[str, str, float, list[float]]]:
    """Return person, instance, and the fits of the person and of each judge to others."""
    fit = SCORES[score]
    rows = []
    for person, labels in sorted(people.items()):
        for instance, label in sorted(labels.items()):
            others = [
                each[instance]
                for name, each in people.items()
                if name != person and instance in each
            ]
            if others and all(instance in judge for judge in judges):
                told = [fit(judge[instance], others) for judge in judges]
                rows.append((person, instance, fit(label, others), told))
    return rows


def _p_value(gaps: Floats, epsilon: float) -> float:
    """One-sided t-test of a mean below epsilon; 0 or 1 without variation."""
    from scipy.special import stdtr

    mean, error = gaps.mean(), gaps.std(ddof=1) / np.sqrt(len(gaps))
    if error == 0:
        return 0.0 if mean < epsilon else 1.0
    return float(stdtr(len(gaps) - 1, (mean - epsilon) / error))


def agreement(
    people: Mapping[str, Labels], judge: Labels, *, score: str, seed: int
) -> tuple[Interval, Interval, Interval]:
    """Compare a judge's fit to people with people's fit to each other.

    Parameters
    ----------
    people, judge, score
        As in `alternative_annotator_test`.

    Returns
    -------
    judge, people, gap : Interval
        Mean fit to the other people's labels, on the same instances: share of equal
        labels, or minus the root mean squared difference; and judge minus people. All
        cover people and instances.

    Raises
    ------
    ValueError
        On fewer than two people or instances that share a label with the judge.
    """
    fits = _fits(people, [judge], score)
    told, own = [row[3][0] for row in fits], [row[2] for row in fits]
    gap = [one - other for one, other in zip(told, own, strict=True)]
    return _mean(told, fits, seed), _mean(own, fits, seed), _mean(gap, fits, seed)


def _mean(
    values: Sequence[float], fits: Sequence[tuple[str, str, float, Any]], seed: int
) -> Interval:
    names = {"person": [row[0] for row in fits], "instance": [row[1] for row in fits]}
    if min(len(set(each)) for each in names.values()) < 2:
        raise ValueError("The judge must share two instances with at least two people.")
    return clustered_mean(values, names, seed=seed)


def validate(
    people: Mapping[str, Labels],
    judge: Labels,
    *,
    score: str,
    epsilon: float,
    seed: int,
) -> list[Reason]:
    """Check a judge against people, for one criterion.

    Parameters
    ----------
    people, judge, score, epsilon
        As in `alternative_annotator_test`.

    Returns
    -------
    list of Reason
        A license needs all of them: a passed alternative annotator test, a fit to
        people that is surely not worse by more than epsilon than that among people
        (a share of people's own distance for numbers), and an association with people
        within systems and instances that is surely above 0.

    References
    ----------
    Calderon, Reichart and Dror (2025), The Alternative Annotator Test, section 3;
    Piaggio et al. (2012), JAMA 308 (non-inferiority: the whole interval counts).

    Examples
    --------
    >>> people = {who: {str(i): i % 3 for i in range(40)} for who in "abc"}
    >>> found = validate(people, people["a"], score="accuracy", epsilon=0.2, seed=1)
    >>> [one.holds for one in found]
    [True, True, True]
    """
    test = alternative_annotator_test(people, judge, score=score, epsilon=epsilon)
    reasons = [
        Reason(
            "alternative annotator test",
            test.passes,
            f"winning rate {test.winning_rate:.2f} of {len(test.people)} people, "
            f"advantage {test.advantage_probability:.2f}",
        )
    ]
    own, others, gap = agreement(people, judge, score=score, seed=seed)
    margin = epsilon * (1.0 if score == "accuracy" else abs(others.estimate))
    reasons.append(
        Reason(
            "agreement",
            gap.low >= -margin,
            f"{own:.2f} with people, {others:.2f} among people; "
            f"gap {gap:.2f}, allowed -{margin:.2f}",
        )
    )
    reasons.append(_follows(people, judge, score=score, seed=seed))
    return reasons


def _follows(
    people: Mapping[str, Labels], judge: Labels, *, score: str, seed: int
) -> Reason:
    found = partial_association(people, judge, numbers=score != "accuracy", seed=seed)
    words = (
        "labels of the judge or of people do not vary within systems and instances"
        if found is None
        else f"partial correlation with people {found:.2f}, needed above 0"
    )
    holds = found is not None and found.low > 0
    return Reason("within systems and instances", holds, words)


def drift(
    people: Mapping[str, Labels],
    judge: Labels,
    before: Labels,
    *,
    score: str,
    seed: int,
) -> Reason:
    """Check whether the judge's fit to people has changed.

    Parameters
    ----------
    people, judge, score
        As in `alternative_annotator_test`.
    before : mapping of str to label
        The judge's labels of the same instances then.

    Returns
    -------
    Reason
        Holds if the 95% interval of the change of fit contains 0.

    Examples
    --------
    >>> people = {who: {str(i): i % 3 for i in range(20)} for who in "abc"}
    >>> same = drift(people, people["a"], people["a"], score="accuracy", seed=1)
    >>> same.holds, same.words[:32]
    (True, '0% of labels changed since; fit ')
    """
    fits = _fits(people, [judge, before], score)
    shift = _mean([now - then for *_, (now, then) in fits], fits, seed)
    both = sorted(set(judge) & set(before))
    changed = sum(judge[one] != before[one] for one in both) / len(both)
    return Reason(
        "drift",
        shift.contains(0.0),
        f"{100 * changed:.0f}% of labels changed since; fit to people moved by "
        f"{shift:.2f}",
    )


def parts_of(names: Sequence[str]) -> list[Codes]:
    """Assign numbers to the parts of the items' names, such as system and instance.

    Parameters
    ----------
    names : sequence of str
        All have the same number of parts between the same separators; otherwise a name
        is one part.

    Returns
    -------
    list of ndarray of int, shape (n,)

    Examples
    --------
    >>> [part.tolist() for part in parts_of(["a__1", "a__2", "b__1"])]
    [[0, 0, 1], [0, 1, 0]]
    >>> len(parts_of(["a__1", "b"]))
    1
    """
    for separator in SEPARATORS:
        rows = [name.split(separator) for name in names]
        if {len(row) for row in rows} == {len(rows[0])} != {1}:
            return [_codes(part) for part in zip(*rows, strict=True)]
    return [_codes(names)]


def effects_of(parts: Sequence[Codes]) -> list[Codes]:
    """Return the groups whose means are removed.

    Each part of the names, and each combination of parts that has no more groups than
    the finest part, such as the systems of each criterion. Groups of one item are
    ignored.

    Parameters
    ----------
    parts : sequence of ndarray of int, shape (n,)

    Returns
    -------
    list of ndarray of int, shape (n,)

    Examples
    --------
    >>> system, instance = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> len(effects_of([system, instance]))
    2
    """
    items = int(_codes(zip(*parts, strict=True)).max()) + 1
    repeated = [part for part in parts if 1 < int(part.max()) + 1 < items]
    finest = max((int(part.max()) for part in repeated), default=0)
    crossed = [
        _codes(zip(*some, strict=True))
        for size in range(2, len(repeated) + 1)
        for some in combinations(repeated, size)
    ]
    return [*repeated, *(cells for cells in crossed if cells.max() <= finest)]


def without_effects(values: Floats, effects: Sequence[Codes]) -> Floats:
    """Subtract the means of crossed groups from each column.

    Parameters
    ----------
    values : ndarray, shape (n, n_columns)
    effects : sequence of ndarray of int, shape (n,)

    Returns
    -------
    ndarray, shape (n, n_columns)
        Residuals of least squares; exactly 0 if only rounding is left of a column.

    References
    ----------
    Gaure (2013), Computational Statistics and Data Analysis 66, 8-18 (alternating
    projections).

    Examples
    --------
    >>> values = np.array([[1.0], [2.0], [3.0], [5.0]])
    >>> groups = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]
    >>> without_effects(values, groups).ravel().round(2).tolist()
    [0.25, -0.25, -0.25, 0.25]
    """
    left = values - values.mean(axis=0)
    size = np.abs(values).max(axis=0, initial=0)
    for _ in range(_ROUNDS):
        before = left
        for groups in effects:
            n = np.bincount(groups)
            sums = np.array([np.bincount(groups, column) for column in left.T])
            left = left - (sums / n).T[groups]
        if (np.abs(left - before).max(axis=0, initial=0) <= 1e-12 * size).all():
            break
    return np.where(np.abs(left).max(axis=0, initial=0) > _STILL * size, left, 0.0)


def partial_association(
    people: Mapping[str, Labels], judge: Labels, *, numbers: bool, seed: int
) -> Interval | None:
    """Compute a judge's association with people within systems and instances.

    Parameters
    ----------
    people : mapping of str to mapping of str to label
        Labels by person and item.
    numbers : bool
        Whether labels are numbers; otherwise each different label is a separate column.

    Returns
    -------
    Interval or None
        The partial correlation (for labels that are no numbers, of all columns
        together), with person, system and instance removed. It covers people and the
        finest part of the items' names. None if either side does not vary then.

    References
    ----------
    Frisch and Waugh (1933), Econometrica 1, 387-401 (partial regression); Efron and
    Tibshirani (1993), section 22.3 (influence of each row on a correlation).
    """
    rows = [
        (person, item, label, judge[item])
        for person, labels in sorted(people.items())
        for item, label in sorted(labels.items())
        if item in judge and not _is_missing(label) and not _is_missing(judge[item])
    ]
    if not rows:
        return None
    persons, items, *sides = zip(*rows, strict=True)
    parts, person = parts_of(items), _codes(persons)
    table = np.array(sides, dtype=np.float64 if numbers else str)[:, :, None]
    if not numbers:
        table = (table == np.unique(table)).astype(np.float64)
    effects = [person, *effects_of(parts)]
    left = np.array([without_effects(side, effects) for side in table])
    power = (left**2).sum(axis=2)
    scale = power.mean(axis=1, keepdims=True)
    if not scale.all():
        return None
    fit = left.prod(axis=0).sum(axis=1) / scale.prod() ** 0.5
    influence = fit + fit.mean() * (1 - (power / scale).mean(axis=0))
    finest = max(parts, key=lambda part: int(part.max()))
    return clustered_mean(influence, {"person": person, "instance": finest}, seed=seed)


def _is_missing(label: Label) -> bool:
    return isinstance(label, float) and not np.isfinite(label)


def _codes(labels: Iterable[object]) -> Codes:
    number: dict[object, int] = {}
    return np.array([number.setdefault(label, len(number)) for label in labels])

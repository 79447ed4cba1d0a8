"""Separability of tests and real items, and whether a campaign may start."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from genie.lib.interval import Interval
from genie.lib.seeds import generator, seed_from
from quality.test_questions.separability.classifier import (
    folds_of,
    held_out_scores,
    quadratic,
)
from quality.test_questions.separability.features import (
    FEATURES,
    PAGE_FEATURES,
    POOLED,
)

# The area under the ROC curve, with DeLong's interval.
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Area(Interval):
    variance: float


def midranks(values: Floats) -> Floats:
    """Rank the values of each column from 1; ties have their mean rank."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, axis=0), dtype=np.float64)


def aucs(tests: Floats, items: Floats) -> Floats:
    """Compute each column's probability that a test has more of it than a real item.

    Ties count one half: it is Mann and Whitney's U over the number of pairs.

    Parameters
    ----------
    tests, items : ndarray
        Rows are tests and items, columns features.

    Examples
    --------
    >>> aucs(np.array([[2.0], [3.0]]), np.array([[1.0], [2.0]])).tolist()
    [0.875]
    """
    n = len(tests)
    ranks = midranks(np.concatenate([tests, items]))
    return from_ranks(ranks[:n].sum(axis=0), n, len(items))


def from_ranks(
    sums: Floats, n: int | NDArray[np.int64], m: int | NDArray[np.int64]
) -> Floats:
    """Compute the areas of `n` tests with these sums of ranks among `m` real items."""
    return (sums - n * (n + 1) / 2) / (n * m)


def area(tests: Floats, items: Floats, *, level: float = 0.95) -> Area:
    """Return the area under the curve of one score, with DeLong's interval.

    The interval is symmetric on the logit scale, so that it stays within 0 and 1.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988), "Comparing the areas under two or more
    correlated receiver operating characteristic curves", Biometrics 44; the ranks are
    Sun and Xu's (2014).

    Examples
    --------
    >>> found = area(np.array([2.0, 3.0, 5.0]), np.array([1.0, 2.0, 4.0]))
    >>> round(found.estimate, 3), found.low < found.estimate < found.high
    (0.722, True)
    """
    from scipy.special import expit, logit
    from scipy.stats import norm

    n, m = len(tests), len(items)
    auc = float(aucs(tests[:, None], items[:, None])[0])
    together = midranks(np.concatenate([tests, items]))
    above = (together[:n] - midranks(tests)) / m
    below = 1 - (together[n:] - midranks(items)) / n
    variance = sum(
        float(part.var(ddof=1)) / len(part) for part in (above, below) if len(part) > 1
    )
    # If all pairs agree the variance is 0: use that of one more, disagreeing pair.
    inside = min(max(auc, 0.5 / (n * m + 1)), 1 - 0.5 / (n * m + 1))
    least = inside * (1 - inside) / (min(n, m) + 1) if auc in (0.0, 1.0) else 0.0
    spread = np.sqrt(max(variance, least)) / (inside * (1 - inside))
    z = float(norm.ppf(0.5 + level / 2))
    low, high = expit(logit(inside) - z * spread), expit(logit(inside) + z * spread)
    return Area(auc, min(float(low), auc), max(float(high), auc), variance)


LIMIT = 0.6
# Below this many tests an area above the limit is refused only if chance rarely
# gives one, with this error.
ENOUGH, LEVEL = 200, 0.01
LEAST = 5
N_FOLDS, N_REPEATS, N_SHUFFLES = 5, 4, 199


@dataclass(frozen=True)
class Separability(Interval):
    """How well a script distinguishes test questions from real items.

    The estimate is the area of the cross-validated classifier, with a 95% interval.

    Parameters
    ----------
    best_feature : str
        The single best feature; "" if there are too few tests.
    best_feature_auc : float
        At least one half, for either direction of the rule.
    p : float
        Share of shuffled labelings with an area as large, of the classifier or of the
        best rule, twice the smaller one.
    """

    best_feature: str
    best_feature_auc: float
    n_tests: int
    n_items: int
    p: float
    limit: float = LIMIT

    @property
    def is_measured(self) -> bool:
        return min(self.n_tests, self.n_items) >= LEAST

    @property
    def stands_out(self) -> bool:
        """Return whether tests stand out.

        With many tests that is an area above the limit, of the classifier or of the
        best rule. With few, chance alone gives such areas, so it must also be rarer
        than one in a hundred among shuffled labels.
        """
        if (
            not self.is_measured
            or max(self.estimate, self.best_feature_auc) <= self.limit
        ):
            return False
        return self.n_tests >= ENOUGH or self.p <= LEVEL

    @property
    def verdict(self) -> str:
        if not self.is_measured:
            return (
                f"Too few to measure: {self.n_tests} test questions, "
                f"{self.n_items} real items."
            )
        return self._verdict("Test questions", "a test from a real item")

    @property
    def verdict_on_key(self) -> str:
        """Return the verdict for good against wrong texts of test questions."""
        if not self.is_measured:
            return ""
        return self._verdict("Right answers", "a good text of a test from a wrong one")

    def _verdict(self, which: str, told: str) -> str:
        figures = (
            f"a script tells {told} with an AUC of {self.estimate:.2f} "
            f"(95% interval {self.low:.2f} to {self.high:.2f}; best single feature: "
            f"{self.best_feature}, {self.best_feature_auc:.2f}; .50 is chance)"
        )
        if self.stands_out:
            return f"{which} stand out: {figures}. The limit is {self.limit:.2f}."
        if max(self.estimate, self.best_feature_auc) > self.limit:
            return (
                f"{which} are too few to be sure: {figures}, but shuffled labels "
                f"give as much with p = {self.p:.2f}."
            )
        return f"{which} do not stand out: {figures}."


def separability(
    features_tests: Floats,
    features_items: Floats,
    seed: int,
    *,
    groups: Sequence[int] | None = None,
    same: Sequence[int] | None = None,
    names: Sequence[str] = FEATURES,
    n_shuffles: int = N_SHUFFLES,
    limit: float = LIMIT,
) -> Separability:
    """Measure how well tests can be distinguished from real items without reading them.

    A logistic regression with quadratic terms and a ridge is cross-validated four times
    with different folds, and the scores are averaged. With few tests the area is noisy:
    draw many tests with other seeds of the same maker, and measure those.

    Parameters
    ----------
    features_tests, features_items : ndarray
        Rows of `features.surface_features`.
    groups : sequence of int, optional
        Of tests and then of items: texts made from one output share a number, and are
        never on both sides of a fold.
    same : sequence of int, optional
        Of tests and then of items: texts that several draws have in common share a
        number, and their labels are shuffled as one.
    n_shuffles : int, optional
        Number of shuffled labelings for the p value.
    limit : float, optional
        The largest area with which a campaign starts.
    """
    n, m = len(features_tests), len(features_items)
    if min(n, m) < LEAST:
        return Separability(0.5, 0.0, 1.0, "", 0.5, n, m, 1.0, limit)
    features = np.concatenate([features_tests, features_items])
    labels = np.arange(n + m) < n
    together = np.arange(n + m) if groups is None else np.asarray(groups)
    rng = generator(seed_from("separability", seed))
    design, ridge = quadratic(features)
    alike = np.arange(n + m) if same is None else np.asarray(same)
    _, first, which = np.unique(alike, return_index=True, return_inverse=True)
    shuffled = np.stack(
        [rng.permutation(labels[first])[which] for _ in range(n_shuffles)], axis=1
    )
    n_each = shuffled.sum(axis=0)
    scores = np.zeros(n + m)
    by_chance = np.full(n_shuffles, 0.5)
    if design.shape[1]:
        for repeat in range(N_REPEATS):
            folds = folds_of(labels, together, N_FOLDS, rng)
            scores += held_out_scores(design, ridge, labels[:, None], folds)[:, 0]
            if repeat == 0:
                once = held_out_scores(design, ridge, shuffled, folds)
                by_chance = from_ranks(
                    (midranks(once) * shuffled).sum(axis=0), n_each, n + m - n_each
                )
    found = area(scores[:n], scores[n:])
    alone = _either_way(aucs(features_tests, features_items))
    best = int(np.argmax(alone))
    # Whichever items are called tests, a feature has the same ranks.
    best_by_chance = _either_way(
        from_ranks(midranks(features).T @ shuffled, n_each, n + m - n_each)
    ).max(axis=0)
    return Separability(
        found.estimate,
        found.low,
        found.high,
        best_feature=names[best],
        best_feature_auc=float(alone[best]),
        n_tests=n,
        n_items=m,
        p=min(
            1.0, 2 * min(_p(found.estimate, by_chance), _p(alone[best], best_by_chance))
        ),
        limit=limit,
    )


def _either_way(areas: Floats) -> Floats:
    return np.asarray(np.maximum(areas, 1 - areas))


def _p(value: float, by_chance: Floats) -> float:
    return float((1 + (by_chance >= value - 1e-12).sum()) / (1 + len(by_chance)))


@dataclass
class Side:
    """Visible features of items; `groups` keeps items of one input together."""

    features: list[Floats] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    texts: list[tuple[int | str, ...]] = field(default_factory=list)

    def add(self, features: Floats, group: int, *texts: str) -> None:
        self.features.append(features)
        self.groups.append(group)
        self.texts.append((group, *texts))

    def told_from(
        self, other: "Side", seed: int, *, n_shuffles: int = 199
    ) -> Separability:
        rows = [*self.features, *other.features]
        # A text on both sides counts twice: as a test question, and as a rated item.
        texts = [(1, *t) for t in self.texts] + [(2, *t) for t in other.texts]
        number: dict[tuple[int | str, ...], int] = {}
        same = [number.setdefault(text, len(number)) for text in texts]
        n_names = len(rows[0]) if rows else 0
        known = FEATURES if n_names < len(PAGE_FEATURES) else PAGE_FEATURES
        measured = partial(
            separability,
            *(np.array(self.features), np.array(other.features), seed),
            groups=[*self.groups, *other.groups],
            same=same,
            names=(*known, *POOLED),
        )
        # Chance matters only if they stand out.
        found = measured(n_shuffles=1)
        stands_out = max(found.estimate, found.best_feature_auc) > found.limit
        return measured(n_shuffles=n_shuffles) if stands_out else found


@dataclass
class Sides:
    """The test questions and real items of campaigns, collected over draws.

    `tests` and `real` are pages; `good` and `bad` are texts of test questions.
    """

    tests: Side = field(default_factory=Side)
    real: Side = field(default_factory=Side)
    good: Side = field(default_factory=Side)
    bad: Side = field(default_factory=Side)

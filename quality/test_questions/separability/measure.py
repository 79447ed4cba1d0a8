"""How well tests can be told from real items, and whether a campaign may start."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genie.lib.seeds import generator, seed_from
from quality.test_questions.separability.auc import area, aucs
from quality.test_questions.separability.classifier import (
    folds_of,
    held_out_scores,
    quadratic,
)
from quality.test_questions.separability.features import FEATURES

Floats = NDArray[np.float64]

LIMIT = 0.6
# below this many tests an area above the limit is refused only when chance does not
# give one, with this error
ENOUGH, LEVEL = 200, 0.01
LEAST = 5
N_FOLDS, N_REPEATS, N_SHUFFLES = 5, 4, 199


@dataclass(frozen=True)
class Separability:
    """How well a script tells test questions from real items.

    Parameters
    ----------
    auc, low, high : float
        Of the cross-validated classifier, with a 95% interval.
    best_feature : str
        The single feature that tells most; "" where there are too few tests.
    best_feature_auc : float
        At least one half, whichever direction the rule takes.
    p : float
        How often shuffled labels give an area as large, of the classifier or of the best
        rule, whichever is the rarer, counted twice.
    """

    auc: float
    low: float
    high: float
    best_feature: str
    best_feature_auc: float
    n_tests: int
    n_items: int
    p: float
    limit: float = LIMIT

    @property
    def measured(self) -> bool:
        """Return whether there was enough to measure at all."""
        return min(self.n_tests, self.n_items) >= LEAST

    @property
    def refused(self) -> bool:
        """Return whether tests stand out.

        With many tests that is an area above the limit, of the classifier or of the best
        rule. With few, where chance alone gives such areas, it must also be rarer than
        one in a hundred among shuffled labels.
        """
        if not self.measured or max(self.auc, self.best_feature_auc) <= self.limit:
            return False
        return self.n_tests >= ENOUGH or self.p <= LEVEL

    @property
    def verdict(self) -> str:
        """Describe in a sentence whether tests can be told, and by what."""
        if not self.measured:
            return (
                f"Too few to measure: {self.n_tests} test questions, "
                f"{self.n_items} real items."
            )
        return self._verdict("Test questions", "a test from a real item")

    @property
    def verdict_on_key(self) -> str:
        """Describe the same where good texts of test questions were compared with wrong ones."""
        if not self.measured:
            return ""
        return self._verdict("Right answers", "a good text of a test from a wrong one")

    def _verdict(self, which: str, told: str) -> str:
        figures = (
            f"a script tells {told} with an AUC of {self.auc:.2f} "
            f"(95 % interval {self.low:.2f} to {self.high:.2f}; best single feature: "
            f"{self.best_feature}, {self.best_feature_auc:.2f}; .50 is chance)"
        )
        if self.refused:
            return f"{which} stand out: {figures}. The limit is {self.limit:.2f}."
        if max(self.auc, self.best_feature_auc) > self.limit:
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
    """Measure how well tests can be told from real items without reading them.

    A logistic regression with quadratic terms and a ridge is cross-validated, four times
    with other folds, the scores averaged. With few tests the area is noisy: draw many
    tests with other seeds of the same maker, and measure those.

    Parameters
    ----------
    features_tests, features_items : ndarray
        Rows as `features.surface_features` gives them.
    seed : int
        Of folds and shuffled labels.
    groups : sequence of int, optional
        Of tests and then of items: what is made of one output has one number, and is
        never on both sides of a fold.
    same : sequence of int, optional
        Of tests and then of items: what several draws have in common has one number, and
        its label is shuffled as one.
    names : sequence of str, optional
        Of the columns.
    n_shuffles : int, optional
        How many shuffled labelings the p value is made of.
    limit : float, optional
        The largest area with which a campaign starts.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> tests, items = rng.normal(2, 1, (50, 2)), rng.normal(0, 1, (50, 2))
    >>> found = separability(tests, items, 1, names=["length", "digits"])
    >>> found.auc > 0.9, found.refused
    (True, True)
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
    scores = np.zeros(n + m)
    by_chance = np.full(n_shuffles, 0.5)
    if design.shape[1]:
        for repeat in range(N_REPEATS):
            folds = folds_of(labels, together, N_FOLDS, rng)
            scores += held_out_scores(design, ridge, labels[:, None], folds)[:, 0]
            if repeat == 0:
                once = held_out_scores(design, ridge, shuffled, folds)
                by_chance = np.array(
                    [
                        aucs(once[s, k : k + 1], once[~s, k : k + 1])[0]
                        for k, s in enumerate(shuffled.T)
                    ]
                )
    found = area(scores[:n], scores[n:])
    alone = _either_way(features_tests, features_items)
    best = int(np.argmax(alone))
    best_by_chance = np.array(
        [_either_way(features[s], features[~s]).max() for s in shuffled.T]
    )
    return Separability(
        auc=found.auc,
        low=found.low,
        high=found.high,
        best_feature=names[best],
        best_feature_auc=float(alone[best]),
        n_tests=n,
        n_items=m,
        p=min(1.0, 2 * min(_p(found.auc, by_chance), _p(alone[best], best_by_chance))),
        limit=limit,
    )


def _either_way(tests: Floats, items: Floats) -> Floats:
    values = aucs(tests, items)
    result: Floats = np.maximum(values, 1 - values)
    return result


def _p(value: float, by_chance: Floats) -> float:
    return float((1 + (by_chance >= value - 1e-12).sum()) / (1 + len(by_chance)))

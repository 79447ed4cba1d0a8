"""Workers who agree beyond quality, or do better on test questions than elsewhere."""

from dataclasses import dataclass

import numpy as np

from quality.authenticity.stats.likelihood_ratio import (
    FEWEST,
    NOISE,
    Answers,
    center_answers,
    estimate_quality,
    similarity,
)
from quality.counts import Floats, Ints

#: If more workers answered a text, each is compared with this many who follow.
MOST_COMPARED = 100
#: The least spread between pairs, or workers, in Fisher's z.
_LEAST = 0.1


@dataclass(frozen=True)
class Pairs:
    """Pairs of workers who answered the same texts, and their agreement.

    `z` is Fisher's z of the correlation of their residuals, given the quality of the
    texts; `adjusted` is the p-value against the crowd's other pairs, adjusted for all
    pairs.
    """

    first: Ints
    second: Ints
    n: Ints
    z: Floats
    error: Floats
    adjusted: Floats
    centre: float


def agreeing_pairs(answers: Answers) -> Pairs:
    """Compare all pairs with at least six texts in common.

    The quality of a text is estimated without the two. A pair is compared with the
    crowd's median pair, with the crowd's spread (median distance) and its own error;
    the p-values are adjusted by Benjamini and Yekutieli, for pairs share workers.

    References
    ----------
    Y. Benjamini, D. Yekutieli, "The control of the false discovery rate in multiple
    testing under dependency", Annals of Statistics 29 (2001).
    """
    from scipy.stats import false_discovery_control, norm

    first, second, sums = _sums(answers)
    n = sums[3].astype(np.int64)
    keep = (n >= FEWEST) & (sums[1] > 1e-12) & (sums[2] > 1e-12)
    first, second, n, sums = first[keep], second[keep], n[keep], sums[:, keep]
    z = np.arctanh(np.clip(sums[0] / np.sqrt(sums[1] * sums[2]), -0.995, 0.995))
    error = 1 / np.sqrt(np.maximum(n - 3, 1))
    centre, between = _crowd(z, error)
    p = norm.sf((z - centre) / np.sqrt(error**2 + between**2))
    adjusted = false_discovery_control(p, method="by") if p.size else p
    return Pairs(first, second, n, z, error, np.asarray(adjusted), centre)


def _sums(answers: Answers) -> tuple[Ints, Ints, Floats]:
    rest = center_answers(answers)
    # Without the text's own effect: that must leave both workers out.
    alone = Answers(
        answers.worker,
        np.arange(answers.text.size),
        answers.instance,
        answers.system,
        answers.value,
    )
    rest = rest - estimate_quality(alone)
    order = np.argsort(answers.text, kind="stable")
    text, who, rest = answers.text[order], answers.worker[order], rest[order]
    total, count = np.bincount(text, rest), np.bincount(text)
    place = np.arange(text.size) - (np.cumsum(count) - count)[text]
    keys, terms = [], []
    most = int(count.max()) if count.size else 1
    for step in range(1, min(most, MOST_COMPARED + 1)):
        one = np.flatnonzero(place + step < count[text])
        other = one + step
        others = total[text[one]] - rest[one] - rest[other]
        held = others / (count[text[one]] - 2 + NOISE)
        a, b = rest[one] - held, rest[other] - held
        low, high = np.minimum(who[one], who[other]), np.maximum(who[one], who[other])
        keys.append(low * answers.n_workers + high)
        terms.append(np.stack([a * b, a * a, b * b, np.ones(one.size)]))
    if not keys:
        none = np.empty(0, dtype=np.int64)
        return none, none, np.empty((4, 0))
    names, place = np.unique(np.concatenate(keys), return_inverse=True)
    term = np.concatenate(terms, axis=1)
    sums = np.stack([np.bincount(place, row, minlength=names.size) for row in term])
    one, other = np.divmod(names, answers.n_workers)
    return np.asarray(one), np.asarray(other), np.asarray(sums, dtype=float)


@dataclass(frozen=True)
class OnTests:
    """Correlation of answers to real items with quality, beside accuracy on tests.

    `adjusted` is NaN for workers who were not right often enough to be tested.
    """

    z: Floats
    error: Floats
    accuracy: Floats
    adjusted: Floats
    centre: float


def better_on_tests(answers: Answers, right: Ints, asked: Ints) -> OnTests:
    """Find workers who are right on test questions but whose other answers are random.

    Among workers with at least four test questions, as often right as their median,
    compare the correlation of answers to real items with quality (Fisher's z) with
    the others' of this kind. A worker who recognizes tests need not read the rest.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> who, text = np.repeat(np.arange(8), 60), np.tile(np.arange(60), 8)
    >>> value = rng.normal(size=60) + 0.5 * rng.normal(size=(8, 60))
    >>> value[3] = rng.normal(size=60)
    >>> some = Answers(who, text, text, 0 * text, value.ravel())
    >>> tested = better_on_tests(some, np.full(8, 9), np.full(8, 10))
    >>> np.flatnonzero(tested.adjusted < 0.05).tolist()
    [3]
    """
    from scipy.stats import false_discovery_control, norm

    sign = similarity(answers, estimate_quality(answers))
    accuracy = np.where(asked > 0, right / np.maximum(asked, 1), np.nan)
    held = (asked >= 4) & np.isfinite(sign.value)
    adjusted, centre = np.full(asked.size, np.nan), float("nan")
    if held.any():
        held &= accuracy >= np.median(accuracy[held])
        centre, between = _crowd(sign.value[held], sign.error[held])
        scale = np.sqrt(sign.error[held] ** 2 + between**2)
        p = norm.cdf((sign.value[held] - centre) / scale)
        adjusted[held] = false_discovery_control(p, method="by")
    return OnTests(sign.value, sign.error, accuracy, adjusted, centre)


def _crowd(z: Floats, error: Floats) -> tuple[float, float]:
    if not z.size:
        return 0.0, _LEAST
    centre = float(np.median(z))
    apart = 1.4826 * float(np.median(np.abs(z - centre)))
    beyond = apart**2 - float(np.median(error**2))
    return centre, float(np.sqrt(max(beyond, _LEAST**2)))

"""Whether ratings follow how a text looks: its house style, beyond system and instance."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.blinding.levels import codes_of, without_levels
from leaderboard.stats.intervals import as_ratings
from leaderboard.stats.resampling import Floats
from leaderboard.stats.systems.table import sums_by

#: What is read off a text, in this order.
FEATURES = (
    "length",
    "punctuation",
    "capitals",
    "quotation marks",
    "line breaks",
    "lists and markup",
    "final full stop",
    "first letter is a capital",
)
_FOLDS = 5
# more features than ratings can bear are damped
_RIDGE = 1.0
_FEWEST_RATINGS, _FEWEST_TEXTS = 40, 10


@dataclass(frozen=True)
class StyleShare:
    """How much of what ratings vary by is foretold by style alone.

    Parameters
    ----------
    share, low, high : float
        Of the variance within workers, systems and instances, cross-validated, with the
        95 % interval; at or below 0 where style foretells nothing.
    n_ratings, n_workers, n_texts : int
    """

    share: float
    low: float
    high: float
    n_ratings: int
    n_workers: int
    n_texts: int


def style_of(text: str) -> list[float]:
    """Read the surface of a text, as numbers in the order of `FEATURES`.

    Examples
    --------
    >>> style_of("A **bold** claim.")[-2:]
    [1.0, 1.0]
    """
    words = text.split()
    n = max(len(text), 1)
    letters = sum(c.isalpha() for c in text)
    marked = len(re.findall(r"(?m)^\s*(?:[-*•#>]|\d+[.)])\s|\*\*|__|`", text))
    quotes = sum(text.count(mark) for mark in "\"'“”‘’«»„")
    stripped = text.strip()
    return [
        float(np.log2(1 + len(words))),
        sum(not c.isalnum() and not c.isspace() for c in text) / n,
        sum(c.isupper() for c in text) / max(letters, 1),
        quotes / n,
        text.count("\n") / max(len(words), 1),
        marked / max(len(words), 1),
        float(stripped.endswith((".", "!", "?", "。"))),
        float(stripped[:1].isupper()),
    ]


def style_share(
    values: npt.ArrayLike,
    texts: Sequence[str],
    workers: npt.ArrayLike,
    systems: npt.ArrayLike,
    instances: npt.ArrayLike,
    *,
    seed: int = 0,
) -> StyleShare | None:
    """Measure how much of the ratings' variance the style of texts foretells.

    Parameters
    ----------
    values : array_like, shape (n,)
        Ratings.
    texts : sequence of str, n of them
        What each rating is about.
    workers, systems, instances : array_like, shape (n,)
        Whose levels are taken out of ratings and features first: a system that is both
        better and longer is no sign that length counts.
    seed : int
        Of the folds.

    Returns
    -------
    StyleShare or None
        None with fewer than 40 ratings, ten texts, two workers, or where nothing is left
        to foretell.

    Raises
    ------
    ValueError
        On a rating that is not finite, or columns that do not fit.

    Notes
    -----
    Ridge regression of what is left of the ratings on what is left of `FEATURES`, in five
    folds over instances: a text is never foretold from itself. The interval is a
    jackknife over workers of the share.

    References
    ----------
    Stone (1974), JRSS B 36 (cross-validation); Efron and Stein (1981), Annals of
    Statistics 9 (jackknife).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> place = np.arange(300)
    >>> texts = ["word " * int(k) for k in rng.integers(1, 30, 300)]
    >>> ratings = [len(text) + rng.normal(0, 20) for text in texts]
    >>> found = style_share(ratings, texts, place % 10, place % 3, place // 3)
    >>> found.low > 0.5
    True
    """
    y = as_ratings(values)
    n = len(y)
    if len(texts) != n:
        raise ValueError(f"{n} ratings have {len(texts)} texts.")
    levels = [codes_of(labels, n) for labels in (workers, systems, instances)]
    distinct = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    n_workers = int(levels[0].max()) + 1
    if n < _FEWEST_RATINGS or len(distinct) < _FEWEST_TEXTS or n_workers < 2:
        return None
    rest = without_levels(y, levels)
    table = np.array([style_of(text) for text in distinct])
    features = table[[distinct[text] for text in texts]]
    features = np.column_stack([without_levels(one, levels) for one in features.T])
    foretold = _foretold(rest, features, levels[2], seed)
    plain = sums_by(levels[0], rest**2, n_workers)
    left = sums_by(levels[0], (rest - foretold) ** 2, n_workers)
    if plain.sum() <= 1e-9 * max(float(y @ y), 1e-9):
        return None
    share, error = _jackknifed(plain, left)
    reach = _t_quantile(n_workers - 1) * error
    return StyleShare(share, share - reach, share + reach, n, n_workers, len(distinct))


def _foretold(
    rest: Floats, features: Floats, instance: npt.NDArray[np.intp], seed: int
) -> Floats:
    """Foretell each fold from the others."""
    rng = np.random.default_rng(seed)
    fold_of = rng.permutation(int(instance.max()) + 1) % _FOLDS
    fold, foretold = fold_of[instance], np.zeros_like(rest)
    for one in range(_FOLDS):
        out = fold == one
        known = features[~out]
        scale = known.std(axis=0)
        used = scale > 1e-9
        if not used.any() or not out.any():
            continue
        known = known[:, used] / scale[used]
        square = known.T @ known + _RIDGE * np.eye(int(used.sum()))
        weights = np.linalg.solve(square, known.T @ rest[~out])
        foretold[out] = features[out][:, used] / scale[used] @ weights
    return foretold


def _jackknifed(plain: Floats, left: Floats) -> tuple[float, float]:
    """Give 1 - left / plain with its standard error, one worker deleted at a time."""
    n = len(plain)
    share = 1 - float(left.sum() / plain.sum())
    others = plain.sum() - plain
    if (others <= 0).any():
        return share, np.inf
    deleted = 1 - (left.sum() - left) / others
    return share, float(((deleted - deleted.mean()) ** 2).sum() * (n - 1) / n) ** 0.5


def _t_quantile(freedom: float) -> float:
    from scipy import special

    return float(special.stdtrit(freedom, 0.975))

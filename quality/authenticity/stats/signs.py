"""Three signs of a program's answers, one number and one error a worker."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quality.authenticity.stats.answers import Answers, centred, deserved
from quality.counts import Floats, Ints

#: Workers with fewer answers have no sign.
FEWEST = 6
#: Correlations are clipped to this, because Fisher's z of 1 is infinite.
_CLOSEST = 0.995


@dataclass(frozen=True)
class Sign:
    """One sign of each worker: the estimate, its error, and the number of answers."""

    value: Floats
    error: Floats
    n: Ints


def similarity(answers: Answers, to: Floats, *held: Floats) -> Sign:
    """Correlate answers with other scores of the same texts, given their quality.

    The partial correlation of value and `to` over a worker's answers, with the columns
    `held` constant, as Fisher's z; its error is 1 / sqrt(n - 3 - number of columns).

    Parameters
    ----------
    to : array
        A judge's answers, or those of workers under suspicion; NaN is left out.
    *held : array
        The quality of the texts (`answers.deserved`), and a judge's answers.

    References
    ----------
    R. A. Fisher, "The distribution of the partial correlation coefficient", Metron 3
    (1924).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> n, zero = np.arange(200), np.zeros(200, dtype=int)
    >>> judge, own = rng.normal(size=200), rng.normal(size=200)
    >>> some = Answers(zero, n, n, zero, judge + own)
    >>> sign = similarity(some, judge)
    >>> bool(abs(sign.value[0] - np.arctanh(np.corrcoef(judge, judge + own)[0, 1])) < 1e-9)
    True
    """
    told = np.isfinite(to)
    for column in held:
        told &= np.isfinite(column)
    who, n_workers = answers.worker[told], answers.n_workers
    first: list[Floats] = []
    for column in (*held, to, answers.value):
        rest = _within(column[told], who, n_workers)
        for before in first[: len(held)]:
            rest = rest - before * _slope(before, rest, who, n_workers)[who]
        first.append(rest)
    judge, value = first[-2:]
    n = np.bincount(who, minlength=n_workers)
    degrees = n - 3 - len(held)
    usable = (n >= FEWEST) & (degrees > 0)
    usable &= _varies(value, who, n_workers) & _varies(judge, who, n_workers)
    r = _correlation(value, judge, who, n_workers)
    z = np.arctanh(np.clip(r, -_CLOSEST, _CLOSEST))
    error = 1 / np.sqrt(np.maximum(degrees, 1))
    return Sign(np.where(usable, z, np.nan), np.where(usable, error, np.nan), n)


def spread(answers: Answers, expected: Floats) -> Sign:
    """Compute the log variance of each worker's answers around the texts' quality.

    Each worker has a separate slope on `expected`. The error allows for the kurtosis
    of the residuals.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> who, n = np.repeat([0, 1], 300), np.tile(np.arange(300), 2)
    >>> value = rng.normal(size=600) * np.where(who == 0, 1, 0.5)
    >>> sign = spread(Answers(who, n, n, 0 * n, value), np.zeros(600))
    >>> bool(abs(sign.value[0] - sign.value[1] - np.log(4)) < 0.2)
    True
    """
    who, n_workers = answers.worker, answers.n_workers
    value = centred(answers)
    held = _within(expected, who, n_workers)
    rest = value - held * _slope(held, value, who, n_workers)[who]
    n = np.bincount(who, minlength=n_workers)
    variance = np.bincount(who, rest**2, minlength=n_workers) / np.maximum(n - 2, 1)
    fourth = np.bincount(who, rest**4, minlength=n_workers) / np.maximum(n, 1)
    usable = n >= FEWEST
    # Equal answers count as narrow as one step of a scale of a thousand.
    floor = 1e-6 * max(float(value @ value) / max(value.size, 1), 1e-12)
    log = np.log(np.maximum(variance, floor))
    kurtosis = np.clip(fourth / np.maximum(variance, floor) ** 2, 1.8, 9.0)
    error = np.sqrt((kurtosis - 1) / np.maximum(n, 1))
    return Sign(np.where(usable, log, np.nan), np.where(usable, error, np.nan), n)


def shared_words(answers: Answers, suspicion: Floats) -> Floats:
    """Compute other suspects' mean residual on each answer's text.

    Weighted by suspicion over all others who answered about the text; NaN if no other
    is suspected.

    Examples
    --------
    >>> text = np.array([0, 1, 0, 1, 0, 1])
    >>> some = Answers(np.array([0, 0, 1, 1, 2, 2]), text, text, 0 * text,
    ...                np.array([1, 0, 1, 0, 0.0, 1.0]))
    >>> shared_words(some, np.array([1.0, 1.0, 0.0])).round(2).tolist()
    [0.78, -0.78, 0.78, -0.78, 0.78, -0.78]
    """
    rest = centred(answers) - deserved(answers, 1 - suspicion)
    counted = suspicion[answers.worker]
    total = np.bincount(answers.text, counted * rest)[answers.text] - counted * rest
    n = np.bincount(answers.text, counted)[answers.text] - counted
    return np.asarray(np.where(n > 1e-3, total / np.maximum(n, 1e-3), np.nan))


def _within(value: Floats, who: Ints, n_workers: int) -> Floats:
    n = np.maximum(np.bincount(who, minlength=n_workers), 1)
    return np.asarray(value - (np.bincount(who, value, minlength=n_workers) / n)[who])


def _slope(of: Floats, value: Floats, who: Ints, n_workers: int) -> Floats:
    square = np.bincount(who, of**2, minlength=n_workers)
    both = np.bincount(who, of * value, minlength=n_workers)
    return np.asarray(both / np.maximum(square, 1e-12))


def _correlation(a: Floats, b: Floats, who: Ints, n_workers: int) -> Floats:
    """Correlate two centered columns for each worker; 0 without variation."""
    both = np.bincount(who, a * b, minlength=n_workers)
    squares = np.bincount(who, a * a, minlength=n_workers) * np.bincount(
        who, b * b, minlength=n_workers
    )
    r = both / np.sqrt(np.maximum(squares, 1e-24))
    return np.asarray(np.clip(r, -1, 1))


def _varies(value: Floats, who: Ints, n_workers: int) -> npt.NDArray[np.bool_]:
    return np.asarray(np.bincount(who, value**2, minlength=n_workers) > 1e-12)

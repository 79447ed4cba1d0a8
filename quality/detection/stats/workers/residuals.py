"""Real ratings under each class of workers, given other ratings of the same items.

Careful people rate the quality of an item, each with their own leniency and scatter.
Others rate around their own level, at random, or inverted. Narrow answers scatter less
than people's and follow other narrow answers: those of people who copy a language
model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from quality.counts import Floats, Ints
from quality.detection.stats.workers.answers import Ratings, Timeline, as_levels

#: Grid of means on which probabilities of levels are looked up.
_STEP, _LOW, _HIGH = 0.02, -1.0, 2.0
#: Share of answers that are slips, in every class.
_SLIPS = 0.02
#: Ratings whose levels have this entropy count in full: four fifths are one of two.
_FULL_ENTROPY = 0.5
#: Narrow answers scatter by less than this share of people's.
NARROW_AT_MOST, NARROW_FIRST = 0.6, 0.5
_LENIENCY: Floats = np.linspace(-0.36, 0.36, 19)
_SCATTER = np.array([0.7, 1.0, 1.4])
_SCATTER_WEIGHTS = np.array([0.2, 0.6, 0.2])


@dataclass(frozen=True)
class Items:
    """Ratings as numbered columns, with the groups for leaving a worker's own out.

    Attributes
    ----------
    worker, level : ndarray of int, shape (n,)
    value : ndarray, shape (n,)
    groups : list of tuple of ndarray
        Systems, instances and outputs, each within its criterion: the group of each
        rating, and its pair of group and worker.
    weight : ndarray, shape (n,)
        One over the number of criteria that a worker rated an output on. Less if a
        criterion's ratings hardly vary, because such ratings are hardly informative.
    """

    worker: Ints
    level: Ints
    value: Floats
    places: Floats
    groups: list[tuple[Ints, Ints]]
    weight: Floats

    @cached_property
    def constant(self) -> tuple[Floats, Floats]:
        """Ratings of workers who always answer about the same; see `habits`."""
        levels = np.linspace(0, 1, 11)
        answers = _looked_up(self, np.zeros(len(self.value)), levels, [0.04, 0.14])
        return answers, np.full(22, -np.log(22))

    @cached_property
    def anyhow(self) -> tuple[Floats, Floats]:
        """Ratings of workers who do not look: evenly, or widely around some level."""
        around = np.array([0.35, 0.5, 0.65])
        wide = _looked_up(self, np.zeros(len(self.value)), around, 0.35)
        even = -np.log(len(self.places)) * self.weight[:, None]
        return np.concatenate([even, wide], axis=1), np.log([0.5, 1 / 6, 1 / 6, 1 / 6])


def as_items(ratings: Ratings) -> Items:
    """Map each criterion's systems, instances and outputs to numbers.

    Examples
    --------
    >>> from quality.detection.stats.workers.answers import no_ratings
    >>> len(as_items(no_ratings()).value)
    0
    """
    level, places = as_levels(ratings.value)
    groups = []
    for column in (ratings.system, ratings.instance, ratings.item):
        group = _pairs(column, ratings.criterion)
        groups.append((group, _pairs(group, ratings.worker)))
    look = _pairs(ratings.item, ratings.worker)
    weight = 1 / np.bincount(look)[look] if len(look) else np.zeros(0)
    weight = weight * _telling(ratings.criterion, level)
    return Items(ratings.worker, level, ratings.value, places, groups, weight)


def _telling(criterion: Ints, level: Ints) -> Floats:
    """Return how informative the ratings of each criterion are, 0 if all are the same.

    A worker who does not look agrees with a rating that all give, so this agreement
    must not outweigh failed tests. Measured by the entropy of the levels.
    """
    counts = np.zeros(
        (int(criterion.max(initial=0)) + 1, int(level.max(initial=0)) + 1)
    )
    np.add.at(counts, (criterion, level), 1.0)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    entropy = -(share * np.log(np.where(share > 0, share, 1.0))).sum(axis=1)
    return np.asarray(np.minimum(entropy / _FULL_ENTROPY, 1.0)[criterion])


def _pairs(a: Ints, b: Ints) -> Ints:
    number = np.zeros(len(a), dtype=np.int64)
    if len(a):
        number[:] = np.unique(a * (int(b.max()) + 1) + b, return_inverse=True)[1]
    return number


@dataclass(frozen=True)
class Spread:
    """Variances of one class, on a scale from 0 to 1.

    Attributes
    ----------
    noise, leniency, system, instance, output : float
        Of single ratings, between workers, systems, instances and outputs.
    """

    noise: float
    leniency: float
    system: float
    instance: float
    output: float


PEOPLE = Spread(0.055, 0.01, 0.01, 0.01, 0.003)


@dataclass(frozen=True)
class Expected:
    """The expected rating of each item by a class, from others of the class.

    Attributes
    ----------
    mean : ndarray, shape (n,)
    variance : float
        Of the expectation, on average.
    leniency : ndarray, shape (n_workers,)
    """

    mean: Floats
    variance: float
    spread: Spread
    leniency: Floats

    @property
    def scatter(self) -> float:
        """The standard deviation of a rating around its expectation."""
        return float((self.spread.noise + self.variance) ** 0.5)


def expect(items: Items, share: Floats, before: Expected) -> Expected:
    """Estimate a class's rating of each item, weighted by class probabilities.

    Parameters
    ----------
    share : ndarray, shape (n,)
        Probability of each rating to be of the class.
    before : Expected
        The last round's, for leniency and variances.

    Returns
    -------
    Expected
        Each rating is predicted from other workers' ratings only.

    References
    ----------
    C. Henderson, Biometrics 31 (1975), 423-447 (prediction of effects, one level after
    the other); C. R. Henderson, Biometrics 9 (1953), method 1 (variances from products).

    Examples
    --------
    Three workers rate an output .5, .5 and 1; nobody's own rating is used for theirs:

    >>> one = np.zeros(3, dtype=np.int64)
    >>> value = np.array([0.5, 0.5, 1.0])
    >>> items = as_items(Ratings(np.arange(3), one, one, one, one, value))
    >>> found = expect(items, np.ones(3), first_expected(3, items))
    >>> bool(found.mean[2] < found.mean[0])
    True
    """
    spread, total = before.spread, float(share.sum())
    rest = items.value - before.leniency[items.worker]
    mean = np.full(len(rest), 0.5 if total < 1 else float(share @ rest) / total)
    variance, variances = 0.0, []
    for (group, own), prior in zip(
        items.groups, (spread.system, spread.instance, spread.output), strict=True
    ):
        left = rest - mean
        variances.append(_between(left, share, group, own, prior))
        ratio = spread.noise / prior
        top = (
            np.bincount(group, share * left)[group]
            - np.bincount(own, share * left)[own]
        )
        n = np.bincount(group, share)[group] - np.bincount(own, share)[own]
        mean = mean + top / (n + ratio)
        if total > 0:
            variance += prior * float(share @ (ratio / (n + ratio))) / total
    left = items.value - mean
    leniency, between = _leniency(items, left, share, before)
    squares = share * (left - leniency[items.worker]) ** 2
    noise = (squares.sum() + 20 * before.spread.noise) / (total + 20) - variance
    return Expected(
        np.asarray(mean, dtype=np.float64),
        variance,
        Spread(max(float(noise), 0.004), between, *variances),
        leniency,
    )


def _between(
    left: Floats, share: Floats, group: Ints, own: Ints, prior: float
) -> float:
    both = (np.bincount(group, share * left) ** 2).sum()
    both -= (np.bincount(own, share * left) ** 2).sum()
    n = (np.bincount(group, share) ** 2).sum() - (np.bincount(own, share) ** 2).sum()
    # A prior worth a hundred pairs.
    return float(np.clip((both + 100 * prior) / (n + 100), 1e-4, 0.1))


def _leniency(
    items: Items, left: Floats, share: Floats, before: Expected
) -> tuple[Floats, float]:
    n_workers, spread = len(before.leniency), before.spread
    n = np.bincount(items.worker, share, n_workers)
    ratio = (spread.noise + before.variance) / spread.leniency
    found = np.bincount(items.worker, share * left, n_workers) / (n + ratio)
    error = spread.leniency * ratio / (n + ratio)
    rated = np.bincount(items.worker, minlength=n_workers)
    member = np.minimum(n / np.maximum(rated, 1), 1)
    squares = member @ (found**2 + error) + 5 * PEOPLE.leniency
    return found, float(np.clip(squares / (member.sum() + 5), 1e-3, 0.06))


def level_table(places: Floats, scatter: float) -> Floats:
    """Return log-probabilities of levels by mean, of a normal rounded to the levels.

    Parameters
    ----------
    places : ndarray, shape (n_levels,)
        Ascending; values beyond the outer levels count as these.

    Returns
    -------
    ndarray, shape (n_levels, n_means)

    Examples
    --------
    >>> table = level_table(np.linspace(0, 1, 5), 0.2)
    >>> bool(np.allclose(np.exp(table).sum(axis=0), 1))
    True
    """
    from scipy import special

    means = np.arange(_LOW, _HIGH + _STEP / 2, _STEP)
    edges = (places[1:] + places[:-1]) / 2
    below = special.ndtr((edges[:, None] - means) / scatter)
    ends = np.zeros((1, len(means)))
    share = np.diff(np.vstack([ends, below, ends + 1]), axis=0)
    mixed = (1 - _SLIPS) * share + _SLIPS / len(places)
    return np.asarray(np.log(mixed), dtype=np.float64)


def _looked_up(
    items: Items, mean: Floats, shifts: npt.ArrayLike, scatters: npt.ArrayLike
) -> Floats:
    last = round((_HIGH - _LOW) / _STEP)
    place = np.rint((mean[:, None] + np.asarray(shifts) - _LOW) / _STEP).astype(
        np.int64
    )
    place = np.clip(place, 0, last)
    parts = [
        level_table(items.places, float(scatter))[items.level[:, None], place]
        for scatter in np.atleast_1d(scatters)
    ]
    return np.asarray(np.concatenate(parts, axis=1) * items.weight[:, None])


def _normal_weights(shifts: Floats, variance: float) -> Floats:
    weight = np.exp(-(shifts**2) / (2 * variance))
    return np.asarray(weight / weight.sum(), dtype=np.float64)


def habits(
    items: Items, people: Expected, copied: Expected
) -> dict[str, tuple[Floats, Floats]]:
    """Return the log-probabilities of ratings by each class, habit by habit.

    Parameters
    ----------
    people, copied : Expected
        Expected ratings of careful people and of narrow answers.

    Returns
    -------
    dict of tuple of ndarray
        Log-probabilities of the ratings, shape (n, n_habits), and log-probabilities of
        the habits.

    Examples
    --------
    >>> from quality.detection.stats.workers.answers import no_ratings
    >>> items = as_items(no_ratings())
    >>> start = first_expected(2, items)
    >>> sorted(habits(items, start, start))
    ['constant', 'honest', 'inverted', 'narrow', 'random']
    """
    return {
        "honest": _people(items, people),
        "constant": items.constant,
        "random": items.anyhow,
        "inverted": _inverted(items, people),
        "narrow": _narrow(items, copied),
    }


def _people(items: Items, expected: Expected) -> tuple[Floats, Floats]:
    answers = _looked_up(items, expected.mean, _LENIENCY, expected.scatter * _SCATTER)
    weights = np.outer(
        _SCATTER_WEIGHTS, _normal_weights(_LENIENCY, expected.spread.leniency)
    )
    return answers, np.log(weights.ravel())


def _narrow(items: Items, expected: Expected) -> tuple[Floats, Floats]:
    shifts = np.asarray(np.linspace(-0.2, 0.2, 11), dtype=np.float64)
    scatters = expected.scatter * np.array([0.85, 1.2])
    answers = _looked_up(items, expected.mean, shifts, scatters)
    weights = np.tile(_normal_weights(shifts, expected.spread.leniency), 2) / 2
    return answers, np.log(weights)


def _inverted(items: Items, expected: Expected) -> tuple[Floats, Floats]:
    shifts = np.asarray(np.linspace(-0.32, 0.32, 9), dtype=np.float64)
    answers = _looked_up(items, 1 - expected.mean, shifts, expected.scatter)
    return answers, np.log(_normal_weights(shifts, 0.03))


def first_expected(n_workers: int, items: Items) -> Expected:
    """Return a start for people from the plain means of items.

    Examples
    --------
    >>> from quality.detection.stats.workers.answers import no_ratings
    >>> first_expected(3, as_items(no_ratings())).leniency.tolist()
    [0.0, 0.0, 0.0]
    """
    start = Expected(np.zeros(len(items.value)), 0.01, PEOPLE, np.zeros(n_workers))
    return expect(items, np.ones(len(items.value)), start)


def narrowed(found: Expected, of_people: Expected) -> Expected:
    """Limit the scatter of a narrow class to well below that of people.

    Examples
    --------
    >>> from quality.detection.stats.workers.answers import no_ratings
    >>> start = first_expected(1, as_items(no_ratings()))
    >>> narrowed(start, start).scatter < start.scatter
    True
    """
    limit = (NARROW_AT_MOST * of_people.scatter) ** 2
    noise = min(found.spread.noise, max(limit - found.variance, 0.004))
    spread = replace(
        found.spread, noise=noise, leniency=min(found.spread.leniency, 0.01)
    )
    return replace(found, spread=spread)


# The likelihood of a sequence of answers: of one class, or careful and then not.
@dataclass(frozen=True)
class Nodes:
    """Log-probabilities of answers given a class and each of its members' habits.

    Attributes
    ----------
    answers : ndarray, shape (n, n_nodes)
        Of each answer in the timeline; 0 if the nodes do not cover it.
    weights : ndarray, shape (n_nodes,)
        Log-probabilities of the habits; their exponentials add up to 1.
    """

    answers: Floats
    weights: Floats


def log_sum(values: Floats, axis: int = -1) -> Floats:
    """Return the logarithm of the sum of exponentials.

    Examples
    --------
    >>> log_sum(np.array([[-np.inf, 0.0], [0.0, 0.0]])).round(3).tolist()
    [0.0, 0.693]
    """
    top = values.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(values - top).sum(axis=axis))
    return np.asarray(total + np.squeeze(top, axis), dtype=np.float64)


def _before(nodes: Nodes, line: Timeline) -> tuple[Floats, Floats]:
    summed = np.cumsum(nodes.answers, axis=0)
    before = np.vstack([np.zeros((1, summed.shape[1])), summed])
    totals = before[line.starts + line.counts] - before[line.starts]
    return before[:-1] - before[line.starts][line.worker], totals


def whole(blocks: Sequence[Nodes], line: Timeline) -> Floats:
    """Compute each worker's log-likelihood if one class gave all answers.

    Parameters
    ----------
    blocks : sequence of Nodes
        Independent given the class: habits in tests, habits in ratings.

    Returns
    -------
    ndarray, shape (n_workers,)

    Examples
    --------
    >>> from quality.detection.stats.workers.answers import no_ratings, no_tests, timeline
    >>> line = timeline(2, no_tests(), no_ratings())
    >>> whole([Nodes(np.zeros((0, 1)), np.zeros(1))], line).tolist()
    [0.0, 0.0]
    """
    total = np.zeros(line.n_workers)
    filled = line.counts > 0
    if filled.any():
        for nodes in blocks:
            summed = np.add.reduceat(nodes.answers, line.starts[filled], axis=0)
            total[filled] += log_sum(summed + nodes.weights)
    return total


@dataclass(frozen=True)
class Turned:
    """Estimates about workers who began with care and then stopped.

    Attributes
    ----------
    likelihood : ndarray, shape (n_workers,)
        Log-likelihood of the answers of a worker who turned, at any place with equal
        probability.
    by_then : ndarray, shape (n,)
        Probability, if the worker turned, that it was before this answer.
    """

    likelihood: Floats
    by_then: Floats


def turned(
    careful: Sequence[Nodes],
    careless: Mapping[str, Sequence[Nodes]],
    line: Timeline,
    *,
    least: int = 5,
) -> Turned:
    """Compute the likelihood of a change from careful to careless.

    Parameters
    ----------
    careful : sequence of Nodes
        Of careful people.
    careless : mapping of sequence of Nodes
        Classes that workers may turn to, equally often.
    least : int, default 5
        Careful answers before a change; a worker who stops earlier was never careful.

    References
    ----------
    D. Barry and J. Hartigan, JASA 88 (1993), 309-319, for product partitions with one
    change.

    Examples
    --------
    Ten answers as of careful people, then ten as of others:

    >>> from quality.detection.stats.workers.answers import Tests, no_ratings, timeline
    >>> one = np.zeros(20, dtype=np.int64)
    >>> line = timeline(1, Tests(one, one, one, one == 0), no_ratings())
    >>> first = np.repeat(np.log([0.9, 0.1]), 10)[:, None]
    >>> blocks = [[Nodes(side, np.zeros(1))] for side in (first, first[::-1])]
    >>> found = turned(blocks[0], {"other": blocks[1]}, line)
    >>> found.by_then[[8, 11]].round(1).tolist()
    [0.0, 1.0]
    """
    ahead = np.zeros(len(line))
    for nodes in careful:
        ahead += log_sum(_before(nodes, line)[0] + nodes.weights)
    after = []
    for blocks in careless.values():
        rest = np.zeros(len(line))
        for nodes in blocks:
            before, totals = _before(nodes, line)
            rest += log_sum(totals[line.worker] - before + nodes.weights)
        after.append(rest)
    place = np.arange(len(line)) - line.starts[line.worker]
    joint = ahead + log_sum(np.array(after), axis=0) - np.log(max(len(after), 1))
    joint = np.where(place >= least, joint, -np.inf)
    return _summed(joint, line, least)


def _summed(joint: Floats, line: Timeline, least: int) -> Turned:
    likelihood = np.full(line.n_workers, -np.inf)
    by_then = np.zeros(len(line))
    busy = line.counts > least
    if not busy.any():
        return Turned(likelihood, by_then)
    filled = line.counts > 0
    top = np.full(line.n_workers, -np.inf)
    top[filled] = np.maximum.reduceat(joint, line.starts[filled])
    shown = np.exp(joint - np.where(np.isfinite(top), top, 0.0)[line.worker])
    running = np.cumsum(shown)
    ends = line.starts + line.counts - 1
    start = np.where(line.starts > 0, running[line.starts - 1], 0.0)
    total = running[np.maximum(ends, 0)] - start
    places = np.maximum(line.counts - least, 1)
    likelihood[busy] = top[busy] + np.log(total[busy] / places[busy])
    share = (running - start[line.worker]) / np.maximum(total, 1e-300)[line.worker]
    by_then[busy[line.worker]] = np.clip(share[busy[line.worker]], 0, 1)
    return Turned(likelihood, by_then)

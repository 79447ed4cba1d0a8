"""The likelihood of a sequence of answers: of one class, or careful and then not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from quality.counts import Floats
from quality.detection.stats.workers.answers import Timeline


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
    ends = line.starts + line.counts
    totals = before[ends] - before[line.starts]
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

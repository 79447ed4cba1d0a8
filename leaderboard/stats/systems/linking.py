"""The shift of a crowd: ratings of the same outputs, before and now.

A later campaign includes a few outputs of a system with a known score. The difference
of their ratings now and before is the linking constant: scores of the later campaign
minus the constant are on the scale of the earlier ones.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from genie.lib.interval import Interval
from leaderboard.stats.systems.estimates import estimate_systems


class Moved(StrEnum):
    """Whether an interval shows a crowd's shift beyond a tolerance."""

    YES = "yes"
    PERHAPS = "perhaps"
    NO = "no"


@dataclass(frozen=True)
class Ratings:
    """Ratings of one kind, in columns of equal length.

    Parameters
    ----------
    values : array_like
        On a numeric scale (logarithms of magnitudes).
    workers, instances : array_like
        The worker and the instance of each.
    """

    values: npt.ArrayLike
    workers: npt.ArrayLike
    instances: npt.ArrayLike

    def __len__(self) -> int:
        return len(np.asarray(self.values))


@dataclass(frozen=True)
class LinkingConstant(Interval):
    """The difference of a crowd's ratings of the same outputs to earlier ones.

    Parameters
    ----------
    n_outputs, n_ratings, n_workers : int
        Of the anchor in the later crowd.
    """

    standard_error: float
    n_outputs: int
    n_ratings: int
    n_workers: int


def classify_shift(low: float, high: float, tolerance: float) -> Moved:
    """Classify whether a crowd has shifted by more than a tolerance.

    Parameters
    ----------
    tolerance : float
        In the same unit, >= 0.

    Returns
    -------
    Moved
        Surely if the whole interval is beyond the tolerance, not if the whole of it is
        within, otherwise perhaps (equivalence testing by intervals).

    References
    ----------
    Westlake (1976), Biometrics 32; Lakens (2017), Social Psychological and Personality
    Science 8.
    """
    if low > tolerance or high < -tolerance:
        return Moved.YES
    if -tolerance <= low and high <= tolerance:
        return Moved.NO
    return Moved.PERHAPS


def linking_constant(
    before: Ratings, now: Ratings, others: Ratings | None = None
) -> LinkingConstant | None:
    """Estimate how much higher a crowd rates the same outputs than the one before.

    Parameters
    ----------
    before, now : Ratings
        Of the anchor's outputs, by the earlier and by the later crowd.
    others : Ratings, optional
        The later crowd's ratings of its campaign's system: they separate strict
        workers from lenient ones, so that few anchors are more informative.

    Returns
    -------
    LinkingConstant or None
        None if it is unknown: no output was rated by both crowds, or one of
        them is a single worker.

    Notes
    -----
    The two crowds are two systems in the mixed model of `estimate_systems`, with effects
    of workers and of the anchor's outputs; the interval deletes one worker at a time.
    Workers in both crowds have one effect. An equal shift of all of the
    later crowd's ratings is found exactly.

    References
    ----------
    Kolen and Brennan (2014), Test Equating, Scaling, and Linking, 3rd edition, chapter
    4 (common items, mean linking); `estimate_systems` for the model and its interval.
    """
    if not _can_be_linked(before, now):
        return None
    parts = (
        [before, now] if others is None or not len(others) else [before, now, others]
    )
    values, workers, instances = (
        np.concatenate([np.asarray(getattr(part, name)) for part in parts])
        for name in ("values", "workers", "instances")
    )
    kind = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    # outputs of different systems differ, although the instance is the same
    _, instance = np.unique(instances, return_inverse=True)
    output = 2 * instance + (kind == 2)
    found = estimate_systems(values, kind, workers, output).difference("1", "0")
    return LinkingConstant(
        found.estimate,
        found.low,
        found.high,
        found.standard_error,
        n_outputs=len(np.unique(np.asarray(now.instances))),
        n_ratings=len(now),
        n_workers=len(np.unique(np.asarray(now.workers))),
    )


def _can_be_linked(before: Ratings, now: Ratings) -> bool:
    if min(len(np.unique(np.asarray(part.workers))) for part in (before, now)) < 2:
        return False
    shared = np.intersect1d(np.asarray(before.instances), np.asarray(now.instances))
    return len(shared) > 1

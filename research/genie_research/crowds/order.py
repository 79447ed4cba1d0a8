"""How well the order of a worker's items predicts which of them are tests."""

from collections.abc import Sequence

import numpy as np

from genie_research.crowds.campaign import Outcome
from genie_research.crowds.people import Crowd
from quality.counts import Floats

#: A session of the usual length.
SESSION = 40
# Imagined answers with the overall share of tests, because late places are rare.
_SHRINK = 5.0


def places_of(crowd: Crowd, outcome: Outcome) -> Floats:
    """Count at each place the ratings (row 0) and tests (row 1) of careful workers.

    Returns
    -------
    ndarray, shape (2, SESSION)
        Zeros if the order is unknown.
    """
    rows = []
    for given in (outcome.rated, outcome.asked):
        order = given.order if given.order is not None else given.worker[:0]
        careful = ~crowd.bad[given.worker[: len(order)]]
        rows.append(np.bincount(order[careful & (order < SESSION)], minlength=SESSION))
    return np.array(rows, dtype=np.float64)


def order_auc(places: Sequence[Floats]) -> Floats:
    """Return how well the best rule on places alone distinguishes tests from ratings.

    A place is as suspicious as its share of tests in the other half of the campaigns,
    so a script that has seen many campaigns could do this, and chance cannot.

    Parameters
    ----------
    places : sequence of ndarray, shape (2, n)
        Ratings and tests at each place, of each campaign.

    Returns
    -------
    ndarray, shape (n_campaigns,)
        Area under the ROC curve in each campaign; NaN if one of both is missing.

    References
    ----------
    Hanley and McNeil (1982), Radiology 143 (the area as a share of pairs, ties halved).
    """
    halves = [np.sum(places[part::2], axis=0) for part in (0, 1)]
    found = []
    for number, here in enumerate(places):
        ratings, tests = halves[1 - number % 2]
        overall = tests.sum() / max(tests.sum() + ratings.sum(), 1.0)
        share = (tests + _SHRINK * overall) / (tests + ratings + _SHRINK)
        found.append(_area(share, here))
    return np.array(found)


def _area(score: Floats, places: Floats) -> float:
    _, group = np.unique(score, return_inverse=True)
    ratings, tests = (np.bincount(group, row) for row in places)
    pairs = ratings.sum() * tests.sum()
    if not pairs:
        return float("nan")
    return float(tests @ (np.cumsum(ratings) - ratings / 2) / pairs)

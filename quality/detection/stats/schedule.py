"""When a worker meets test questions: by doubt, hardly by order, and never for the last time.

How many items somebody has answered plays no part, so knowing this tells little about
which items are tests. Careless answers bring tests; careful ones make them rarer.
"""

from dataclasses import dataclass
from typing import NamedTuple

#: Answers of a pool, tests and ratings, between two fits, where there are few.
FIT_EVERY = 120
#: Of what is approved: kept for late tests at the start, and where fewer begin to come.
_KEPT, _TAPER = 0.25, 0.2


@dataclass(frozen=True)
class ScheduleOptions:
    """How test questions are spread over a worker's items.

    Attributes
    ----------
    first : int, default 8
        Tests that everybody meets at the pace of a beginner.
    pace : float, default 0.8
        A beginner's share of tests, over the share of tests in what a campaign has left.
    late : float, default 0.05
        Greatest share of tests after these, of workers nobody doubts.
    doubt : float, default 0.95
        Share of tests among the items of a worker who may well be careless.
    """

    first: int = 8
    pace: float = 0.8
    late: float = 0.05
    doubt: float = 0.95

    def __post_init__(self) -> None:
        if min(self.first, self.pace, self.late) < 0:
            raise ValueError("Numbers and shares of tests cannot be negative.")
        if not 0 < self.doubt < 1:
            raise ValueError("The greatest probability must lie between 0 and 1.")


class Allowance(NamedTuple):
    """What is left of the tests that staff approved for a campaign.

    Attributes
    ----------
    left : float
        Share of tests among all answers that the campaign may still pay.
    doubt : float
        From 1 while there is enough to 0 as what may go to workers in doubt runs out.
    """

    left: float
    doubt: float = 1.0


def test_probability(
    n_tests: int,
    p_careless: float,
    allowance: Allowance,
    *,
    options: ScheduleOptions,
) -> float:
    """Return how likely a worker's next item is to be a test.

    Parameters
    ----------
    n_tests : int
        Tests that the worker has answered.
    p_careless : float
        Probability that the worker is careless, as far as is known.
    allowance : Allowance
        Of the campaign; see :func:`affordable`.

    Returns
    -------
    float
        Where a quarter of a campaign are tests, a careful worker meets about eight in
        forty items; then the share falls to `late`. It rises towards `doubt` while they
        may be careless. It is never below half of `late`, or whoever has been careful
        for long enough could stop.

    Raises
    ------
    ValueError
        When `n_tests` is negative or `p_careless` is no probability.

    Examples
    --------
    >>> options, allowance = ScheduleOptions(), Allowance(0.25)
    >>> [round(test_probability(0, p, allowance, options=options), 2) for p in (0.02, 0.15)]
    [0.2, 0.25]
    >>> [round(test_probability(12, p, allowance, options=options), 2) for p in (0.02, 0.5)]
    [0.05, 0.95]
    """
    if n_tests < 0 or not 0 <= p_careless <= 1:
        raise ValueError("The count of tests or the probability makes no sense.")
    share = options.pace * allowance.left
    if n_tests >= options.first:
        share = min(share, options.late)
    # The uncertain are worth asking, not those who are surely careless or careful. So
    # high a power leaves newcomers, who are all doubted alike, hardly above the others.
    doubt = (4 * p_careless * (1 - p_careless)) ** 4 if p_careless < 0.5 else 1.0
    share += max(allowance.doubt * options.doubt - share, 0.0) * doubt
    return min(max(share, options.late / 2), options.doubt)


test_probability.__test__ = False  # type: ignore[attr-defined]  # not a case of pytest's


def affordable(
    n_items: float, n_tests: float, share: float, *, planned: float
) -> Allowance:
    """Keep the share of tests at what was approved.

    Beginners' tests are spread over the whole campaign; of those for workers in doubt,
    a part is kept for late ones.

    Parameters
    ----------
    n_items : float
        Answers paid so far, tests among them.
    n_tests : float
        Tests paid so far.
    share : float
        Share of tests in the cost that staff approved.
    planned : float
        Answers that the campaign is planned to pay, tests among them.

    Returns
    -------
    Allowance
        Nothing left and no doubt leaves half of the late ones.

    Examples
    --------
    >>> affordable(200, 50, 0.2, planned=1000)
    Allowance(left=0.1875, doubt=1.0)
    >>> affordable(900, 200, 0.2, planned=1000)
    Allowance(left=0.0, doubt=0.0)
    """
    approved = share * planned
    if approved <= 0:
        return Allowance(0.0, 0.0)
    left = min(max(approved - n_tests, 0.0) / max(planned - n_items, 1.0), 1.0)
    ahead = max(planned - n_items, 0.0) / planned
    free = 1 - n_tests / approved - _KEPT * ahead
    return Allowance(left, min(max(free / _TAPER, 0.0), 1.0))

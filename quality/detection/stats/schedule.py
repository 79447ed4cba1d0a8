"""When a worker meets test questions: early, while in doubt, and never for the last time."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1

#: Of what is approved: kept for late tests at the start, and where fewer begin to come.
_KEPT, _TAPER = 0.25, 0.2


@dataclass(frozen=True)
class ScheduleOptions:
    """How test questions are spread over a worker's items.

    Attributes
    ----------
    first : float, default 7
        Tests that everybody meets early.
    pace : float, default 4
        Items within which nearly two thirds of these come.
    late : float, default 0.05
        Share of tests among the items after that, of workers nobody doubts.
    doubt : float, default 0.7
        Share of tests among the items of a worker who may well be careless.
    most : float, default 0.85
        Greatest probability that an item is a test.
    scale : float, default 1
        What staff approved over what the above would cost; see :func:`affordable`.
    """

    first: float = 7.0
    pace: float = 4.0
    late: float = 0.05
    doubt: float = 0.7
    most: float = 0.85
    scale: float = 1.0

    def __post_init__(self) -> None:
        if min(self.first, self.late, self.doubt, self.scale) < 0 or self.pace <= 0:
            raise ValueError("Numbers and shares of tests cannot be negative.")
        if not 0 < self.most < 1:
            raise ValueError("The greatest probability must lie between 0 and 1.")


def test_probability(
    n_answered: int,
    n_tests: int,
    p_careless: float,
    *,
    options: ScheduleOptions,
) -> float:
    """Give how likely a worker's next item is to be a test.

    Parameters
    ----------
    n_answered : int
        Items that the worker has answered, tests among them.
    n_tests : int
        Tests among these.
    p_careless : float
        Probability that the worker is careless, as far as is known.
    options : ScheduleOptions

    Returns
    -------
    float
        About seven tests come in the first twenty items and eight in the first forty;
        then the share falls to `late` while the worker is right and rises towards
        `doubt` while they may be careless. It is never below half of `late`, or whoever
        has been careful for long enough could stop.

    Raises
    ------
    ValueError
        When counts are negative or `p_careless` is no probability.

    Examples
    --------
    >>> options = ScheduleOptions()
    >>> test_probability(0, 0, 0.15, options=options)
    0.85
    >>> [round(test_probability(100, 12, p, options=options), 3) for p in (0.01, 0.5)]
    [0.055, 0.7]
    """
    if not 0 <= n_tests <= n_answered or not 0 <= p_careless <= 1:
        raise ValueError("Counts of answers or the probability make no sense.")
    # the uncertain are worth asking, not those who are surely careless or careful
    doubt = (4 * p_careless * (1 - p_careless)) ** 1.5 if p_careless < 0.5 else 1.0
    share = options.late + (options.doubt - options.late) * doubt
    due = options.first * -expm1(-(n_answered + 1) / options.pace)
    missing = min(max(due - n_tests, 0.0), 1.0)
    asked = options.scale * max(share, missing)
    return min(max(asked, options.late / 2), options.most)


test_probability.__test__ = False  # type: ignore[attr-defined]  # not a case of pytest's


def affordable(
    n_items: float, n_tests: float, share: float, *, planned: float | None = None
) -> float:
    """Give by what tests are to be multiplied so that their share is what was approved.

    Tests come first, so their share is high while a campaign is young; what is approved
    is their share of the whole, of which a part is kept for late ones.

    Parameters
    ----------
    n_items : float
        Answers paid so far, tests among them.
    n_tests : float
        Tests paid so far.
    share : float
        Share of tests in the cost that staff approved.
    planned : float, optional
        Answers that the campaign is planned to pay, tests among them; without it, a
        few hundred more than are paid.

    Returns
    -------
    float
        1 while there is enough, less as what is left over for early tests runs out; 0
        leaves half of the late ones.

    Examples
    --------
    >>> affordable(200, 90, 0.2, planned=1000)
    1.0
    >>> affordable(900, 200, 0.2, planned=1000)
    0.0
    """
    planned = n_items + 300 if planned is None else planned
    approved = share * planned
    if approved <= 0:
        return 0.0
    ahead = max(planned - n_items, 0.0) / planned
    free = 1 - n_tests / approved - _KEPT * ahead
    return min(max(free / _TAPER, 0.0), 1.0)

"""How many workers of a pool a program may exclude before a person looks at it."""

from __future__ import annotations

import math

#: A small pool can lose so many, whatever the share says.
LEAST_EXCLUDED = 2


def most_excluded(n_workers: int, share: float) -> int:
    """Give the number of workers that may be excluded without a person.

    Parameters
    ----------
    n_workers : int
        Workers who have answered at least one test question, >= 0.
    share : float
        The largest share of them, 0 to 1; 0 leaves every exclusion to people.

    Returns
    -------
    int
        The share rounded down, but at least :data:`LEAST_EXCLUDED` unless it is 0.

    Raises
    ------
    ValueError
        When the share is none.

    Examples
    --------
    >>> most_excluded(60, 0.2), most_excluded(5, 0.2), most_excluded(60, 0)
    (12, 2, 0)
    """
    if not 0 <= share <= 1:
        raise ValueError(f"The share must be between 0 and 1, not {share}.")
    return max(LEAST_EXCLUDED, math.floor(share * n_workers)) if share else 0

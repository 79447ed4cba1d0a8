"""Keys of an import's campaigns, and conversions between values and ratings."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
# The part of an import that a campaign has, as in its key. The import is read back from
# `ONE`, `PAIRS` and `ASIDE`; `WON` and `PAGES` repeat rows, for boards of preferences
# and for pages that showed several outputs.
ONE, PAIRS, ASIDE, WON, PAGES = "one", "pairs", "aside", "won", "pages"
MAGNITUDE = "magnitude"


def key_of(import_pk: int) -> str:
    """Return the prefix of the keys of an import's campaigns.

    Examples
    --------
    >>> key_of(3)
    'import:3:'
    """
    return f"import:{import_pk}:"


def as_kept(values: Floats, scale: str, *, lower_is_better: bool) -> Floats:
    """Return values as ratings: higher is better, and magnitudes are ratios.

    Examples
    --------
    >>> as_kept(np.array([0.0, 5.0]), "sum_-25_0", lower_is_better=True).tolist()
    [0.0, -5.0]
    """
    if scale == MAGNITUDE:
        return values / 100
    # not `-values`, which can be a negative zero
    return 0.0 - values if lower_is_better else values


def as_found(ratings: Floats, scale: str, *, lower_is_better: bool) -> Floats:
    """Return ratings as values of the file; magnitudes may differ in the last digit."""
    if scale == MAGNITUDE:
        return ratings * 100
    return 0.0 - ratings if lower_is_better else ratings

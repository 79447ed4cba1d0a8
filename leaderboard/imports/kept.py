"""How judgments are kept: what campaigns of an import are called, and values turned."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
# What a campaign of an import is for, as its key says. From `ONE`, `PAIRS` and `ASIDE`
# what was imported is read back; `WON` and `PAGES` say the same once more, for boards of
# preferences and for pages that showed several outputs.
ONE, PAIRS, ASIDE, WON, PAGES = "one", "pairs", "aside", "won", "pages"
MAGNITUDE = "magnitude"


def key_of(import_pk: int) -> str:
    """Begin the keys of an import's campaigns.

    Examples
    --------
    >>> key_of(3)
    'import:3:'
    """
    return f"import:{import_pk}:"


def as_kept(values: Floats, scale: str, *, lower_is_better: bool) -> Floats:
    """Turn values as found into ratings: higher is better, magnitudes are ratios.

    Examples
    --------
    >>> as_kept(np.array([0.0, 5.0]), "sum_-25_0", lower_is_better=True).tolist()
    [0.0, -5.0]
    """
    if scale == MAGNITUDE:
        return values / 100
    # not `-values`, which makes a zero with a sign
    return 0.0 - values if lower_is_better else values


def as_found(ratings: Floats, scale: str, *, lower_is_better: bool) -> Floats:
    """Turn ratings into values as found; of magnitudes up to the last digit."""
    if scale == MAGNITUDE:
        return ratings * 100
    return 0.0 - ratings if lower_is_better else ratings

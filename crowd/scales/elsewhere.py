"""Scales of imported ratings: found by their names, not offered for new tasks.

`number_1_7` is any number from 1 to 7, with scores in percent of the range, as on this
site's scales. `sum_-25_0` keeps its own unit, because a sum of penalties has no
meaningful minimum. `z_-4_4` holds standard deviations, with scores in hundredths.
`preferred` says whether one output of a pair was the better one.
"""

import re
from functools import cache

from crowd.scales.base import Option, Scale

_NAMED = re.compile(r"(number|sum|z)_(-?[0-9]{1,9})_(-?[0-9]{1,9})", re.ASCII)
PREFERRED = "preferred"


class _Preferred(Scale):
    """Whether this output of two was the better one; half for a tie."""

    options = (
        Option(1.0, "preferred", "1"),
        Option(0.5, "neither", "2"),
        Option(0.0, "not preferred", "3"),
    )


@cache
def scale_elsewhere(slug: str) -> type[Scale] | None:
    """Return the imported scale of this name; None if there is none.

    Examples
    --------
    >>> scale_elsewhere("number_1_7").maximum
    7.0
    >>> scale_elsewhere("sum_-25_0").counted, scale_elsewhere("number_7_1") is None
    (True, True)
    """
    if slug == PREFERRED:
        return type("Preferred", (_Preferred,), {"slug": slug})
    found = _NAMED.fullmatch(slug)
    if found is None:
        return None
    family, low, high = found[1], float(found[2]), float(found[3])
    if low >= high:
        return None
    ends = {"minimum": low, "maximum": high, "binary_threshold": (low + high) / 2}
    own_unit = {"counted": family != "number", "times": 100.0 if family == "z" else 1.0}
    return type("Elsewhere", (Scale,), {"slug": slug, **ends, **own_unit})

from __future__ import annotations

from typing import ClassVar

from crowd.scales.base import Scale


class Magnitude(Scale):
    """How many times as good as a reference output that is worth 100.

    The worker gives any positive number; the rating is its ratio to 100, or to what
    the item says that its reference output is worth.

    References
    ----------
    Novikova, Dušek and Rieser, RankME: Reliable Human Ratings for Natural Language
    Generation, NAACL 2018, section 3.

    Examples
    --------
    >>> Magnitude.parse("250")
    2.5
    """

    slug = "magnitude"
    ANCHOR: ClassVar[float] = 100.0
    minimum = 0.01
    maximum = 1_000_000.0
    step = 0.01
    binary_threshold = 1.0
    relative = True

    @classmethod
    def rating(cls, number: float) -> float:
        """Give the ratio of the worker's number to the anchor.

        Examples
        --------
        >>> Magnitude.rating(50)
        0.5
        """
        return number / cls.ANCHOR

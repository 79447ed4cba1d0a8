"""What charts draw of a score: an estimate with its 95 % interval."""

from typing import Protocol


class Estimate(Protocol):
    """A number that people gave, and how sure it is."""

    @property
    def mean(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...

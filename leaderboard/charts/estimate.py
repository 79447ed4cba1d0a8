"""The protocol of scores in charts: an estimate with its 95% interval."""

from typing import Protocol


class Estimate(Protocol):
    @property
    def mean(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...

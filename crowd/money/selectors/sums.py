"""Sums of money as workers see them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Earnings:
    """What a worker has earned, in cents: waits for approval, approved, paid."""

    pending: int = 0
    approved: int = 0
    paid: int = 0

    @property
    def total(self) -> int:
        return self.pending + self.approved + self.paid

    def __add__(self, more: Earnings) -> Earnings:
        return Earnings(
            self.pending + more.pending,
            self.approved + more.approved,
            self.paid + more.paid,
        )

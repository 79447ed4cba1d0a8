"""The ratings that scores are made from, as services read them."""

from __future__ import annotations

from leaderboard.selectors.system_ratings import system_ratings, unit_for

__all__ = ["system_ratings", "unit_for"]

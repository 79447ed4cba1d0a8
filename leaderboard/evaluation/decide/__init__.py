"""People decide on an evaluation: staff on money and work, who asked on taking it back."""

from __future__ import annotations

from leaderboard.evaluation.decide.staff import (
    MAY_DECIDE,
    approve,
    decline,
    may_decide,
    n_workers,
    publish_partial,
    quote,
    rank_partial,
    retry,
    stop,
    test_check,
    test_questions,
)
from leaderboard.evaluation.decide.withdrawal import (
    restore,
    take_back,
    way_back,
    withdraw,
)

__all__ = [
    "MAY_DECIDE",
    "approve",
    "decline",
    "may_decide",
    "n_workers",
    "publish_partial",
    "quote",
    "rank_partial",
    "restore",
    "retry",
    "stop",
    "take_back",
    "test_check",
    "test_questions",
    "way_back",
    "withdraw",
]

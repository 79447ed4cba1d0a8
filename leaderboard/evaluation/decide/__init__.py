"""Decisions on an evaluation: by staff on money and work, by its author on withdrawal."""

from leaderboard.evaluation.decide.staff import (
    MAY_DECIDE,
    approve,
    decline,
    go_on,
    may_decide,
    n_workers,
    publish_partial,
    quote,
    rank_partial,
    retry,
    stop,
    test_questions,
)
from leaderboard.evaluation.decide.withdrawal import (
    restore,
    take_back,
    way_back,
    withdraw,
)
from leaderboard.evaluation.strategies.measured_tests import (
    UNMEASURED,
    is_measured,
    measure_together,
    prepare,
)

__all__ = [
    "MAY_DECIDE",
    "UNMEASURED",
    "approve",
    "decline",
    "go_on",
    "is_measured",
    "may_decide",
    "measure_together",
    "n_workers",
    "prepare",
    "publish_partial",
    "quote",
    "rank_partial",
    "restore",
    "retry",
    "stop",
    "take_back",
    "test_questions",
    "way_back",
    "withdraw",
]

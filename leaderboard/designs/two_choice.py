from __future__ import annotations

from leaderboard.designs.base import SeveralOutputs


class TwoChoice(SeveralOutputs):
    """The outputs of two systems: which is better (Dynamic Human Evaluation)."""

    slug = "two-choice"
    scales = ("two-choice",)
    n_outputs = (2, 2)

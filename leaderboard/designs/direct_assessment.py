from __future__ import annotations

from leaderboard.designs.base import OneOutput


class DirectAssessment(OneOutput):
    """One prediction at a time on five steps of agreement (Genie, figure 4 a-c)."""

    slug = "direct-assessment"
    scales = ("likert-5",)

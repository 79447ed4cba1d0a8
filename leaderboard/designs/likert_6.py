from __future__ import annotations

from leaderboard.designs.base import OneOutput


class Likert6(OneOutput):
    """One prediction at a time on six steps without a middle (RankME, section 3)."""

    slug = "likert-6"
    scales = ("likert-6",)

from __future__ import annotations

from leaderboard.designs.base import OneOutput


class Number(OneOutput):
    """One output at a time, on a scale of judgments that were made elsewhere."""

    slug = "number"
    # any range of these families, such as number_1_7
    scales = ("number", "sum", "z", "preferred")

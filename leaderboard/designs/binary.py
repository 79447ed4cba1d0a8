from __future__ import annotations

from leaderboard.designs.base import OneOutput


class Binary(OneOutput):
    """One prediction at a time, good or not (Genie, section 4)."""

    slug = "binary"
    scales = ("binary",)

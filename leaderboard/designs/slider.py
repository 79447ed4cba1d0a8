from __future__ import annotations

from leaderboard.designs.base import OneOutput


class Slider(OneOutput):
    """One prediction at a time on a line from 0 to 100 (WMT's DA, DA+SQM)."""

    slug = "slider"
    scales = ("slider-100", "sqm")

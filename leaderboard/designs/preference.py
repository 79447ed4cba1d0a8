from __future__ import annotations

from leaderboard.designs.base import SeveralOutputs


class Preference(SeveralOutputs):
    """An output and a reference, which is preferred in five steps (Genie, figure 4 d)."""

    slug = "preference"
    scales = ("preference-5", "two-choice")
    n_outputs = (2, 2)
    references_among = 1
    needs_reference = True

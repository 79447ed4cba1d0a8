from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leaderboard.designs.base import SeveralOutputs, Shown, TaskView, with_standard


class RankME(SeveralOutputs):
    """All systems' outputs together, each a magnitude beside a reference worth 100.

    References
    ----------
    Novikova, Dušek and Rieser, RankME: Reliable Human Ratings for Natural Language
    Generation, NAACL 2018, section 3.
    """

    slug = "rankme"
    scales = ("magnitude",)
    needs_reference = True

    def data(
        self, task: TaskView, shown: Shown, outputs: Sequence[str]
    ) -> dict[str, Any]:
        """Show the reference output above the ones that are judged."""
        return with_standard(task, shown, super().data(task, shown, outputs))

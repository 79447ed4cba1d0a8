from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leaderboard.designs.base import OneOutput, Shown, TaskView, with_standard


class PlainMagnitude(OneOutput):
    """How many times as good as a reference output that is worth 100 (RankME, 3)."""

    slug = "plain-magnitude"
    scales = ("magnitude",)
    needs_reference = True

    def data(
        self, task: TaskView, shown: Shown, outputs: Sequence[str]
    ) -> dict[str, Any]:
        """Show the reference output beside the one that is judged."""
        return with_standard(task, shown, super().data(task, shown, outputs))

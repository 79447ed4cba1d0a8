"""A metric that needs no references."""

import numpy as np

from leaderboard.metrics.base import Batch, Metric, MetricOutput, versions

MARKS = (".", "!", "?", "…", "。", "！", "？")


class ClosingMark(Metric):
    """Share of predictions that end as a sentence does, and so were not cut off.

    References
    ----------
    Made up for this example.
    """

    slug = "closing-mark"
    label = "Closing mark"
    version = versions(1)
    higher_is_better = True
    range = (0.0, 100.0)
    paper = "none"
    needs_references = False

    def _measure(self, batch: Batch) -> MetricOutput:
        ends = [text.rstrip().endswith(MARKS) for text in batch.predictions]
        values = 100.0 * np.array(ends, dtype=np.float64)
        return MetricOutput(float(values.mean()), values, f"version:{self.version}")

"""ROUGE-1 as rouge-score computes it."""

from __future__ import annotations

from leaderboard.metrics.base import Batch, Metric, MetricOutput
from leaderboard.metrics.rouge_pass import VERSION, rouge_output


class Rouge1(Metric):
    """ROUGE-1: F1 of shared stemmed words, mean over instances, times 100.

    With several references the best one counts, as in rouge-score's ``score_multi``.
    The ROUGE metrics of one batch share one pass over its texts.

    References
    ----------
    Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", section 2.

    Examples
    --------
    >>> Rouge1().compute(Batch(["a cat"], [["a dog"]])).overall
    50.0
    """

    slug = "rouge1"
    label = "ROUGE-1"
    version = VERSION
    higher_is_better = True
    range = (0.0, 100.0)
    paper = "Lin 2004"

    def _measure(self, batch: Batch) -> MetricOutput:
        return rouge_output(batch, self.slug)

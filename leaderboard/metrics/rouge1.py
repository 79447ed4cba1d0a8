"""ROUGE-1 as rouge-score computes it."""

from __future__ import annotations

from leaderboard.metrics.engines.rouge_pass import Rouge


class Rouge1(Rouge):
    """ROUGE-1: F1 of shared stems, mean over instances, times 100.

    With several references the best one counts, as in rouge-score's ``score_multi``.
    The ROUGE metrics of one batch share one pass over its texts.

    References
    ----------
    Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", section 2.

    Examples
    --------
    >>> from leaderboard.metrics.base import Batch
    >>> Rouge1().compute(Batch(["a cat"], [["a dog"]])).overall
    50.0
    """

    slug = "rouge1"
    label = "ROUGE-1"

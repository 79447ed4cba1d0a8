"""ROUGE-2 as rouge-score computes it."""

from __future__ import annotations

from leaderboard.metrics.engines.rouge_pass import Rouge


class Rouge2(Rouge):
    """ROUGE-2: F1 of shared pairs of neighbouring stems, mean over instances, times 100.

    With several references the best one counts, as in rouge-score's ``score_multi``.
    The ROUGE metrics of one batch share one pass over its texts.

    References
    ----------
    Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", section 2.

    Examples
    --------
    >>> from leaderboard.metrics.base import Batch
    >>> Rouge2().compute(Batch(["a big cat"], [["a big dog"]])).overall
    50.0
    """

    slug = "rouge2"
    label = "ROUGE-2"

"""ROUGE-L as rouge-score computes it."""

from __future__ import annotations

from leaderboard.metrics.engines.rouge_pass import Rouge


class RougeL(Rouge):
    """ROUGE-L: F1 of the longest common subsequence of stems, mean over instances, times 100.

    With several references the best one counts, as in rouge-score's ``score_multi``.
    The ROUGE metrics of one batch share one pass over its texts.

    References
    ----------
    Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", section 3.1.

    Examples
    --------
    >>> from leaderboard.metrics.base import Batch
    >>> RougeL().compute(Batch(["a b c d"], [["a x c d"]])).overall
    75.0
    """

    slug = "rougeL"
    label = "ROUGE-L"

"""chrF++: chrF that looks at words too."""

from __future__ import annotations

from leaderboard.metrics.base import Batch, Metric, MetricOutput
from leaderboard.metrics.chrf import ChrF


class ChrFPlusPlus(Metric):
    """chrF++: F-score of character n-grams, words and word bigrams.

    chrF with a word order of 2, as sacrebleu computes it.

    References
    ----------
    Popović (2017), "chrF++: words helping character n-grams", WMT, section 2.

    Examples
    --------
    >>> output = ChrFPlusPlus().compute(Batch(["a cat"], [["a cat"]]))
    >>> output.overall, "nw:2" in output.signature
    (100.0, True)
    """

    slug = "chrf-plus-plus"
    label = "chrF++"
    version = ChrF.version
    higher_is_better = True
    range = (0.0, 100.0)
    paper = "Popović 2017"

    def _measure(self, batch: Batch) -> MetricOutput:
        return ChrF(word_order=2)._measure(batch)

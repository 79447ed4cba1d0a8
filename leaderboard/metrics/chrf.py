"""chrF and chrF++ as sacrebleu computes them."""

import numpy as np

from leaderboard.metrics.base import Batch, Metric, MetricOutput, versions


class ChrF(Metric):
    """Character n-gram F-score; chrF2 with sacrebleu's standard settings.

    Overall is ``sacrebleu.corpus_chrf`` (orders 1 to 6, beta 2, white space left out),
    per instance ``sacrebleu.sentence_chrf``. Both come from one pass over the texts.

    Parameters
    ----------
    word_order : int, optional
        0 for chrF; 2 for chrF++, which counts words and pairs of words too.

    References
    ----------
    Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation", WMT,
    section 2, equation 1. Popović (2017), "chrF++: words helping character n-grams".

    Examples
    --------
    >>> output = ChrF().compute(Batch(["a cat"], [["a cat"]]))
    >>> output.overall, output.per_instance.tolist()
    (100.0, [100.0])
    """

    slug = "chrf"
    label = "chrF"
    version = versions(1, "sacrebleu")
    higher_is_better = True
    range = (0.0, 100.0)
    paper = "Popović 2015"

    def __init__(self, *, word_order: int = 0) -> None:
        self.word_order = word_order

    def _measure(self, batch: Batch) -> MetricOutput:
        from sacrebleu.metrics.chrf import CHRF

        from leaderboard.metrics.engines.sacrebleu_statistics import statistics

        chrf = CHRF(word_order=self.word_order)
        counts = statistics(chrf, batch)
        overall = chrf._compute_score_from_stats(counts.sum(axis=0).tolist())
        values = [
            chrf._compute_score_from_stats(row).score  # plain ints: faster than numpy's
            for row in counts.tolist()
        ]
        return MetricOutput(
            overall=float(overall.score),
            per_instance=np.array(values, dtype=np.float64),
            signature=str(chrf.get_signature()),
            details={"name": overall.name},
        )


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

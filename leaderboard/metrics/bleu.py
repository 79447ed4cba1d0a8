"""BLEU on texts as they are, without a tokenizer."""

import numpy as np

from leaderboard.metrics.base import Batch, Metric, MetricOutput, versions


class Bleu(Metric):
    """BLEU: corpus BLEU without a tokenizer: words are split at spaces.

    What papers before 2018 report as BLEU (``multi-bleu.perl``): no tokenizer, no
    smoothing, mixed case, up to 4-grams, closest reference length. Two systems that
    put spaces differently are not comparable; that is why SacreBLEU exists. Per
    instance one is added to the counts of the orders from 2 on (Lin and Och), since an
    unsmoothed sentence without a common 4-gram would have 0.

    Parameters
    ----------
    lowercase : bool, optional
        Compare without case.

    References
    ----------
    Papineni, Roukos, Ward, Zhu (2002), "BLEU: a Method for Automatic Evaluation of
    Machine Translation", ACL, section 2.3. Lin and Och (2004), "ORANGE: a Method for
    Evaluating Automatic Evaluation Metrics for Machine Translation", section 4.

    Examples
    --------
    >>> output = Bleu().compute(Batch(["a b c d e"], [["a b c d f"]]))
    >>> round(output.overall, 4), output.signature[:33]
    (66.874, 'nrefs:1|case:mixed|eff:no|tok:non')
    """

    slug = "bleu"
    label = "BLEU"
    version = versions(1, "sacrebleu")
    higher_is_better = True
    range = (0.0, 100.0)
    paper = "Papineni et al. 2002"

    def __init__(self, *, lowercase: bool = False) -> None:
        self.lowercase = lowercase

    def _measure(self, batch: Batch) -> MetricOutput:
        from sacrebleu.metrics.bleu import BLEU

        from leaderboard.metrics.engines.sacrebleu_statistics import statistics

        # force silences sacrebleu's warning about tokenized texts, which are intended here
        bleu = BLEU(
            lowercase=self.lowercase, tokenize="none", smooth_method="none", force=True
        )
        counts = statistics(bleu, batch)
        score = bleu._compute_score_from_stats(counts.sum(axis=0).tolist())
        return MetricOutput(
            overall=float(score.score),
            per_instance=np.array([_sentence(row) for row in counts.tolist()]),
            signature=str(bleu.get_signature()),
            details={
                "precisions": [round(float(p), 4) for p in score.precisions],
                "brevity_penalty": float(score.bp),
                "per_instance": "sentence BLEU, one added from bigrams on, eff:yes",
            },
        )


def _sentence(counts: list[int]) -> float:
    from sacrebleu.metrics.bleu import BLEU

    # a row of sacrebleu: both lengths, then matched and possible n-grams of each order
    order = (len(counts) - 2) // 2
    score = BLEU.compute_bleu(
        correct=counts[2 : 2 + order],
        total=counts[2 + order :],
        sys_len=counts[0],
        ref_len=counts[1],
        smooth_method="add-k",
        smooth_value=1,
        effective_order=True,
        max_ngram_order=order,
    )
    return float(score.score)

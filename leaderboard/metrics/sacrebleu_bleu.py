"""BLEU as sacrebleu computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leaderboard.metrics.base import Batch, Metric, MetricOutput, versions

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

# Tokenizers included in sacrebleu; its own choices for ja and ko need MeCab.
_TOKENIZERS = {"zh": "zh", "ja": "char", "ko": "char", "th": "char"}


class SacreBleu(Metric):
    """Corpus BLEU with sacrebleu's standard settings; sentence BLEU per instance.

    Overall is ``sacrebleu.corpus_bleu``: 13a tokenizer, mixed case, exponential
    smoothing, up to 4-grams. Per instance it is ``sacrebleu.sentence_bleu``, which
    differs in one setting (``eff:yes``: orders longer than the text are left out).
    Both come from one pass over the texts.

    Parameters
    ----------
    lowercase : bool, optional
        Compare without case.
    tokenize : str, optional
        One of sacrebleu's tokenizers; chosen by the batch's target language if empty.

    References
    ----------
    Papineni, Roukos, Ward, Zhu (2002), "BLEU: a Method for Automatic Evaluation of
    Machine Translation", ACL, section 2. Post (2018), "A Call for Clarity in Reporting
    BLEU Scores", WMT.

    Examples
    --------
    >>> texts = Batch(["The cat sat on the mat."], [["The cat sat on the mat."]])
    >>> output = SacreBleu().compute(texts)
    >>> round(output.overall, 6), output.signature[:34]
    (100.0, 'nrefs:1|case:mixed|eff:no|tok:13a|')
    """

    slug = "sacrebleu"
    label = "SacreBLEU"
    version = versions(1, "sacrebleu")
    higher_is_better = True
    range = (0.0, 100.0)
    paper = "Papineni et al. 2002; Post 2018"

    def __init__(self, *, lowercase: bool = False, tokenize: str = "") -> None:
        self.lowercase = lowercase
        self.tokenize = tokenize

    def _measure(self, batch: Batch) -> MetricOutput:
        from sacrebleu.metrics.bleu import BLEU

        from leaderboard.metrics.engines.sacrebleu_statistics import statistics

        tokenize = self.tokenize or _TOKENIZERS.get(batch.target_language, "13a")
        # force only silences a warning about texts that look tokenized
        bleu = BLEU(lowercase=self.lowercase, tokenize=tokenize, force=True)
        counts = statistics(bleu, batch)
        score = bleu._compute_score_from_stats(counts.sum(axis=0).tolist())
        return MetricOutput(
            overall=float(score.score),
            per_instance=np.array([_sentence(bleu, row) for row in counts.tolist()]),
            signature=str(bleu.get_signature()),
            details={
                "precisions": [round(float(p), 4) for p in score.precisions],
                "brevity_penalty": float(score.bp),
                "prediction_words": int(score.sys_len),
                "reference_words": int(score.ref_len),
                "per_instance": "sentence BLEU, eff:yes",
            },
        )


def _sentence(bleu: BLEU, counts: list[int]) -> float:
    order = bleu.max_ngram_order
    score = bleu.compute_bleu(
        correct=counts[2 : 2 + order],
        total=counts[2 + order :],
        sys_len=counts[0],
        ref_len=counts[1],
        smooth_method=bleu.smooth_method,
        smooth_value=bleu.smooth_value,
        effective_order=True,
        max_ngram_order=order,
    )
    return float(score.score)

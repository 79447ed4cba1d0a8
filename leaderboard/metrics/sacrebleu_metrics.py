"""BLEU, chrF and TER as sacrebleu computes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.metrics.base import Batch, Metric, MetricOutput, n_references, versions

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU


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


# chrF and chrF++ as sacrebleu computes them.
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


# BLEU as sacrebleu computes it.

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

        tokenize = self.tokenize or _TOKENIZERS.get(batch.target_language, "13a")
        # force only silences a warning about texts that look tokenized
        bleu = BLEU(lowercase=self.lowercase, tokenize=tokenize, force=True)
        counts = statistics(bleu, batch)
        score = bleu._compute_score_from_stats(counts.sum(axis=0).tolist())
        return MetricOutput(
            overall=float(score.score),
            per_instance=np.array(
                [_sentence_bleu(bleu, row) for row in counts.tolist()]
            ),
            signature=str(bleu.get_signature()),
            details={
                "precisions": [round(float(p), 4) for p in score.precisions],
                "brevity_penalty": float(score.bp),
                "prediction_words": int(score.sys_len),
                "reference_words": int(score.ref_len),
                "per_instance": "sentence BLEU, eff:yes",
            },
        )


def _sentence_bleu(bleu: BLEU, counts: list[int]) -> float:
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


# Translation edit rate as sacrebleu computes it.
class Ter(Metric):
    """TER: edits needed to turn a prediction into its reference, per 100 reference words.

    An edit inserts, deletes or replaces a word, or moves a run of words. Overall is
    ``sacrebleu.corpus_ter``: all edits over the sum of the references' mean lengths.
    Lower is better, and a long prediction can exceed 100. With several references the
    nearest one counts. Its search for moves takes seconds per thousand long texts.

    Parameters
    ----------
    lowercase : bool, optional
        Compare without case, as tercom and sacrebleu do by default.
    normalized : bool, optional
        Split punctuation from words first (tercom's ``-N``).

    References
    ----------
    Snover, Dorr, Schwartz, Micciulla, Makhoul (2006), "A Study of Translation Edit Rate
    with Targeted Human Annotation", AMTA, section 3, equation 1.

    Examples
    --------
    >>> output = Ter().compute(Batch(["b a c", "d"], [["a c b"], ["d"]]))
    >>> output.overall, output.per_instance.round(2).tolist()
    (25.0, [33.33, 0.0])
    """

    slug = "ter"
    label = "TER"
    version = versions(1, "sacrebleu")
    higher_is_better = False
    range = (0.0, None)
    cost = "heavy"
    piece = 1_000
    summed = ("edits", "reference_words")
    paper = "Snover et al. 2006"

    def __init__(self, *, lowercase: bool = True, normalized: bool = False) -> None:
        self.lowercase = lowercase
        self.normalized = normalized

    def _measure(self, batch: Batch) -> MetricOutput:
        from sacrebleu.metrics.ter import TER

        asian = batch.target_language in {"zh", "ja", "ko"}
        ter = TER(
            case_sensitive=not self.lowercase,
            # tercom splits Chinese and Japanese into characters only when it normalizes
            normalized=self.normalized or asian,
            asian_support=asian,
        )
        # may be a fraction: the length is a mean over references
        counts = np.array(
            ter._extract_corpus_statistics(
                list(batch.predictions), reference_streams(batch.references)
            ),
            dtype=np.float64,
        )
        overall = ter._compute_score_from_stats(counts.sum(axis=0).tolist())
        values = [ter._compute_score_from_stats(row).score for row in counts.tolist()]
        return MetricOutput(
            overall=float(overall.score),
            per_instance=np.array(values, dtype=np.float64),
            signature=_of_whole(str(ter.get_signature()), n_references(batch)),
            details={
                "edits": float(counts[:, 0].sum()),
                "reference_words": float(counts[:, 1].sum()),
            },
        )

    def _overall(
        self, per_instance: NDArray[np.float64], details: dict[str, Any]
    ) -> float:
        from sacrebleu.metrics.ter import TER

        # the pieces' ratios do not determine the ratio of sums: keep both sums
        counts = [details["edits"], details["reference_words"]]
        return float(TER()._compute_score_from_stats(counts).score)


def _of_whole(signature: str, n_each: str) -> str:
    return re.sub(r"^nrefs:[^|]*", f"nrefs:{n_each}", signature)


# The counts behind sacrebleu's scores, one row per instance.
#
# sacrebleu's public functions return either the corpus score or one sentence's score, so
# computing both would process every text twice. The counts that it sums (and resamples in
# its significance tests) give both in one pass; tests compare the results with the public
# functions'.

# sacrebleu keeps the n-grams of all its references: gigabytes for a large task
_AT_ONCE = 250


def reference_streams(
    references: Sequence[Sequence[str]],
) -> list[tuple[str | None, ...]]:
    """Transpose references by instance into sacrebleu's streams by reference number.

    Parameters
    ----------
    references : sequence of sequences of str, shape (n, variable)

    Returns
    -------
    list of tuples, shape (largest number of references, n)
        None if an instance has fewer references than others.

    Examples
    --------
    >>> reference_streams([["a", "b"], ["c"]])
    [('a', 'c'), ('b', None)]
    """
    return list(zip_longest(*references))


def statistics(metric: Any, batch: Batch) -> NDArray[np.int64]:
    """Count n-grams with a sacrebleu metric, BLEU or chrF.

    Afterwards its signature includes the number of references.

    Returns
    -------
    ndarray of int64, shape (n, k)
        The metric's k counts per instance; their sum gives the corpus score.

    Examples
    --------
    >>> from sacrebleu.metrics.bleu import BLEU
    >>> statistics(BLEU(), Batch(["a b"], [["a c"]])).tolist()
    [[2, 2, 1, 0, 0, 0, 2, 1, 0, 0]]
    """
    rows: list[list[int]] = []
    for start in range(0, len(batch), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        rows += metric._extract_corpus_statistics(
            list(batch.predictions[part]), reference_streams(batch.references[part])
        )
    # as sacrebleu in one pass: -1 means varying numbers
    counts = {len(references) for references in batch.references}
    metric.num_refs = counts.pop() if len(counts) == 1 else -1
    return np.array(rows, dtype=np.int64)

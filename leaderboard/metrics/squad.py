"""SQuAD's comparison of answers with references: exact match and token F1."""

import re
import string
import unicodedata
from collections import Counter

import numpy as np

from leaderboard.metrics.base import Batch, Metric, MetricOutput, n_references, versions

# languages written without spaces between words: each character counts as a word
_UNSPACED = frozenset({"zh", "ja", "th", "lo", "km", "my"})
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


class ExactMatch(Metric):
    """Exact match: share of predictions equal to one of their references, in percent.

    Equal means: the same words once case, ASCII punctuation and English articles are
    left out. With several references any one of them will do.

    References
    ----------
    Rajpurkar, Zhang, Lopyrev, Liang (2016), "SQuAD: 100,000+ Questions for Machine
    Comprehension of Text", EMNLP, section 6.1.

    Examples
    --------
    >>> batch = Batch(["The Rhine.", "Elbe"], [["rhine"], ["Oder", "Neisse"]])
    >>> ExactMatch().compute(batch).per_instance.tolist()
    [100.0, 0.0]
    """

    slug = "exact-match"
    label = "Exact match"
    version = versions(1)
    higher_is_better = True
    range = (0.0, 100.0)
    paper = "Rajpurkar et al. 2016"

    def _measure(self, batch: Batch) -> MetricOutput:
        language = batch.target_language
        values = np.array(
            [
                100.0
                * any(
                    answer_words(prediction, language)
                    == answer_words(reference, language)
                    for reference in references
                )
                for prediction, references in zip(
                    batch.predictions, batch.references, strict=True
                )
            ]
        )
        return MetricOutput(
            overall=float(values.mean()),
            per_instance=values,
            signature=(
                f"nrefs:{n_references(batch)}|multi:any|norm:squad|lang:{language}|"
                f"agg:mean|version:{self.version}"
            ),
            details={"n_matches": int(np.count_nonzero(values))},
        )


class TokenF1(Metric):
    """Token F1: words shared with the best reference, mean over instances, times 100.

    Words are those of exact match: no case, no ASCII punctuation, no English articles;
    their order does not matter. If either side has no word left, the value is 100 when
    both have none and 0 otherwise, as in SQuAD 2.0's script.

    References
    ----------
    Rajpurkar, Zhang, Lopyrev, Liang (2016), "SQuAD: 100,000+ Questions for Machine
    Comprehension of Text", EMNLP, section 6.1.

    Examples
    --------
    >>> batch = Batch(["in the Rhine valley"], [["the Rhine", "the Elbe valley"]])
    >>> TokenF1().compute(batch).overall
    50.0
    """

    slug = "token-f1"
    label = "Token F1"
    version = versions(1)
    higher_is_better = True
    range = (0.0, 100.0)
    paper = "Rajpurkar et al. 2016"

    def _measure(self, batch: Batch) -> MetricOutput:
        language = batch.target_language
        values = []
        for prediction, references in zip(
            batch.predictions, batch.references, strict=True
        ):
            words = answer_words(prediction, language)
            values.append(
                max(_f1(words, answer_words(text, language)) for text in references)
            )
        percentages = 100.0 * np.array(values, dtype=np.float64)
        return MetricOutput(
            overall=float(percentages.mean()),
            per_instance=percentages,
            signature=(
                f"nrefs:{n_references(batch)}|multi:max-f1|norm:squad|lang:{language}|"
                f"agg:mean|version:{self.version}"
            ),
        )


def _f1(prediction: list[str], reference: list[str]) -> float:
    if not prediction or not reference:
        return float(prediction == reference)
    # the intersection of multisets: a repeated word counts as often as both have it
    shared = (Counter(prediction) & Counter(reference)).total()
    return 2 * shared / (len(prediction) + len(reference))


def answer_words(text: str, language: str = "en") -> list[str]:
    """Split an answer into its words, in lower case, without ASCII punctuation.

    Parameters
    ----------
    language : str, optional
        ISO 639-1 code. Articles are left out in English only; Chinese, Japanese, Thai,
        Lao, Khmer and Burmese are split into characters.

    References
    ----------
    Rajpurkar, Zhang, Lopyrev, Liang (2016), "SQuAD: 100,000+ Questions for Machine
    Comprehension of Text", section 6.1, and its official script.

    Examples
    --------
    >>> answer_words("The North-Sea, a sea.")
    ['northsea', 'sea']
    """
    if language in _UNSPACED:
        # letters, marks and numbers; not punctuation, symbols or spaces
        return [c for c in text.casefold() if unicodedata.category(c)[0] not in "PSZC"]
    # not replaced by a space: "don't" becomes "dont", as in SQuAD's script
    bare = text.lower().translate(_PUNCTUATION)
    if language == "en":
        bare = _ARTICLE.sub(" ", bare)
    return bare.split()

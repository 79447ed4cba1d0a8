"""METEOR as NLTK computed it up to version 3.6.2, which Genie's tables print."""

from collections.abc import Sequence
from importlib import import_module

import numpy as np

from leaderboard.metrics.meteor import stemmer, synonyms, wordnet_folder

_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5


def corpus_meteor(predictions: Sequence[str], references: Sequence[str]) -> float:
    """Average METEOR, times 100, over instances, with the defect of NLTK up to 3.6.2.

    Words that match by their stem stayed in the lists that were then searched for
    synonyms, so they were counted twice. Everything else is today's NLTK.

    References
    ----------
    Khashabi et al. (2022), Genie, EMNLP, table 3, whose values this reproduces.

    Examples
    --------
    >>> corpus_meteor([], [])
    nan
    """
    if not predictions:
        return float("nan")
    pairs = zip(predictions, references, strict=True)
    return 100 * float(np.mean([_meteor(*pair) for pair in pairs]))


def _meteor(prediction: str, reference: str) -> float:
    nltk = import_module("nltk.translate.meteor_score")
    words, reference_words = (
        list(enumerate(text.lower().split())) for text in (prediction, reference)
    )
    # The rest after stems is ignored, as in that version: synonyms are searched
    # among all words that did not match exactly.
    exact, words_left, wanted_left = nltk._match_enums(words, reference_words)
    by_stem, _, _ = nltk._enum_stem_match(words_left, wanted_left, stemmer())
    by_synonym, _, _ = nltk._enum_wordnetsyn_match(
        words_left, wanted_left, synonyms(wordnet_folder())
    )
    matches = sorted(exact + by_stem + by_synonym, key=lambda match: match[0])
    if not matches:
        return 0.0
    precision, recall = len(matches) / len(words), len(matches) / len(reference_words)
    mean = precision * recall / (_ALPHA * precision + (1 - _ALPHA) * recall)
    chunks = nltk._count_chunks(matches)
    return float((1 - _GAMMA * (chunks / len(matches)) ** _BETA) * mean)

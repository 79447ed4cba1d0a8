"""Answers to questions as SQuAD compares them: without case, articles and punctuation."""

from __future__ import annotations

import re
import string

from leaderboard.metrics.text.plain_words import UNSPACED, plain_words

_ARTICLE = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def answer_words(text: str, language: str = "en") -> list[str]:
    """Split an answer into the words that count when answers are compared.

    Parameters
    ----------
    text : str
    language : str, optional
        ISO 639-1 code. Articles are left out in English only; Chinese, Japanese, Thai,
        Lao, Khmer and Burmese are compared by characters.

    Returns
    -------
    list of str
        Lower case, without ASCII punctuation.

    References
    ----------
    Rajpurkar, Zhang, Lopyrev, Liang (2016), "SQuAD: 100,000+ Questions for Machine
    Comprehension of Text", section 6.1, and its official script.

    Examples
    --------
    >>> answer_words("The North-Sea, a sea.")
    ['northsea', 'sea']
    """
    if language in UNSPACED:
        return plain_words(text, language)
    # without a space in its place, so that "don't" becomes "dont", as in the script
    bare = text.lower().translate(_PUNCTUATION)
    if language == "en":
        bare = _ARTICLE.sub(" ", bare)
    return bare.split()

"""Words as rouge-score sees them: lower case, a-z and 0-9 only, Porter-stemmed.

Stemming is nearly all of rouge-score's time, and texts repeat their words: each
distinct word is stemmed once in a process's life.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, cast

_WORD = re.compile("[a-z0-9]+")


def stemmed_words(text: str) -> list[str]:
    """Split a text as rouge-score's tokenizer does with its stemmer on.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str
        Words longer than three characters are stemmed.

    References
    ----------
    Porter (1980), "An algorithm for suffix stripping"; NLTK's extended version, which
    rouge-score uses.

    Examples
    --------
    >>> stemmed_words("The Runners' running-shoes, 2021")
    ['the', 'runner', 'run', 'shoe', '2021']
    """
    return [stem(word) for word in _WORD.findall(text.lower())]


@lru_cache(maxsize=2**18)
def stem(word: str) -> str:
    """Stem one lower-case word unless it is short.

    Parameters
    ----------
    word : str

    Returns
    -------
    str

    Examples
    --------
    >>> stem("caresses"), stem("was")
    ('caress', 'was')
    """
    return word if len(word) <= 3 else cast("str", _porter().stem(word))


@lru_cache(maxsize=1)
def _porter() -> Any:
    # NLTK takes seconds to import: only who measures pays for it
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()

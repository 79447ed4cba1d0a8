"""Summary-level longest common subsequences, as ROUGE-Lsum needs them.

rouge-score marks, for each sentence of the reference, the words that any sentence of
the prediction shares with it in order. Which of several longest subsequences is marked
matters for the union, so its way back through the table is followed step by step; only
the table itself is made of bits, one Python integer a row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

Words = Sequence[str]


def subsequence_positions(reference: Words, prediction: Words) -> list[int]:
    """Give the positions in `reference` of one longest common subsequence.

    Parameters
    ----------
    reference, prediction : sequence of str
        Words of one sentence each.

    Returns
    -------
    list of int
        Ascending. Of several longest subsequences it is the one that rouge-score
        finds: coming from the end, a word of the reference is given up rather than
        one of the prediction unless the table forbids it.

    References
    ----------
    Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", section 3.2.
    Hyyrö (2004), "Bit-parallel LCS-length computation revisited", for the rows.

    Examples
    --------
    >>> subsequence_positions("a b c d".split(), "b a d".split())
    [0, 3]
    """
    rows = _rows(reference, prediction)
    full = (1 << len(prediction)) - 1
    i, j = len(reference), len(prediction)
    positions: list[int] = []
    while i and j:
        if reference[i - 1] == prediction[j - 1]:
            positions.append(i - 1)
            i, j = i - 1, j - 1
            continue
        # a 0 in a row is a column where the table's value rises by one
        rises = ~rows[i] & full
        before = (rises & ((1 << (j - 1)) - 1)).bit_count()
        above = (~rows[i - 1] & ((1 << j) - 1)).bit_count()
        if before > above:
            j -= 1
        else:
            i -= 1
    return positions[::-1]


def _rows(reference: Words, prediction: Words) -> list[int]:
    columns_of: defaultdict[str, int] = defaultdict(int)
    for column, word in enumerate(prediction):
        columns_of[word] |= 1 << column
    full = (1 << len(prediction)) - 1
    row = full
    rows = [row]
    for word in reference:
        matched = row & columns_of.get(word, 0)
        # one step of Hyyrö's recurrence: a whole row of the table in three operations
        row = ((row + matched) | (row - matched)) & full
        rows.append(row)
    return rows


def union_hits(reference: Sequence[Words], prediction: Sequence[Words]) -> int:
    """Count the words that a summary shares with its reference, sentence by sentence.

    Parameters
    ----------
    reference, prediction : sequence of sequences of str
        Sentences of words.

    Returns
    -------
    int
        Size of the union of longest common subsequences, each word counted at most as
        often as it occurs on either side.

    References
    ----------
    Lin (2004), section 3.2, equations 5 and 6, with rouge-score's limit on repeated
    words.

    Examples
    --------
    >>> union_hits(["a b c".split()], ["a x".split(), "x c".split()])
    2
    """
    left_reference = Counter(word for sentence in reference for word in sentence)
    left_prediction = Counter(word for sentence in prediction for word in sentence)
    hits = 0
    for sentence in reference:
        shared: set[int] = set()
        for other in prediction:
            shared.update(subsequence_positions(sentence, other))
        for position in sorted(shared):
            word = sentence[position]
            if left_prediction[word] > 0 and left_reference[word] > 0:
                hits += 1
                left_prediction[word] -= 1
                left_reference[word] -= 1
    return hits

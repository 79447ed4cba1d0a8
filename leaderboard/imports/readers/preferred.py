"""The words for the preferred one of two."""

from collections.abc import Iterable, Sequence

import numpy as np

from leaderboard.imports.readers.names import Floats, fold_name, plain

_FIRST = frozenset(
    (
        "a", "left", "first", "model_a", "system_a", "output_a", "text_a", "response_a",
        "shown_a", "answer_a", "model_1", "system_1", "option_a", "1",
    )
)  # fmt: skip
_SECOND = frozenset(
    (
        "b", "right", "second", "model_b", "system_b", "output_b", "text_b", "response_b",
        "shown_b", "answer_b", "model_2", "system_2", "option_b", "2",
    )
)  # fmt: skip
# docs/importing.md lists them: a person must explain any other word.
_TIE = frozenset(
    (
        "tie", "tied", "draw", "equal", "equally_good", "same", "no_preference",
        "no_difference", "none_better", "both", "neither", "both_bad", "bothbad",
        "both_are_bad", "tie_bothbad", "tie_both_bad",
    )
)  # fmt: skip
# Numbers with a clear meaning only if a column has no others.
_COUNTED = (frozenset("12"), frozenset("120"))


def outcomes(
    words: Sequence[str],
    first: Sequence[str],
    second: Sequence[str],
    means: tuple[Iterable[str], Iterable[str], Iterable[str]] = ((), (), ()),
) -> Floats:
    """Return the outcome of each comparison.

    Parameters
    ----------
    words : sequence of str, (n,)
        A system's name, a side, or a word for a tie.
    first, second : sequence of str, (n,)
        The two systems.
    means : three collections of str
        Words that a person assigned to the first, the second, and a tie.

    Returns
    -------
    (n,) array of float
        1 the first, 0 the second, .5 a tie; NaN if the word is unknown, or if it is a
        system's name in different case and would mean a different outcome as a word.
        Numbers are known only if the column has only 1 and 2, and 0 for a tie.

    Examples
    --------
    >>> outcomes(["red", "B", "tie"], ["red"] * 3, ["blue"] * 3).tolist()
    [1.0, 0.0, 0.5]
    """
    said = [{str(word).strip().lower() for word in one} for one in means]
    explained = set().union(*said)
    numbers = {word for word in words if word.strip("+-").replace(".", "").isdigit()}
    counted = frozenset(numbers) in (*_COUNTED, frozenset("1"), frozenset("2"))
    found = np.full(len(words), np.nan)
    for i, (word, a, b) in enumerate(zip(words, first, second, strict=True)):
        name = plain(word)
        if word.strip().lower() in explained:
            found[i] = _value(word.strip().lower(), *said)
        elif word in (a, b) and a != b:
            found[i] = float(word == a)
        elif word in numbers:
            found[i] = {"1": 1.0, "2": 0.0, "0": 0.5}[word] if counted else np.nan
        else:
            value = _value(name, _FIRST, _SECOND, _TIE)
            named = {won for one, won in ((a, 1.0), (b, 0.0)) if same_name(one, word)}
            found[i] = value if named <= {value} else np.nan
    return found


def same_name(one: str, other: str) -> bool:
    """Return whether two names differ at most in case, spaces or quotation marks.

    Examples
    --------
    >>> same_name("Red", "red "), same_name("red", "blue")
    (True, False)
    """
    return fold_name(one) == fold_name(other)


def _value(
    word: str, first: Iterable[str], second: Iterable[str], tie: Iterable[str]
) -> float:
    for words, value in ((first, 1.0), (second, 0.0), (tie, 0.5)):
        if word in words:
            return value
    return np.nan

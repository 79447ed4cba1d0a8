"""Words of ratings and choices, as numbers and sides."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import partial

import numpy as np

from leaderboard.imports.readers.names import (
    Floats,
    Words,
    different,
    fold_name,
    numbers,
    plain,
)

YES_NO = {
    **dict.fromkeys(("yes", "true", "y", "t", "ja", "oui", "si", "sí", "sì", "да", "sim", "tak", "evet",
                     "是", "はい", "예"), 1.0),
    **dict.fromkeys(("no", "false", "n", "f", "nein", "non", "нет", "não", "nao", "nie", "hayır",
                     "否", "いいえ", "아니요"), 0.0),
}  # fmt: skip
_FIRST = frozenset(("a", "l", "1", "one", "left", "first", "leftvote", "former"))
_SECOND = frozenset(("b", "r", "2", "two", "right", "second", "rightvote", "latter"))
_TIE = frozenset(
    (
        "tie", "tied", "draw", "equal", "equally_good", "same", "no_preference",
        "no_difference", "none_better", "both", "neither", "both_bad", "bothbad",
        "both_are_bad", "tie_bothbad", "tie_both_bad", "both_good", "about_the_same",
        "equally_bad", "none", "no_winner", "similar", "equivalent", "comparable", "identical",
        "no_clear_preference", "no_clear_winner", "about_equal", "tievote", "bothbad_vote",
        "bothgood_vote", "no_pref", "indifferent", "undecided", "cannot_decide", "can_t_decide",
        "unsure", "not_sure", "hard_to_say", "no_opinion", "roughly_equal", "nearly_equal",
    )
)  # fmt: skip
# These begin longer words for a tie: "Neither is more accurate".
_TIE_FIRST = frozenset(("neither", "both", "tie", "tied", "equal", "equally"))
# What a choice may be of: "Summary 1", "a_winner", "TRANSLATION 1 is better".
_NOUNS = frozenset(
    (
        "system", "model", "output", "text", "response", "answer", "option", "summary",
        "translation", "sentence", "candidate", "shown", "winner", "wins", "is", "better",
        "the", "story", "reply", "caption", "choice", "prefer", "version", "dialogue",
        "conversation", "explanation", "paraphrase", "image", "generation", "one", "side",
        "much", "slightly", "preferred", "question", "passage", "review", "document",
        "slight", "strong", "strongly", "somewhat", "significantly", "clearly", "clear",
        "definitely", "far", "bit", "little", "lot", "marginally", "moderately", "probably",
        "way", "weakly", "weak", "prefers", "wins", "won", "win", "chose", "vote", "good",
        "speaker", "bot", "chatbot", "assistant", "agent", "hypothesis", "description",
        "article", "headline", "title", "poem", "essay", "argument", "report", "draft",
        "rewrite", "simplification", "completion", "sample", "dialog", "paragraph",
        "statement", "message", "letter", "email", "recipe", "definition", "joke", "ad",
        "code", "program", "letter", "item", "clip", "audio", "video", "picture", "figure",
        "best", "it", "i", "think", "that", "was", "player", "variant", "utterance", "than",
    )
)  # fmt: skip
# Numbers with a clear meaning only if a column has no others.
_COUNTED = (frozenset("12"), frozenset("120"), frozenset("1"), frozenset("2"))


# Of the first.
OUTCOMES = {
    **dict.fromkeys(("win", "wins", "won", "better"), 1.0),
    **dict.fromkeys(("lose", "loses", "lost", "loss", "worse"), 0.0),
}
# "A>B" and "A << B".
_SIGN = re.compile(r"\W*(?:A|1|left)\s*([<>=])[<>=]*\s*(?:B|2|right)\W*", re.IGNORECASE)


def side_of(word: str) -> float:
    """Return 1 for the first side, 0 for the second, .5 for a tie, else NaN."""
    if sign := _SIGN.fullmatch(word):
        return {">": 1.0, "<": 0.0}.get(sign[1], 0.5)
    word = word.partition(" than ")[0]
    name = plain(word)
    if name in OUTCOMES:
        return OUTCOMES[name]
    first, *others = name.split("_")
    if name in _TIE or (first in _TIE_FIRST and len(others) < 8):
        return 0.5
    sides = {part for part in re.findall(r"[a-z]+|\d+", name) if part not in _NOUNS}
    last = word.rpartition(" ")[2]
    # a degree in any language: "Definitely A"
    side = last.lower() if len(sides) > 1 and last in ("A", "B") else "".join(sides)
    return 1.0 if side in _FIRST else 0.0 if side in _SECOND else np.nan


def is_sided(words: Collection[str], *, only: bool = False) -> bool:
    """Check whether words can be choices: sides, ties, or a few names.

    With `only`, each must be a side or a tie.
    """
    if not words or len(words) > 200:
        return False
    sides = [side_of(word) for word in words]
    digits = {word for word in set(words) if word.isdigit()}
    if digits and frozenset(digits) not in _COUNTED:
        return False
    known = sum(not np.isnan(side) for side in sides)
    return known == len(sides) if only else known > 0 or len(words) <= 50


def name_one_of(words: Words, first: Words, second: Words) -> bool:
    """Check that each word is the first or the second name of its row, or a tie."""
    rows = partial(zip, words, first, second, strict=True)
    return all(
        not word or (a != b and (word in (a, b) or side_of(word) == 0.5))
        for word, a, b in rows()
    ) and all(any(row[0] and row[0] == row[k] for row in rows()) for k in (1, 2))


def are_sides(first: Words, second: Words) -> bool:
    """Check for few names, of which most rows have two, as `hyp_a_id` and `hyp_b_id`."""
    rows = [row for row in zip(first, second, strict=True) if any(row)]
    ones, others = ({row[k] for row in rows} for k in (0, 1))
    n_same = sum(a == b for a, b in rows)
    few = 4 * len(ones | others) <= len(rows)
    return few and bool(ones & others) and 8 * n_same <= len(rows)


def outcomes(
    words: Words,
    first: Words,
    second: Words,
    said: Mapping[str, float | str],
    columns: tuple[str, str] = ("", ""),
) -> Floats:
    """Return 1 if the first is preferred, 0 if the second is, .5 for a tie, else NaN.

    Parameters
    ----------
    words : sequence of str, (n,)
        A system's name, the name of its column, a side, or a word for a tie.
    said : dict of str to float or str
        Words that a person explained: "first", "second" or "tie"; also "+" and "-".

    A name of a system in different case is unknown if it would mean another outcome as
    a word. Numbers are known only if the column has only 1 and 2, and 0 for a tie.
    """
    worth = {"first": 1.0, "second": 0.0, "tie": 0.5, 1.0: 1.0, 0.0: 0.0, 0.5: 0.5}
    digits = {
        word for word in set(words) if word.strip("+-").replace(".", "").isdigit()
    }
    counted = frozenset(digits) in _COUNTED
    of_column = {fold_name(columns[0]): 1.0, fold_name(columns[1]): 0.0}
    places, which = different(words, first, second)
    found = np.full(len(places), np.nan)
    signs = numbers([words[place] for place in places])
    said = {"0": "tie", **said} if {"+", "-"} <= said.keys() else said
    for i, place in enumerate(places):
        word, a, b = words[place], first[place], second[place]
        key = " ".join(word.lower().split())
        if word in digits and key not in said and {"+", "-"} <= said.keys():
            key = "+0-"[1 - int(np.sign(signs[i]))]
        if key in said:
            found[i] = worth.get(said[key], np.nan)
        elif word in (a, b) and a != b:
            found[i] = float(word == a)
        elif word in digits:
            found[i] = {"1": 1.0, "2": 0.0, "0": 0.5}[word] if counted else np.nan
        else:
            name = fold_name(word)
            value = of_column.get(name, side_of(word)) if word else np.nan
            named = {v for one, v in ((a, 1.0), (b, 0.0)) if fold_name(one) == name}
            # a name in different case is read unless it is a side, too
            value = sum(named) if np.isnan(value) and len(named) == 1 else value
            found[i] = value if named <= {value} else np.nan
    return found[which]


def shares(words: Collection[str]) -> dict[str, float]:
    """Return numbers about the first of two as its share of a win: 1, 0.5 and 0.

    With a -1 among them, they are signs of its lead.

    Examples
    --------
    >>> shares(["1", "-1", "0"])
    {'1': 1.0, '-1': 0.0, '0': 0.5}
    """
    values = dict(zip(words, numbers(list(words)).tolist(), strict=True))
    signed = -1.0 in values.values()
    return {
        word: (n + 1) / 2 if signed else n
        for word, n in values.items()
        if not np.isnan(n)
    }


_LEADING = re.compile(
    r"\s*([+-]?\d+(?:[.,]\d+)?)(?!\d)\s*(?:[^\w\s].*|(?:out of|of|stars?|points?)\b.*|$)",
    re.DOTALL,
)


def worths(words: Words, said: Mapping[str, float | str]) -> Floats:
    """Return words as numbers: as they are, as a person said, or as "4 - good" begins."""
    places, which = different(words)
    each = [words[place] for place in places]
    counted = [str(said.get(" ".join(word.lower().split()), word)) for word in each]
    found = numbers(counted)
    if np.isnan(found).any():
        found = numbers([m[1] if (m := _LEADING.fullmatch(w)) else w for w in counted])
    return found[which]


# Words of scales, and their signs; other words may be opposites: "unclear", "clear".
_SIGNS = {
    **dict.fromkeys(("good", "great", "excellent", "agree", "perfect", "always", "often",
                     "high", "easy", "well", "likely", "likes", "strong", "accept", "correct", "pass",
                     "passed", "present", "supported", "acceptable", "accurate", "adequate",
                     "fluent", "relevant", "satisfied", "true", "entailed", "grounded", "yes"), 1),
    **dict.fromkeys(("bad", "poor", "terrible", "awful", "disagree", "never", "rarely", "low",
                     "difficult", "hard", "unlikely", "not", "weak", "reject", "wrong", "fail", "failed",
                     "absent", "unsupported", "contradicted", "false", "hallucinated", "no"), -1),
    **dict.fromkeys(("neutral", "neither", "average", "moderate", "fair", "undecided",
                     "sometimes", "okay", "ok", "medium", "partial", "partially"), 0),
}  # fmt: skip
_STRENGTHS = {
    **dict.fromkeys(("extremely", "completely", "totally", "perfectly", "excellent",
                     "perfect"), 4),
    **dict.fromkeys(("very", "strongly", "highly", "fully", "terrible", "awful", "always",
                     "never"), 3),
    **dict.fromkeys(("moderately", "quite"), 2),
    **dict.fromkeys(("somewhat", "slightly", "rather", "fairly", "mostly", "partly", "bit",
                     "little", "probably"), 1),
}  # fmt: skip


# Words of scales whose two ends are not alike.
_ONE_WAY = ("not", "partially", "partial", "partly", "mostly", "excellent", "perfect")
_SYMBOLS = {
    **dict.fromkeys(map(ord, "👍✓✔✅☑😀🙂"), "good"),
    **dict.fromkeys(map(ord, "👎✗✘❌☒☹🙁"), "bad"),
}
# LimeSurvey's codes of answers.
_ANSWER_CODE = re.compile(r"AO?\d{1,2}")


def scale_of(words: Collection[str]) -> dict[str, int | str]:
    """Return the places of words on a scale, from 1, or 0 and 1; none if one is unknown.

    Examples
    --------
    >>> scale_of(["Agree", "neutral", "Strongly disagree"])  # agree strongly is 5
    {'Strongly disagree': 1, 'neutral': 3, 'Agree': 4}
    >>> scale_of(["clear", "very unclear", "red"])
    {}
    """
    if len(words) > 1 and all(map(_ANSWER_CODE.fullmatch, words)):
        return {word: int(word.strip("AO")) for word in sorted(words)}
    skipped: dict[str, int | str] = {
        w: "none" for w in words if w in ("ignore", "skip")
    }
    if all(word and {*word} <= {*"★☆⭐"} for word in words):
        return {word: len(word) - word.count("☆") for word in words}
    parts = {
        word: plain(word.translate(_SYMBOLS)).split("_")
        for word in words
        if word not in skipped
    }
    known = {part for one in parts.values() for part in one}
    opposites = {
        prefix + part: part
        for part in known | _SIGNS.keys()
        for prefix in ("un", "in", "im", "dis", "ir", "non")
        if prefix + part in known - _SIGNS.keys()
    }
    signs = _SIGNS | dict.fromkeys(opposites.values(), 1) | dict.fromkeys(opposites, -1)
    # "slightly" and "very" alone are on a scale from "not at all"
    alone = known & signs.keys() <= {"not"}
    found = {}
    both = set()
    for word, one in parts.items():
        own = sorted(
            {signs[part] for part in one if part in signs}, key=lambda n: (abs(n), n)
        )
        steps = [part for part in one if part in _STRENGTHS]
        strength = max((_STRENGTHS[part] for part in steps), default=2)
        found[word] = (own or [1])[0] * strength if own or (steps and alone) else None
        both |= {strength} if any(own) and {*steps}.isdisjoint(signs) else set()
    if None in found.values() or len({*found.values()}) < max(len(found), 2):
        return {}
    places = {place for place in found.values() if place is not None}
    ends = {-1, 1} <= {*np.sign([*places])} and known.isdisjoint(_ONE_WAY)
    if len(places) > 2 and ends:
        # the strengths at one end are those at the other, too
        places |= {sign * step for step in both for sign in (-1, 1)}
    ordered = sorted(places)
    return skipped | {
        word: ordered.index(place) + (len(ordered) > 2)
        for word, place in sorted(found.items(), key=lambda one: one[1] or 0)
        if place is not None
    }


def unknown(words: Iterable[str], values: Floats) -> dict[str, int]:
    """Return the words without a number and their counts, the commonest first."""
    rows = zip(words, values, strict=True)
    return dict(Counter(w for w, v in rows if w and np.isnan(v)).most_common())

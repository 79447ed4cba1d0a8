"""The checks of texts, one class each."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from genie.lib.seeds import generator
from leaderboard.submissions.preflight.base import (
    N_NAMED,
    Check,
    PreflightWarning,
    Texts,
    percent,
    plain,
)
from leaderboard.submissions.preflight.languages import (
    NAMES,
    dangling_words,
    looks_like,
)
from leaderboard.submissions.preflight.similarity import Fit, fit_of, vectors_of


class EmptyPredictions(Check):
    """An empty text is a legal prediction, but people are paid to rate it."""

    slug = "empty-predictions"

    def look(self, texts: Texts) -> PreflightWarning | None:
        empty = [i for i, text in enumerate(texts.predictions) if not text.strip()]
        if not empty:
            return None
        share = len(empty) / len(texts)
        subject = (
            "1 prediction is" if len(empty) == 1 else f"{len(empty):,} predictions are"
        )
        return PreflightWarning(
            self.slug,
            f"{subject} empty ({percent(share)}), so workers would have no text to "
            "rate.",
            {"n": len(empty), "share": round(share, 4), "positions": empty[:N_NAMED]},
        )


# The same text for many instances.
_LEAST = 3
_REPEATED_SHARE = 0.05
_REPEATING = 0.3


class IdenticalPredictions(Check):
    """One answer for everything, or a few answers again and again.

    The references set the standard: if they repeat, too (yes, no, none), as many
    repetitions are fine.
    """

    slug = "identical-predictions"

    def look(self, texts: Texts) -> PreflightWarning | None:
        normalized = [plain(text) for text in texts.predictions]
        counts = Counter(text for text in normalized if text)
        if not counts:
            return None
        n = len(texts)
        # ties go to the text that sorts first, so that the same file gives the same
        # warning
        commonest, n_commonest = min(
            counts.items(), key=lambda item: (-item[1], item[0])
        )
        n_expected = sum(commonest in map(plain, row) for row in texts.references)
        repeating = sum(count for count in counts.values() if count > 1) / n
        expected = _repeated_share([plain(row[0]) for row in texts.references if row])
        often = (
            n_commonest >= max(_LEAST, _REPEATED_SHARE * n)
            and n_commonest >= 2 * n_expected
        )
        if not often and repeating < expected + _REPEATING:
            return None
        if n_commonest < _LEAST:
            return None
        positions = [i for i, text in enumerate(normalized) if text == commonest]
        return PreflightWarning(
            self.slug,
            f"The same prediction occurs for {n_commonest:,} instances "
            f"({percent(n_commonest / n)}), and {percent(repeating)} of the predictions occur "
            f"more than once (references: {percent(expected)}).",
            {
                "n_most_common": n_commonest,
                "share_most_common": round(n_commonest / n, 4),
                "share_repeating": round(repeating, 4),
                "share_repeating_references": round(expected, 4),
                "text": texts.predictions[positions[0]][:200],
                "positions": positions[:N_NAMED],
            },
        )


def _repeated_share(texts: list[str]) -> float:
    counts = Counter(texts)
    return sum(count for count in counts.values() if count > 1) / max(len(texts), 1)


# Predictions that only repeat their source.
_SAME = 90.0
# Shorter texts may rightly be the same: names, numbers, answers.
_MIN_WORDS = 4
# Above the references' share: untranslated text is odd, quoting an article less so.
_TRANSLATING = 0.05
_SAME_LANGUAGE = 0.3


class CopiedFromSource(Check):
    """Untranslated sentences, or outputs cut out of the input.

    Between languages, a copy is (nearly) equal to its source; within one language, a
    text that occurs in the source word for word is a copy, too.
    """

    slug = "copied-from-source"

    def look(self, texts: Texts) -> PreflightWarning | None:
        if not any(texts.sources):
            return None
        translating = texts.source_language != texts.target_language
        sources = [plain(text) for text in texts.sources]
        copied = [
            position
            for position, (text, source) in enumerate(
                zip(texts.predictions, sources, strict=True)
            )
            if _is_copied(plain(text), source, translating)
        ]
        judged = [
            (row[0], source)
            for row, source in zip(texts.references, sources, strict=True)
            if row
        ]
        usual = sum(_is_copied(plain(text), s, translating) for text, s in judged)
        usual_share = usual / max(len(judged), 1)
        share = len(copied) / len(texts)
        limit = usual_share + (_TRANSLATING if translating else _SAME_LANGUAGE)
        if len(copied) < _LEAST or share < limit:
            return None
        return PreflightWarning(
            self.slug,
            f"{len(copied):,} predictions ({percent(share)}) are copied from their "
            f"source. For references it is {percent(usual_share)}.",
            {
                "n": len(copied),
                "share": round(share, 4),
                "share_references": round(usual_share, 4),
                "positions": copied[:N_NAMED],
            },
        )


def _is_copied(text: str, source: str, translating: bool) -> bool:
    if not source or len(text.split()) < _MIN_WORDS:
        return False
    if not translating and text in source:
        return True
    longer, shorter = max(len(text), len(source)), min(len(text), len(source))
    # if the lengths differ too much, the texts differ
    return shorter >= 0.8 * longer and fuzz.ratio(text, source, score_cutoff=_SAME) > 0


# Predictions that seem to be in the wrong language.
_FOREIGN_SHARE = 0.1


class WrongLanguage(Check):
    """A different script, or small words of a different language.

    References are checked in the same way, so that names and quotations do not count.
    """

    slug = "wrong-language"

    def look(self, texts: Texts) -> PreflightWarning | None:
        language = texts.target_language
        guesses = [looks_like(text, language) for text in texts.predictions]
        usual = [looks_like(row[0], language) for row in texts.references if row]
        foreign = [i for i, guess in enumerate(guesses) if guess]
        share = len(foreign) / max(sum(guess is not None for guess in guesses), 1)
        usual_share = sum(bool(guess) for guess in usual) / max(len(usual), 1)
        if len(foreign) < _LEAST or share < usual_share + _FOREIGN_SHARE:
            return None
        languages = Counter(guesses[i] for i in foreign)
        main = str(min(languages, key=lambda kind: (-languages[kind], str(kind))))
        return PreflightWarning(
            self.slug,
            f"{len(foreign):,} predictions ({percent(share)}) do not look like "
            f"{NAMES.get(language, language)}; most look {NAMES.get(main, main)}.",
            {
                "n": len(foreign),
                "share": round(share, 4),
                "share_references": round(usual_share, 4),
                "expected": language,
                "found": main,
                "positions": foreign[:N_NAMED],
            },
        )


# A system that was submitted before, by the same team or another one.
_NEARLY_SAME = 95.0
_DUPLICATE_SHARE = 0.8
_FEWEST_TELLING = 5


class NearDuplicate(Check):
    """Nearly the same predictions as an earlier submission's.

    Instances with a prediction equal to a reference are left out: good systems agree on
    right answers, not on wrong ones or on words.
    """

    slug = "near-duplicate"

    def look(self, texts: Texts) -> PreflightWarning | None:
        """Return a warning about the closest earlier submission."""
        normalized = [plain(text) for text in texts.predictions]
        telling = [
            position
            for position, text in enumerate(normalized)
            if text and text not in map(plain, texts.references[position])
        ]
        # with hardly any wrong or free answer, two good systems cannot be told apart
        if len(telling) < max(_FEWEST_TELLING, 0.05 * len(texts)):
            return None
        matches = [
            (sum(_same(normalized[i], plain(earlier[i])) for i in telling), name)
            for name, earlier in texts.earlier
            if len(earlier) == len(texts)
        ]
        if not matches:
            return None
        n_same, name = max(matches, key=lambda pair: pair[0])
        share = n_same / len(telling)
        if share < _DUPLICATE_SHARE:
            return None
        return PreflightWarning(
            self.slug,
            f"{percent(share)} of the predictions are the same as those of {name}, or "
            "nearly the same. Rating both would cost twice as much for the same "
            "result.",
            {
                "name": name,
                "share": round(share, 4),
                "n_same": n_same,
                "n_compared": len(telling),
            },
        )


def _same(left: str, right: str) -> bool:
    return left == right or fuzz.ratio(left, right, score_cutoff=_NEARLY_SAME) > 0


# Texts at the wrong instances.
_SAMPLE = 1_000


class MisalignedIds(Check):
    """Ids in a different order from texts: the scores are then noise.

    Each prediction is compared, by character n-grams, with its references and with
    those of all other instances. It fires if a tenth of the predictions clearly and
    mutually match another instance. Predictions of a bad system match none, and short
    ones such as "yes" match many; neither fires.
    """

    slug = "misaligned-ids"

    def look(self, texts: Texts) -> PreflightWarning | None:
        """Compare at most 1,000 predictions with all references."""
        fit = alignment(texts.predictions, texts.references, texts.seed)
        if fit is None or not fit.is_misaligned:
            return None
        return PreflightWarning(
            self.slug,
            f"{percent(fit.share_elsewhere)} of the predictions clearly match the "
            f"references of another instance, and only {percent(fit.share_own)} their "
            "own. Ids and predictions seem to be misaligned. Download the re-aligned "
            "file, check it and submit it.",
            {
                "own_similarity": round(fit.own, 4),
                "other_similarity": round(fit.others, 4),
                "best_similarity": round(fit.best, 4),
                "share_own": round(fit.share_own, 4),
                "share_elsewhere": round(fit.share_elsewhere, 4),
                "n_compared": fit.n,
            },
        )


def alignment(
    predictions: list[str], references: list[list[str]], seed: int
) -> Fit | None:
    """Compute how predictions fit their instances.

    Parameters
    ----------
    predictions : list of str, shape (n,)
    references : list of list of str, shape (n, variable)
    seed : int
        Of the sample of 1,000 if there are more.

    Returns
    -------
    Fit or None
        None if there are no references.
    """
    n = len(predictions)
    if n < 2 or not any(references):
        return None
    rows = np.arange(n)
    if n > 2 * _SAMPLE:
        # a sample detects a shuffled file as reliably, and the time stays the same for
        # large tasks
        rows = np.sort(generator(seed).choice(n, _SAMPLE, replace=False))
    return fit_of(*vectors_of(predictions, references), rows)


# Texts that were cut off before their end.
_CUT_SHARE = 0.05
# so many texts of exactly one length, the greatest, are no accident
_SHARE_AT_CEILING = 0.02
_OPEN_MARKS = ",;:-–—(["
_CLOSING = ".!?…。！？؟।\"'”’»)]|"


class TruncatedPredictions(Check):
    """A token limit or a broken line: the ends are missing.

    There are two signs. Texts stop at a word or mark that ends no sentence ("of the", a
    comma), more often than references do. Or there is a ceiling: many texts have
    exactly the greatest length and no final mark, although shorter ones have one and
    references are longer.
    """

    slug = "truncated-predictions"

    def look(self, texts: Texts) -> PreflightWarning | None:
        return self._warn_dangling(texts) or self._length_limit(texts)

    def _warn_dangling(self, texts: Texts) -> PreflightWarning | None:
        words = dangling_words(texts.target_language)
        cut = [i for i, t in enumerate(texts.predictions) if _dangles(t, words)]
        references = [row[0] for row in texts.references if row]
        usual = sum(_dangles(t, words) for t in references) / max(len(references), 1)
        share = len(cut) / len(texts)
        if len(cut) < _LEAST or share < usual + _CUT_SHARE:
            return None
        return PreflightWarning(
            self.slug,
            f"{len(cut):,} predictions ({percent(share)}) stop in the middle of a "
            f"sentence. For references it is {percent(usual)}.",
            {
                "sign": "dangling",
                "n": len(cut),
                "share": round(share, 4),
                "share_references": round(usual, 4),
                "positions": cut[:N_NAMED],
            },
        )

    def _length_limit(self, texts: Texts) -> PreflightWarning | None:
        for unit, measure, slack in (("words", _n_words, 0), ("characters", len, 1)):
            ceiling = _length_limit(texts, measure, slack)
            if ceiling is None:
                continue
            return PreflightWarning(
                self.slug,
                f"{len(ceiling.at):,} predictions "
                f"({percent(len(ceiling.at) / len(texts))}) stop without final "
                f"punctuation at {ceiling.limit:,} {unit}, the maximum length. "
                f"{ceiling.n_longer:,} references are longer.",
                {
                    "sign": "ceiling",
                    "n": len(ceiling.at),
                    "share": round(len(ceiling.at) / len(texts), 4),
                    "limit": ceiling.limit,
                    "unit": unit,
                    "n_longer_references": ceiling.n_longer,
                    "positions": ceiling.at[:N_NAMED],
                },
            )
        return None


@dataclass(frozen=True)
class _Ceiling:
    limit: int
    at: list[int]
    n_longer: int


def _length_limit(
    texts: Texts, measure: Callable[[str], int], slack: int
) -> _Ceiling | None:
    lengths = _lengths(texts.predictions, measure)
    limit = int(lengths.max())
    positions = [int(i) for i in np.flatnonzero(lengths >= max(limit - slack, 1))]
    longer = _lengths([row[0] for row in texts.references if row], measure) > limit
    if (
        len(positions) < max(_LEAST, _SHARE_AT_CEILING * len(texts))
        or longer.sum() < _LEAST
    ):
        return None
    hit = set(positions)
    open_ends = [_open(text) for text in texts.predictions]
    at_limit = np.mean([open_ends[i] for i in positions])
    below = [open_ends[i] for i in range(len(texts)) if i not in hit]
    # cut texts lack a final mark and the others have one; else the length is chance
    if at_limit < 0.8 or (below and np.mean(below) > 0.5):
        return None
    # if people write no final marks either, a missing one is no evidence
    if np.mean([_open(row[0]) for row in texts.references if row]) > 0.5:
        return None
    return _Ceiling(limit, positions, int(longer.sum()))


def _lengths(texts: Sequence[str], measure: Callable[[str], int]) -> NDArray[np.int64]:
    return np.array([measure(text.strip()) for text in texts], dtype=np.int64)


def _n_words(text: str) -> int:
    return len(text.split())


def _open(text: str) -> bool:
    text = text.rstrip()
    return bool(text) and text[-1] not in _CLOSING


def _dangles(text: str, words: frozenset[str]) -> bool:
    text = text.rstrip()
    if not text or not _open(text):
        return False
    if text[-1] in _OPEN_MARKS:
        return True
    parts = text.lower().split()
    return len(parts) > 1 and parts[-1] in words

"""Texts that were cut off before their end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.submissions.preflight.base import (
    N_NAMED,
    Check,
    PreflightWarning,
    Texts,
    percent,
)
from leaderboard.submissions.preflight.languages import dangling_words

_LEAST = 3
_SHARE = 0.05
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
        return self._dangling(texts) or self._ceiling(texts)

    def _dangling(self, texts: Texts) -> PreflightWarning | None:
        words = dangling_words(texts.target_language)
        cut = [i for i, t in enumerate(texts.predictions) if _dangles(t, words)]
        references = [row[0] for row in texts.references if row]
        usual = sum(_dangles(t, words) for t in references) / max(len(references), 1)
        share = len(cut) / len(texts)
        if len(cut) < _LEAST or share < usual + _SHARE:
            return None
        return PreflightWarning(
            self.slug,
            f"{len(cut):,} predictions ({percent(share)}) stop in the middle of "
            f"a sentence; for references it is {percent(usual)}.",
            {
                "sign": "dangling",
                "n": len(cut),
                "share": round(share, 4),
                "share_references": round(usual, 4),
                "positions": cut[:N_NAMED],
            },
        )

    def _ceiling(self, texts: Texts) -> PreflightWarning | None:
        for unit, measure, slack in (("words", _n_words, 0), ("characters", len, 1)):
            ceiling = _ceiling(texts, measure, slack)
            if ceiling is None:
                continue
            return PreflightWarning(
                self.slug,
                f"{len(ceiling.at):,} predictions ({percent(len(ceiling.at) / len(texts))}) "
                f"stop without final punctuation at {ceiling.limit:,} {unit}, the maximum "
                f"length; {ceiling.n_longer:,} references are longer.",
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


def _ceiling(
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

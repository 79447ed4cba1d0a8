"""The same text for many instances."""

from collections import Counter

from leaderboard.submissions.preflight.base import (
    N_NAMED,
    Check,
    PreflightWarning,
    Texts,
    percent,
    plain,
)

_LEAST = 3
_SHARE = 0.05
_REPEATING = 0.3


class IdenticalPredictions(Check):
    """One answer for everything, or a few answers again and again.

    The references set the standard: if they repeat, too (yes, no, none), as many
    repetitions are fine.
    """

    slug = "identical-predictions"

    def look(self, texts: Texts) -> PreflightWarning | None:
        normalised = [plain(text) for text in texts.predictions]
        counts = Counter(text for text in normalised if text)
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
        expected = _repeating([plain(row[0]) for row in texts.references if row])
        often = n_commonest >= max(_LEAST, _SHARE * n) and n_commonest >= 2 * n_expected
        if not often and repeating < expected + _REPEATING:
            return None
        if n_commonest < _LEAST:
            return None
        positions = [i for i, text in enumerate(normalised) if text == commonest]
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


def _repeating(texts: list[str]) -> float:
    counts = Counter(texts)
    return sum(count for count in counts.values() if count > 1) / max(len(texts), 1)

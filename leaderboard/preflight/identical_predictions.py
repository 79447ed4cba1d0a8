"""The same text for many instances."""

from __future__ import annotations

from collections import Counter

from leaderboard.preflight.base import (
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

    What people wrote is the measure: where references repeat too (yes, no, none), as
    many repetitions are in order.
    """

    slug = "identical-predictions"

    def look(self, texts: Texts) -> PreflightWarning | None:
        """Compare how often texts repeat with how often references do."""
        said = [plain(text) for text in texts.predictions]
        counts = Counter(text for text in said if text)
        if not counts:
            return None
        n = len(texts)
        top, n_top = min(counts.items(), key=lambda item: (-item[1], item[0]))
        n_expected = sum(top in map(plain, row) for row in texts.references)
        repeating = sum(count for count in counts.values() if count > 1) / n
        expected = _repeating([plain(row[0]) for row in texts.references if row])
        often = n_top >= max(_LEAST, _SHARE * n) and n_top >= 2 * n_expected
        if not often and repeating < expected + _REPEATING:
            return None
        if n_top < _LEAST:
            return None
        positions = [i for i, text in enumerate(said) if text == top]
        return PreflightWarning(
            self.slug,
            f"The same prediction occurs for {n_top:,} instances "
            f"({percent(n_top / n)}), and {percent(repeating)} of the "
            f"predictions occur more than once (references: {percent(expected)}).",
            {
                "n_most_common": n_top,
                "share_most_common": round(n_top / n, 4),
                "share_repeating": round(repeating, 4),
                "share_repeating_references": round(expected, 4),
                "text": texts.predictions[positions[0]][:200],
                "positions": positions[:N_NAMED],
            },
        )


def _repeating(said: list[str]) -> float:
    counts = Counter(said)
    return sum(count for count in counts.values() if count > 1) / max(len(said), 1)

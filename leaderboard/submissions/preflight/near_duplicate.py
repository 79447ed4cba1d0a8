"""A system that was submitted before, by the same team or another one."""

from rapidfuzz import fuzz

from leaderboard.submissions.preflight.base import (
    Check,
    PreflightWarning,
    Texts,
    percent,
    plain,
)

_SAME = 95.0
_SHARE = 0.8
_LEAST = 5


class NearDuplicate(Check):
    """Nearly the same predictions as an earlier submission's.

    Instances with a prediction equal to a reference are left out: good systems agree on
    right answers, not on wrong ones or on words.
    """

    slug = "near-duplicate"

    def look(self, texts: Texts) -> PreflightWarning | None:
        """Return a warning about the closest earlier submission."""
        normalised = [plain(text) for text in texts.predictions]
        telling = [
            position
            for position, text in enumerate(normalised)
            if text and text not in map(plain, texts.references[position])
        ]
        # with hardly any wrong or free answer, two good systems cannot be told apart
        if len(telling) < max(_LEAST, 0.05 * len(texts)):
            return None
        matches = [
            (sum(_same(normalised[i], plain(earlier[i])) for i in telling), name)
            for name, earlier in texts.earlier
            if len(earlier) == len(texts)
        ]
        if not matches:
            return None
        n_same, name = max(matches, key=lambda pair: pair[0])
        share = n_same / len(telling)
        if share < _SHARE:
            return None
        return PreflightWarning(
            self.slug,
            f"{percent(share)} of the predictions are the same as those of "
            f"{name}, or nearly the same; rating both would cost twice as much "
            "for the same result.",
            {
                "name": name,
                "share": round(share, 4),
                "n_same": n_same,
                "n_compared": len(telling),
            },
        )


def _same(left: str, right: str) -> bool:
    return left == right or fuzz.ratio(left, right, score_cutoff=_SAME) > 0

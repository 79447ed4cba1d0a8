"""Predictions without any text."""

from leaderboard.submissions.preflight.base import (
    N_NAMED,
    Check,
    PreflightWarning,
    Texts,
    percent,
)


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
            f"{subject} empty ({percent(share)}); workers would have nothing to rate.",
            {
                "n": len(empty),
                "share": round(share, 4),
                "positions": empty[:N_NAMED],
            },
        )

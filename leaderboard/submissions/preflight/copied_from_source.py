"""Predictions that only repeat their source."""

from rapidfuzz import fuzz

from leaderboard.submissions.preflight.base import (
    N_NAMED,
    Check,
    PreflightWarning,
    Texts,
    percent,
    plain,
)

_LEAST = 3
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
            if _copied(plain(text), source, translating)
        ]
        judged = [
            (row[0], source)
            for row, source in zip(texts.references, sources, strict=True)
            if row
        ]
        usual = sum(_copied(plain(text), s, translating) for text, s in judged)
        usual_share = usual / max(len(judged), 1)
        share = len(copied) / len(texts)
        limit = usual_share + (_TRANSLATING if translating else _SAME_LANGUAGE)
        if len(copied) < _LEAST or share < limit:
            return None
        return PreflightWarning(
            self.slug,
            f"{len(copied):,} predictions ({percent(share)}) are copied from "
            f"their source; for references it is {percent(usual_share)}.",
            {
                "n": len(copied),
                "share": round(share, 4),
                "share_references": round(usual_share, 4),
                "positions": copied[:N_NAMED],
            },
        )


def _copied(text: str, source: str, translating: bool) -> bool:
    if not source or len(text.split()) < _MIN_WORDS:
        return False
    if not translating and text in source:
        return True
    longer, shorter = max(len(text), len(source)), min(len(text), len(source))
    # if the lengths differ too much, the texts differ
    return shorter >= 0.8 * longer and fuzz.ratio(text, source, score_cutoff=_SAME) > 0

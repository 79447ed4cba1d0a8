"""Predictions that seem to be in the wrong language."""

from collections import Counter

from leaderboard.submissions.preflight.base import (
    N_NAMED,
    Check,
    PreflightWarning,
    Texts,
    percent,
)
from leaderboard.submissions.preflight.languages import NAMES, looks_like

_LEAST = 3
_SHARE = 0.1


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
        judged = sum(guess is not None for guess in guesses)
        share = len(foreign) / max(judged, 1)
        usual_share = sum(bool(guess) for guess in usual) / max(len(usual), 1)
        if len(foreign) < _LEAST or share < usual_share + _SHARE:
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

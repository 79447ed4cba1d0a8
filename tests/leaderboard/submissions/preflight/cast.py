"""Sentences made up for these tests: all different, seeded, in plain English or German."""

import json

import numpy as np

from leaderboard.submissions.preflight import PreflightWarning, preflight
from tests.nets.conftest import tell


def phrases(text: str) -> list[str]:
    return text.split(", ")


WHO = phrases(
    "the ferryman, a tired nurse, my neighbour, the youngest clerk, our baker, a "
    "lost tourist, the chess club, an old sailor, the night guard, her cousin, a "
    "street musician, the vet, two gardeners, the choir, a young lawyer, the "
    "plumber, every pupil, his landlady"
)
DID = phrases(
    "repaired, painted, forgot, sold, borrowed, admired, photographed, buried, "
    "lost, cleaned, found, measured, ignored, carried, described, weighed, guarded, "
    "copied"
)
WHAT = phrases(
    "the green bicycle, a broken lantern, seven apple trees, the harbour map, an "
    "empty suitcase, the brass key, a jar of honey, the village clock, some wet "
    "letters, the longest ladder, a wooden flute, the missing sign, two blue "
    "curtains, a frozen pond, the spare tyre"
)
WHEN = phrases(
    "before the storm, at midnight, on Sunday, after the concert, during lunch, in "
    "the rain, behind the chapel, near the old mill, for the third time, without "
    "asking, in October, under the bridge, while it snowed, at the station, for a "
    "small fee, by mistake"
)


def sentences(n: int, seed: int = 1) -> list[str]:
    generator = np.random.default_rng(seed)
    found: dict[str, None] = {}
    while len(found) < n:
        who, did, what, when = (
            parts[int(generator.integers(len(parts)))]
            for parts in (WHO, DID, WHAT, WHEN)
        )
        found[f"{who} {did} {what} {when}.".capitalize()] = None
    return list(found)


def reworded(texts: list[str], seed: int = 2, share: float = 0.25) -> list[str]:
    """Replace some words: what a decent system makes of the references."""
    generator = np.random.default_rng(seed)
    words = sorted({word for text in texts for word in text.rstrip(".").split()})
    result = []
    for text in texts:
        kept = [
            words[int(generator.integers(len(words)))]
            if generator.random() < share
            else word
            for word in text.rstrip(".").split()
        ]
        result.append(" ".join(kept) + ".")
    return result


def warnings_of(
    predictions: list[str],
    references: list[str] | list[list[str]],
    sources: list[str] | None = None,
    *,
    source_language: str = "de",
    target_language: str = "en",
    **more,
) -> dict[str, PreflightWarning]:
    rows = [[row] if isinstance(row, str) else row for row in references]
    found = preflight(
        predictions,
        rows,
        sources or [],
        target_language=target_language,
        source_language=source_language,
        seed=more.pop("seed", 5),
        **more,
    )
    for one in found:
        tell(f"{one.code}: {one.sentence!a} {json.dumps(one.figures, allow_nan=False)}")
    assert len({warning.code for warning in found}) == len(found)
    return {warning.code: warning for warning in found}

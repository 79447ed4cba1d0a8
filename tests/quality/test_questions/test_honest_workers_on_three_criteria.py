"""Off the point, fluent, fairly interesting: who says so of a wrong text works well."""

import numpy as np

from quality.detection.stats.detectors import detect
from quality.test_questions.services import Marked, marks

SCALE = np.linspace(0, 1, 5)
# what a careful reader thinks of a wrong text, and of a good one, on a scale of 0 to 4
THINKS = {
    "NEGATIVE": {"relevance": 0, "fluency": 4, "interest": 3},
    "POSITIVE": {"relevance": 4, "fluency": 4, "interest": 3},
}
EXPECTED = {
    "NEGATIVE": {"criteria": ["relevance"]},
    "POSITIVE": {"criteria": ["relevance", "fluency", "interest"]},
}


def answered(rng, polarity, *, honest):
    """Give one worker's answers; honest ones slip by a step once in twenty times."""
    answers = []
    for name, at in THINKS[polarity].items():
        step = rng.choice([-1, 0, 1], p=[0.025, 0.95, 0.025])
        place = int(np.clip(at + step, 0, 4)) if honest else int(rng.integers(5))
        answers.append(Marked(name, "", float(SCALE[place])))
    return answers


def right_and_asked(rng, polarity, n, *, honest):
    given = [
        mark
        for _ in range(n)
        for mark in marks(
            answered(rng, polarity, honest=honest),
            polarity=polarity,
            expected=EXPECTED[polarity],
            threshold=0.5,
        ).values()
    ]
    return sum(given), len(given)


def test_at_most_one_in_a_hundred_honest_workers_is_excluded():
    rng = np.random.default_rng(8)
    excluded, caught, n_honest, n_careless = 0, 0, 0, 0
    for crowd in range(12):
        honest = np.arange(50) >= 10
        flagged = np.zeros(50, dtype=bool)
        for polarity in THINKS:
            n = 2 + int(rng.integers(10))
            counts = [right_and_asked(rng, polarity, n, honest=h) for h in honest]
            right, asked = zip(*counts, strict=True)
            flagged |= detect(list(right), list(asked), seed=crowd).flagged.astype(bool)
        excluded += int(flagged[honest].sum())
        caught += int(flagged[~honest].sum())
        n_honest += int(honest.sum())
        n_careless += int((~honest).sum())
    assert excluded <= 0.01 * n_honest
    assert caught > 0.5 * n_careless

"""The surface of a text as numbers; levels of several kinds taken out of numbers."""

import numpy as np

from leaderboard.stats.blinding import FEATURES, codes_of, style_of, without_levels


def test_the_surface_of_a_text_is_read():
    assert len(style_of("")) == len(FEATURES)
    plain, marked = style_of("one two three"), style_of("- One\n- **Two** “three”.")
    assert marked[5] > plain[5] == 0
    assert marked[3] > plain[3] == 0
    assert (plain[6], marked[6]) == (0.0, 1.0)


def test_levels_of_two_kinds_are_taken_out():
    rng = np.random.default_rng(1)
    a, b = (
        codes_of(rng.integers(0, 9, 200), 200),
        codes_of(rng.integers(0, 7, 200), 200),
    )
    rest = without_levels(3.0 * a - b, [a, b])
    assert np.abs(rest).max() < 1e-8

from __future__ import annotations

from leaderboard.designs.base import SeveralOutputs


class ErrorSpanPairs(SeveralOutputs):
    """Two systems' outputs side by side: errors marked in each, a score for each.

    For joint evaluations: of more than two systems, every page shows another pair. What an
    error weighs and how it is marked is as in `ErrorSpans` (contrastive ESA).
    """

    slug = "error-span-pairs"
    scales = ("slider-100", "sqm")
    n_outputs = (2, 2)
    marks_errors = True

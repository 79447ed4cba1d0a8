"""Designs whose pages show several outputs side by side."""

from collections.abc import Sequence
from typing import Any

from leaderboard.designs.base import SeveralOutputs, Shown, TaskView, with_standard


class TwoChoice(SeveralOutputs):
    """The outputs of two systems: which is better (Dynamic Human Evaluation)."""

    slug = "two-choice"
    scales = ("two-choice",)
    label = "Which of two systems is better?"
    n_outputs = (2, 2)


class Preference(SeveralOutputs):
    """An output and a reference, which is preferred in five steps (Genie, figure 4 d)."""

    slug = "preference"
    scales = ("preference-5", "two-choice")
    label = "A system compared with a reference, in five steps"
    hit_template = "preference-summarization"
    n_outputs = (2, 2)
    references_among = 1
    needs_reference = True


class RankME(SeveralOutputs):
    """All systems' outputs together, each a magnitude beside a reference worth 100.

    References
    ----------
    Novikova, Dušek and Rieser, RankME: Reliable Human Ratings for Natural Language
    Generation, NAACL 2018, section 3.
    """

    slug = "rankme"
    scales = ("magnitude",)
    label = "All systems side by side, each in proportion to a reference"
    hit_template = "rankme-outputs"
    needs_reference = True

    def data(
        self, task: TaskView, shown: Shown, outputs: Sequence[str]
    ) -> dict[str, Any]:
        return with_standard(task, shown, super().data(task, shown, outputs))


class ErrorSpanPairs(SeveralOutputs):
    """Two systems' outputs side by side: errors marked in each, a score for each.

    For joint evaluations: with more than two systems, every page shows a different
    pair. Weights and marking of errors are those of `ErrorSpans` (contrastive ESA).
    """

    slug = "error-span-pairs"
    scales = ("slider-100", "sqm")
    label = "Two systems side by side: errors marked in both, then sliders"
    hit_template = "error-span-pairs"
    n_outputs = (2, 2)
    marks_errors = True

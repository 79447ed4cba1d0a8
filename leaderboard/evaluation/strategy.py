"""What differs between evaluations of one, two and several systems."""

from collections.abc import Collection
from typing import Protocol

from crowd.pricing import Quote
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.services.parts import Part
from leaderboard.tasks.config import HumanConfig


class Strategy(Protocol):
    """How an evaluation is priced, sent out, watched and brought to its end.

    The last four are its steps (`machine.STEPS`): each does what comes next, or nothing
    while people are at work, and moves the evaluation on by `machine.move`.
    """

    def human(self, evaluation: HumanEvaluation) -> HumanConfig:
        """Give the task's table that says how people are asked."""

    def cost(self, evaluation: HumanEvaluation) -> Quote:
        """Price it, to the cent."""

    def n_workers(self, evaluation: HumanEvaluation) -> int:
        """Say how many workers are wanted at least."""

    def check_launch(self, evaluation: HumanEvaluation) -> None:
        """Refuse what would fail later, before money is set aside for it."""

    def plan(
        self, evaluation: HumanEvaluation, used: Collection[str] = ()
    ) -> list[Part]:
        """Plan its campaigns with all of their test questions.

        `used` has fingerprints of texts that other evaluations are about to ask.
        """

    def keys(self, evaluation: HumanEvaluation) -> list[str]:
        """Name its campaigns; each has a commitment of the same name."""

    def stopped(self, evaluation: HumanEvaluation) -> None:
        """Write what there is when staff stop it."""

    def launch(self, evaluation: HumanEvaluation) -> None:
        """Go from APPROVED to ANNOTATING: campaigns, test questions, HITs, at once."""

    def collect(self, evaluation: HumanEvaluation) -> None:
        """Look at the answers so far; go on when all are there."""

    def score(self, evaluation: HumanEvaluation) -> None:
        """Go from ANNOTATED to SCORED."""

    def publish(self, evaluation: HumanEvaluation) -> None:
        """Show what was scored, and score it again when who counts has changed."""

"""Strategies: evaluations of one, two and several systems."""

from collections.abc import Collection
from typing import Any, Protocol, TypeVar

from crowd.pricing import Quote
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.services.items import Part
from leaderboard.evaluation.strategies.comparison import ComparisonOfTwo
from leaderboard.evaluation.strategies.joint import SideBySide
from leaderboard.evaluation.strategies.single_system import SingleSystem
from leaderboard.tasks.config import HumanConfig

E_contra = TypeVar("E_contra", bound=HumanEvaluation, contravariant=True)


class Strategy(Protocol[E_contra]):
    """Prices, launches, watches and ends an evaluation.

    The last four methods are its steps (`states.STEPS`): each does what comes next, or
    nothing while workers are busy, and moves the evaluation on by `machine.move`.
    """

    def human(self, evaluation: E_contra) -> HumanConfig:
        """Return the task's settings for this kind of question."""

    def cost(self, evaluation: E_contra) -> Quote:
        """Return the price, to the cent."""

    def n_workers(self, evaluation: E_contra) -> int:
        """Return the least number of workers."""

    def forecast(self, evaluation: E_contra, cents: int) -> list[str]:
        """Return sentences on the results that `cents` and more would buy."""

    def check_launch(self, evaluation: E_contra) -> None:
        """Refuse what would fail later, before money is reserved for it."""

    def plan(self, evaluation: E_contra, used: Collection[str] = ()) -> list[Part]:
        """Plan its campaigns; `used` has fingerprints of texts that no test may show."""

    def keys(self, evaluation: E_contra) -> list[str]:
        """Return the names of its campaigns, which are also those of their commitments."""

    def end_early(self, evaluation: E_contra) -> None:
        """Store the present results when staff stop it."""

    def launch(self, evaluation: E_contra) -> None:
        """Go from APPROVED to ANNOTATING: campaigns, test questions, HITs in one step."""

    def collect(self, evaluation: E_contra) -> None:
        """Check the answers so far; go on when all are in."""

    def score(self, evaluation: E_contra) -> None:
        """Go from ANNOTATED to SCORED."""

    def publish(self, evaluation: E_contra) -> None:
        """Publish the scores; score again when other ratings count."""


STRATEGIES: dict[str, Strategy[Any]] = {
    HumanEvaluation.Kind.RATINGS: SingleSystem(),
    HumanEvaluation.Kind.COMPARISON: ComparisonOfTwo(),
    HumanEvaluation.Kind.JOINT: SideBySide(),
}


def strategy_of(evaluation: HumanEvaluation) -> Strategy[Any]:
    return STRATEGIES[evaluation.kind]

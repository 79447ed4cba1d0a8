from typing import Any

from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.strategies.comparison import ComparisonOfTwo
from leaderboard.evaluation.strategies.joint import SideBySide
from leaderboard.evaluation.strategies.single_system import SingleSystem
from leaderboard.evaluation.strategy import Strategy

STRATEGIES: dict[str, Strategy[Any]] = {
    HumanEvaluation.Kind.RATINGS: SingleSystem(),
    HumanEvaluation.Kind.COMPARISON: ComparisonOfTwo(),
    HumanEvaluation.Kind.JOINT: SideBySide(),
}


def strategy_of(evaluation: HumanEvaluation) -> Strategy[Any]:
    return STRATEGIES[evaluation.kind]

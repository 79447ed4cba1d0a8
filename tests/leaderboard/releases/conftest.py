"""The cast of evaluations of several systems, for tests of their releases."""

from tests.leaderboard.evaluation.comparisons.conftest import (  # noqa: F401
    ask,
    crowd,
    finish,
    judged,
    level,
    people,
    right,
    system,
    told_apart,
    wrong,
)
from tests.leaderboard.evaluation.comparisons.conftest import task as demo_task  # noqa: F401
from tests.leaderboard.evaluation.conftest import boss, sam  # noqa: F401

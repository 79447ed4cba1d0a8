"""What is odd about a submission, said before people are paid to judge it."""

from leaderboard.submissions.preflight.base import PreflightWarning
from leaderboard.submissions.preflight.realignment import Realignment, realign
from leaderboard.submissions.preflight.run import preflight

__all__ = ["PreflightWarning", "Realignment", "preflight", "realign"]

"""Warnings about a submission before people are paid to rate it."""

from leaderboard.submissions.preflight.base import PreflightWarning
from leaderboard.submissions.preflight.realignment import Realignment, realign
from leaderboard.submissions.preflight.run import preflight

__all__ = ["PreflightWarning", "Realignment", "preflight", "realign"]

"""Warnings about a submission before people are paid to rate it."""

from leaderboard.submissions.preflight.base import PreflightWarning, preflight
from leaderboard.submissions.preflight.similarity import realign

__all__ = ["PreflightWarning", "preflight", "realign"]

"""Readers of uploaded files of metric scores."""

from leaderboard.metric_board.readers.read import ScoreFile, read_scores

__all__ = ["ScoreFile", "read_scores"]

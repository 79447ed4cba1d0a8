"""Files of metric scores, as developers of metrics hand them in."""

from leaderboard.metric_board.readers.read import ScoreFile, read_scores

__all__ = ["ScoreFile", "read_scores"]

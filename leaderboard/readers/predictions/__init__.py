"""Files of predictions, as submitters hand them in."""

from __future__ import annotations

from leaderboard.readers.predictions.problem import Problem
from leaderboard.readers.predictions.read import PredictionFile, read_predictions

__all__ = ["PredictionFile", "Problem", "read_predictions"]

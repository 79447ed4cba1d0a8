"""Files of predictions, as submitters hand them in.

The order of the rooms is that of trust: `intake.py` turns bytes into bounded text,
`detect.py` chooses a format, the formats yield records, and `match.py` compares those
with the task's instances. Nothing is raised to the caller: every problem becomes a
sentence with its line.
"""

from leaderboard.submissions.readers.problem import Problem
from leaderboard.submissions.readers.read import PredictionFile, read_predictions

__all__ = ["PredictionFile", "Problem", "read_predictions"]

"""Files of predictions from submitters.

Modules trust their input step by step: `decode.py` turns bytes into bounded text,
and `read.py` chooses a format and compares the records that it yields with the task's
instances. No error is raised to the caller: every problem becomes a sentence with its
line.
"""

from leaderboard.submissions.readers.problem import Problem
from leaderboard.submissions.readers.read import PredictionFile, read_predictions

__all__ = ["PredictionFile", "Problem", "read_predictions"]

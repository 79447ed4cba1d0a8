from __future__ import annotations

from leaderboard.designs.base import OneOutput


class MQM(OneOutput):
    """Errors marked by severity and category, from which the score is counted.

    Nothing else is asked: what an error takes off, the task or its HIT template says.

    References
    ----------
    Freitag et al. (2021), Experts, Errors, and Context: A Large-Scale Study of Human
    Evaluation for Machine Translation, TACL.
    """

    slug = "mqm"
    scales = ("mqm",)
    marks_errors = True

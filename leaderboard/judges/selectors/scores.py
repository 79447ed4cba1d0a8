"""What judges said, as tables: for the metric board, and for whoever compares it with people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import BigIntegerField
from django.db.models.functions import Coalesce

from leaderboard.judges.models import JudgeCall, JudgeRun

if TYPE_CHECKING:
    import pandas as pd


def answers_of(run: JudgeRun) -> pd.DataFrame:
    """Give every valid answer of a run.

    Returns
    -------
    pandas.DataFrame
        A row for each question and criterion: `call`, `criterion`, `instance` (its
        position), `submission` (of a draft: which of its systems), `other` (0: judged alone), `sample`, `value` (on the
        scale; of a pair, how far `submission`, which stood first, is preferred).
    """
    import pandas as pd

    rows = run.calls.filter(state=JudgeCall.State.VALID).order_by("pk")
    listed = [
        (pk, criterion, position, one, other, sample, float(value))
        for pk, values, position, one, other, sample in rows.values_list(
            "pk",
            "values",
            *(_first("instance__position", "item"), _first("submission", "system")),
            _first("other", "rival"),
            "sample",
        )
        for criterion, value in values.items()
    ]
    names = ["call", "criterion", "instance", "submission", "other", "sample", "value"]
    return pd.DataFrame(listed, columns=names)


def _first(of_task: str, of_sheet: str) -> Coalesce:
    return Coalesce(of_task, of_sheet, output_field=BigIntegerField())


def scores_of(run: JudgeRun, criterion: str) -> dict[int, dict[int, float]]:
    """Give one number an output: the mean over samples, opponents and both orders.

    Returns
    -------
    dict
        Submission -> position of the instance -> score; higher is better. Of pairs, the
        share of preferences that the system won.
    """
    answers = answers_of(run)
    both = both_sides(answers[answers["criterion"] == criterion])
    means = both.groupby(["submission", "instance"])["value"].mean().reset_index()
    found: dict[int, dict[int, float]] = {}
    for submission, instance, value in means.itertuples(index=False):
        found.setdefault(int(submission), {})[int(instance)] = float(value)
    return found


def both_sides(answers: pd.DataFrame) -> pd.DataFrame:
    """Add the view of outputs that stood second: they won what the first lost."""
    import pandas as pd

    second = answers[answers["other"] > 0]
    lost = second.assign(submission=second["other"], value=1 - second["value"])
    return pd.concat([answers, lost])

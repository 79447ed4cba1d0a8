"""Judges' answers as tables, for the metric board and for comparisons with people."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from statistics import fmean, geometric_mean
from typing import TYPE_CHECKING

from django.db.models.functions import Coalesce

from leaderboard.judges.models import JudgeCall, JudgeRun

if TYPE_CHECKING:
    import pandas as pd

_WHICH = ("sample", "probe")
_ABOUT = ("call", "criterion", "instance", "submission", "other", "place")


def answers_of(run: JudgeRun, *, probes: bool = False) -> pd.DataFrame:
    """Return every valid answer of a run; answers to an audit only with `probes`.

    A row for each question and criterion: `call`, `criterion`, `instance` (its
    position), `submission`, `other` (0: judged alone), `sample`, `value` (on the scale;
    for a pair, the preference for `submission`, which came first), `place` (its
    position on a page of several outputs, from 0; else -1), and `probe`: how an audit
    modified the output, or empty.
    """
    import pandas as pd

    calls = run.calls.all() if probes else run.calls.filter(probe="")
    rows = calls.filter(state=JudgeCall.State.VALID).order_by("pk")
    listed = [
        (pk, criterion, at, one, other, _place(one, beside), *which, float(value))
        for pk, values, at, one, other, beside, *which in rows.values_list(
            *("pk", "values", "instance__position", "submission"),
            *(Coalesce("other", 0), "beside"),
            *_WHICH,
        )
        for criterion, value in values.items()
    ]
    return pd.DataFrame(listed, columns=[*_ABOUT, *_WHICH, "value"])


def _place(submission: int, beside: list[int]) -> int:
    return beside.index(submission) if beside else -1


def both_sides(answers: pd.DataFrame) -> pd.DataFrame:
    """Add the view of outputs in second position: they won what the first lost."""
    import pandas as pd

    second = answers[answers["other"] > 0]
    lost = second.assign(submission=second["other"], value=1 - second["value"])
    return pd.concat([answers, lost])


def scores_of(run: JudgeRun, criterion: str) -> dict[int, dict[int, float]]:
    """Return submission -> position of the instance -> score; higher is better.

    The mean over samples, opponents and both orders; for pairs, the share of
    preferences won.
    """
    answers = answers_of(run)
    return averages(run, answers[answers["criterion"] == criterion])


def averages(run: JudgeRun, answers: pd.DataFrame) -> dict[int, dict[int, float]]:
    by_output = both_sides(answers).groupby(["submission", "instance"])["value"]
    means = by_output.agg(partial(average_answers, run)).reset_index()
    found: dict[int, dict[int, float]] = {}
    for submission, instance, value in means.itertuples(index=False):
        found.setdefault(int(submission), {})[int(instance)] = float(value)
    return found


def average_answers(run: JudgeRun, values: Iterable[float]) -> float:
    """Average answers as the design does those of people: ratios by their logarithms."""
    return geometric_mean(values) if run.plan.get("ratios") else fmean(values)

"""Studies of careless crowds as sheets and JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from genie_research.boards.cleaning_study import CleaningResult
from genie_research.boards.crowd_simulation import Share
from leaderboard.table_stats.report import Sheet

Named = tuple[str, CleaningResult]


def cleaned_sheet(results: Sequence[Named]) -> Sheet:
    tasks = sorted({one.n_tasks for _, one in results})
    notes = (
        "Careless: share of careless answers among the ratings given, and left among "
        "those that count, without and with those copied from a language model. "
        "Stopped: careless workers (without copiers), and after how many answers at "
        "the median, since the turn where they turned. Kept: ratings that count, of "
        "100 outputs. Bias of scores on a scale of 100 and coverage of nominal 95 % "
        "intervals, against all careful workers, the strict among them. Alarm: "
        "campaigns whose staff are told that the crowd is bad. First: tests among the "
        "first items of careful workers. By order: area under the ROC curve of the best "
        "rule that tells tests from ratings by their place among a careful worker's "
        "first forty items. After ± stands the Monte-Carlo standard error.",
    )
    rows = tuple(
        (
            name,
            one.campaign.detector,
            _number(one.noisy_before),
            _number(one.noisy),
            _number(one.noisy_copied),
            _number(one.stopped),
            f"{one.stop_median:.0f}",
            _number(one.excluded, 2),
            _number(one.kept),
            _number(one.tests),
            _number(one.bias, 2),
            f"{one.rmse:.1f}",
            _number(one.coverage),
            f"{one.alarm.value:.0f}",
            _number(one.first),
            _number(one.order, 3),
        )
        for name, one in results
    )
    header = (
        "crowd", "detector", "careless %", "left %", "with copiers %", "stopped %",
        "after", "honest out %", "kept %", "tests %", "bias", "RMSE", "coverage %",
        "alarm %", "first %", "by order",
    )  # fmt: skip
    title = f"Careless crowds, {' or '.join(map(str, tasks))} tasks a cell"
    return Sheet(title, header, rows, notes)


def cleaned_document(results: Sequence[Named], seed: int) -> dict[str, Any]:
    """Return every number of a study."""
    cells = [{"name": name} | asdict(one) for name, one in results]
    return {"seed": seed, "cells": cells}


def _number(share: Share, digits: int = 1) -> str:
    if share.value != share.value:
        return "–"
    return f"{share.value:.{digits}f} ± {share.error:.{digits}f}"

"""A task's published numbers as a table of the command `reproduce`."""

from collections.abc import Iterator
from pathlib import Path

from genie_research.papers.table import Table, Workbench
from leaderboard.papers.figures import (
    Cell,
    Computed,
    all_figures,
    compare_figures,
    read_expected,
)
from leaderboard.papers.task_figures.beside import beside
from leaderboard.papers.task_figures.computed import BOARD, figures_of
from leaderboard.tasks.models import Task


class TaskTable(Table):
    """The published numbers of one task, or another list of numbers.

    Parameters
    ----------
    expected : Path or None
        A list to compare with; None for the numbers of the task's folder.
    part : str
        Prefix of the task's ids in a list of several tasks.
    """

    title = "Published numbers of a task's judgments"

    def __init__(
        self, task: Task, expected: Path | None = None, part: str = ""
    ) -> None:
        self.slug = task.slug
        self._task, self._expected, self._part = task, expected, part

    @property
    def paper(self) -> str:  # type: ignore[override]
        return self._task.title

    def cells(self, bench: Workbench) -> Iterator[Cell]:
        if self._expected is None:
            yield from (one.cell for one in beside(self._task))
            return
        start = f"{self._part}/" if self._part else ""
        printed = [
            one for one in read_expected(self._expected) if one.id.startswith(start)
        ]
        ours = figures_of(self._task, [BOARD, *all_figures()])
        merged: Computed = {}
        for figures in ours.values():
            # a name in several sets is the same figure in all of them
            merged = figures | merged
        named = {f"{start}{id}": value for id, value in merged.items()}
        yield from compare_figures(printed, named)

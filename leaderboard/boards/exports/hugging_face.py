"""Scores as a file for `.eval_results/` of a model's repository on the Hugging Face Hub.

References
----------
Hugging Face Hub documentation, "Evaluation Results": a YAML list of entries with dataset,
value, date, source and notes.
"""

from __future__ import annotations

import json
import re
from datetime import datetime

from leaderboard.boards.selectors.columns import score_range
from leaderboard.boards.selectors.rows import Human, Row
from leaderboard.tasks.models import Task

# Nobody's, so that whoever forgets to name a data set is told by the Hub.
UNKNOWN = "OWNER/NAME"
_ON_HUB = re.compile(r"https://huggingface\.co/datasets/([\w.-]+/[\w.-]+)")
_NAMED = re.compile(r"\w[\w.-]{0,95}/\w[\w.-]{0,95}", re.ASCII)


def dataset_of(task: Task, asked: str = "") -> str:
    """Name the task's data set on the Hub: as asked, or where its homepage is.

    Examples
    --------
    >>> dataset_of(Task(homepage="https://huggingface.co/datasets/GEM/xsum"))
    'GEM/xsum'
    >>> dataset_of(Task(), "../x y")
    'OWNER/NAME'
    """
    if _NAMED.fullmatch(asked):
        return asked
    found = _ON_HUB.match(task.homepage)
    return found[1] if found else UNKNOWN


def as_yaml(
    task: Task, row: Row, *, dataset: str, page: str, published: datetime
) -> str:
    """Write an entry for each criterion; numbers are people's means with their intervals.

    Parameters
    ----------
    task : Task
    row : Row
        A system with scores.
    dataset : str
        The data set's id on the Hub.
    page : str
        The submission's address.
    published : datetime
    """
    lines = [f"# {task.title}: .eval_results/{task.slug}.yaml"]
    if dataset == UNKNOWN:
        lines.append("# Write your data set's id on the Hub for OWNER/NAME.")
    for criterion, human in row.criteria.items():
        lines += [
            "- dataset:",
            f"    id: {_text(dataset)}",
            f"    task_id: {_text(criterion)}",
            f"  value: {human.mean:.2f}",
            f"  date: {_text(published.date().isoformat())}",
            "  source:",
            f"    url: {_text(page)}",
            f"    name: {_text(f'{task.title}, human evaluation with Genie')}",
            f"  notes: {_text(_notes(row, human, score_range(task)))}",
        ]
    return "\n".join(lines) + "\n"


def _notes(row: Row, human: Human, ends: str) -> str:
    who = "simulated annotators, not people" if row.simulated else "people"
    said = (
        f"Rated by {human.n_workers} {who}; mean{ends} over {human.n} instances, "
        f"95% interval {human.low:.2f} to {human.high:.2f}, which covers {human.covers}."
    )
    said += " Rated elsewhere and imported." if row.imported else ""
    said += " Provisional." if human.provisional else ""
    return said + (f" Partial: {row.partial}." if row.partial else "")


def _text(words: str) -> str:
    # every string of JSON is one of YAML
    return json.dumps(words, ensure_ascii=False)

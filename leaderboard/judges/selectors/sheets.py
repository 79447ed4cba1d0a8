"""What a run asks about: a task's own rows, or what a draft's sheet has in their place."""

from __future__ import annotations

from collections.abc import Mapping

from leaderboard.judges.models import JudgeRun, JudgeSheet
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import unsaved_task

# The key of sheets whose draft is deleted.
NOBODYS = ""


def task_of(run: JudgeRun) -> Task:
    """Give the task of a run; of a draft's the one that it would become, not stored."""
    return run.task if run.sheet is None else task_like(run.sheet)


def task_like(sheet: JudgeSheet) -> Task:
    """Make the task that a draft would become; it is in no database."""
    items = sheet.content.get("items", [])
    return unsaved_task(sheet.key, sheet.content.get("document", {}), len(items))


def items_of(sheet: JudgeSheet) -> dict[int, Instance]:
    """Give a sheet's items by their number, as instances that are in no database.

    What would be their key is their number, by which `texts_of_sheet` has outputs.
    """
    return {
        number: Instance(
            pk=number,
            position=number,
            instance_id=item["id"],
            fields=item["fields"],
            references=item["references"],
        )
        for number, item in enumerate(sheet.content.get("items", []))
    }


def texts_of_sheet(sheet: JudgeSheet) -> dict[tuple[int, int], str]:
    """Give the outputs by system, from 1 on, and item."""
    systems: Mapping[str, list[str]] = sheet.content.get("systems", {})
    return {
        (system, item): text
        for system, outputs in enumerate(systems.values(), 1)
        for item, text in enumerate(outputs)
    }

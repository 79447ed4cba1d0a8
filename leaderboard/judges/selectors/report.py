"""What judges said of a draft, put together: where to look before people are paid."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import isfinite
from typing import Any

from leaderboard.judges.models import JudgeCall, JudgeRun, JudgeSheet
from leaderboard.judges.selectors.pilot import OnCriterion, on_criteria
from leaderboard.judges.selectors.sheets import items_of, task_like, texts_of_sheet
from leaderboard.judges.selectors.told import progress
from leaderboard.judges.texts import faults
from leaderboard.stats.judges.pilot import correlation, furthest_apart

NOTE = (
    "Said by programs, not by people. It says nothing of how good a system is, and "
    "people may see all of it otherwise."
)
# two criteria that put outputs in the same order so far say the same to a judge
SAME = 0.9
# two judges that agree no further read a criterion differently
UNLIKE = 0.3
COLUMNS = (
    *("judge", "script", "item", "system", "other", "repeat", "criterion"),
    *("value", "reason", "problem"),
)


def report(sheet: JudgeSheet) -> dict[str, Any]:
    """Say of each judge, and between judges, what stands out; items by their number."""
    runs = list(sheet.runs.select_related("judge", "sheet").order_by("pk"))
    found = {run.pk: on_criteria(run) for run in runs}
    return {
        "title": sheet.title,
        "note": NOTE,
        "items": sheet_ids(sheet),
        "texts": list(text_faults(sheet)),
        "judges": [_of_run(run, found[run.pk]) for run in runs],
        "between": list(_between(runs, found)),
    }


def sheet_ids(sheet: JudgeSheet) -> list[str]:
    """Give the names of a sheet's items, in their order."""
    return [str(item["id"]) for item in sheet.content.get("items", [])]


def text_faults(sheet: JudgeSheet) -> Iterator[dict[str, Any]]:
    """Find texts that are empty or seem cut off, by counting; no judge is asked."""
    items = items_of(sheet)
    columns: dict[str, list[str]] = {}
    if items:
        for name, label in task_like(sheet).field_labels.items():
            columns[label] = [str(one.fields.get(name, "")) for one in items.values()]
    for name, outputs in sheet.content.get("systems", {}).items():
        columns[f"output of {name}"] = outputs
    for where, texts in columns.items():
        for item, what in faults(texts).items():
            yield {"item": item, "where": where, "what": what}


def _of_run(run: JudgeRun, found: list[OnCriterion]) -> dict[str, Any]:
    valid = run.calls.filter(state=JudgeCall.State.VALID).values("item")
    wrong = run.calls.filter(state=JudgeCall.State.INVALID)
    unanswered = wrong.exclude(item__in=valid).values_list("item", flat=True)
    return {
        "judge": str(run.judge),
        "signature": run.judge.signature,
        "script": run.judge.scripted,
        "state": run.get_state_display(),
        "failure": run.failure,
        "repeats": run.plan.get("repeats", 1),
        **progress(run),
        "unanswered": sorted(set(unanswered)),
        "criteria": [_of_criterion(one) for one in found],
        "same": list(_same(found)),
    }


def _of_criterion(one: OnCriterion) -> dict[str, Any]:
    found = one.found
    return {
        "criterion": one.criterion,
        "lowest": one.at(found.lowest),
        "silent": one.at(found.silent),
        "telling": one.at(found.telling),
        "repeats_share": _number(found.repeats),
        "unclear": bool(found.unclear),
        "order_share": _number(one.order),
    }


def _same(found: list[OnCriterion]) -> Iterator[dict[str, Any]]:
    for one, other in combinations(found, 2):
        if one.places != other.places or one.systems != other.systems:
            continue
        rho = correlation(one.scores, other.scores)
        if isfinite(rho) and rho >= SAME:
            criteria = [one.criterion, other.criterion]
            yield {"criteria": criteria, "correlation": _number(rho)}


def _between(
    runs: list[JudgeRun], found: dict[int, list[OnCriterion]]
) -> Iterator[dict[str, Any]]:
    """Compare each two judges on each criterion, where both answered the same."""
    for one, other in combinations(runs, 2):
        for here in found[one.pk]:
            for there in found[other.pk]:
                alike = (here.criterion, here.places, here.systems)
                if alike != (there.criterion, there.places, there.systems):
                    continue
                rho = correlation(here.scores, there.scores)
                yield {
                    "criterion": here.criterion,
                    "judges": [str(one.judge), str(other.judge)],
                    "correlation": _number(rho),
                    "unlike": isfinite(rho) and rho < UNLIKE,
                    "apart": here.at(furthest_apart(here.scores, there.scores)),
                }


def rows(sheet: JudgeSheet, items: set[int] | None = None) -> Iterator[dict[str, Any]]:
    """Give each answer, or why there is none, criterion by criterion."""
    ids = sheet_ids(sheet)
    names = ["", *sheet.content.get("systems", {})]
    calls = JudgeCall.objects.filter(run__sheet=sheet).exclude(
        state=JudgeCall.State.WAITING
    )
    if items is not None:
        calls = calls.filter(item__in=items)
    for call in calls.select_related("run__judge").order_by(
        "item", "run", "system", "rival", "sample", "part"
    ):
        if not ids:  # the draft is gone
            return
        told = {
            "judge": str(call.run.judge),
            "script": call.run.judge.scripted,
            "item": ids[call.item],
            "number": call.item,
            "system": names[call.system],
            "other": names[call.rival],
            "repeat": call.sample + 1,
            "problem": call.problem if call.state == JudgeCall.State.INVALID else "",
        }
        for criterion in call.values or {"": None}:
            yield {
                **told,
                "criterion": criterion,
                "value": call.values.get(criterion),
                "reason": call.reasons.get(criterion, ""),
            }


def item_texts(sheet: JudgeSheet, item: int) -> dict[str, Any]:
    """Give what a page about an item shows, for whoever reads a judge's reasons."""
    task, found = task_like(sheet), items_of(sheet)[item]
    outputs = texts_of_sheet(sheet)
    return {
        "number": item,
        "id": found.instance_id,
        "fields": [
            (label, str(found.fields.get(name, "")))
            for name, label in task.field_labels.items()
        ],
        "outputs": [
            (name, outputs[system, item])
            for system, name in enumerate(sheet.content["systems"], 1)
        ],
    }


def _number(found: float) -> float | None:
    return round(found, 4) if isfinite(found) else None

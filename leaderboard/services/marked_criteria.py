"""On which criteria test questions are marked.

Another instance's reference is off the point and still fluent: it is wrong on relevance
and right on fluency. Where several criteria are asked, `test_criteria` in task.toml says
which can be marked: `positive` where a reference is good, `negative` where another
instance's reference is bad, or worse than the own one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crowd import hit_templates
from genie.lib.errors import GenieError
from leaderboard.services.asking import judged_blind

KEY = "test_criteria"
POSITIVE, NEGATIVE = "positive", "negative"


def marked_criteria(
    human: Mapping[str, Any], criteria: Mapping[str, str]
) -> dict[str, list[str]]:
    """Give the criteria of one campaign that are marked, by polarity.

    Where only one criterion is asked it is marked, on both. A campaign without a marked
    criterion has no test questions of that polarity. Where nobody sees the input, a
    negative question has its words shuffled, and is wrong whatever is asked.

    Raises
    ------
    GenieError
        ``unmarkable`` where several are asked and the task does not say which.
    """
    table = _table(human, criteria)
    if table is None and len(human.get("criteria", criteria)) > 1:
        raise GenieError(
            f"In task.toml {missing(human)} Then load the task again.",
            code="unmarkable",
        )
    if table is None:
        return {POSITIVE: list(criteria), NEGATIVE: list(criteria)}
    positive = [c for c in criteria if c in table.get(POSITIVE, ())]
    if judged_blind(human, criteria):
        return {POSITIVE: positive, NEGATIVE: list(criteria)}
    unseen = {*human.get("before_text", ())} | {
        name for name, shown in human.get("show_input", {}).items() if not shown
    }
    wrong = [c for c in criteria if c in table.get(NEGATIVE, ()) and c not in unseen]
    return {POSITIVE: positive, NEGATIVE: wrong}


def _table(
    human: Mapping[str, Any], criteria: Mapping[str, str]
) -> Mapping[str, Any] | None:
    """Find the task's own table, else the HIT template's where it asks the questions."""
    if KEY in human:
        own: Mapping[str, Any] = human[KEY]
        return own
    template = hit_templates.all_templates().get(str(human.get("hit_template")))
    if template and template.test_criteria and set(criteria) <= set(template.questions):
        return {
            polarity: [name for name in names if name in criteria]
            for polarity, names in template.test_criteria.items()
        }
    return None


def problems(
    human: Mapping[str, Any], campaigns: list[dict[str, str]], *, several_outputs: bool
) -> Iterator[str]:
    """Say what is wrong with a task's `test_criteria`, one sentence each.

    Questions that show several outputs all set another instance's reference among them,
    so that only `negative` counts there.
    """
    asked = {name: text for criteria in campaigns for name, text in criteria.items()}
    table = _table(human, asked)
    if table is None:
        if len(asked) > 1:
            yield missing({**human, "criteria": asked})
        return
    wrong = _unreadable(table, asked)
    if wrong:
        yield wrong
        return
    for polarity in (NEGATIVE,) if several_outputs else (POSITIVE, NEGATIVE):
        marked = [marked_criteria(human, one)[polarity] for one in campaigns]
        if not any(marked) and _share(human, polarity, several_outputs):
            yield (
                f"{KEY}.{polarity} names no criterion that can be scored: name "
                f"one that is rated with the input, or set {polarity}_share = 0."
            )


def _share(human: Mapping[str, Any], polarity: str, several_outputs: bool) -> float:
    """Give the share of questions that this polarity's criteria mark."""
    polarities = (POSITIVE, NEGATIVE) if several_outputs else (polarity,)
    return sum(float(human.get(f"{one}_share", 0.05)) for one in polarities)


def _unreadable(table: Any, asked: Mapping[str, str]) -> str:
    if not isinstance(table, Mapping) or not set(table) <= {POSITIVE, NEGATIVE}:
        return f"{KEY} must be a table with the lists {POSITIVE} and {NEGATIVE}."
    for polarity, names in table.items():
        if not isinstance(names, list):
            return f"{KEY}.{polarity} must be a list of criteria."
        unknown = [name for name in names if name not in asked]
        if unknown:
            return (
                f"{KEY}.{polarity} names {unknown[0]!r}, which is not one of the "
                "criteria."
            )
    return ""


def missing(human: Mapping[str, Any]) -> str:
    """Say what to write where a task with several criteria does not say it."""
    names = list(human["criteria"])
    return (
        f"there are several criteria ({', '.join(names)}), and an answer to a "
        f"test question can be right on one and wrong on another: add {KEY} = {{ "
        f"{POSITIVE} = [...], {NEGATIVE} = [...] }} with the criteria on which a "
        "reference is good, and those on which another instance's reference is "
        "bad."
    )

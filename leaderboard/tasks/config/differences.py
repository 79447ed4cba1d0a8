"""Differences between two configurations of a task, and their effect on scores."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, is_dataclass

from leaderboard.tasks.config.task import TaskConfig

# The question and everything that people see with it: scores before and after a change
# of these keys are answers to different questions.
_ASKED = (
    *("design", "scale", "hit_template", "criteria", "setup", "show_input"),
    *("before_text", "show_reference", "standard_value", "allow_tie"),
)
# The tables for questions about one system, two, or several.
HUMAN, COMPARISON, JOINT = TABLES = ("human", "comparison", "joint")
INCOMPARABLE = (
    *("formats", "output_format"),
    *(f"{table}.{name}" for table in TABLES for name in _ASKED),
)


def differences(old: TaskConfig, new: TaskConfig) -> dict[str, list[object]]:
    """List the keys whose meaning changes, with ``[old, new]`` for JSON.

    A key that was left out and is now written with its default is no change.

    Examples
    --------
    >>> from dataclasses import replace
    >>> task = TaskConfig(slug="a", title="A", kind="k")
    >>> differences(task, replace(task, title="B"))
    {'title': ['A', 'B']}
    """
    before, after = dict(_flat(old)), dict(_flat(new))
    changes = {
        key: [before.get(key), after.get(key)]
        for key in (*before, *(key for key in after if key not in before))
        if before.get(key) != after.get(key)
    }
    # Values that [comparison] and [joint] inherit from [human] are reported once.
    return {
        key: change
        for key, change in changes.items()
        if key.startswith(f"{HUMAN}.")
        or changes.get(f"{HUMAN}.{key.partition('.')[2]}") != change
    }


def incomparable(
    changes: Iterable[str],
    old: TaskConfig,
    new: TaskConfig,
    asked: Collection[str] = TABLES,
) -> list[str]:
    """Return the changes after which scores cannot be compared with earlier ones.

    Parameters
    ----------
    changes : iterable of str
        The keys of `differences`.
    asked : collection of str, optional
        The tables that people have answered by already. [human] always counts, because
        the others inherit from it.

    Examples
    --------
    >>> task = TaskConfig(slug="a", title="A", kind="k")
    >>> changed = ["title", "human.reward_cents", "human.scale", "joint.scale"]
    >>> incomparable(changed, task, task)
    ['human.scale', 'joint.scale']
    >>> incomparable(changed, task, task, ["comparison"])
    ['human.scale']
    """
    if not asked:
        return []
    apart = {COMPARISON, JOINT}.difference(asked)
    found = [
        key
        for key in changes
        if key in INCOMPARABLE and key.partition(".")[0] not in apart
    ]
    # A new label is only another word; a new field is another input.
    if set(old.fields) != set(new.fields):
        found.append("fields")
    return found


def is_wording(key: str, old: object = None, new: object = None) -> bool:
    """Check whether questions have changed, and not their names.

    Examples
    --------
    >>> is_wording("human.criteria", {"overall": "Is it god?"}, {"overall": "Good?"})
    True
    """
    texts = isinstance(old, dict) and isinstance(new, dict) and {*old} == {*new}
    return key.endswith(".criteria") and texts


def _flat(config: TaskConfig) -> Iterable[tuple[str, object]]:
    for name in vars(config):
        value = getattr(config, name)
        if not is_dataclass(value) or isinstance(value, type):
            yield name, _plain(value)
            continue
        for key, inner in asdict(value).items():
            yield f"{name}.{key}", _plain(inner)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value

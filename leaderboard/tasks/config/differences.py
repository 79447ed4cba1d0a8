"""What changes from one configuration of a task to another, and what that means."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, is_dataclass

from leaderboard.tasks.config.task import TaskConfig

# What a person answers, and what they see when they do: scores before and after a change
# of it are answers to different questions.
_ASKED = (
    *("design", "scale", "hit_template", "criteria", "setup", "show_input"),
    *("before_text", "show_reference", "standard_value", "allow_tie"),
)
# The tables by which people are asked: about one system, two, or several.
HUMAN, COMPARISON, JOINT = TABLES = ("human", "comparison", "joint")
INCOMPARABLE = (
    *("formats", "output_format"),
    *(f"{table}.{name}" for table in TABLES for name in _ASKED),
)


def differences(old: TaskConfig, new: TaskConfig) -> dict[str, list[object]]:
    """List the keys whose meaning changes, with what it was and what it becomes.

    What was left out and is now said as it was understood is no change.

    Returns
    -------
    dict
        Key to the old and the new value, as JSON can hold them.

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
    # What [comparison] and [joint] take over from [human] is said once.
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
    """Name those changes after which answers cannot stand beside earlier ones.

    Parameters
    ----------
    changes : iterable of str
        The keys of `differences`.
    asked : collection of str, optional
        The tables by which people have been asked already. What [human] says the others
        take over, so it counts whichever was used.

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
    # Another label of a field is another word; another field is another input.
    if set(old.fields) != set(new.fields):
        found.append("fields")
    return found


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

"""The metrics that a task chooses, with the parameters that it gives them.

In task.toml: ``use`` under ``[metrics]`` names them, and a table ``[metrics.<slug>]``
holds keyword arguments of the metric's constructor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.metrics.base import Metric, all_metrics, parameters_of


def chosen_metrics(table: Mapping[str, Any]) -> dict[str, Metric]:
    """Make the metrics that a task's ``[metrics]`` table asks for.

    Parameters
    ----------
    table : mapping
        ``use``: slugs in order; and for some of them a table of parameters.

    Returns
    -------
    dict
        Slug to metric, in the task's order; slugs that this site does not know are left
        out, since a task may name a metric that comes with an extra.

    Raises
    ------
    GenieError
        Code ``bad-task``: a table of parameters for a metric that is not used, a
        parameter that the metric does not have, or a value that it refuses.

    Examples
    --------
    >>> table = {"use": ["sacrebleu", "chrf"], "sacrebleu": {"lowercase": True}}
    >>> chosen_metrics(table)["sacrebleu"].settings()[:14]
    'lowercase:True'
    """
    used = [str(slug) for slug in table.get("use", ())]
    for name, value in table.items():
        if isinstance(value, Mapping) and name not in used:
            raise GenieError(
                f"[metrics.{name}] sets parameters of a metric that is not "
                "listed in [metrics] use.",
                code="bad-task",
            )
    known = all_metrics()
    return {
        slug: _configured(known[slug], table.get(slug, {}))
        for slug in used
        if slug in known
    }


def _configured(metric: type[Metric], options: Mapping[str, Any]) -> Metric:
    parameters = parameters_of(metric)
    for name, value in options.items():
        if name not in parameters:
            raise GenieError(
                f"[metrics.{metric.slug}] has {name!r}, but {metric.label} "
                f"accepts {_listed(list(parameters))}.",
                code="bad-task",
            )
        default = parameters[name].default
        if not _fits(value, default):
            raise GenieError(
                f"[metrics.{metric.slug}] {name} must be "
                f"{_KINDS.get(type(default), 'of another kind')}, not {value!r}.",
                code="bad-task",
            )
    try:
        return metric(**options)
    except ValueError as error:
        raise GenieError(
            f"[metrics.{metric.slug}]: {error}", code="bad-task"
        ) from error


_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def _fits(value: object, default: object) -> bool:
    if isinstance(default, float):
        return isinstance(value, int | float) and not isinstance(value, bool)
    # exactly the type: to isinstance, true would be a whole number
    return type(value) is type(default)


def _listed(names: list[str]) -> str:
    return ", ".join(names) if names else "no parameters"

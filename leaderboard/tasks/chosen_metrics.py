"""The metrics that a task chooses, with their parameters.

In task.toml, ``use`` under ``[metrics]`` lists them, and a table ``[metrics.<slug>]``
holds keyword arguments of the metric's constructor.
"""

from collections.abc import Iterator, Mapping

from genie.lib.errors import GenieError
from leaderboard.metrics.base import Metric, all_metrics, parameters_of
from leaderboard.tasks.config import MetricsConfig, Problem


def chosen_metrics(table: MetricsConfig) -> dict[str, Metric]:
    """Create the metrics of a task's ``[metrics]`` table, by slug and in its order.

    Slugs that this site does not have are left out: a task may list a metric that needs
    an optional dependency. The error ``bad-task`` has the first of `metric_problems`.
    """
    for problem in metric_problems(table):
        raise GenieError(str(problem), code="bad-task")
    return {
        slug: metric(**table.parameters.get(slug, {}))
        for slug, metric in _known_metrics(table).items()
    }


def metric_problems(table: MetricsConfig) -> Iterator[Problem]:
    """Yield the problems of the parameters that a task gives to its metrics.

    Yields
    ------
    Problem
        A table of parameters for a metric that is not used, a parameter that the metric
        does not have, or a value that it refuses.

    Examples
    --------
    >>> table = MetricsConfig(["chrf"], parameters={"chrf": {"words": 2}})
    >>> print(*metric_problems(table))
    metrics.chrf.words: there is no such parameter; chrF takes word_order.
    """
    for name in table.parameters:
        if name not in table.use:
            yield Problem(
                f"metrics.{name}",
                "gives parameters to a metric that `use` does not name.",
            )
    for slug, metric in _known_metrics(table).items():
        yield from _of_metric(metric, table.parameters.get(slug, {}))


def _known_metrics(table: MetricsConfig) -> dict[str, type[Metric]]:
    known = all_metrics()
    return {slug: known[slug] for slug in table.use if slug in known}


def _of_metric(metric: type[Metric], options: Mapping[str, object]) -> list[Problem]:
    parameters = parameters_of(metric)
    key = f"metrics.{metric.slug}"
    wrong = []
    for name, value in options.items():
        if name not in parameters:
            sentence = (
                f"there is no such parameter; {metric.label} takes "
                f"{', '.join(parameters) or 'no parameters'}."
            )
            wrong.append(Problem(f"{key}.{name}", sentence))
        elif not _fits(value, default := parameters[name].default):
            kind = _KINDS.get(type(default), "of another kind")
            wrong.append(Problem(f"{key}.{name}", f"must be {kind}, not {value!r}."))
    if wrong:
        return wrong
    try:
        metric(**options)
    except ValueError as error:
        return [Problem(key, str(error))]
    return []


_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def _fits(value: object, default: object) -> bool:
    if isinstance(default, float):
        return isinstance(value, int | float) and not isinstance(value, bool)
    # Exactly the type: in Python, True is an instance of int.
    return type(value) is type(default)

"""[metrics]: which automatic metrics a task has, and their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leaderboard.tasks.config.kinds import (
    Kind,
    Place,
    anything,
    mapping,
    names,
    unknown_key,
)
from leaderboard.tasks.config.tables import read_table, setting

_PARAMETERS = mapping("parameters", anything())


@dataclass(frozen=True)
class MetricsConfig:
    """The metrics of a task, by slug and in their order."""

    use: Sequence[str] = setting(names("metrics"))
    # shown first on the board; all of them where it is not said
    headline: Sequence[str] = setting(names("metrics"), ())
    # help to estimate people's scores; what `headline` names where it is not said
    powered: Sequence[str] = setting(names("metrics"), ())
    # slug -> keyword arguments of the metric: the tables [metrics.<slug>]
    parameters: Mapping[str, Mapping[str, object]] = setting(
        mapping("metrics", _PARAMETERS), {}
    )


_LISTS = ("use", "headline", "powered")


def read_metrics(given: object, place: Place) -> MetricsConfig:
    """Read the table [metrics].

    Parameters
    ----------
    given : object
        What stands in the document.
    place : Place
        What is wrong is added to its problems.

    Returns
    -------
    MetricsConfig

    Examples
    --------
    >>> table = {"use": ["chrf", "length"], "chrf": {"word_order": 2}}
    >>> found = read_metrics(table, Place("metrics", []))
    >>> found.headline, found.parameters
    (('chrf', 'length'), {'chrf': {'word_order': 2}})
    """
    if not isinstance(given, Mapping):
        return read_table(MetricsConfig, given, place)
    parameters: dict[str, Mapping[str, object]] = {}
    for name, table in given.items():
        if name in _LISTS:
            continue
        if not isinstance(table, Mapping):
            place.below(name).wrong(unknown_key(name, _LISTS))
            continue
        parameters[name] = _PARAMETERS.read(table, place.below(name)) or {}
    lists = {name: given[name] for name in _LISTS if name in given}
    found = read_table(MetricsConfig, lists, place)
    for name in found.headline:
        if name not in found.use:
            place.below("headline").wrong(f"names {name!r}, which `use` does not name.")
    return replace(
        found,
        headline=found.headline if "headline" in given else found.use,
        # nothing is chosen for a task that chooses no headline either
        powered=found.powered if "powered" in given else found.headline,
        parameters=parameters,
    )


METRICS = Kind("a table", read_metrics, MetricsConfig())

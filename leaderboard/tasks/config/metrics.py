"""The table [metrics]: the automatic metrics of a task and their parameters."""

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
    use: Sequence[str] = setting(names("metrics"))
    # the first column of the board; empty: all metrics in their order
    headline: Sequence[str] = setting(names("metrics"), ())
    # slug -> keyword arguments of the metric: the tables [metrics.<slug>]
    parameters: Mapping[str, Mapping[str, object]] = setting(
        mapping("metrics", _PARAMETERS), {}
    )


_LISTS = ("use", "headline")


def read_metrics(value: object, place: Place) -> MetricsConfig:
    """Read the table [metrics]; problems are added to `place`."""
    if not isinstance(value, Mapping):
        return read_table(MetricsConfig, value, place)
    parameters: dict[str, Mapping[str, object]] = {}
    for name, table in value.items():
        if name in _LISTS:
            continue
        if not isinstance(table, Mapping):
            place.below(name).wrong(unknown_key(name, _LISTS))
            continue
        parameters[name] = _PARAMETERS.read(table, place.below(name)) or {}
    lists = {name: value[name] for name in _LISTS if name in value}
    config = read_table(MetricsConfig, lists, place)
    for name in config.headline:
        if name not in config.use:
            place.below("headline").wrong(f"names {name!r}, which `use` does not name.")
    return replace(
        config,
        headline=config.headline if "headline" in value else config.use,
        parameters=parameters,
    )


METRICS = Kind("a table", read_metrics, MetricsConfig())

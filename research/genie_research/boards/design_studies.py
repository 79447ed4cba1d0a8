"""Genie's study of designs on any labels, and simulated plans of studies."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from genie.lib.errors import GenieError
from genie_research.boards.design_study import DesignResult, study_designs
from genie_research.boards.plan_simulation import (
    simulated_half_width,
    simulated_means,
    simulated_power,
)
from leaderboard.stats.bounds import normal_quantile
from leaderboard.stats.intervals import Floats
from leaderboard.stats.mixed import Components, mean_variance, pilot_components
from leaderboard.stats.power import paired_power, pilot_sd_of_difference
from leaderboard.table_stats.plans import paired_means
from leaderboard.table_stats.read import Ratings
from leaderboard.table_stats.report import Mark, Sheet, interval_plot

_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Settings:
    scale: tuple[float, float] = (0.0, 1.0)
    threshold: float = 0.5
    labels_per_instance: int = 3
    budget: int | None = None
    n_rounds: int = 500
    seed: int = 0


@dataclass(frozen=True)
class PlannedWidth:
    """A planned study's half-width: by formula, and simulated (`_played`).

    `same` is for these workers and days, `other` for as many others; scores are shares
    of the scale.
    """

    n_instances: int
    labels_per_instance: int
    same: float
    same_played: float
    other: float
    other_played: float


@dataclass(frozen=True)
class PlannedPower:
    a: str
    b: str
    n_instances: int
    difference: float
    power: float
    power_played: float


@dataclass(frozen=True)
class DesignStudy:
    title: str
    n_labels: int
    designs: list[DesignResult]
    components: Components
    widths: list[PlannedWidth]


def design_studies(table: Ratings, name: str, settings: Settings) -> list[DesignStudy]:
    """Study designs on each system's labels.

    Raises
    ------
    GenieError
        "missing-column" without instances.
    ValueError
        On labels outside the scale, or instances with too few of them.
    """
    if "instance" not in table.labels:
        raise GenieError("Designs need a column of instances.", code="missing-column")
    systems = table.labels["system"]
    found = []
    for code, system in enumerate(systems.names):
        rows = np.flatnonzero(systems.codes == code)
        if len(rows):
            title = ", ".join(filter(None, (name, table.criterion, system)))
            found.append(_study(table, rows, title, settings))
    return found


def _study(table: Ratings, rows: Any, title: str, settings: Settings) -> DesignStudy:
    low, high = settings.scale
    values = table.values[rows]
    labels = {field: one.codes[rows] for field, one in table.labels.items()}
    designs = study_designs(
        values,
        labels["instance"],
        seed=settings.seed,
        days=labels.get("day"),
        scale=settings.scale,
        threshold=settings.threshold,
        labels_per_instance=settings.labels_per_instance,
        budget=settings.budget,
        n_rounds=settings.n_rounds,
    )
    mapped = (values - low) / (high - low)
    components = pilot_components(
        mapped,
        instances=labels["instance"],
        workers=labels["worker"],
        days=labels.get("day"),
    )
    sizes = dict.fromkeys((one.n_instances, one.labels_per_instance) for one in designs)
    widths = [
        _width(mapped, labels, components, *size, settings.seed) for size in sizes
    ]
    return DesignStudy(title, len(values), designs, components, widths)


def _width(
    mapped: Floats,
    labels: dict[str, Any],
    components: Components,
    n_instances: int,
    each: int,
    seed: int,
) -> PlannedWidth:
    z = normal_quantile(_CONFIDENCE)
    workers = len(np.unique(labels["worker"]))
    days = len(np.unique(labels["day"])) if "day" in labels else None
    # The draws ignore the workers, so that their levels become noise.
    drawn = Components(
        components.residual + components.worker + components.day, components.instance
    )
    other = mean_variance(components, n_instances, each, workers, days)
    played = simulated_means(
        components,
        n_instances=n_instances,
        ratings_per_instance=each,
        n_workers=workers,
        n_days=days,
        seed=seed,
    )
    return PlannedWidth(
        n_instances,
        each,
        z * mean_variance(drawn, n_instances, each) ** 0.5,
        simulated_half_width(
            mapped,
            labels["instance"],
            n_instances=n_instances,
            ratings_per_instance=each,
            seed=seed,
        ),
        z * other**0.5,
        z * float(played.std()),
    )


def planned_power(table: Ratings, settings: Settings) -> PlannedPower | None:
    """Simulate a comparison of the first two systems; None if it is undefined."""
    systems = table.labels["system"]
    means = {
        name: float(table.values[systems.codes == code].mean())
        for code, name in enumerate(systems.names)
        if (systems.codes == code).any()
    }
    ranked = sorted(means, key=lambda name: (-means[name], name))[:2]
    if len(ranked) < 2:
        return None
    a, b = paired_means(table.values, systems, table.labels["instance"].codes, *ranked)
    n = settings.budget or len(a)
    if min(len(a), n) < 2:
        return None
    low, high = settings.scale
    a, b = (a - low) / (high - low), (b - low) / (high - low)
    spread, gap = pilot_sd_of_difference(a, b), float((a - b).mean())
    if spread <= 0:
        return None
    played = simulated_power(a, b, n, seed=settings.seed)
    return PlannedPower(
        ranked[0], ranked[1], n, gap, paired_power(n, gap, spread), played
    )


def study_sheets(study: DesignStudy, power: PlannedPower | None = None) -> list[Sheet]:
    found = [_designs(study), _sources(study), _widths(study)]
    found += [] if power is None else [_power(power)]
    # equal labels have no variance components
    return [sheet for sheet in found if sheet.rows]


def _designs(study: DesignStudy) -> Sheet:
    rows = tuple(
        (
            one.elicitation,
            one.aggregation,
            one.labeling,
            str(one.n_instances),
            str(one.labels_per_instance),
            f"{one.mean:.3f}",
            f"{one.sd:.4f}",
            "--" if one.sd_exact is None else f"{one.sd_exact:.4f}",
            "--" if one.sd_between_days is None else f"{one.sd_between_days:.4f}",
        )
        for one in study.designs
    )
    header = (
        "answers", "joined by", "labeling", "instances", "labels of each", "mean", "sd",
        "sd, exact", "sd of days",
    )  # fmt: skip
    notes = (
        "Scores are shares of the scale; sd: of the score when the study is repeated.",
    )
    title = f"{study.title}: designs, from {study.n_labels:,} labels"
    return Sheet(title, header, rows, notes)


def _sources(study: DesignStudy) -> Sheet:
    found = study.components
    rows = tuple(
        (name, f"{variance:.5f}", f"{100 * variance / found.total:.0f}%")
        for name, variance in (
            ("instances", found.instance),
            ("workers", found.worker),
            ("days", found.day),
            ("rest", found.residual),
        )
        if found.total > 0
    )
    return Sheet(
        "Why labels differ", ("source", "variance", "share"), rows, (found.basis,)
    )


def _widths(study: DesignStudy) -> Sheet:
    rows = tuple(
        (
            str(one.n_instances),
            str(one.labels_per_instance),
            *(
                f"{width:.4f}"
                for width in (
                    one.same,
                    one.same_played,
                    one.other,
                    one.other_played,
                )
            ),
        )
        for one in study.widths
    )
    header = (
        "instances", "labels of each", "labels drawn", "played", "other workers", "played",
    )  # fmt: skip
    notes = (
        "Half-widths of 95% intervals, by formula and when the study is played again: "
        "with labels drawn from these, and with other workers (and days), as many as here.",
    )
    return Sheet("Planned half-widths", header, rows, notes)


def _power(power: PlannedPower) -> Sheet:
    row = (
        power.a,
        power.b,
        f"{power.difference:.4f}",
        str(power.n_instances),
        f"{power.power:.2f}",
        f"{power.power_played:.2f}",
    )
    header = ("system", "against", "difference", "instances", "power", "played")
    notes = (
        "Power of a paired t-test at 5% if the true difference is the one seen, for "
        "this crowd.",
    )
    return Sheet("Power", header, (row,), notes)


def study_picture(study: DesignStudy) -> str:
    z = normal_quantile(_CONFIDENCE)
    marks = [
        Mark(
            f"{one.elicitation}, {one.aggregation}, {one.labeling}",
            one.mean,
            outer=(one.mean - z * one.sd, one.mean + z * one.sd),
            rule=number == len(study.designs) // 2,
        )
        for number, one in enumerate(study.designs)
    ]
    legend = "Mean score of each design, with the range of 95% of studies"
    return interval_plot(study.title, marks, legend)


def study_document(
    found: Sequence[tuple[DesignStudy, PlannedPower | None]], settings: Settings
) -> dict[str, Any]:
    return {
        "settings": asdict(settings),
        "studies": [
            {**asdict(study), "power": power and asdict(power)}
            for study, power in found
        ],
    }

"""Genie's study of designs on any labels."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from genie.lib.errors import GenieError
from genie_research.boards.design_study import DesignResult, study_designs
from leaderboard.stats.bounds import normal_quantile
from leaderboard.stats.mixed import Components, pilot_components
from leaderboard.table_stats.read import Ratings
from leaderboard.table_stats.report import Mark, Sheet, interval_plot


@dataclass(frozen=True)
class Settings:
    scale: tuple[float, float] = (0.0, 1.0)
    threshold: float = 0.5
    labels_per_instance: int = 3
    budget: int | None = None
    n_rounds: int = 500
    seed: int = 0


@dataclass(frozen=True)
class DesignStudy:
    title: str
    n_labels: int
    designs: list[DesignResult]
    components: Components


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
    return DesignStudy(title, len(values), designs, components)


def study_sheets(study: DesignStudy) -> list[Sheet]:
    # equal labels have no variance components
    return [sheet for sheet in (_designs(study), _sources(study)) if sheet.rows]


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


def study_picture(study: DesignStudy) -> str:
    z = normal_quantile(0.95)
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


def study_document(found: Sequence[DesignStudy], settings: Settings) -> dict[str, Any]:
    return {
        "settings": asdict(settings),
        "studies": [asdict(study) for study in found],
    }

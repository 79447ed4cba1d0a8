"""The stability of scores from the same number of labels, by annotation design."""

import itertools
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from genie_research.boards.label_table import (
    LabelTable,
    average,
    draw_estimates,
    exact_sd,
    label_table,
    majority,
)
from leaderboard.stats.intervals import as_ratings

Elicitation = Literal["likert", "binary"]
Aggregation = Literal["mean", "majority"]
Labeling = Literal["unilabel", "multilabel"]


@dataclass(frozen=True)
class DesignResult:
    """The score of one design over simulated studies.

    Parameters
    ----------
    elicitation : {"likert", "binary"}
        Labels as they are, or thresholded.
    aggregation : {"mean", "majority"}
        How labels of one instance are aggregated.
    labeling : {"unilabel", "multilabel"}
        One label for many instances, or several for fewer.
    n_instances, labels_per_instance : int
        How the budget was spent.
    mean, sd : float
        Mean and standard deviation of the score over the simulated studies.
    sd_exact : float or None
        The same by formula (for means, not majorities).
    day_means : dict of str to float
        Mean score within each day, if there are days.
    """

    elicitation: Elicitation
    aggregation: Aggregation
    labeling: Labeling
    n_instances: int
    labels_per_instance: int
    mean: float
    sd: float
    sd_exact: float | None
    day_means: dict[str, float]

    @property
    def sd_between_days(self) -> float | None:
        """Standard deviation of the day means (n - 1), with two days or more."""
        if len(self.day_means) < 2:
            return None
        return float(np.std(list(self.day_means.values()), ddof=1))


def study_designs(
    values: npt.ArrayLike,
    instances: npt.ArrayLike,
    *,
    seed: int,
    days: npt.ArrayLike | None = None,
    scale: tuple[float, float] = (0.0, 1.0),
    threshold: float = 0.5,
    labels_per_instance: int = 3,
    budget: int | None = None,
    n_rounds: int = 500,
) -> list[DesignResult]:
    """Compare Genie's eight designs on any set of judgments.

    Parameters
    ----------
    values : array_like, shape (n,)
        Labels, finite, on `scale`.
    instances : array_like, shape (n,)
        The instance of each; every instance needs `labels_per_instance` labels (within
        each day, if days are given).
    seed : int
        Seed of the simulated studies.
    days : array_like, shape (n,), optional
        The day of each label.
    scale : (float, float)
        Ends of the scale; labels are mapped to 0 to 1.
    threshold : float
        A mapped label above it is a binary yes; one at it is a no.
    labels_per_instance : int
        Of the multilabel designs, at least 2.
    budget : int, optional
        Labels per study; by default as many as there are instances. It is spent on so
        many instances (unilabel) or a `labels_per_instance`-th of them (multilabel).
    n_rounds : int
        Simulated studies per design, at least 2.

    Returns
    -------
    list of DesignResult
        Eight designs: two elicitations, two aggregations, two labelings. A majority of
        one label is that label, so two pairs of unilabel designs agree.

    Raises
    ------
    ValueError
        On labels outside the scale, too few labels, or a budget below one instance.

    Notes
    -----
    Labels that are binary to begin with give equal likert and binary designs. A binary
    label cut from a Likert answer is not what a worker would have answered to a yes-or-no
    question; if both were asked, study each by itself.

    References
    ----------
    Khashabi et al. (2022), GENIE, section 4, figures 2 and 3; Lin, Mausam and Weld
    (2014) for one label per instance.
    """
    low, high = scale
    labels = as_ratings(values, what="labels")
    if not low < high or labels.min() < low or labels.max() > high:
        raise ValueError(
            f"Every label must lie on the scale from {low:g} to {high:g}. Name another "
            "with --scale LOW HIGH."
        )
    if labels_per_instance < 2 or n_rounds < 2:
        raise ValueError("The study needs two labels per instance and two rounds.")
    mapped = (labels - low) / (high - low)
    table = label_table(mapped, instances)
    spent = len(table.counts) if budget is None else budget
    if spent < labels_per_instance:
        raise ValueError(f"A budget of {spent} labels is less than one instance.")
    by_day = _tables_by_day(mapped, instances, days)
    results = []
    # a stream for each design, so that a new one does not change the others' numbers
    streams = np.random.default_rng(seed).spawn(8)
    designs = itertools.product(("likert", "binary"), ("mean", "majority"), (1, 0))
    for (elicitation, aggregation, single), rng in zip(designs, streams, strict=True):
        per_instance = 1 if single else labels_per_instance
        n_instances = spent // per_instance
        cut = threshold if elicitation == "binary" else None
        results.append(
            _study(
                table,
                by_day,
                aggregation,
                cut,
                n_instances,
                per_instance,
                n_rounds,
                rng,
            )
        )
    return results


def _tables_by_day(
    labels: npt.NDArray[np.float64],
    instances: npt.ArrayLike,
    days: npt.ArrayLike | None,
) -> dict[str, LabelTable]:
    if days is None:
        return {}
    named, instance_labels = np.asarray(days).astype(str), np.asarray(instances)
    return {
        str(day): label_table(labels[named == day], instance_labels[named == day])
        for day in np.unique(named)
    }


def _study(
    table: LabelTable,
    by_day: dict[str, LabelTable],
    aggregation: str,
    cut: float | None,
    n_instances: int,
    labels_per_instance: int,
    n_rounds: int,
    rng: np.random.Generator,
) -> DesignResult:
    if cut is not None:
        table = table.map(lambda labels: np.asarray(labels > cut, dtype=np.float64))
        by_day = {
            day: day_table.map(
                lambda labels: np.asarray(labels > cut, dtype=np.float64)
            )
            for day, day_table in by_day.items()
        }

    def run(labels: LabelTable) -> npt.NDArray[np.float64]:
        return draw_estimates(
            labels,
            n_instances=n_instances,
            labels_per_instance=labels_per_instance,
            n_sets=n_rounds,
            rng=rng,
            aggregate=average if aggregation == "mean" else majority,
        )

    estimates = run(table)
    # a majority of one label is that label, so the formula for means holds there, too
    formula = aggregation == "mean" or labels_per_instance == 1
    return DesignResult(
        "likert" if cut is None else "binary",
        "mean" if aggregation == "mean" else "majority",
        "unilabel" if labels_per_instance == 1 else "multilabel",
        n_instances,
        labels_per_instance,
        float(estimates.mean()),
        float(estimates.std(ddof=1)),
        exact_sd(
            table, n_instances=n_instances, labels_per_instance=labels_per_instance
        )
        if formula
        else None,
        {day: float(run(day_table).mean()) for day, day_table in by_day.items()},
    )

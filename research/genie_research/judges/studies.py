"""Studies of judges as sheets and JSON."""

from collections.abc import Sequence
from pathlib import Path

from genie.lib.errors import GenieError
from genie.lib.interval import Interval
from genie_research.judges.bias_study import BiasStudy
from genie_research.judges.coverage_study import CoverageCell
from genie_research.judges.difference_study import DifferenceCell
from genie_research.judges.money import share_saved
from leaderboard.table_stats.judge_labels import read_labels
from leaderboard.table_stats.report import Sheet

_PEOPLE, _JUDGES = "human_annotations.json.gz", "llm_annotations.json.gz"
Saved = dict[str, dict[str, Interval]]


def savings(folder: Path, *, seed: int) -> Saved:
    """Measure, for each data set of a folder, the labels that each judge saves.

    Raises
    ------
    GenieError
        If no sub-folder has labels of people and of judges, or their labels allow no
        estimate.
    """
    found: Saved = {}
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not (place / _PEOPLE).is_file():
            continue
        people = read_labels(place / _PEOPLE)
        numbers = all(
            not isinstance(label, str)
            for labels in people.values()
            for label in labels.values()
        )
        try:
            found[place.name] = {
                judge: share_saved(people, labels, numbers=numbers, seed=seed)
                for judge, labels in sorted(read_labels(place / _JUDGES).items())
            }
        except ValueError as error:
            raise GenieError(f"{place.name}: {error}", code="bad-labels") from error
    if not found:
        raise GenieError(
            f"{folder} has no folder with {_PEOPLE} and {_JUDGES}.", code="bad-labels"
        )
    return found


def savings_sheet(found: Saved) -> Sheet:
    rows = tuple(
        (name, judge, f"{100 * one.estimate:.1f}", _span(one, 100, 1))
        for name, judges in found.items()
        for judge, one in judges.items()
    )
    note = (
        "Saved: by which share people's labels could be fewer for the same precision, "
        "were the judge asked about very many more instances for nothing; measured on "
        "instances left out. The 95% interval covers people and instances."
    )
    return Sheet(
        "Labels saved", ("data", "judge", "saved %", "interval"), rows, (note,)
    )


def coverage_sheet(cells: Sequence[CoverageCell]) -> Sheet:
    rows = tuple(
        (
            one.judge,
            one.method,
            f"{100 * one.coverage:.1f} ± {100 * one.error:.1f}",
            f"{one.bias:+.3f}",
            f"{one.width:.3f}",
            f"{100 * one.labels_saved:+.1f}",
        )
        for one in cells
    )
    header = ("judge", "method", "coverage %", "bias", "width", "labels saved %")
    notes = (
        "Coverage of the nominal 95% interval of the mean over all workers and "
        "instances, ± its Monte-Carlo standard error; bias as a share of the plain "
        "interval's half-width; width as a multiple of the plain one's.",
    )
    title = f"Judges beside people, {cells[0].n_tasks if cells else 0} tasks each"
    return Sheet(title, header, rows, notes)


def difference_sheet(cells: Sequence[DifferenceCell]) -> Sheet:
    rows = tuple(
        (
            one.judge,
            f"{100 * one.coverage:.1f} ± {100 * one.error:.1f}",
            f"{100 * one.wrong:.1f}",
        )
        for one in cells
    )
    notes = (
        "Coverage of the nominal 95% intervals of differences between four equal "
        "systems, ± its Monte-Carlo standard error; boards on which any two of them are "
        "told apart, 5% at most being promised. Half of the boards share their workers.",
    )
    n = cells[0].n_tasks if cells else 0
    title = f"Ranks with judges' help, {n} boards each"
    return Sheet(title, ("judge", "coverage %", "wrongly apart %"), rows, notes)


def bias_sheet(found: Sequence[BiasStudy]) -> Sheet:
    rows = tuple(
        (
            one.planted,
            "-" if one.power is None else f"{100 * one.power:.0f}",
            f"{100 * one.false_alarms:.0f}",
            "-" if one.estimate is None else f"{one.estimate:.2f}",
        )
        for one in found
    )
    notes = (
        "Scripted judges with one bias each, on their own scales and with noise. "
        "Found: share of audits that found it, all five commands for injection; false: "
        "share with anything found that was not planted (Holm, 5%).",
        *(one.verdict for study in found[:1] for one in study.example),
    )
    header = ("planted", "found %", "false %", "estimate")
    title = f"Bias audit, {found[0].n_audits if found else 0} audits each"
    return Sheet(title, header, rows, notes)


def _span(one: Interval, scale: float, digits: int) -> str:
    return f"{scale * one.low:.{digits}f} to {scale * one.high:.{digits}f}"

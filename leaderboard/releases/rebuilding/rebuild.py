from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from crowd.scales.base import all_scales
from genie.lib.errors import GenieError
from leaderboard.designs.base import Design, all_designs
from leaderboard.evaluation.estimates import UNNAMED, plain_intervals
from leaderboard.evaluation.result_columns import columns_of, compute_columns
from leaderboard.evaluation.selectors.comparison_labels import share_of
from leaderboard.metrics.base import TURNS, Batch, Metric
from leaderboard.releases import FORMAT, bundle
from leaderboard.releases.bundle import Record
from leaderboard.releases.masked_instances import Places
from leaderboard.releases.parquet import as_json_lines
from leaderboard.releases.published_numbers import EXCLUDED, Number
from leaderboard.releases.rebuilding.comparisons import compared_numbers
from leaderboard.releases.rebuilding.estimates import Estimates, population_in
from leaderboard.releases.rebuilding.joint import joint_numbers
from leaderboard.releases.rebuilding.judges import judge_numbers
from leaderboard.releases.rebuilding.public_log import log_numbers
from leaderboard.tasks.chosen_metrics import chosen_metrics
from leaderboard.tasks.config import PLAIN, read_task
from quality.detection.models import ALL_EVIDENCE
from quality.detection.stats.assess import excluded_by
from quality.detection.stats.detectors import detect

# The detector's fit stops when it hardly changes.
POSTERIOR_TOLERANCE = 1e-6
_UNREADABLE = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError
)  # fmt: skip


@dataclass
class Rebuilt:
    n_same: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    skipped: list[str] = field(default_factory=list)


def rebuild(
    folder: Path,
    *,
    parquet: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> Rebuilt:
    """Check and recompute; raise a GenieError (`differs`) at the first difference.

    With `parquet`, reads it even if JSONL is available. `report` gets a line for each
    part that came out the same.
    """
    n_files = bundle.check(folder)
    report(f"{n_files} files match their checksums.")
    manifest = bundle.read_manifest(folder)
    # some tables may have only this format
    alone = (one.with_suffix(".jsonl") for one in folder.glob("*.parquet"))
    if parquet or not all(one.is_file() for one in alone):
        with as_json_lines(folder) as tables:
            return _rebuild(tables, manifest, report, log_in=folder)
    return _rebuild(folder, manifest, report, log_in=folder)


def _rebuild(
    folder: Path, manifest: Record, report: Callable[[str], None], *, log_in: Path
) -> Rebuilt:
    if manifest.get("format") != FORMAT:
        raise GenieError(
            f"This release has the format {manifest.get('format')!r}; this "
            f"version reads {FORMAT!r}.",
            code="unknown-format",
        )
    rebuilt = Rebuilt()
    with _in_words("estimates"):
        estimates = Estimates(folder, manifest)
    population = population_in(manifest)
    share = partial(share_of, population=population, crossed="raters" not in manifest)
    checks: list[tuple[str, Iterator[Number | str]]] = [
        ("scores", _scores(folder, manifest)),
        ("estimates", estimates.numbers()),
        ("ranks", estimates.ranks()),
        ("comparisons", compared_numbers(folder, share)),
        ("joint evaluations", joint_numbers(folder, population)),
        ("metrics", _metrics(folder, manifest)),
        ("judges", judge_numbers(folder)),
        ("detectors", _detectors(folder, manifest)),
        ("rows", _counts(folder, manifest)),
        ("public log", log_numbers(log_in, folder)),
    ]
    for kind, numbers in checks:
        with _in_words(kind):
            for number in numbers:
                _take(rebuilt, kind, number)
        report(f"{kind}: {rebuilt.n_same[kind]:,} numbers match.")
    return rebuilt


@contextmanager
def _in_words(kind: str) -> Iterator[None]:
    """Turn errors in reading into sentences; a modified file may contain anything."""
    try:
        yield
    except _UNREADABLE as error:
        raise GenieError(
            f"The {kind} of this release cannot be read. A value is missing or has "
            f"the wrong type ({type(error).__name__}: {error}).",
            code="damaged-release",
        ) from error


def _take(rebuilt: Rebuilt, kind: str, number: Number | str) -> None:
    if isinstance(number, str):
        rebuilt.skipped.append(number)
    elif number.same:
        rebuilt.n_same[kind] += 1
    else:
        raise GenieError(str(number), code="differs")


def _scores(folder: Path, manifest: Record) -> Iterator[Number | str]:
    position = Places(bundle.positions(folder))
    judged = bundle.Groups(folder, "judgments", ("submission", "criterion"))
    unclaimed = judged.keys()
    systems = bundle.read_table(folder, "systems")
    designs = {row["submission"]: row["design"] for row in systems}
    for score in bundle.iter_table(folder, "scores"):
        design = all_designs()[designs[score["submission"]]]
        name = f"score of submission {score['submission']} on {score['criterion']}"
        key = score["submission"], score["criterion"]
        # of two scores of the same system, one has no ratings
        rows = judged.rows(*key) if key in unclaimed else []
        unclaimed.discard(key)
        ratings = [row for row in rows if row["counts"]]
        if not ratings:
            yield Number("scores.jsonl", f"{name}, ratings", score["n"], 0)
            continue
        yield from _score(name, design, score, ratings, position)
        # workers without ticks or marks have no row and are still excluded
        if score["asked"] and score["criterion"] not in design.beside:
            excluded = {row["worker"] for row in rows if row["why_not"] == EXCLUDED}
            subject = f"{name}, excluded workers"
            n = len(excluded)
            yield Number("scores.jsonl", subject, score["n_excluded_workers"], n)
    for submission, criterion in sorted(unclaimed):
        if any(row["counts"] for row in judged.rows(submission, criterion)):
            subject = f"score of submission {submission} on {criterion}"
            yield Number("scores.jsonl", subject, 0, 1)


def _score(
    name: str,
    design: type[Design],
    score: Record,
    ratings: list[Record],
    position: dict[str, int],
) -> Iterator[Number]:
    import pandas as pd

    unit = design.unit(
        score["criterion"], all_scales()[score["scale"]], asked=score["asked"]
    )
    values = np.array([row["value"] for row in ratings], dtype=np.float64)
    # by position in the task, the order in which the bootstrap drew instances when
    # scoring
    frame = {
        "instance": np.array([position[row["instance"]] for row in ratings]),
        "worker": [row["worker"] for row in ratings],
        "value": values,
    }
    intervals = plain_intervals(
        unit, pd.DataFrame(frame), seed=score["seed"], n_resamples=score["n_resamples"]
    )
    plain = score["estimates"][PLAIN]
    for confidence, low, high in ((0.95, "low", "high"), (0.5, "low_50", "high_50")):
        interval = intervals[confidence]
        yield Number("scores.jsonl", f"{name}, mean", plain["mean"], interval.estimate)
        yield Number("scores.jsonl", f"{name}, {low}", plain[low], interval.low)
        yield Number("scores.jsonl", f"{name}, {high}", plain[high], interval.high)
        yield Number("scores.jsonl", f"{name}, n", score["n"], interval.n)
    known = [
        None if row["worker"].startswith(UNNAMED) else row["worker"] for row in ratings
    ]
    computed = compute_columns(pd.DataFrame(frame | {"worker": known}), unit)
    for column in columns_of("release"):
        value: Any = computed.get(column.name)
        stated: Any = score.get(column.name)
        # a column that was added later, and which this release or score lacks
        if column.compute is None or (stated is None and column.field.null):
            continue
        subject = f"{name}, {column.name}"
        if not isinstance(value, dict):
            yield Number("scores.jsonl", subject, stated, value)
            continue
        # keys on either side: a missing one is a difference, too
        for key in sorted({*value, *stated}):
            numbers = stated.get(key, 0), value.get(key, 0)
            yield Number("scores.jsonl", f"{subject} {key}", *numbers)


def _metrics(folder: Path, manifest: Record) -> Iterator[Number | str]:
    for entry in metric_numbers(folder, manifest):
        yield entry if isinstance(entry, str) else Number("metrics.jsonl", *entry)


def _detectors(folder: Path, manifest: Record) -> Iterator[Number | str]:
    rows = bundle.read_table(folder, "test_questions")
    for polarity, fit in manifest["detectors"].items():
        judged = [row for row in rows if row["polarity"] == polarity]
        yield Number(
            "manifest",
            f"{polarity} questions answered incorrectly",
            fit["n_wrong"],
            sum(row["n_questions"] - row["n_correct"] for row in judged),
        )
        if not judged:
            continue
        if fit["detector"] == ALL_EVIDENCE:
            yield from _by_all_evidence(judged, fit["threshold"])
            continue
        detection = detect(
            [row["n_correct"] for row in judged],
            [row["n_questions"] for row in judged],
            detector=fit["detector"],
            threshold_rate=fit["parameters"]["threshold_rate"],
            threshold_posterior=fit["threshold"],
            seed=fit["seed"],
        )
        for row, p_noisy in zip(judged, detection.p_noisy, strict=True):
            yield Number(
                "test_questions.jsonl",
                f"P(noisy) of {row['worker']}, {polarity}",
                row["p_noisy"],
                float(p_noisy),
                POSTERIOR_TOLERANCE,
            )


def _by_all_evidence(judged: list[Record], threshold: float) -> Iterator[Number | str]:
    """Check who is unreliable at the stated P(noisy), which is taken as given."""
    yield (
        "P(noisy) was not recomputed, because it depends on test questions in use and "
        "on systems that are not public. Exclusions were recomputed from P(noisy), "
        "and scores from the weights."
    )
    noisy = excluded_by([row["p_noisy"] for row in judged], threshold)
    for row, found in zip(judged, noisy.tolist(), strict=True):
        subject = f"whether {row['worker']} is unreliable"
        yield Number("test_questions.jsonl", subject, row["noisy"], found)


def _counts(folder: Path, manifest: Record) -> Iterator[Number]:
    for name, n in manifest["counts"].items():
        yield Number("manifest", f"rows of {name}", n, bundle.count_rows(folder, name))


# Results keep six decimals of each instance.
_ROUNDED = 1e-5
_SUMMED = 1e-7

# object, published, computed, tolerance; or a sentence on a check that is impossible
Check = tuple[str, float, float, float] | str


def metric_numbers(folder: Path, manifest: Record) -> Iterator[Check]:
    """Compare every metric; without texts only those that are means over instances."""
    instances = bundle.read_table(folder, "instances")
    metrics = chosen_metrics(read_task(manifest["config"], {}).config.metrics)
    texts = bundle.Groups(folder, "predictions", ["submission"])
    without: dict[str, int] = defaultdict(int)
    batches: dict[int, Batch] = {}
    for row in bundle.iter_table(folder, "metrics"):
        metric = metrics.get(row["metric"])
        reason = _reason(metric, manifest, row["metric"])
        if reason or metric is None:
            without[reason] += 1
            yield from _mean(row)
            continue
        submission = row["submission"]
        if submission not in batches:
            # one at a time: the texts of a large task fill memory, and rows come system
            # by system
            own = {row["instance"]: row["text"] for row in texts.rows(submission)}
            batches = {submission: _batch(manifest, instances, own)}
        batch = batches[submission]
        # the signature has which part of conversations was read
        if row["signature"].endswith(TURNS):
            batch = replace(batch, conversations=True)
        yield from _compute_metric(row, metric, batch)
    for reason, n in sorted(without.items()):
        yield f"{reason} ({n} results)"


def _reason(metric: Metric | None, manifest: Record, slug: str) -> str:
    if metric is None:
        return f"{slug} is not a metric of this version"
    if not manifest["texts"]:
        return "texts are not in this release"
    if metric.needs_references and manifest["hidden_references"]:
        return f"{slug} needs references, which are hidden"
    return metric.available() or ""


def _compute_metric(row: Record, metric: Metric, batch: Batch) -> Iterator[Check]:
    name = f"{row['metric']} of submission {row['submission']}"
    output = metric.compute(batch)
    if output.signature != row["signature"]:
        raise GenieError(
            f"{name} was computed as {row['signature']!r}, but this machine computes "
            f"{output.signature!r}. Install the same versions.",
            code="differs",
        )
    yield name, row["value"], output.overall, _SUMMED
    numbers = output.per_instance.tolist()
    yield f"{name}, instances", len(row["per_instance"]), len(numbers), 0.0
    pairs = zip(row["per_instance"], numbers, strict=False)
    for index, (published, computed) in enumerate(pairs):
        if abs(published - computed) > _ROUNDED:
            yield f"{name}, instance {index}", published, computed, _ROUNDED


def _mean(row: Record) -> Iterator[Check]:
    values = row["per_instance"]
    if row["is_mean"] and values:
        name = f"{row['metric']} of submission {row['submission']}, as a mean"
        yield name, row["value"], sum(values) / len(values), _ROUNDED


def _batch(manifest: Record, instances: list[Record], texts: dict[str, str]) -> Batch:
    source = manifest["source_field"]
    return Batch(
        predictions=[texts.get(row["instance"], "") for row in instances],
        references=[row["references"] or [] for row in instances],
        sources=[str((row["fields"] or {}).get(source, "")) for row in instances],
        target_language=manifest["target_language"],
        source_language=manifest["source_language"],
    )

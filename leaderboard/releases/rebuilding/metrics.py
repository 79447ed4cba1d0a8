from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from genie.lib.errors import GenieError
from leaderboard.metrics.base import TURNS, Batch, Metric
from leaderboard.releases import bundle
from leaderboard.releases.bundle import Record
from leaderboard.tasks.chosen_metrics import chosen_metrics
from leaderboard.tasks.config import read_task

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
        yield from _computed(row, metric, batch)
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


def _computed(row: Record, metric: Metric, batch: Batch) -> Iterator[Check]:
    name = f"{row['metric']} of submission {row['submission']}"
    output = metric.compute(batch)
    if output.signature != row["signature"]:
        raise GenieError(
            f"{name} was computed as {row['signature']!r}, but this machine "
            f"computes {output.signature!r}: install the same versions.",
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

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crowd.scales.base import all_scales
from leaderboard.designs.base import all_designs
from leaderboard.evaluation.result_columns import columns_of, joint_row
from leaderboard.evaluation.services.ranking_numbers import numbers_of
from leaderboard.releases import bundle
from leaderboard.releases.bundle import Record
from leaderboard.releases.masked_instances import Places
from leaderboard.releases.published_numbers import EXCLUDED, Number
from leaderboard.stats.systems.estimates import Population

TABLE, RESULTS, PAIRS = "joint_evaluations", "joint_results", "joint_pairs"
JUDGMENTS = "joint_judgments"
# Equal ratings of two systems are summed in other orders on other machines.
TOLERANCE = 1e-8
_COLUMNS = ["instance", "worker", "submission", "value", "on", "weight"]
Key = tuple[int, str]


def joint_numbers(folder: Path, population: Population) -> Iterator[Number]:
    position = Places(bundle.positions(folder))
    results, pairs, judgments = (
        bundle.Groups(folder, name, ("joint", "criterion"))
        for name in (RESULTS, PAIRS, JUDGMENTS)
    )
    claimed: set[Key] = set()
    for row in bundle.iter_table(folder, TABLE):
        key = row["joint"], row["criterion"]
        # of two rows with the same key, the second has no results
        left = () if key in claimed else key
        claimed.add(key)
        own_results = sorted(
            results.rows(*left), key=lambda result: int(result["place"])
        )
        yield from _criterion(
            row,
            own_results,
            pairs.rows(*left),
            judgments.rows(*key),
            position,
            population,
        )
    # rows without an evaluation were added to the files
    for name, table in ((RESULTS, results), (PAIRS, pairs)):
        for joint, criterion in sorted(table.keys() - claimed):
            subject = f"joint evaluation {joint}, {criterion}"
            yield Number(
                f"{name}.jsonl", f"{subject}, among the joint evaluations", True, False
            )


def _criterion(
    row: Record,
    results: list[Record],
    pairs: list[Record],
    judgments: list[Record],
    position: Mapping[str, int],
    population: Population,
) -> Iterator[Number]:
    import pandas as pd

    counting = [
        {**judgment, "instance": position[judgment["instance"]]}
        for judgment in judgments
        if judgment["counts"]
    ]
    systems = [result["submission"] for result in results]
    computed = numbers_of(
        pd.DataFrame.from_records(counting, columns=_COLUMNS),
        systems,
        unit=all_designs()[row["design"]].unit(
            row["criterion"], all_scales()[row["scale"]], asked=True
        ),
        seed=row["seed"],
        n_resamples=row["n_resamples"],
        by_cell="|est:mixed-jackknife|" not in row["signature"],
        population=population,
    )
    yield from _as_a_whole(row, computed, judgments)
    yield from _systems(row, results, computed)
    yield from _pairs(row, pairs, systems, computed)


def _name(row: Record) -> str:
    return f"joint evaluation {row['joint']}, {row['criterion']}"


def _as_a_whole(
    row: Record, computed: dict[str, Any], judgments: Sequence[Record]
) -> Iterator[Number]:
    agreement = computed.get("agreement", {})
    excluded = {
        judgment["worker"] for judgment in judgments if judgment["why_not"] == EXCLUDED
    }
    numbers = {
        "n_judgements": computed["n_judgements"],
        "n_instances": computed.get("n_instances", 0),
        "n_workers": computed.get("n_workers", 0),
        "n_excluded_workers": len(excluded),
        "normalised": computed.get("normalised", ""),
        "covers": computed.get("covers", ""),
        "agreement_form": agreement.get("form"),
        "agreement": agreement.get("value"),
        "agreement_low": agreement.get("low"),
        "agreement_high": agreement.get("high"),
    }
    for name, number in numbers.items():
        yield Number(
            f"{TABLE}.jsonl", f"{_name(row)}, {name}", row[name], number, TOLERANCE
        )


def _systems(
    row: Record, results: Sequence[Record], result: dict[str, Any]
) -> Iterator[Number]:
    rows = result["systems"]
    yield Number(f"{RESULTS}.jsonl", f"{_name(row)}, systems", len(results), len(rows))
    # an older release or result lacks columns that were added later
    later = {c.name for c in columns_of("release", RESULTS) if c.compute}
    for index, published in enumerate(results[: len(rows)]):
        name = f"{_name(row)}, submission {published['submission']}"
        for field, number in joint_row(rows[index], "release").items():
            if field not in later or published.get(field) is not None:
                subject, stated = f"{name}, {field}", published[field]
                yield Number(f"{RESULTS}.jsonl", subject, stated, number, TOLERANCE)


def _pairs(
    row: Record, pairs: list[Record], systems: Sequence[int], computed: dict[str, Any]
) -> Iterator[Number]:
    index_of = {pk: i for i, pk in enumerate(systems)}
    n = len(computed["systems"])
    yield Number(f"{PAIRS}.jsonl", f"{_name(row)}, pairs", len(pairs), n * (n - 1))
    for pair in pairs:
        submission, other = pair["submission"], pair["other"]
        name = f"{_name(row)}, submission {submission} against {other}"
        known = submission in index_of and other in index_of and submission != other
        yield Number(f"{PAIRS}.jsonl", f"{name}, among the results", True, known)
        if not known:
            continue
        i, j = index_of[submission], index_of[other]
        wins, ties, losses = computed["win_tie_loss"][i][j]
        numbers = {
            "p_above": computed["p_above"][i][j],
            "wins": wins,
            "ties": ties,
            "losses": losses,
        }
        for field, number in numbers.items():
            yield Number(
                f"{PAIRS}.jsonl", f"{name}, {field}", pair[field], number, TOLERANCE
            )

"""Compute the joint evaluations of a release again, from the judgments that count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crowd.scales.base import all_scales
from leaderboard.designs.base import all_designs
from leaderboard.releases import bundle
from leaderboard.releases.bundle import Record
from leaderboard.releases.numbers import EXCLUDED, Number
from leaderboard.releases.withheld import Places
from leaderboard.selectors.joint_seen import SPREAD
from leaderboard.services.joint_numbers import numbers_of

TABLE, RESULTS, PAIRS = "joint_evaluations", "joint_results", "joint_pairs"
JUDGMENTS = "joint_judgments"
# Equal ratings of two systems are summed in other orders on other machines.
TOLERANCE = 1e-8
_COLUMNS = ["instance", "worker", "submission", "value"]
Key = tuple[int, str]


def joint_numbers(folder: Path) -> Iterator[Number]:
    """Compare every number of every criterion with what its judgments give."""
    position = Places(bundle.positions(folder))
    results, pairs, judgments = (
        _by_criterion(folder, name) for name in (RESULTS, PAIRS, JUDGMENTS)
    )
    for row in bundle.read_table(folder, TABLE):
        key = row["joint"], row["criterion"]
        own = sorted(results.pop(key, []), key=lambda one: int(one["place"]))
        yield from _criterion(row, own, pairs.pop(key, []), judgments[key], position)
    for name, rest in ((RESULTS, results), (PAIRS, pairs)):
        for joint, criterion in sorted(rest):
            what = f"joint evaluation {joint}, {criterion}"
            yield Number(
                f"{name}.jsonl", f"{what}, among the joint evaluations", True, False
            )


def _by_criterion(folder: Path, name: str) -> dict[Key, list[Record]]:
    found: dict[Key, list[Record]] = defaultdict(list)
    for row in bundle.read_table(folder, name):
        found[row["joint"], row["criterion"]].append(row)
    return found


def _criterion(
    row: Record,
    results: list[Record],
    pairs: list[Record],
    judgments: list[Record],
    position: Mapping[str, int],
) -> Iterator[Number]:
    import pandas as pd

    counting = [
        {**one, "instance": position[one["instance"]]}
        for one in judgments
        if one["counts"]
    ]
    systems = [one["submission"] for one in results]
    found = numbers_of(
        pd.DataFrame.from_records(counting, columns=_COLUMNS),
        systems,
        unit=all_designs()[row["design"]].unit(
            row["criterion"], all_scales()[row["scale"]], asked=True
        ),
        seed=row["seed"],
        n_resamples=row["n_resamples"],
    )
    yield from _as_a_whole(row, found, judgments)
    yield from _systems(row, results, found)
    yield from _pairs(row, pairs, systems, found)


def _name(row: Record) -> str:
    return f"joint evaluation {row['joint']}, {row['criterion']}"


def _as_a_whole(
    row: Record, found: dict[str, Any], judgments: Sequence[Record]
) -> Iterator[Number]:
    agreement = found.get("agreement", {})
    excluded = {one["worker"] for one in judgments if one["why_not"] == EXCLUDED}
    numbers = {
        "n_judgements": found["n_judgements"],
        "n_instances": found.get("n_instances", 0),
        "n_workers": found.get("n_workers", 0),
        "n_excluded_workers": len(excluded),
        "normalised": found.get("normalised", ""),
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
    row: Record, results: Sequence[Record], found: dict[str, Any]
) -> Iterator[Number]:
    rows = found["systems"]
    yield Number(f"{RESULTS}.jsonl", f"{_name(row)}, systems", len(results), len(rows))
    for place, (published, computed) in enumerate(zip(results, rows, strict=False)):
        skill = found["true_skill"][place]
        numbers = {
            **{name: computed[name] for name in SPREAD},
            "mu": skill["mu"],
            "sigma": skill["sigma"],
            "skill_cluster": skill["cluster"],
        }
        name = f"{_name(row)}, submission {published['submission']}"
        for field, number in numbers.items():
            yield Number(
                f"{RESULTS}.jsonl",
                f"{name}, {field}",
                published[field],
                number,
                TOLERANCE,
            )


def _pairs(
    row: Record, pairs: list[Record], systems: Sequence[int], found: dict[str, Any]
) -> Iterator[Number]:
    place = {pk: i for i, pk in enumerate(systems)}
    n = len(found["systems"])
    yield Number(f"{PAIRS}.jsonl", f"{_name(row)}, pairs", len(pairs), n * (n - 1))
    for pair in pairs:
        one, other = pair["submission"], pair["other"]
        name = f"{_name(row)}, submission {one} against {other}"
        known = one in place and other in place and one != other
        yield Number(f"{PAIRS}.jsonl", f"{name}, among the results", True, known)
        if not known:
            continue
        i, j = place[one], place[other]
        wins, ties, losses = found["win_tie_loss"][i][j]
        numbers = {
            "p_above": found["p_above"][i][j],
            "wins": wins,
            "ties": ties,
            "losses": losses,
        }
        for field, number in numbers.items():
            yield Number(
                f"{PAIRS}.jsonl", f"{name}, {field}", pair[field], number, TOLERANCE
            )

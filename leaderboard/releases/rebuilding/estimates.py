"""Estimate a release's systems together again: adjusted scores, ranks, clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from crowd.scales.base import all_scales
from leaderboard.designs.base import all_designs
from leaderboard.evaluation.estimates import Standing, estimate_board, headline_of
from leaderboard.releases import bundle
from leaderboard.releases.bundle import Record
from leaderboard.releases.masked_instances import Places
from leaderboard.releases.published_numbers import Number
from leaderboard.tasks.config.human import PLAIN

_RANKS = ("rank_first", "rank_last", "cluster")


def estimate_numbers(folder: Path, manifest: Record) -> Iterator[Number]:
    """Give every published estimate and rank beside what the judgments make of it."""
    if "estimate" not in manifest:
        # of before systems were estimated together
        return
    systems = {row["submission"]: row for row in bundle.read_table(folder, "systems")}
    scores = bundle.read_table(folder, "scores")
    standings = _standings(folder, manifest, systems, scores)
    for score in scores:
        name = f"score of submission {score['submission']} on {score['criterion']}"
        standing = standings.get((score["submission"], score["criterion"]))
        yield from _of_score(name, score, standing, manifest["estimate"])
        if score["criterion"] == manifest["ranked_by"]:
            row = systems[score["submission"]]
            ranks = standing.ranks if standing else None
            place = (*(ranks or (None, None)), standing.cluster if standing else None)
            for field, value in zip(_RANKS, place, strict=True):
                subject = f"{field} of submission {score['submission']}"
                yield Number("systems.jsonl", subject, row[field], value)


def _of_score(
    name: str, score: Record, standing: Standing | None, wanted: str
) -> Iterator[Number]:
    computed = {PLAIN: score["estimates"][PLAIN]}
    if standing is not None:
        computed |= {key: asdict(one) for key, one in standing.estimates.items()}
    for key in sorted({*computed, *score["estimates"]}):
        stated, found = score["estimates"].get(key, {}), computed.get(key, {})
        for field in sorted({*stated, *found}):
            subject = f"{name}, {key} {field}"
            yield Number("scores.jsonl", subject, stated.get(field), found.get(field))
    for field, value in computed[headline_of(computed, wanted)].items():
        yield Number("scores.jsonl", f"{name}, {field}", score[field], value)
    for field in ("effective_workers", "largest_share"):
        value = getattr(standing, field) if standing else None
        yield Number("scores.jsonl", f"{name}, {field}", score[field], value)


def _standings(
    folder: Path, manifest: Record, systems: dict[int, Record], scores: list[Record]
) -> dict[tuple[int, str], Standing]:
    import pandas as pd

    position = Places(bundle.positions(folder))
    rows = [
        {
            "submission": row["submission"],
            "criterion": row["criterion"],
            "instance": position[row["instance"]],
            "worker": row["worker"],
            "value": row["value"],
        }
        for row in bundle.read_table(folder, "judgments")
        if row["counts"]
    ]
    columns = ["submission", "criterion", "instance", "worker", "value"]
    units = {
        (score["submission"], score["criterion"]): all_designs()[
            systems[score["submission"]]["design"]
        ].unit(score["criterion"], all_scales()[score["scale"]], asked=score["asked"])
        for score in scores
    }
    ranked = {
        score["submission"]
        for score in scores
        if score["n"]
        >= manifest["whole_share"] * systems[score["submission"]]["n_instances"]
    }
    return estimate_board(
        pd.DataFrame(rows, columns=columns),
        units,
        ranked,
        headline=manifest["estimate"],
        seed=manifest["estimates_seed"],
    ).standings

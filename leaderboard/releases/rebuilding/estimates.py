"""Estimate a release's systems together again: adjusted scores, ranks, clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

from crowd.scales.base import all_scales
from leaderboard.designs.base import all_designs
from leaderboard.evaluation.estimates import Standing, estimate_board, headline_of
from leaderboard.releases import bundle
from leaderboard.releases.bundle import Record
from leaderboard.releases.masked_instances import Places
from leaderboard.releases.published_numbers import Number
from leaderboard.tasks.config import PLAIN, SIMULTANEOUS

_RANKS = ("rank_first", "rank_last", "cluster")


class Estimates:
    """What a release's judgments make of its systems."""

    def __init__(self, folder: Path, manifest: Record) -> None:
        self.folder, self.manifest = folder, manifest
        # releases of before had no systems that were estimated together
        self.stated = "estimate" in manifest

    @cached_property
    def systems(self) -> dict[int, Record]:
        rows = bundle.read_table(self.folder, "systems")
        return {row["submission"]: row for row in rows}

    @cached_property
    def scores(self) -> list[Record]:
        return bundle.read_table(self.folder, "scores") if self.stated else []

    @cached_property
    def standings(self) -> dict[tuple[int, str], Standing]:
        return _standings(self.folder, self.manifest, self.systems, self.scores)

    def numbers(self) -> Iterator[Number]:
        """Give every published estimate beside what comes out now."""
        for score in self.scores:
            name = f"score of submission {score['submission']} on {score['criterion']}"
            standing = self.standings.get((score["submission"], score["criterion"]))
            yield from _of_score(name, score, standing, self.manifest["estimate"])

    def ranks(self) -> Iterator[Number]:
        """Give the ranks and clusters of the criterion that ranks the board."""
        criterion = self.manifest["ranked_by"]
        for submission, row in self.systems.items():
            standing = self.standings.get((submission, criterion))
            ranks = standing.ranks if standing else None
            place = (*(ranks or (None, None)), standing.cluster if standing else None)
            for field, value in zip(_RANKS, place, strict=True):
                subject = f"{field} of submission {submission}"
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
            # releases of before knew no weights
            "weight": row.get("weight", 1.0),
            "on": row["on"],
        }
        for row in bundle.read_table(folder, "judgments")
        if row["counts"]
    ]
    columns = [
        *("submission", "criterion", "instance", "worker", "value"),
        *("weight", "on"),
    ]
    units = {
        (score["submission"], score["criterion"]): all_designs()[
            systems[score["submission"]]["design"]
        ].unit(score["criterion"], all_scales()[score["scale"]], asked=score["asked"])
        for score in scores
    }
    ranked = {
        score["submission"]
        for score in scores
        if systems[score["submission"]]["ranks_partial"]
        or score["n"]
        >= manifest["whole_share"] * systems[score["submission"]]["n_instances"]
    }
    return estimate_board(
        pd.DataFrame(rows, columns=columns),
        units,
        ranked,
        headline=manifest["estimate"],
        rule=manifest.get("ranks", SIMULTANEOUS),
        seed=manifest["estimates_seed"],
    ).standings

"""Recompute a release's joint estimates: adjusted scores, ranks, clusters."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crowd.scales.base import all_scales
from leaderboard.designs.base import all_designs
from leaderboard.evaluation.estimates import FIT, Standing, estimate_board, headline_of
from leaderboard.evaluation.result_columns import fit_columns
from leaderboard.evaluation.selectors.board_ratings import forecast
from leaderboard.releases import bundle
from leaderboard.releases.bundle import Record
from leaderboard.releases.masked_instances import Places
from leaderboard.releases.published_numbers import Number
from leaderboard.stats.systems.estimates import Population
from leaderboard.submissions.models import CONTRASTIVE
from leaderboard.tasks.config import PLAIN

if TYPE_CHECKING:
    import pandas as pd


class Estimates:
    def __init__(self, folder: Path, manifest: Record) -> None:
        self.folder, self.manifest = folder, manifest

    @cached_property
    def systems(self) -> dict[int, Record]:
        rows = bundle.read_table(self.folder, "systems")
        return {row["submission"]: row for row in rows}

    @cached_property
    def scores(self) -> list[Record]:
        return bundle.read_table(self.folder, "scores")

    @cached_property
    def standings(self) -> dict[tuple[int, str], Standing]:
        return _standings(self.folder, self.manifest, self.systems, self.scores)

    def numbers(self) -> Iterator[Number | str]:
        for score in self.scores:
            name = f"score of submission {score['submission']} on {score['criterion']}"
            standing = self.standings.get((score["submission"], score["criterion"]))
            yield from _of_score(name, score, standing, self.manifest["estimate"])

    def ranks(self) -> Iterator[Number]:
        criterion = self.manifest["ranked_by"]
        # judges' predictions would identify the drawn instances
        if self.manifest["ranked_with_judges"] and not self.manifest["forecasts"]:
            return
        for submission, row in self.systems.items():
            standing = self.standings.get((submission, criterion))
            ranks = standing.ranks if standing else None
            place = (*(ranks or (None, None)), standing.cluster if standing else None)
            for name, value in zip(
                ("rank_first", "rank_last", "cluster"), place, strict=True
            ):
                subject = f"{name} of submission {submission}"
                yield Number("systems.jsonl", subject, row[name], value)


def _of_score(
    name: str, score: Record, standing: Standing | None, wanted: str
) -> Iterator[Number]:
    computed = {PLAIN: score["estimates"][PLAIN]}
    if standing is not None:
        computed |= {key: asdict(one) for key, one in standing.estimates.items()}
    for key in sorted({*computed, *score["estimates"]}):
        stated, found = score["estimates"].get(key, {}), computed.get(key, {})
        for part in sorted({*stated, *found}):
            subject = f"{name}, {key} {part}"
            yield Number("scores.jsonl", subject, stated.get(part), found.get(part))
    for part, value in computed[headline_of(computed, wanted)].items():
        yield Number("scores.jsonl", f"{name}, {part}", score[part], value)
    columns = standing.columns if standing else fit_columns(None)
    # an older release lacks columns that were added later
    for part in [part for part in columns if part in score]:
        yield Number("scores.jsonl", f"{name}, {part}", score[part], columns[part])


def population_in(manifest: Record) -> Population:
    # earlier releases are all about raters like these
    return Population(manifest.get("raters", Population.LIKE))


def _standings(
    folder: Path, manifest: Record, systems: dict[int, Record], scores: list[Record]
) -> dict[tuple[int, str], Standing]:
    units = {
        (score["submission"], score["criterion"]): all_designs()[
            systems[score["submission"]]["design"]
        ].unit(score["criterion"], all_scales()[score["scale"]], asked=score["asked"])
        for score in scores
    }
    ranked = {
        score["submission"]
        for score in scores
        if systems[score["submission"]].get("entry") != CONTRASTIVE
        and (
            systems[score["submission"]]["ranks_partial"]
            or (manifest["ranks_provisional"] and score["provisional"])
            or score["n"]
            >= manifest["whole_share"] * systems[score["submission"]]["n_instances"]
        )
    }
    forecasts = {
        criterion: {name: forecast(foretold) for name, foretold in own.items()}
        for criterion, own in (manifest["forecasts"] or {}).items()
    }
    anchors = _anchors(folder)
    standings: dict[tuple[int, str], Standing] = {}
    # a criterion at a time: the systems of each are estimated together
    for ratings in _ratings(folder):
        signatures = [
            score["signature"]
            for score in scores
            if score["criterion"] == ratings["criterion"].iloc[0]
        ]
        standings |= estimate_board(
            ratings,
            units,
            ranked,
            headline=manifest["estimate"],
            rule=manifest["ranks"],
            seed=manifest["estimates_seed"],
            forecasts=forecasts,
            by_cell=all(f"|fit:{FIT}|" in one for one in signatures),
            population=population_in(manifest),
            anchors=anchors,
        ).standings
    return standings


def _anchors(folder: Path) -> pd.DataFrame | None:
    import pandas as pd

    rows = bundle.read_table(folder, "anchors")
    position = Places(bundle.positions(folder))
    own = [{**row, "instance": position[row["instance"]]} for row in rows]
    return pd.DataFrame(own) if own else None


def _ratings(folder: Path) -> Iterator[pd.DataFrame]:
    import pandas as pd

    position = Places(bundle.positions(folder))
    columns: dict[str, _Columns] = defaultdict(_Columns)
    # every name once: there are fewer names than rows
    known: dict[str, str] = {}
    for row in bundle.iter_table(folder, "judgments"):
        if not row["counts"]:
            continue
        own = columns[row["criterion"]]
        own.submission.append(row["submission"])
        own.instance.append(position[row["instance"]])
        own.value.append(row["value"])
        own.weight.append(row["weight"])
        own.worker.append(known.setdefault(row["worker"], row["worker"]))
        own.on.append(known.setdefault(row["on"], row["on"]))
    for criterion in sorted(columns):
        own = columns.pop(criterion)
        frame = {
            "submission": np.frombuffer(own.submission, dtype=np.int64),
            "criterion": criterion,
            "instance": np.frombuffer(own.instance, dtype=np.int64),
            "worker": own.worker,
            "value": np.frombuffer(own.value, dtype=np.float64),
            "weight": np.frombuffer(own.weight, dtype=np.float64),
            "on": own.on,
        }
        yield pd.DataFrame(frame)


@dataclass
class _Columns:
    """Ratings as columns, which take a twentieth of the memory of rows."""

    submission: array[int] = field(default_factory=lambda: array("q"))
    instance: array[int] = field(default_factory=lambda: array("q"))
    worker: list[str] = field(default_factory=list)
    value: array[float] = field(default_factory=lambda: array("d"))
    weight: array[float] = field(default_factory=lambda: array("d"))
    on: list[str] = field(default_factory=list)

"""Rankings of three systems: table 4 of RankME."""

from collections.abc import Iterator

import numpy as np

from genie_research.papers.rankme.all_pairs import bootstrap_ranking
from genie_research.papers.rankme.data import (
    METHODS,
    SYSTEMS,
    Floats,
    judgement_table,
    no_file,
    path_of,
    read_judgments,
    triples,
)
from genie_research.papers.table import RANKME, Table, Workbench
from leaderboard.papers.figures import Cell
from leaderboard.stats.comparisons import comparisons_from_table
from leaderboard.stats.multiplicity import significance_clusters
from leaderboard.stats.true_skill import true_skill

_SHARE = 0.95
_RESAMPLES = 20_000
_SKILL_RESAMPLES = 1000
_STRICT = "slug2slug > tgen > sheffield"
_TOP_TIE = "slug2slug = tgen > sheffield"
_ALL_TIE = "slug2slug = tgen = sheffield"
_PRINTED = {
    ("likert", "informativeness"): _TOP_TIE,
    ("plainme", "informativeness"): _STRICT,
    ("rankme", "informativeness"): _TOP_TIE,
    ("likert", "naturalness"): "slug2slug = sheffield > tgen",
    ("plainme", "naturalness"): _ALL_TIE,
    ("rankme", "naturalness"): _ALL_TIE,
    ("likert", "quality"): _TOP_TIE,
    ("plainme", "quality"): _TOP_TIE,
    ("rankme", "quality"): _STRICT,
}
_FRAGILE = {
    ("plainme", "informativeness"): (
        "slug2slug over tgen is at the edge of 95%: above it when judgments "
        "are resampled, below it when meaning representations are."
    ),
    ("likert", "naturalness"): "slug2slug over tgen is near the edge of 95%.",
}
_SKILLS = {
    "informativeness": _TOP_TIE,
    "naturalness": _ALL_TIE,
    "quality": _STRICT,
}
_ADDED_MISSING = {
    "added": _STRICT,
    "missing": "tgen > slug2slug > sheffield",
}


class RankMETable4(Table):
    """Separated systems, by method and criterion, setup 2."""

    slug = "rankme-table-4"
    title = (
        "Rankings in setup 2; > where at least 95% of paired bootstrap resamples agree"
    )
    paper = f"{RANKME}, table 4"

    def cells(self, bench: Workbench) -> Iterator[Cell]:
        for (method, criterion), paper in _PRINTED.items():
            yield _by_ratings(bench, method, criterion, paper)
        for criterion, paper in _SKILLS.items():
            yield _by_skill(bench, criterion, paper)
        for flag, paper in _ADDED_MISSING.items():
            yield _by_flags(bench, flag, paper)


def _by_ratings(bench: Workbench, method: str, criterion: str, paper: str) -> Cell:
    row = f"{METHODS[method]} {criterion}"
    frame = read_judgments(bench, 2, method, criterion)
    if frame is None:
        return Cell(row, "ranking", paper, None, why=no_file(2, method, criterion))
    fragile = _FRAGILE.get((method, criterion), "")
    return _ranking_cell(bench, row, paper, judgement_table(frame, criterion), fragile)


def _ranking_cell(
    bench: Workbench, row: str, paper: str, table: Floats, fragile: str
) -> Cell:
    seed = bench.seed_for("rankme-table-4", row)
    n_resamples = bench.runs or _RESAMPLES
    ranking = bootstrap_ranking(table, seed=seed, n_resamples=n_resamples, share=_SHARE)
    return Cell(
        row,
        "ranking",
        paper,
        _in_words(ranking.means, ranking.clusters),
        why=fragile,
        must_hold=not fragile,
        also=_shares(ranking.p_above),
    )


def _by_skill(bench: Workbench, criterion: str, paper: str) -> Cell:
    row = f"TrueSkill {criterion}"
    frame = read_judgments(bench, 2, "rankme", criterion)
    if frame is None:
        return Cell(row, "ranking", paper, None, why=no_file(2, "rankme", criterion))
    bench.tell(f"rankme-table-4: {row}")
    games = comparisons_from_table(triples(frame, criterion))
    # the paper draws judgments, not workers
    shares = true_skill(
        games,
        games.row,
        seed=bench.seed_for("rankme-table-4", row),
        n_orders=1,
        n_resamples=bench.runs or _SKILL_RESAMPLES,
    ).shares
    order = (shares > 0.5).sum(axis=1).astype(float)
    clusters = significance_clusters(order, shares >= _SHARE)
    edge = (
        "sheffield's place is near the edge of 95%."
        if criterion == "naturalness"
        else ""
    )
    return Cell(
        row,
        "ranking",
        paper,
        _in_words(order, clusters),
        why=edge,
        must_hold=not edge,
        also=_shares(shares),
    )


def _by_flags(bench: Workbench, flag: str, paper: str) -> Cell:
    row = f"{flag} information"
    frame = read_judgments(bench, 2, "rankme", "informativeness")
    if frame is None or flag not in frame.columns:
        path = path_of(2, "rankme", "informativeness")
        why = f"{path} has no column {flag!r}: it lacks the workers' checkboxes."
        return Cell(row, "ranking", paper, None, why=why)
    # inverted: fewer flags are better
    flagged = -judgement_table(frame.assign(**{flag: frame[flag].astype(float)}), flag)
    return _ranking_cell(bench, row, paper, flagged, "")


def _in_words(means: Floats, clusters: list[int]) -> str:
    groups = []
    for cluster in sorted(set(clusters)):
        names = [s for s, c in zip(SYSTEMS, clusters, strict=True) if c == cluster]
        groups.append(" = ".join(names))
    return " > ".join(groups)


def _shares(p_above: Floats) -> dict[str, float]:
    pairs = np.triu_indices(len(SYSTEMS), k=1)
    return {
        f"{SYSTEMS[i]} > {SYSTEMS[j]}": float(p_above[i, j])
        for i, j in zip(*pairs, strict=True)
    }

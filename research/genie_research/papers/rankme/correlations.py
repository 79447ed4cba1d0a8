"""How ratings of different criteria correlate: table 2 of RankME."""

from collections.abc import Iterator

import numpy as np

from genie_research.papers.rankme.data import (
    METHODS,
    Floats,
    Setup,
    no_file,
    output_scores,
    read_judgments,
)
from genie_research.papers.table import RANKME, Table, Workbench
from leaderboard.papers.figures import Cell

#: Half a unit of the last printed place, and a quarter more: some figures were cut.
PRINTED_TO_TWO = 0.0075

Pair = tuple[str, str]
_NQ: Pair = ("naturalness", "quality")
_IQ: Pair = ("informativeness", "quality")
_NI: Pair = ("naturalness", "informativeness")

#: Correlation and star (p < .05), in setups 1 and 2.
_PRINTED: dict[Pair, dict[str, tuple[tuple[float, bool], tuple[float, bool]]]] = {
    _NQ: {
        "likert": ((0.54, True), (-0.01, False)),
        "plainme": ((0.44, True), (-0.03, False)),
        "rankme": ((0.28, True), (-0.04, False)),
    },
    _IQ: {
        "likert": ((0.003, False), (0.54, True)),
        "plainme": ((0.48, True), (0.71, True)),
        "rankme": ((0.55, True), (0.74, True)),
    },
    _NI: {
        "likert": ((0.15, True), (-0.18, True)),
        "plainme": ((0.03, False), (-0.07, False)),
        "rankme": ((0.09, False), (-0.08, False)),
    },
}
_BY_ROW = (
    "Judgments are paired in the order of the files, whose workers are "
    "different people; paired by output, the number would differ."
)


_OTHER_SIGN = "It is -.003; its sign was lost in print."


class RankMETable2(Table):
    """Spearman correlations between criteria."""

    slug = "rankme-table-2"
    title = "Spearman correlation between criteria, over outputs"
    paper = f"{RANKME}, table 2"

    def cells(self, bench: Workbench) -> Iterator[Cell]:
        for pair, by_method in _PRINTED.items():
            for method, printed in by_method.items():
                setups: tuple[Setup, Setup] = (1, 2)
                for setup, (paper, star) in zip(setups, printed, strict=True):
                    yield from _cells(bench, pair, method, setup, paper, star)


def _cells(
    bench: Workbench, pair: Pair, method: str, setup: Setup, paper: float, star: bool
) -> Iterator[Cell]:
    row, column = f"{pair[0]}, {pair[1]}: {METHODS[method]}", f"setup {setup}"
    starred = "yes" if star else "no"
    read = [read_judgments(bench, setup, method, criterion) for criterion in pair]
    for criterion, frame in zip(pair, read, strict=True):
        if frame is None:
            why = no_file(setup, method, criterion)
            yield Cell(row, column, paper, None, why=why)
            yield Cell(row, f"{column}, p < .05", starred, None, why=why)
            return
    first, other = (frame for frame in read if frame is not None)
    by_row = setup == 2 and pair == _NQ
    if by_row:
        x, y = first[pair[0]].to_numpy(float), other[pair[1]].to_numpy(float)
    else:
        scores = (
            output_scores(first, method, pair[0]),
            output_scores(other, method, pair[1]),
        )
        x, y = (s.to_numpy() for s in scores[0].align(scores[1], join="inner"))
    rho, p = _spearman(x, y)
    yield Cell(
        row,
        column,
        paper,
        rho,
        tolerance=PRINTED_TO_TWO,
        why=_BY_ROW if by_row else _OTHER_SIGN if rho * paper < 0 else "",
        digits=4,
    )
    yield Cell(row, f"{column}, p < .05", starred, "yes" if p < 0.05 else "no")


def _spearman(x: Floats, y: Floats) -> tuple[float, float]:
    from scipy import stats

    # cut to the shorter file, as pairing row by row does
    result = stats.spearmanr(x[: len(y)], y[: len(x)])
    return float(np.asarray(result.statistic)), float(np.asarray(result.pvalue))

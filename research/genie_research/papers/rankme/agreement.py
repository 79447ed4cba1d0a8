"""Agreement of the raters: table 3 of RankME."""

from collections.abc import Iterator

from genie_research.papers.rankme.correlations import PRINTED_TO_TWO
from genie_research.papers.rankme.data import (
    METHODS,
    Setup,
    first_judgments,
    no_file,
    read_judgments,
)
from genie_research.papers.table import RANKME, Table, Workbench
from leaderboard.papers.figures import Cell
from quality.agreement.icc import icc

#: ICC and star (p < .05), in setups 1 and 2.
_PRINTED: dict[str, dict[str, tuple[tuple[float, bool], tuple[float, bool]]]] = {
    "likert": {
        "naturalness": ((0.07, False), (0.12, False)),
        "quality": ((0.02, False), (0.41, True)),
        "informativeness": ((0.93, True), (0.78, True)),
    },
    "plainme": {
        "naturalness": ((-0.03, False), (0.27, True)),
        "quality": ((0.22, True), (0.60, True)),
        "informativeness": ((0.59, True), (0.79, True)),
    },
    "rankme": {
        "naturalness": ((0.11, False), (0.42, True)),
        "quality": ((0.10, False), (0.68, True)),
        "informativeness": ((0.72, True), (0.82, True)),
    },
}
_OTHER_FORM = (
    "Matches ICC(3,k) of the raw scores, while the other cells are ICC(1,k), of "
    "logarithms for magnitude estimation."
)
_NOT_MET: dict[tuple[str, str, Setup], str] = {
    ("likert", "quality", 1): "No form of the ICC, raw or logarithms, matches.",
    ("plainme", "naturalness", 1): "ICC(1,k) of the logarithms is a hundredth off.",
    ("likert", "informativeness", 2): _OTHER_FORM,
    ("plainme", "informativeness", 2): _OTHER_FORM,
    ("rankme", "informativeness", 2): _OTHER_FORM,
    ("rankme", "quality", 2): (
        "Not in the published file: no form of the ICC, raw or logarithms, exceeds .13"
        " in the order of the file, and none is significant."
    ),
}


class RankMETable3(Table):
    """Intraclass correlations of three judgments per output."""

    slug = "rankme-table-3"
    title = (
        "Intraclass correlation, one-way random, of the mean of three judgments: ICC(1,k);"
        " logarithms for magnitude estimation"
    )
    paper = f"{RANKME}, table 3"

    def cells(self, bench: Workbench) -> Iterator[Cell]:
        for method, by_criterion in _PRINTED.items():
            for criterion, printed in by_criterion.items():
                setups: tuple[Setup, Setup] = (1, 2)
                for setup, (paper, star) in zip(setups, printed, strict=True):
                    yield from _cells(bench, method, criterion, setup, paper, star)


def _cells(
    bench: Workbench,
    method: str,
    criterion: str,
    setup: Setup,
    paper: float,
    star: bool,
) -> Iterator[Cell]:
    row, column = f"{METHODS[method]} {criterion}", f"setup {setup}"
    starred = "yes" if star else "no"
    frame = read_judgments(bench, setup, method, criterion)
    if frame is None:
        why = no_file(setup, method, criterion)
        yield Cell(row, column, paper, None, why=why)
        yield Cell(row, f"{column}, p < .05", starred, None, why=why)
        return
    why = _NOT_MET.get((method, criterion, setup), "")
    scored = first_judgments(frame, method, criterion)
    raw = first_judgments(frame, method, criterion, raw=True)
    agreement = icc(scored, "ICC1k")
    yield Cell(
        row,
        column,
        paper,
        agreement.estimate,
        tolerance=PRINTED_TO_TWO,
        why=why,
        must_hold=not why,
        digits=4,
        also={
            "low": agreement.low,
            "high": agreement.high,
            "ICC(3,k) raw": icc(raw, "ICC3k").estimate,
        },
    )
    yield Cell(
        row,
        f"{column}, p < .05",
        starred,
        "yes" if agreement.p < 0.05 else "no",
        why=why if (method, criterion, setup) == ("rankme", "quality", 2) else "",
        must_hold=(method, criterion, setup) != ("rankme", "quality", 2),
    )

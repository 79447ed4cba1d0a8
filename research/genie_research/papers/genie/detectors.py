"""Detectors of noisy annotators: table 1 of Genie."""

import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from genie_research.detection.detection_study import (
    BUCKET_NAMES,
    DetectionStudy,
    simulate_detection,
)
from genie_research.detection.question_counts import QUESTION_COUNTS, question_counts
from genie_research.papers.table import GENIE, Table, Workbench
from leaderboard.papers.figures import Cell, Verdict
from quality.detection.stats.detectors import DETECTORS, PAPER_DETECTORS

#: Precision and recall (percent) as printed, for workers with 1-4, 5-14 and 15+ test
#: questions.
_PUBLISHED: dict[str, tuple[tuple[int, int], tuple[int, int], tuple[int, int]]] = {
    "class-fixed-2": ((100, 24), (100, 91), (100, 87)),
    "class-learned-2": ((100, 15), (100, 77), (100, 100)),
    "rate-jeffreys": ((68, 85), (93, 93), (100, 98)),
    "rate-uniform": ((56, 86), (93, 100), (100, 100)),
    "rate-fixed-1": ((100, 32), (100, 94), (98, 100)),
    "rate-learned-1": ((100, 14), (100, 100), (96, 100)),
    "rate-fixed-2": ((86, 33), (100, 100), (100, 97)),
    "rate-learned-2": ((100, 12), (100, 92), (100, 100)),
}
_ROUNDS_PRINTED = 25
_ROUNDS = 500  # of the first shape; a fifth for the others, which only widen the range
_DRAWS = 2000
_INFORMED = {"rate-fixed-1", "rate-learned-1", "rate-fixed-2", "rate-learned-2"}

Range = tuple[float, float]
Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

_CLASS_FIXED = (
    "Cannot arise from the printed prior: with at most 4 answers it flags no worker, and"
    " however many there are it flags at most 69% of the noisy."
)
_UNINFORMATIVE = (
    "Cannot arise from the printed prior and simulation, whatever the number of"
    " questions: 0 of 2, 0 of 3 and so on must be flagged, and are hardly ever of"
    " regular workers."
)
_FEW = "With so few rounds, the result depends on a handful of workers."
_COUNTS = (
    "The numbers of test questions behind the table are not published. No "
    "distribution tried gives this value in 25 rounds, where a single worker "
    "accounts for 2 to 6 points."
)


class GenieTable1(Table):
    """Precision and recall by number of test questions."""

    slug = "genie-table-1"
    title = (
        "Precision and recall, per cent, of detectors of noisy workers by number of test"
        " questions. Ours: lognormal question counts. The real ones are not published:"
        " the range is that of seven shapes of counts, and the noise (95%) of 25 rounds"
    )
    paper = f"{GENIE}, table 1"

    def cells(self, bench: Workbench) -> Iterator[Cell]:
        """Simulate rounds and compare the printed cells with the range of 25 rounds."""
        studies = [_study(bench, i, name) for i, name in enumerate(QUESTION_COUNTS)]
        below, above = _noise(bench, studies[0])
        for row, slug in enumerate(PAPER_DETECTORS):
            for bucket, name in enumerate(BUCKET_NAMES):
                per_study = [_shares(study, slug, bucket) for study in studies]
                for which, paper in enumerate(_PUBLISHED[slug][bucket]):
                    computed = [shares[which] for shares in per_study]
                    accepted = (
                        np.fmin.reduce(computed) - below[which, row, bucket] - 0.5,
                        np.fmax.reduce(computed) + above[which, row, bucket] + 0.5,
                    )
                    yield _cell(slug, name, which, paper, computed[0], accepted)
        yield from _claims(_together(studies))


def _study(bench: Workbench, index: int, name: str) -> DetectionStudy:
    rounds = bench.runs or _ROUNDS
    if index:
        rounds = max(_ROUNDS_PRINTED, rounds // 5)
    bench.tell(f"genie-table-1: {rounds} rounds with {name} question counts")
    return simulate_detection(
        question_counts(name),
        n_rounds=rounds,
        seed=bench.seed_for("genie-table-1", name),
        detectors=PAPER_DETECTORS,
    )


def _shares(study: DetectionStudy, slug: str, bucket: int) -> tuple[float, float]:
    cell = study.cell(slug, bucket)
    return 100 * cell.precision, 100 * cell.recall


def _noise(bench: Workbench, study: DetectionStudy) -> tuple[Floats, Floats]:
    """Return how much 25 rounds deviate below and above all rounds, at 95%.

    Each is of shape (precision or recall, detectors, buckets), in points.
    """
    # the paper prints one draw of 25 rounds: its cells may deviate as much as such
    # draws do
    rng = np.random.default_rng(bench.seed_for("genie-table-1", "25 rounds"))
    drawn = rng.integers(0, study.n_rounds, size=(_DRAWS, _ROUNDS_PRINTED))
    drawn_shares = _pool(
        study.n_right[drawn], study.n_wrong[drawn], study.n_noisy[drawn], 1
    )
    all_shares = _pool(study.n_right, study.n_wrong, study.n_noisy, 0)
    with warnings.catch_warnings():
        # a detector without flags in any draw has no precision, and no noise
        warnings.simplefilter("ignore", RuntimeWarning)
        low, high = np.nanquantile(drawn_shares, [0.025, 0.975], axis=1)
    return np.nan_to_num(all_shares - low), np.nan_to_num(high - all_shares)


def _pool(right: Counts, wrong: Counts, noisy: Counts, axis: int) -> Floats:
    hits, flagged = right.sum(axis=axis), (right + wrong).sum(axis=axis)
    n_noisy = np.broadcast_to(noisy.sum(axis=axis)[..., None, :], hits.shape)
    shares = np.full((2, *hits.shape), np.nan)
    np.divide(100 * hits, flagged, out=shares[0], where=flagged > 0)
    np.divide(100 * hits, n_noisy, out=shares[1], where=n_noisy > 0)
    return shares


def _cell(
    slug: str, bucket: str, which: int, paper: int, ours: float, accepted: Range
) -> Cell:
    low, high = accepted
    cell = Cell(
        DETECTORS[slug].title,
        f"{bucket} {'recall' if which else 'precision'}",
        paper,
        ours,
        tolerance=(float(np.maximum(low, 0)), float(np.minimum(high, 100))),
        must_hold=False,
        digits=1,
    )
    if cell.verdict is Verdict.HOLDS:
        return cell
    return replace(cell, why=_reason(slug, bucket))


def _reason(slug: str, bucket: str) -> str:
    if slug == "class-fixed-2":
        return _CLASS_FIXED
    if slug in ("rate-jeffreys", "rate-uniform") and bucket == "1-4":
        return _UNINFORMATIVE
    return _COUNTS


def _claims(study: DetectionStudy) -> Iterator[Cell]:
    cells = {
        slug: [study.cell(slug, bucket) for bucket in range(3)]
        for slug in PAPER_DETECTORS
    }
    informed = [cells[slug] for slug in PAPER_DETECTORS if slug in _INFORMED]
    claims = {
        "fixed and learned rates: precision at least 99% from 5 answers on": all(
            min(row[1].precision, row[2].precision) >= 0.99 for row in informed
        ),
        "recall rises with the number of answers": all(
            row[0].recall < row[1].recall < row[2].recall for row in cells.values()
        ),
        "learned rate, k = 2: recall above 95% from 15 answers on": (
            cells["rate-learned-2"][2].recall > 0.95
        ),
        "uniform prior: the lowest precision at 1-4 answers": (
            cells["rate-uniform"][0].precision
            < min(row[0].precision for row in informed)
        ),
    }
    enough = study.n_rounds >= _ROUNDS
    for claim, holds in claims.items():
        yield Cell(
            claim,
            "section 5",
            "yes",
            "yes" if holds else "no",
            why="" if holds or enough else _FEW,
            must_hold=enough,
        )


def _together(studies: list[DetectionStudy]) -> DetectionStudy:
    return replace(
        studies[0],
        n_noisy=np.concatenate([study.n_noisy for study in studies]),
        n_right=np.concatenate([study.n_right for study in studies]),
        n_wrong=np.concatenate([study.n_wrong for study in studies]),
    )

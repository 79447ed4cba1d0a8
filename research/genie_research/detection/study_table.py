"""The study of detectors as a table of text, the published figures beside ours."""

import math

from genie_research.detection.detection_study import (
    BUCKET_NAMES,
    BUCKETS,
    Cell,
    DetectionStudy,
)
from quality.detection.stats.detectors import DETECTORS

#: Precision and recall (percent) as printed in table 1 of D. Khashabi et al., "Genie"
#: (EMNLP 2022), for workers with 1-4, 5-14 and 15+ test questions.
PUBLISHED: dict[str, tuple[tuple[int, int], tuple[int, int], tuple[int, int]]] = {
    "class-fixed-2": ((100, 24), (100, 91), (100, 87)),
    "class-learned-2": ((100, 15), (100, 77), (100, 100)),
    "rate-jeffreys": ((68, 85), (93, 93), (100, 98)),
    "rate-uniform": ((56, 86), (93, 100), (100, 100)),
    "rate-fixed-1": ((100, 32), (100, 94), (98, 100)),
    "rate-learned-1": ((100, 14), (100, 100), (96, 100)),
    "rate-fixed-2": ((86, 33), (100, 100), (100, 97)),
    "rate-learned-2": ((100, 12), (100, 92), (100, 100)),
}

_WIDTH = 27


def study_table(study: DetectionStudy, name: str) -> str:
    """Return precision / recall of every detector, with the interval of the recall.

    The published percentages are first, then ours. `name` is that of the question
    counts.
    """
    counts = study.parameters["n_questions"]
    in_bucket = [sum(low <= count < high for count in counts) for low, high in BUCKETS]
    titles = [
        f"{label} ({n} workers)"
        for label, n in zip(BUCKET_NAMES, in_bucket, strict=True)
    ]
    lines = [
        f"{name}: {len(counts)} workers, {study.n_rounds} rounds, "
        f"seed {study.parameters['seed']}",
        _line("", titles),
        _line("precision/recall, percent", ["paper   ours  (recall 95%)"] * 3),
    ]
    for slug in study.detectors:
        published = PUBLISHED.get(slug)
        cells = [
            _paper(published[bucket] if published else None)
            + " "
            + _ours(study.cell(slug, bucket))
            for bucket in range(len(BUCKET_NAMES))
        ]
        lines.append(_line(DETECTORS[slug].title, cells))
    return "\n".join(lines)


def _line(head: str, cells: list[str]) -> str:
    return (f"{head:<26}" + "  ".join(f"{cell:<{_WIDTH}}" for cell in cells)).rstrip()


def _paper(printed: tuple[int, int] | None) -> str:
    return f"{printed[0]:>3}/{printed[1]:<3}" if printed else " " * 7


def _ours(cell: Cell) -> str:
    low, high = (_percent(end) for end in cell.recall_interval)
    return f"{_percent(cell.precision):>3}/{_percent(cell.recall):<3} ({low}-{high})"


def _percent(share: float) -> str:
    return "--" if math.isnan(share) else f"{100 * share:.0f}"

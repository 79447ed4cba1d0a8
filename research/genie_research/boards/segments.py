"""Imported ratings of systems' outputs, as a table of systems and segments."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

from leaderboard.stats.intervals import Floats


def read_segments(path: Path, n_systems: int) -> Floats:
    """Read the mean ratings of the segments that the `n_systems` largest systems share.

    Parameters
    ----------
    path : Path
        CSV with columns system, segment and raw, from 0 to 100.

    Returns
    -------
    ndarray, shape (n_systems, n_segments)
        From 0 to 1.
    """
    rows: dict[str, dict[str, float]] = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            try:
                rows[row["system"]][row["segment"]] = float(row["raw"]) / 100
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{path.name} needs system, segment, raw.") from error
    chosen = sorted(rows, key=lambda name: (-len(rows[name]), name))[:n_systems]
    if len(chosen) < n_systems:
        raise ValueError(f"{path.name} has {len(chosen)} systems.")
    shared = sorted(set.intersection(*(set(rows[name]) for name in chosen)))
    if len(shared) < 2:
        raise ValueError(f"The systems of {path.name} share fewer than two segments.")
    return np.array([[rows[name][one] for one in shared] for name in chosen])

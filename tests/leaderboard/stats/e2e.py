"""Ratings of naturalness from the E2E NLG Challenge, with what is known of them."""

import json

import numpy as np
import pandas as pd

from leaderboard.stats.comparisons import comparisons_from_table
from tests.shared import SHARED

FOLDER = SHARED / "data" / "e2e-nlg"


def challenge():
    frame = pd.read_csv(FOLDER / "naturalness.csv.gz")
    shown = frame[[f"sys{k}" for k in range(1, 6)]].to_numpy()
    names, column = np.unique(shown, return_inverse=True)
    # five of 21 systems a page: a table with gaps
    table = np.full((len(frame), len(names)), np.nan)
    rows = np.arange(len(frame))[:, None]
    ratings = frame[[f"natur{k}" for k in range(1, 6)]].to_numpy(dtype=float)
    table[rows, column.reshape(shown.shape)] = ratings
    games = comparisons_from_table(table)
    items = json.loads((FOLDER / "expected.json").read_text())
    known = {item["id"]: item["value"] for item in items}
    workers = frame["worker"].to_numpy()[games.row]
    return games, workers, names.tolist(), lambda name: known[f"naturalness/{name}"]

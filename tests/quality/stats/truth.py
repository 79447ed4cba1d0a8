"""Expected values and counts from the material beside the repository."""

import csv
import json
from functools import cache

from tests.shared import SHARED


@cache
def truth():
    text = (SHARED / "data" / "truth.json").read_text(encoding="utf-8")
    return {item["id"]: item for item in json.loads(text)["items"]}


def rows(path):
    with (SHARED / "data" / path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def counts(path):
    """Right answers, answered questions and the truth of simulated workers."""
    table = rows(path)
    right = [int(row["correct"]) for row in table]
    asked = [int(row["correct"]) + int(row["wrong"]) for row in table]
    return right, asked, [int(row.get("noisy", 0)) for row in table]

"""Files in the form of other tools' and studies': what is read of each, and what is asked.

`genuine/README.md` describes them. Half of them stayed packed until the reader was done.
"""

import json
import os
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from genie.lib.errors import GenieError
from leaderboard.files import unpack
from leaderboard.imports.readers.judgments import Role
from leaderboard.imports.readers.read import propose
from tests.nets.conftest import FILES

# Another folder of cases, with its own choices.json.
GENUINE = Path(os.environ.get("GENIE_GENUINE", FILES / "genuine"))


def files_of(folder):
    paths = [p for p in sorted(folder.rglob("*")) if p.is_file()]
    return [
        file
        for path in paths
        if path.name != "case.json"
        for file in unpack(
            path.relative_to(folder).as_posix(), partial(path.open, "rb")
        )
    ]


def told(folder, choices, expected):
    try:
        found = propose(files_of(folder), choices=choices)
    except GenieError as error:
        return f"refused ({error.code})"
    asked = sorted({one.name for one in found.questions if one.needed})
    if found.judgments is None:
        return f"asks {', '.join(asked)}"
    rows = found.judgments.rows
    rows = rows[(rows["role"] == Role.JUDGMENT.value) & rows["value"].notna()]
    right = _pairs if expected["kind"] == "pairs" else _ratings
    n = sum(right(rows, one) for one in expected.get("criteria", {}).values())
    read = f"{n} of {len(expected.get('criteria', {}))} criteria right"
    return f"asks {', '.join(asked)}; {read}" if asked else read


def _ratings(rows, expected):
    wanted = sorted(
        zip(expected["n_per_system"].values(), expected["mean"].values(), strict=True)
    )
    for _, part in rows.groupby("criterion"):
        found = part.groupby("system")["value"].agg(["size", "mean"])
        made = sorted(zip(found["size"], found["mean"].round(6), strict=True))
        if len(made) == len(wanted) and all(
            n == m and abs(x - y) < 1e-5
            for (n, x), (m, y) in zip(made, wanted, strict=True)
        ):
            return True
    return False


def _pairs(rows, expected):
    found = Counter()
    for a, b, value in rows[["system", "other", "value"]].itertuples(index=False):
        found[(a, b, value) if a < b else (b, a, 1 - value)] += 1
    wanted = Counter()
    for one in expected["pairs"]:
        for value, name in ((1.0, "a_wins"), (0.0, "b_wins"), (0.5, "ties")):
            a, b = one["a"], one["b"]
            wanted[(a, b, value) if a < b else (b, a, 1 - value)] += one[name]
    return found == +wanted


def _lines():
    choices = json.loads((GENUINE / "choices.json").read_text("utf-8"))
    for folder in sorted((GENUINE / "seen").iterdir()):
        expected = json.loads((folder / "case.json").read_text("utf-8"))["expected"]
        said = choices.get(folder.name)
        yield f"{folder.name}: {told(folder, {}, expected)}\n"
        if said:
            yield f"  with {', '.join(said)}: {told(folder, said, expected)}\n"


@pytest.mark.slow
def test_files_of_other_tools_are_read(net):
    net("genuine.txt", "".join(_lines()))

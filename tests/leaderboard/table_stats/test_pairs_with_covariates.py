"""`genie stats` on pairs: who compared, in which words, and which votes count."""

import csv
import json

import numpy as np
import pytest

from genie.lib.errors import GenieError
from leaderboard.table_stats.pairs import analyse_pairs
from leaderboard.table_stats.read import read_tables
from leaderboard.table_stats.report import document, sheets
from leaderboard.table_stats.text import as_text


def battles(n=600, *, effect=1.5, seed=1):
    """Let two equal systems of which one writes longer, and a worse one, be compared."""
    rng = np.random.default_rng(seed)
    strength, words = {"short": 0.0, "long": 0.0, "worse": -1.0}, {"long": 60}
    rows = []
    for number in range(n):
        a, b = rng.permutation(list(strength))[:2]
        texts = ["so " * int(rng.integers(5, 60) + words.get(s, 0)) for s in (a, b)]
        more = (len(texts[0]) - len(texts[1])) / (len(texts[0]) + len(texts[1]))
        chance = 1 / (1 + np.exp(-(strength[a] - strength[b] + effect * more)))
        rows.append(
            {
                "model_a": str(a),
                "model_b": str(b),
                "winner": "model_a" if rng.random() < chance else "model_b",
                "judge": f"w{rng.integers(30)}",
                "conversation_a": said(texts[0]),
                "conversation_b": said(texts[1]),
            }
        )
        if number % 9 == 0:
            rows[-1]["winner"] = "tie (bothbad)"
    return rows


def said(text):
    return [
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": text},
    ]


def written(path, rows):
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(
            {k: json.dumps(v) if isinstance(v, list) else v for k, v in row.items()}
            for row in rows
        )
    return path


def test_without_workers_sessions_are_drawn_and_without_them_comparisons(tmp_path):
    rows = battles(200)
    for number, row in enumerate(rows):
        row["evaluation_session_id"] = f"s{number // 4}"
        del row["judge"]
    (pairs,) = read_tables([written(tmp_path / "p.jsonl", rows)])
    found = analyse_pairs(pairs)
    assert (found.raters, found.n_workers) == ("session", 50)
    assert "which sessions" in found.covers
    for row in rows:
        del row["evaluation_session_id"]
    (pairs,) = read_tables([written(tmp_path / "p.jsonl", rows)])
    alone = analyse_pairs(pairs)
    assert (alone.raters, alone.n_workers) == ("comparison", 0)
    assert alone.systems[0].estimate.ends == alone.systems[0].plain.ends
    assert "Raters are not recorded" in as_text(sheets(alone))
    json.dumps(document([alone], []), allow_nan=False)


@pytest.mark.parametrize(
    ("values", "outcome"),
    [("1 0.5 0", [1, 0, -1]), ("1 0 -1", [1, 0, -1]), ("b a tie", [-1, 1, 0])],
)
def test_preferences_may_be_numbers(tmp_path, values, outcome):
    lines = "".join(f"x,y,w,{value}\n" for value in values.split())
    path = tmp_path / "p.csv"
    path.write_text(f"system_a,system_b,worker,value\n{lines}")
    (pairs,) = read_tables([path])
    assert pairs.outcome.tolist() == outcome
    path.write_text("system_a,system_b,worker,value\nx,y,w,1\nx,y,w,7\n")
    with pytest.raises(GenieError, match=r"count: 7 \(1, in row 3\)"):
        read_tables([path])


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_votes_of_programs_are_not_counted_as_peoples(tmp_path, form):
    rows = [{**row, "question_id": f"q{n}"} for n, row in enumerate(battles(120))]
    whole = read_tables([written(tmp_path / f"people.{form}", rows)])[0]
    voted = [{**row, "judge": "gpt-4", "winner": "model_a"} for row in rows[:18]]
    again = [{**row, "winner": "tie"} for row in rows[:4]]
    # the last of what a worker says twice holds, as in an import
    path = written(tmp_path / f"mixed.{form}", [*voted, *again, *rows])
    [pairs] = read_tables([path])
    assert len(pairs) == len(whole) == 120
    assert pairs.outcome.tolist() == whole.outcome.tolist()
    found = analyse_pairs(pairs)
    assert found.systems == analyse_pairs(whole).systems
    said = as_text(sheets(found))
    assert "Left out: 18 by programs (gpt-4), which are not people." in said
    assert "4 repeated votes by the same worker" in said
    # across files, too; programs by themselves are called programs
    apart = [
        written(tmp_path / f"{name}.{form}", r)
        for name, r in [("p", voted), ("h", rows)]
    ]
    assert len(read_tables(apart)[0]) == 120
    with pytest.raises(GenieError, match="All ratings are by programs"):
        read_tables(apart[:1])
    flagged = [{**row, "simulated": n < 100} for n, row in enumerate(rows)]
    [real] = read_tables([written(tmp_path / f"flagged.{form}", flagged)])
    assert len(real) == 20
    shown = [{**row, "anony": n >= 30, "turn": 1} for n, row in enumerate(rows)]
    second = [{**row, "turn": 2} for row in shown[60:70]]
    files = [written(tmp_path / f"shown.{form}", shown + second)]
    with pytest.raises(GenieError, match="raters who saw the names"):
        read_tables(files)
    [named] = read_tables(files, {"counted": "judgment"})
    assert len(named) == 90 + 10


def test_ratings_of_programs_are_not_counted_as_peoples(tmp_path):
    path = tmp_path / "ratings.csv"
    lines = [
        f"{s},i{i},{w},{i % 5}" for s in "ab" for i in range(9) for w in ("p1", "p2")
    ]
    path.write_text(
        "\n".join(["system,instance,worker,value", *lines, "a,i1,claude-3,5"])
    )
    [ratings] = read_tables([path])
    assert len(ratings) == 36
    assert "programs (claude-3)" in ratings.notes[0]

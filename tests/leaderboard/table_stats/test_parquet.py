"""A Parquet table is read as the CSV that says the same."""

import numpy as np
import pytest

from genie.lib.errors import GenieError
from genie.lib.formats import available, engine
from leaderboard.table_stats.read import read_tables

pytestmark = pytest.mark.skipif(
    not available(), reason="the extra [parquet] is not installed"
)
RATINGS = """submission,criterion,instance,worker,value,counts
2,fluency,01,w1,0.5,true
2,fluency,1,w2,0.25,true
10,fluency,01,w1,1.0,false
10,truth,01,w3,0.75,true
"""
PAIRS = """system_a,system_b,instance,worker,preferred
A,B,i1,w1,A
A,B,i2,w1,
B,A,i1,w2,A
"""


def packed(folder, text, types=""):
    """Give the CSV and a Parquet file of the same."""
    (folder / "t.csv").write_text(text)
    with engine() as connection:
        connection.execute(
            f"copy (select * from read_csv('{folder}/t.csv', header=true, "
            f"all_varchar={'false' if types else 'true'}{types})) "
            f"to '{folder}/t.parquet' (format parquet)"
        )
    return folder / "t.csv", folder / "t.parquet"


def said(tables):
    return [
        (
            table.criterion,
            getattr(table, "values", getattr(table, "outcome", None)).tolist(),
            {name: labels.words.tolist() for name, labels in table.labels.items()},
        )
        for table in tables
    ]


TYPED = ", types={'value': 'DOUBLE', 'counts': 'BOOLEAN', 'submission': 'BIGINT'}"


@pytest.mark.parametrize(
    ("text", "types"),
    [
        (RATINGS, ""),
        (RATINGS, f"{TYPED}, auto_type_candidates=['VARCHAR']"),
        (PAIRS, ""),
    ],
)
def test_it_says_what_the_csv_says(tmp_path, text, types):
    sheet, file = packed(tmp_path, text, types)
    assert said(read_tables([file])) == said(read_tables([sheet]))


def test_many_batches_are_one_table(tmp_path, monkeypatch):
    monkeypatch.setattr("leaderboard.table_stats.parquet._BATCHES", 1)
    rng = np.random.default_rng(1)
    lines = [
        f"s{rng.integers(9)},i{k},w{rng.integers(50)},{rng.random()!r}"
        for k in range(5_000)
    ]
    sheet, file = packed(
        tmp_path, "system,instance,worker,value\n" + "\n".join(lines) + "\n"
    )
    assert said(read_tables([file])) == said(read_tables([sheet]))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (",i,w,1", "row 2, column system: it is empty"),
        ("s,i,w,", "row 2, column value: it is not a number"),
        ("s,i,w,many", "many"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, line, told):
    _, file = packed(tmp_path, f"system,instance,worker,value\ns,i,w,1\n{line}\n")
    with pytest.raises(GenieError, match=told):
        read_tables([file])


def test_a_damaged_file_is_refused(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(GenieError):
        read_tables([tmp_path / "t.parquet"])

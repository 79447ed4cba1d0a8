"""Parquet says what the JSONL says, and `stats` reads it as it reads the CSV."""

import json

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from genie.lib.formats import available
from leaderboard.releases import bundle, parquet
from leaderboard.releases.gathering import (
    comparisons,
    joint,
    judges,
    judgments,
    results,
)
from leaderboard.releases.make import make
from leaderboard.releases.rebuilding.rebuild import rebuild
from tests.factories import make_task

pytestmark = pytest.mark.skipif(
    not available(), reason="the extra [parquet] is not installed"
)


def same_everywhere(folder):
    tables = sorted(folder.glob("*.jsonl"))
    assert {path.stem for path in folder.glob("*.parquet")} == {
        path.stem for path in tables
    }
    with parquet.as_json_lines(folder) as read:
        for path in tables:
            again = bundle.read_table(read, path.stem)
            assert again == bundle.read_table(folder, path.stem), path.name
    return folder


def test_every_table_is_there_with_the_same_rows(tmp_path):
    task = make_task("small", licence="CC0")
    where = {"table": "Table 2", "row": "Kite", "column": "score"}
    task.published_figures.create(
        **where, value=70.2, tolerance=0.5, figure="board-score"
    )
    folder = make(task, tmp_path / "r", parquet=True).folder
    same_everywhere(folder)
    [printed] = bundle.read_table(folder, "published")
    assert (printed["row"], printed["printed"]) == ("Kite", "70.2")
    assert "as Parquet" in (folder / bundle.CARD).read_text()
    assert rebuild(folder).n_same["rows"] > 0
    assert "judgments.parquet" in (folder / bundle.CHECKSUMS).read_text()


def test_without_the_engine_the_command_says_what_to_install(tmp_path, monkeypatch):
    make_task("small")
    monkeypatch.setattr("genie.lib.formats.available", lambda: False)
    with pytest.raises(CommandError, match=r"genie-leaderboards\[parquet\]"):
        call_command("release", "small", "--parquet", "--out", str(tmp_path / "r"))


def test_no_typed_column_is_unknown_to_the_tables():
    tables = [
        value
        for room in (comparisons, joint, judges, judgments, results)
        for name, value in vars(room).items()
        if name.isupper() and isinstance(value, tuple)
    ]
    assert parquet.TYPES.keys() <= {column for table in tables for column in table}


def test_the_longest_line_has_room(tmp_path):
    columns = ["instance", "fields", "references"]
    text = "word " * 2_000_000
    row = {"instance": "a", "fields": {"text": text}, "references": None}
    bundle.write_table(tmp_path, "instances", columns, [row])
    parquet.write_parquet(tmp_path, [("instances", columns)])
    with parquet.as_json_lines(tmp_path) as read:
        assert bundle.read_table(read, "instances") == [row]


def test_what_does_not_fit_into_little_memory_gets_more(tmp_path, monkeypatch):
    row = {"submission": 1, "metric": "chrf", "per_instance": [0.5] * 30_000}
    (tmp_path / "metrics.jsonl").write_text(f"{json.dumps(row)}\n" * 20)
    parquet.write_parquet(tmp_path, [("metrics", list(row))])
    monkeypatch.setattr(parquet, "_LITTLE", "1MB")
    place = tmp_path / "read"
    place.mkdir()
    parquet._read(tmp_path, place)
    assert bundle.read_table(place, "metrics") == [row] * 20

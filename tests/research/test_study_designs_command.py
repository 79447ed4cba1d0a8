"""`manage.py study_designs`: designs compared on anybody's labels."""

import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from genie_research.boards.design_study import study_designs
from leaderboard.table_stats.read import read_tables

LABELS = 6


def run(*args):
    out = StringIO()
    call_command("study_designs", *map(str, args), stdout=out, stderr=StringIO())
    return out.getvalue()


@pytest.fixture
def labels(tmp_path):
    """Write five-point labels of two systems by twelve workers on two days."""
    rng = np.random.default_rng(1)
    path = tmp_path / "labels.csv"
    strict = rng.normal(0, 0.5, 12)
    with path.open("w") as file:
        file.write("system,instance,worker,day,value\n")
        for system, level in (("kite", 3.8), ("ox", 3.4)):
            for i in range(40):
                mood = rng.normal(0, 0.6)
                for k in range(LABELS):
                    w = rng.integers(0, 12)
                    value = level + mood + strict[w] + rng.normal(0, 0.9)
                    label = round(min(max(value, 1), 5))
                    file.write(f"{system},i{i},w{w},d{k % 2},{label}\n")
    return path


def test_designs_and_sources_are_printed(labels):
    text = run(labels, "--scale", 1, 5, "--rounds", 50)
    for said in (
        "labels, kite: designs, from 240 labels",
        "labels, ox: designs",
        "likert   mean       multilabel",
        "Why labels differ",
    ):
        assert said in text


def test_the_numbers_are_those_of_the_library(labels, tmp_path):
    out = tmp_path / "out.json"
    run(labels, "--scale", 1, 5, "--rounds", 50, "--seed", 3, "--json", out)
    kite, _ = json.loads(out.read_text())["studies"]
    (table,) = read_tables([labels])
    rows = table.labels["system"].codes == 0
    direct = study_designs(
        table.values[rows],
        table.labels["instance"].codes[rows],
        days=table.labels["day"].codes[rows],
        seed=3,
        scale=(1, 5),
        n_rounds=50,
    )
    assert [one["sd"] for one in kite["designs"]] == [one.sd for one in direct]


def test_the_same_seed_gives_the_same_bytes_and_a_picture_each(labels, tmp_path):
    args = (labels, "--scale", 1, 5, "--rounds", 20)
    first = run(*args, "--json", tmp_path / "a.json", "--plots", tmp_path / "plots")
    assert first == run(*args, "--json", tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    pictures = sorted((tmp_path / "plots").iterdir())
    assert [path.name for path in pictures] == ["1.svg", "2.svg"]
    assert "majority, multilabel" in pictures[0].read_text()


def test_equal_labels_have_no_sources(tmp_path):
    path = tmp_path / "equal.csv"
    lines = [f"x,{i},w{k},1" for i in range(4) for k in range(3)]
    path.write_text("\n".join(["system,instance,worker,value", *lines]))
    text = run(path, "--rounds", 5)
    assert "Why labels differ" not in text
    assert "0.0000" in text


def test_pairs_and_tables_without_instances_are_refused(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("system_a,system_b,instance,worker,preferred\nx,y,1,a,x\n")
    with pytest.raises(CommandError, match="has pairs"):
        run(path)
    path.write_text("system,worker,value\nx,a,1\n")
    with pytest.raises(CommandError, match="need a column of instances"):
        run(path)

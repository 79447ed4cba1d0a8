"""Tables in the layouts people have, and what is said of broken ones."""

import gzip
import json

import numpy as np
import pytest

from genie.lib.errors import GenieError
from leaderboard.table_stats.read import Pairs, read_tables

PLAIN = "system,instance,worker,criterion,value\n"


def write(tmp_path, text, name="ratings.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def rows(table):
    """Give the ratings as (system, instance, worker, value)."""
    labels = table.labels
    named = [labels[name].words.tolist() for name in ("system", "instance", "worker")]
    return sorted(zip(*named, table.values.tolist(), strict=True))


def test_the_plainest_layout(tmp_path):
    path = write(tmp_path, f"{PLAIN}a,1,x,fluency,3\nb,1,y,adequacy,4.5\n")
    adequacy, fluency = read_tables([path])
    assert (adequacy.criterion, fluency.criterion) == ("adequacy", "fluency")
    assert rows(adequacy) == [("b", "1", "y", 4.5)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.csv", "Model,item,rater,score\na,1,x,3\nb,1,y,4\n"),
        ("r.tsv", "model\tseg_id\tannotator\trating\na\t1\tx\t3\nb\t1\ty\t4\n"),
        ("r.csv", '"system","segment","worker","raw"\n"a",1,"x",3\n"b",1,"y",4\n'),
        ("r.csv", "\ufeffsystem,instance,worker,value\r\na,1,x,3\r\n\r\nb,1,y,4\r\n"),
        (
            "r.jsonl",
            '{"system": "a", "instance": 1, "worker": "x", "value": 3}\n'
            '{"system": "b", "instance": 1, "worker": "y", "value": 4}\n',
        ),
    ],
)
def test_other_names_and_formats_say_the_same(tmp_path, name, text):
    (table,) = read_tables([write(tmp_path, text, name)])
    assert rows(table) == [("a", "1", "x", 3.0), ("b", "1", "y", 4.0)]


def test_a_packed_file_and_several_files(tmp_path):
    one = write(tmp_path, "system,instance,worker,value\na,1,x,3\n")
    two = tmp_path / "more.csv.gz"
    two.write_bytes(gzip.compress(b"worker,system,instance,value\ny,b,1,4\n"))
    (table,) = read_tables([one, two])
    assert rows(table) == [("a", "1", "x", 3.0), ("b", "1", "y", 4.0)]


def test_names_that_look_like_missing_ones_or_numbers_are_names(tmp_path):
    path = write(tmp_path, "system,instance,worker,value\nNA,01,None,3\nb,1,nan,4\n")
    (table,) = read_tables([path])
    assert rows(table) == [("NA", "01", "None", 3.0), ("b", "1", "nan", 4.0)]


def test_of_wmt_only_systems_and_repeats_are_read(tmp_path):
    text = "hit,worker,system,rid,type,segment,raw,seconds\n"
    for kind, value in [("SYSTEM", 43), ("REPEAT", 50), ("BAD_REF", 0), ("REF", 99)]:
        text += f"H1,M1,A,7,{kind},5,{value},60\n"
    (table,) = read_tables([write(tmp_path, text)])
    assert table.values.tolist() == [43.0, 50.0]


def test_of_a_release_only_what_counts_is_read(tmp_path):
    text = "submission,criterion,instance,worker,value,counts,why_not\n"
    text += "4,c,i,w,70,True,\n4,c,i,v,10,False,banned\n"
    (table,) = read_tables([write(tmp_path, text)])
    assert table.values.tolist() == [70.0]


def test_criteria_in_columns_of_their_own(tmp_path):
    path = write(
        tmp_path, "system,mr_id,worker,fluency,quality\na,1,x,3,4\nb,1,x,5,6\n"
    )
    fluency, quality = read_tables([path], ["quality", "fluency"])
    assert (fluency.values.tolist(), quality.values.tolist()) == ([3, 5], [4, 6])


def test_pages_of_several_systems(tmp_path):
    path = write(tmp_path, "page,worker,mr_id,nat1,nat2,sys1,sys2\nP1,w,9,40,60,a,b\n")
    (table,) = read_tables([path])
    assert table.criterion == "nat"
    assert rows(table) == [("a", "9", "w", 40.0), ("b", "9", "w", 60.0)]


@pytest.mark.parametrize(
    ("said", "outcome"),
    [("a", 1), ("b", -1), ("tie", 0), ("", 0), ("system_b", -1), ("model_a", 1)],
)
def test_pairs(tmp_path, said, outcome):
    header = "system_a,system_b,instance,worker,preferred\n"
    (table,) = read_tables([write(tmp_path, f"{header}a,b,1,w,{said}\n")])
    assert isinstance(table, Pairs)
    assert table.outcome.tolist() == [outcome]


def test_a_systems_own_name_goes_before_what_a_letter_means(tmp_path):
    header = "model_a,model_b,question_id,judge,winner\n"
    (table,) = read_tables([write(tmp_path, f"{header}b,a,1,w,a\nb,a,2,w,b\n")])
    assert table.outcome.tolist() == [-1, 1]


FOUR = "system,instance,worker,value\na,1,x,3\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        (f"{FOUR}a,2,,4\n", "ratings.csv, line 3, column worker: it is empty"),
        (f"{FOUR}a,2,x,four\n", "line 3, column value: 'four' is not a number"),
        (f"{FOUR}a,2,x,\n", "line 3, column value: an empty field is not a number"),
        (f"{FOUR}a,2,x,inf\n", "line 3, column value: 'inf' is not a number"),
        (f"{FOUR}a,2,x,4,5\n", "line 3, has 5 fields where the header has 4"),
        (f"{FOUR}a,2,x\n", "line 3, has 3 fields where the header has 4"),
        (f'{FOUR}"a\nb",2,x,4\n"c",2,x\n', "line 5, has 3 fields"),
        ("system,instance,worker,value\na,1,x,3,9\n", "line 2, has 5 fields"),
        ("system,instance,worker,value\n", "no line with a rating"),
        ("system,instance,value\na,1,3\n", "line 1, has no column for the worker"),
        ("system,instance,worker\na,1,x\n", "line 1, has no column for the value"),
        ('{"system": "a"}\n', "has no column for the worker"),
        ('{"system": "a", "worker": "w", "value": 1}\nno\n', "line 2, is not a JSON"),
        ('{"system": "a", "worker": "w", "value": "x"}\n', "column value: 'x' is not"),
        (
            "system_a,system_b,worker,preferred\na,b,w,c\n",
            "line 2, column preferred: 'c'",
        ),
        (
            "system_a,system_b,worker,preferred\na,a,w,a\n",
            "line 2: a system is compared",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, said):
    path = write(tmp_path, text)
    with pytest.raises(GenieError) as refusal:
        read_tables([path])
    assert said in str(refusal.value)


def test_files_that_are_no_tables(tmp_path):
    binary = tmp_path / "a.bin"
    binary.write_bytes(b"\xff\xfe\x00\x01")
    cut = tmp_path / "a.csv.gz"
    cut.write_bytes(gzip.compress(FOUR.encode())[:-9])
    for path, said in [
        (binary, "is not UTF-8"),
        (cut, "cannot be read"),
        (tmp_path / "none.csv", "There is no file"),
        (tmp_path, "cannot be read"),
    ]:
        with pytest.raises(GenieError, match=said):
            read_tables([path])


def test_files_with_different_columns_are_not_mixed(tmp_path):
    one = write(tmp_path, "system,instance,worker,value\na,1,x,3\n", "one.csv")
    two = write(tmp_path, "system,worker,value\na,x,3\n", "two.csv")
    with pytest.raises(GenieError, match=r"one\.csv, two\.csv have different columns"):
        read_tables([one, two])


def test_the_order_of_lines_changes_nothing(tmp_path):
    rng = np.random.default_rng(3)
    lines = [f"s{k % 3},i{k % 7},w{k % 5},{k}" for k in range(60)]
    header = "system,instance,worker,value\n"
    straight = write(tmp_path, header + "\n".join(lines), "a.csv")
    mixed = [lines[i] for i in rng.permutation(60)]
    (a,) = read_tables([straight])
    (b,) = read_tables([write(tmp_path, header + "\n".join(mixed), "b.csv")])
    assert rows(a) == rows(b)
    assert json.dumps(a.labels["system"].names) == json.dumps(b.labels["system"].names)

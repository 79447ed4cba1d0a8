"""Tables in the layouts people have, and what is said of broken ones."""

import pytest

from genie.lib.errors import GenieError
from leaderboard.table_stats.read import read_tables

PLAIN = "system,instance,worker,criterion,value\n"


def write(tmp_path, text, name="ratings.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def rows(table):
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


def test_names_that_look_like_missing_ones_or_numbers_are_names(tmp_path):
    lines = "NA,01,None,3\nb,1,nan,4\nb,1,x,5\n"
    path = write(tmp_path, f"system,instance,worker,value\n{lines}")
    (table,) = read_tables([path])
    assert rows(table)[:2] == [("NA", "01", "None", 3.0), ("b", "1", "nan", 4.0)]


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
    fluency, quality = read_tables([path], {"rating": "quality,fluency"})
    assert (fluency.values.tolist(), quality.values.tolist()) == ([3, 5], [4, 6])


def test_a_systems_own_name_goes_before_what_a_letter_means(tmp_path):
    header = "model_a,model_b,question_id,judge,winner\n"
    (table,) = read_tables([write(tmp_path, f"{header}b,a,1,w,a\nb,a,2,w,b\n")])
    assert table.outcome.tolist() == [-1, 1]


def test_rows_without_a_rating_and_rows_that_are_given_up_are_noted(tmp_path):
    path = write(tmp_path, f"{FOUR}a,2,x,\nb,2,x\nb,1,x,4\n")
    (table,) = read_tables([path], {"lost": "yes"})
    assert rows(table) == [("a", "1", "x", 3.0), ("b", "1", "x", 4.0)]
    assert table.notes[0] == "Rows without a rating, which are left out: 1."
    assert "Left out: 1 rows, such as ratings.csv, row 4" in table.notes[1]


FOUR = "system,instance,worker,value\na,1,x,3\n"
MANY = "".join(f"a,{k},x,4\n" for k in range(3, 203))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{FOUR}a,2,,4\n", "ratings.csv, row 3, has no worker"),
        (
            f"{FOUR}a,2,x,four\n",
            "these words of the ratings count: four (1, in row 3)?",
        ),
        (f"{FOUR}{MANY}a,2,x,four\n", "row 203: 'four' is no number"),
        (f'{FOUR}"a\nb",2,x,4\n"c",2,x\n', "row 5: This row has 3 cells"),
        ("system,instance,value\na,1,3\n", "one of system, instance, value with"),
        ("system,instance,worker\na,1,x\n", "with --choose rating="),
        ('{"system": "a"}\n', "with --choose rating="),
        ('{"system": "a", "worker": "w", "value": 1}\nno\n', "line 2: this is not"),
        ("system_a,system_b,worker,preferred\na,b,w,c\n", "count: c (1, in row 2)?"),
        (
            "system_a,system_b,worker,preferred\na,a,w,tie\na,b,w,a\n",
            "row 2: compares no two different systems",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, said):
    path = write(tmp_path, text)
    with pytest.raises(GenieError) as refusal:
        read_tables([path])
    assert said in str(refusal.value)


def test_files_with_different_columns_are_not_mixed(tmp_path):
    one = write(tmp_path, "system,instance,worker,value\na,1,x,3\n", "one.csv")
    two = write(tmp_path, "system,worker,value\na,x,3\n", "two.csv")
    with pytest.raises(GenieError, match=r"two\.csv, row 2, has no instance"):
        read_tables([one, two])

import gzip
import json
import tracemalloc
from dataclasses import asdict

import pytest

from leaderboard.submissions.readers import read_predictions
from tests.leaderboard.submissions.readers.hand_in import IDS, codes, hand_in, only

GOOD = '{"q1": "a", "q2": "b", "q3": "c"}'


def json_of(**changes) -> str:
    return json.dumps({"q1": "a", "q2": "b", "q3": "c", **changes})


# ids ------------------------------------------------------------------------------


def test_unknown_ids_are_named_with_their_lines():
    problem = only(GOOD.replace(",", ",\n")[:-1] + ',\n "q4": "x"}')
    assert problem.code == "unknown-ids"
    assert problem.message == "Ids that are not in this task: q4 (entry 4)."


def test_a_file_of_empty_texts_is_refused():
    ids = json.loads(json_of())
    assert codes(json.dumps(dict.fromkeys(ids, " \t"))) == ["all-empty"]
    assert codes(json.dumps({**dict.fromkeys(ids, ""), "q1": "a"})) == []


def test_numbers_are_kept_as_they_are_written():
    rows = '{"id": 7, "hyp": 1.50}\n{"id": 8, "hyp": 1e3}'
    taken = hand_in(rows, "p.jsonl", instance_ids=["7", "8"])
    assert taken.predictions == {"7": "1.50", "8": "1e3"}


def test_twenty_are_named_and_all_are_counted():
    ids = [f"q{i}" for i in range(1_500)]
    problem = only('{"q7": "x"}', instance_ids=ids)
    assert problem.count == 1_499
    assert len(problem.examples) == 20
    assert problem.message.startswith(
        "Instances without a prediction (1,499 of 1,500): q0, q1"
    )
    assert problem.message.endswith("q19, q20 and 1,479 more.")


# characters -----------------------------------------------------------------------


@pytest.mark.parametrize("point", [0, 1, 8, 11, 12, 14, 27, 31, 127])
def test_control_characters_are_refused_escaped_or_raw(point):
    escaped = only(f'{{"q1": "a",\n"q2": "x\\u{point:04x}y", "q3": ""}}')
    assert escaped.code == "control-character"
    assert escaped.examples == [{"id": "q2", "what": f"U+{point:04X}", "entry": 2}]
    raw = only(f'{{"q1": "a",\n"q2": "x{chr(point)}y", "q3": ""}}')
    of_point = {0: "not-text", 127: "control-character"}
    assert raw.code == of_point.get(point, "not-json")
    for data, name in [
        (f"q1\ta\nq2\tx{chr(point)}\nq3\t\n", "p.tsv"),
        (f"a\nx{chr(point)}y\nb\n", "p.txt"),
    ]:
        raw = only(data, name)
        assert raw.code == ("control-character" if point else "not-text")
        assert raw.examples[0]["line"] == 2


@pytest.mark.parametrize(
    "character", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
def test_characters_that_reorder_text_are_refused(character):
    problem = only(json_of(q2=f"x{character}y"))
    assert problem.code == "control-character"
    assert problem.examples[0]["what"] == f"U+{ord(character):04X}"
    assert "remove them" in problem.message
    assert character not in problem.message


def test_marks_that_right_to_left_writing_needs_are_fine():
    assert codes(json_of(q2="שלום\u200f (\u200eabc\u200e)", q3="a\u200db")) == []


def test_half_a_surrogate_pair_is_refused_a_whole_one_is_not():
    assert codes('{"q1": "\\ud83d\\ude42", "q2": "", "q3": ""}') == []
    problem = only('{"q1": "\\ud83d", "q2": "", "q3": ""}')
    assert (problem.code, problem.examples[0]["what"]) == (
        "control-character",
        "U+D83D",
    )


@pytest.mark.parametrize("key", ["\\u0000", "\\ud800", "\\u202e", "x" * 5_000, "<b>"])
def test_what_is_said_about_odd_ids_can_be_stored_and_shown(key):
    result = hand_in(f'{{"{key}": "a"}}')
    stored = json.dumps(
        [asdict(problem) for problem in result.problems], ensure_ascii=False
    )
    assert len(stored) < 1_000
    assert not set(stored) & {"\0", "\ud800", "\u202e"}
    stored.encode("utf-8")


def test_too_long_a_prediction_is_refused():
    assert codes(json_of(q1="x" * 1_000)) == []
    problem = only(json_of(q1="x" * 1_001))
    assert problem.code == "too-long"
    assert (
        problem.message
        == "Predictions longer than 1,000 characters: q1 (entry 1, 1,001)."
    )


# bytes ----------------------------------------------------------------------------


def test_a_file_over_the_limit_is_refused():
    assert codes(GOOD, max_bytes=len(GOOD)) == []
    problem = only(GOOD, max_bytes=len(GOOD) - 1)
    assert problem.code == "too-large"
    assert "over 32 bytes" in problem.message


def test_a_huge_file_is_refused_without_being_read(tmp_path):
    with (tmp_path / "huge").open("w+b") as huge:
        huge.truncate(300 << 20)
        huge.write(b"x\n" * (1 << 20))
        huge.seek(0)
        tracemalloc.start()
        result = read_predictions(
            huge,
            filename="p",
            instance_ids=IDS,
            max_bytes=1 << 20,
            max_chars_per_prediction=10,
        )
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert [problem.code for problem in result.problems] == ["too-large"]
    assert peak < 8 << 20


def test_a_bomb_is_refused_early_and_in_little_memory():
    bomb = gzip.compress(b"0\n" * (100 << 20), compresslevel=1)
    tracemalloc.start()
    problem = only(bomb, "p.txt", max_bytes=1 << 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert problem.code == "too-large"
    assert peak < 60 << 20


# JSON -----------------------------------------------------------------------------


# tables and lines -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("q1,a\nq2,b\nq3,c\n", "p.txt"),
        ("q1,a\nq2,b\nq3,c\n", "p.csv"),
        ("ID;model;prediction\nq1;m;a\nq2;m;b\nq3;m;c\n", "p"),
        ("id\thyp\tsource\nq1\ta\tA\nq2\tb\tB\nq3\tc\tC\n", "p.tsv"),
    ],
)
def test_a_table_is_not_taken_for_texts(data, name):
    taken = hand_in(data, name)
    assert (taken.format, taken.problems) == ("table", [])
    assert list(taken.predictions.values()) == ["a", "b", "c"]


def test_a_table_without_ids_or_predictions_is_refused_with_its_columns():
    problem = only("name,id,z\nx,q1,a\n", "p.csv")
    assert problem.code == "row-without-prediction"
    assert problem.message.endswith("the columns are name, id, z.")
    ragged = only('id,text\nq1,"a"\nq2,b,c\nq3,d,e\n', "p.csv")
    assert (ragged.code, ragged.count) == ("ragged-row", 2)
    assert ragged.examples == [{"line": 3}, {"line": 4}]
    assert ragged.message.startswith("p.csv, line 3: this row has 3 cells")


def test_many_wrong_entries_cost_little_memory():
    data = "{" + ",".join(f'"x{i}":[]' for i in range(20_000)) + "}"
    tracemalloc.start()
    result = hand_in(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [problem.count for problem in result.problems] == [20_000, 3]
    assert peak < 16 << 20

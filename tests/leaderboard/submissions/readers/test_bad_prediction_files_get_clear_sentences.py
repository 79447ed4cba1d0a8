import gzip
import io
import json
import sys
import tracemalloc
from dataclasses import asdict

import pytest

from leaderboard.submissions.readers import read_predictions
from tests.leaderboard.submissions.readers.hand_in import IDS, codes, hand_in, only

GOOD = '{"q1": "a", "q2": "b", "q3": "c"}'


def json_of(**changes) -> str:
    return json.dumps({"q1": "a", "q2": "b", "q3": "c", **changes})


# ids ------------------------------------------------------------------------------


def test_missing_ids_are_named_in_the_tasks_order():
    problem = only('{"q2": "b"}')
    assert problem.code == "missing-ids"
    assert problem.message == "2 of the task's 3 instances have no prediction: q1, q3."
    assert (problem.count, problem.examples) == (2, [{"id": "q1"}, {"id": "q3"}])


def test_unknown_ids_are_named_with_their_lines():
    problem = only(GOOD.replace(",", ",\n")[:-1] + ',\n "q4": "x"}')
    assert problem.code == "unknown-ids"
    assert problem.message == "1 id is not in this task: q4 (line 4)."


def test_an_id_twice_is_refused_even_with_the_same_text():
    problem = only('{"q1": "a", "q2": "b", "q3": "c",\n "q1": "a"}')
    assert problem.code == "duplicate-ids"
    assert problem.examples == [{"id": "q1", "line": 2, "first_line": 1}]
    assert "q1 (lines 1 and 2)" in problem.message


def test_an_unknown_id_twice_is_both():
    assert codes('{"x":"a","x":"b","q1":"","q2":"","q3":""}') == [
        "unknown-ids",
        "duplicate-ids",
    ]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("1", "a number"),
        ("1.5e3", "a number"),
        ("null", "null"),
        ("true", "true or false"),
        ("[]", "a list"),
        ('["a"]', "a list"),
        ("{}", "an object"),
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
        ("9" * 100_000, "a number"),
    ],
)
def test_predictions_that_are_no_texts_are_named_with_what_they_are(value, kind):
    problem = only(f'{{"q1": "a",\n"q2": {value}, "q3": "c"}}')
    assert problem.code == "non-text-predictions"
    assert problem.examples == [{"id": "q2", "line": 2, "what": kind}]


@pytest.mark.parametrize("key", ["7", "null", "[1]", "NaN"])
def test_ids_that_are_no_texts_are_named_by_line(key):
    rows = (
        "".join(f'{{"id":"{i}","hyp":"x"}}\n' for i in IDS)
        + f'{{"id":{key},"hyp":"x"}}\n'
    )
    problem = only(rows, "p.jsonl")
    assert problem.code == "non-text-ids"
    assert problem.examples[0]["line"] == 4
    assert "write ids in quotes" in problem.message


def test_twenty_are_named_and_all_are_counted():
    ids = [f"q{i}" for i in range(1_500)]
    problem = only('{"q7": "x"}', instance_ids=ids)
    assert problem.count == 1_499
    assert len(problem.examples) == 20
    assert problem.message.startswith("1,499 of the task's 1,500 instances")
    assert problem.message.endswith("q19, q20 and 1,479 more.")


def test_all_kinds_of_problem_are_reported_together():
    data = '{"q1": 5, "q1": "a", "zz": "b", "q2": "\\u0000"}'
    assert codes(data) == [
        "unknown-ids",
        "duplicate-ids",
        "non-text-predictions",
        "control-character",
        "missing-ids",
    ]


# characters -----------------------------------------------------------------------


@pytest.mark.parametrize("point", [0, 1, 8, 11, 12, 14, 27, 31, 127])
def test_control_characters_are_refused_escaped_or_raw(point):
    escaped = only(f'{{"q1": "a",\n"q2": "x\\u{point:04x}y", "q3": ""}}')
    assert escaped.code == "control-character"
    assert escaped.examples == [{"id": "q2", "line": 2, "what": f"U+{point:04X}"}]
    for data, name in [
        (f'{{"q1": "a",\n"q2": "x{chr(point)}y", "q3": ""}}', "p.json"),
        (f"q1\ta\nq2\tx{chr(point)}\nq3\t\n", "p.tsv"),
        (f"a\nx{chr(point)}y\nb\n", "p.txt"),
    ]:
        raw = only(data, name)
        assert (raw.code, raw.examples[0]["line"]) == ("control-character", 2)


@pytest.mark.parametrize(
    "character", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
def test_characters_that_reorder_text_are_refused(character):
    problem = only(json_of(q2=f"x{character}y"))
    assert problem.code == "bidi-character"
    assert problem.examples == [
        {"id": "q2", "line": 1, "what": f"U+{ord(character):04X}"}
    ]
    assert "remove them" in problem.message
    assert character not in problem.message


def test_marks_that_right_to_left_writing_needs_are_fine():
    assert codes(json_of(q2="שלום\u200f (\u200eabc\u200e)", q3="a\u200db")) == []


def test_half_a_surrogate_pair_is_refused_a_whole_one_is_not():
    assert codes('{"q1": "\\ud83d\\ude42", "q2": "", "q3": ""}') == []
    problem = only('{"q1": "\\ud83d", "q2": "", "q3": ""}')
    assert (problem.code, problem.examples[0]["what"]) == ("lone-surrogate", "U+D83D")


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
        == "1 prediction is longer than 1,000 characters: q1 (line 1, 1,001)."
    )


def test_texts_that_could_break_a_page_or_a_sheet_are_kept_as_they_are():
    texts = {"q1": "]]>", "q2": "</script>", "q3": "=cmd()"}
    assert hand_in(json.dumps(texts)).predictions == texts


# bytes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data", [b"", b" \n\t ", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)]
)
def test_an_empty_file_is_said_to_be_empty(data):
    assert only(data).message == "The file is empty."


def test_bytes_that_are_not_utf8_are_shown_with_line_and_offset():
    problem = only(b'{"q1": "a",\n"q2": "caf\xe9"}')
    assert problem.code == "not-utf8"
    assert problem.examples == [{"line": 2, "offset": 22}]
    assert "line 2" in problem.message
    assert "0xe9" in problem.message


def test_the_offset_is_right_beyond_the_first_piece_and_across_a_cut():
    good = ("ä" * 40_000 + "\n").encode()
    for padding in (b"", b"x"):
        data = padding + good * 3 + b"\xe2\x82"
        [problem] = hand_in(data, "p.txt").problems
        assert problem.examples == [{"line": 4, "offset": len(data) - 2}]


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ("q1".encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04rest", "zip"),
        (b"%PDF-1.7", "PDF"),
        (b"BZh91AY", "bzip2"),
        (gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0), "twice"),
    ],
)
def test_other_kinds_of_file_are_called_by_their_name(data, word):
    problem = only(data)
    assert problem.code == "not-a-text-file"
    assert word in problem.message


def test_a_file_over_the_limit_is_refused():
    assert codes(GOOD, max_bytes=len(GOOD)) == []
    problem = only(GOOD, max_bytes=len(GOOD) - 1)
    assert problem.code == "too-large"
    assert "32 bytes" in problem.message


class Endless(io.RawIOBase):
    """300 MB that nobody should read to the end."""

    def __init__(self) -> None:
        self.given = 0

    def read(self, size=-1):
        assert size > 0, "asked for everything at once"
        self.given += size
        return b"x" * size if self.given < 300 << 20 else b""


def test_a_huge_file_is_refused_without_being_read():
    stream = Endless()
    result = read_predictions(
        stream,
        filename="p",
        instance_ids=IDS,
        max_bytes=1 << 20,
        max_chars_per_prediction=10,
    )
    assert [problem.code for problem in result.problems] == ["too-large"]
    assert stream.given < 1.2 * (1 << 20)


def test_a_bomb_is_refused_early_and_in_little_memory():
    bomb = gzip.compress(b"0" * (200 << 20), compresslevel=1)
    tracemalloc.start()
    problem = only(bomb, max_bytes=100 << 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert problem.code == "gzip-bomb"
    assert peak < 40 << 20


def test_unpacking_stops_at_the_limit_too():
    generator_like = bytes(range(32, 127)) * 30_000  # packs well, but not absurdly
    problem = only(gzip.compress(generator_like), "p.txt", max_bytes=1 << 20)
    assert problem.code in {"too-large", "gzip-bomb"}
    assert (
        only(gzip.compress(json_of(q1="ab" * 400).encode()), max_bytes=200).code
        == "too-large"
    )


@pytest.mark.parametrize(
    "damage",
    [
        lambda b: b[:-4],
        lambda b: b[:15],
        lambda b: b[:-6] + b"\0" * 6,
        lambda b: b + b"junk",
    ],
)
def test_a_damaged_gzip_file_is_said_to_be_damaged(damage):
    problem = only(damage(gzip.compress(GOOD.encode())))
    assert problem.code == "gzip-damaged"


# JSON -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        '{"q1": ' + "[" * 10_000 + "]" * 10_000 + "}",
        "[" * 10_000,
        '{"a":' * 10_000,
        "[" * 10_000 + "]" * 10_000,
        '{"id": "q1", "prediction": ' + "[" * 10_000,
    ],
)
def test_deep_json_ends_in_a_sentence(data):
    [problem] = hand_in(data).problems
    assert problem.code == "json-too-deep"
    assert "line 1" in problem.message


def test_a_deep_line_does_not_hide_the_others():
    rows = [f'{{"id":"{i}","hyp":"x"}}' for i in IDS]
    problem = only("\n".join([*rows, "[" * 10_000]), "p.jsonl")
    assert (problem.code, problem.examples) == ("json-too-deep", [{"line": 4}])


def test_depth_is_no_matter_when_the_stack_is_already_deep():
    def dig(depth):
        return codes("[" * 10_000) if depth == 0 else dig(depth - 1)

    assert dig(sys.getrecursionlimit() // 2) == ["json-too-deep"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ('{"q1": "a",}', "line 1, column 12"),
        ('{"q1": "a"\n"q2": "b"}', "line 2, column 1: expecting ','"),
        ('{"q1" "a"}', "expecting ':'"),
        ("{'q1': 'a'}", "expecting a key in double quotes"),
        ('{"q1": "a"', "ends too early"),
        ('{"q1": "a', "unterminated string"),
        ('{"q1": }', "expecting value"),
        ('{"q1": "\\x"}', "invalid \\escape"),
        ('{"q1": "a\nb"}', "invalid control character"),
        ("{", "ends too early"),
        ('["a"', "expecting ','"),
    ],
)
def test_broken_json_is_shown_where_it_breaks(data, words):
    problem = only(data)
    assert problem.code == "not-json"
    assert words in problem.message


def test_what_follows_the_json_is_refused():
    problem = only(GOOD + "\n\n oops")
    assert (problem.code, problem.examples) == ("trailing-garbage", [{"line": 3}])
    assert problem.message.endswith("oops")


@pytest.mark.parametrize("data", ["null", '"text"', "12", "true"])
def test_json_of_another_shape_is_said_to_be_so(data):
    assert only(data).code == "wrong-shape"


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ('"text"', "not-a-row"),
        ('{"id": "q1", "id": "q2", "hyp": "x"}', "repeated-key"),
        ('{"id": "q1", "hyp": "x"} {"id": "q2", "hyp": "y"}', "line-not-json"),
    ],
)
def test_rows_that_are_none_are_named_by_line(row, code):
    rows = [f'{{"id":"{i}","hyp":"x"}}' for i in IDS]
    problem = only("\n".join([*rows, row]), "p.jsonl")
    assert (problem.code, problem.examples[0]["line"]) == (code, 4)


# tables and lines -----------------------------------------------------------------


def test_a_table_with_commas_is_not_taken_for_texts():
    problem = only("q1,a\nq2,b\nq3,c\n", "p.csv")
    assert problem.code == "ids-in-lines"
    assert "tab" in problem.message


def test_broken_json_of_as_many_lines_is_not_taken_for_texts():
    problem = only('{"q1": "a",\n"q2": "b"\n"q3": "c"}', "p")
    assert problem.code == "not-json"


# everything -----------------------------------------------------------------------


def test_many_wrong_entries_cost_little_memory():
    data = "{" + ",".join(f'"x{i}":1' for i in range(20_000)) + "}"
    tracemalloc.start()
    result = hand_in(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [problem.count for problem in result.problems] == [20_000, 3]
    assert peak < 10 << 20

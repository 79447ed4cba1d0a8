import gzip
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.submissions.readers.base import all_formats
from leaderboard.submissions.readers.decode import forbidden
from tests.leaderboard.metrics import wmt21
from tests.leaderboard.submissions.readers.hand_in import IDS, hand_in
from tests.shared import needs_shared

EXPECTED = {"q1": "Iron.", "q2": "", "q3": "Säure – 100 %\u2028!"}
FILES = {
    "json-object": json.dumps(EXPECTED),
    "json-list": json.dumps([{"id": k, "prediction": v} for k, v in EXPECTED.items()]),
    "json-lines": "\n".join(
        json.dumps({"seg_id": k, "set_id": "x", "hyp": v}, ensure_ascii=False)
        for k, v in EXPECTED.items()
    ),
    "tsv": "".join(f"{k}\t{v}\n" for k, v in EXPECTED.items()),
    "text-lines": "".join(f"{v}\n" for v in EXPECTED.values()),
}
NAMES = {
    "json-object": ["p.json", "p", "p.txt", "p.JSON"],
    "json-list": ["p.json", "p.jsonl", "p"],
    "json-lines": ["p.jsonl", "p.json", "p", "p.ndjson"],
    "tsv": ["p.tsv", "p.txt", "p"],
    "text-lines": ["p.txt", "newstest.en", "p"],
}


def test_every_format_has_a_file_here():
    assert set(FILES) == set(NAMES) == set(all_formats())


@pytest.mark.parametrize(("slug", "name"), [(s, n) for s in FILES for n in NAMES[s]])
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_read_whatever_it_is_called(slug, name, packed):
    data = FILES[slug].encode()
    result = hand_in(gzip.compress(data) if packed else data, name + ".gz" * packed)
    assert result.problems == []
    assert result.ok
    assert result.predictions == EXPECTED
    assert list(result.predictions) == list(IDS)
    assert result.format == slug + "+gzip" * packed
    assert result.n_bytes == len(data)


@pytest.mark.parametrize("slug", FILES)
def test_byte_order_marks_and_windows_line_ends_do_no_harm(slug):
    result = hand_in("\ufeff" + FILES[slug].replace("\n", "\r\n"), NAMES[slug][0])
    assert result.problems == []
    assert result.predictions == EXPECTED


@pytest.mark.parametrize("slug", ["tsv", "text-lines", "json-lines"])
def test_the_last_line_end_may_be_missing(slug):
    result = hand_in(FILES[slug].removesuffix("\n"), NAMES[slug][0])
    assert result.predictions == EXPECTED


def test_texts_are_kept_exactly_as_given():
    odd = {
        "q1": " two  spaces\tand a tab ",
        "q2": "e\u0301 stays decomposed\nand on two lines\r\n",
        "q3": "]]> </script> =cmd() \u200f \u2028 🙂",
    }
    assert hand_in(json.dumps(odd)).predictions == odd


def test_the_order_of_the_file_does_not_matter():
    shuffled = {key: EXPECTED[key] for key in ("q3", "q1", "q2")}
    assert list(hand_in(json.dumps(shuffled)).predictions) == list(IDS)


def test_a_pretty_printed_object_is_no_jsonl():
    assert hand_in(json.dumps(EXPECTED, indent=2), "p.jsonl").predictions == EXPECTED


def test_a_single_row_is_told_from_a_single_object():
    row = hand_in('{"id": "q1", "prediction": "x"}', instance_ids=["q1"])
    assert (row.format, row.predictions) == ("json-lines", {"q1": "x"})
    whole = hand_in('{"id": "x"}', instance_ids=["id"])
    assert (whole.format, whole.predictions) == ("json-object", {"id": "x"})


def test_blank_lines_between_rows_are_passed_over():
    data = FILES["json-lines"].replace("\n", "\n\n") + "\n\n"
    assert hand_in(data, "p.jsonl").predictions == EXPECTED


def test_a_header_line_of_a_table_is_passed_over():
    assert hand_in("ID\tPrediction\n" + FILES["tsv"], "p.tsv").predictions == EXPECTED
    as_text = hand_in("id\tprediction\nq1\tx\n", "p.tsv", instance_ids=["id", "q1"])
    assert as_text.predictions == {"id": "prediction", "q1": "x"}


def test_everything_after_the_first_tab_is_the_prediction():
    result = hand_in("q1\ta\tb\nq2\t\nq3\t\t\n", "p.tsv")
    assert result.predictions == {"q1": "a\tb", "q2": "", "q3": "\t"}


def test_texts_that_begin_with_brackets_are_still_lines():
    lines = "[music]\n{unclear}\n[applause]\n"
    result = hand_in(lines, "p.txt")
    assert result.format == "text-lines"
    assert list(result.predictions.values()) == ["[music]", "{unclear}", "[applause]"]


def test_lines_are_cut_at_line_feeds_only():
    result = hand_in("a\x85b\u2028c\nd\ne\n", "p.txt")
    assert list(result.predictions.values()) == ["a\x85b\u2028c", "d", "e"]


def test_gzip_files_in_a_row_are_one_file():
    data = FILES["json-object"].encode()
    packed = gzip.compress(data[:20]) + gzip.compress(data[20:])
    assert hand_in(packed).predictions == EXPECTED


def test_a_stream_that_gives_little_at_a_time_is_read_whole():
    class Trickle(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 3))

    from leaderboard.submissions.readers import read_predictions

    result = read_predictions(
        Trickle(("\ufeff" + FILES["json-lines"]).encode()),
        filename="p.jsonl",
        instance_ids=IDS,
        max_bytes=10_000,
        max_chars_per_prediction=100,
    )
    assert result.predictions == EXPECTED


texts = st.text(max_size=40).filter(lambda text: forbidden(text) is None)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(texts, min_size=3, max_size=3), st.booleans(), st.sampled_from([None, 1])
)
def test_any_texts_come_back_from_json(values, ascii_only, indent):
    given_texts = dict(zip(IDS, values, strict=True))
    data = json.dumps(given_texts, ensure_ascii=ascii_only, indent=indent)
    result = hand_in(data)
    assert result.problems == []
    assert result.predictions == given_texts


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        texts.map(lambda t: t.replace("\n", " ").replace("\r", " ")),
        min_size=3,
        max_size=3,
    )
)
def test_any_texts_without_line_ends_come_back_from_a_table(values):
    data = "".join(f"{key}\t{text}\n" for key, text in zip(IDS, values, strict=True))
    assert list(hand_in(data, "p.tsv").predictions.values()) == values


@needs_shared
@pytest.mark.parametrize("system", wmt21.systems())
def test_real_submissions_are_read_as_they_were_handed_in(system):
    path = wmt21.FOLDER / "submissions" / f"newstest2021.de-en.{system}.en.json"
    result = hand_in(
        path.read_bytes(),
        path.name,
        instance_ids=wmt21.lines("ids.txt"),
        max_chars_per_prediction=20_000,
    )
    assert result.problems == []
    assert tuple(result.predictions.values()) == wmt21.predictions(system)


# conversations ---------------------------------------------------------------------

TALK = [
    {"role": "user", "content": "Hello?"},
    {"role": "assistant", "content": [{"type": "text", "text": "Hi."}]},
]
SAID = "User: Hello?\n\nAssistant: Hi."


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (json.dumps({"q1": TALK}), "p.json"),
        (json.dumps({"id": "q1", "messages": TALK}), "p.jsonl"),
        (f"q1\t{json.dumps(TALK)}", "p.tsv"),
        (json.dumps({"q1": SAID}), "p.json"),
    ],
)
def test_turns_become_one_readable_text_where_outputs_are_conversations(data, name):
    taken = hand_in(data, name, instance_ids=["q1"], conversations=True)
    assert taken.predictions == {"q1": SAID}


@pytest.mark.parametrize(
    ("turns", "wrong"),
    [
        ([], "it has no turn"),
        ([{"content": "Hi."}], "turn 1 has no role"),
        ([*TALK, {"role": "user"}], "turn 3 has no text under “content”"),
        ([*TALK, {"role": "user", "content": 5}], "turn 3 has no text under “content”"),
        ([*TALK, "Hi."], "turn 3 is no object with a role and a content"),
        (TALK * 51, "it has 102 turns; 100 are possible"),
    ],
)
def test_each_broken_conversation_is_said_in_a_sentence(turns, wrong):
    whole = json.dumps({"q1": turns})
    taken = hand_in(whole, instance_ids=["q1"], conversations=True)
    [problem] = taken.problems
    assert problem.code == "broken-conversations"
    assert problem.message == (
        f"1 conversation cannot be shown: q1 (line 1, {wrong}); give a list of turns, "
        "each with role and content."
    )
    # of other tasks' outputs, texts alone are taken
    assert hand_in(whole, instance_ids=["q1"]).problems[0].code == (
        "non-text-predictions"
    )

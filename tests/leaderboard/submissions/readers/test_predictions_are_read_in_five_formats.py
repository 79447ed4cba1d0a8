import gzip
import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from genie.lib.formats import engine, first_unfit
from tests.fuzz.readers import zipped
from tests.leaderboard.metrics import wmt21
from tests.leaderboard.submissions.readers.hand_in import IDS, hand_in
from tests.leaderboard.tasks.intake.workbook import sheet, workbook
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
    assert set(FILES) == set(NAMES)


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


def test_tables_and_archives_are_read(tmp_path):
    rows = [["id", "prediction", "more"], *([k, v, "x"] for k, v in EXPECTED.items())]
    lines = "\n".join(f'"{k}";"{v}";{more}' for k, v, more in rows)
    with engine() as duck:
        duck.execute("create table t (id text, prediction text)")
        duck.executemany("insert into t values (?, ?)", [row[:2] for row in rows[1:]])
        duck.execute(f"copy t to '{tmp_path}/t' (format parquet)")
    for name, data, slug in (
        ("p.csv", lines.encode(), "table"),
        ("p.txt", ("\ufeff" + lines).encode("utf-16-le"), "table"),
        ("p.xlsx", workbook(sheet(rows)), "table"),
        ("p.parquet", (tmp_path / "t").read_bytes(), "table"),
        ("p.zip", zipped({"a/p.json": FILES["json-object"].encode()}), "json-object"),
    ):
        result = hand_in(data, name)
        assert (result.format, result.problems) == (slug, []), name
        assert result.predictions == EXPECTED
    both = hand_in(zipped({"a.json": b"{}", "b.json": b"{}"}), "p.zip")
    assert [problem.code for problem in both.problems] == ["several-files"]


texts = st.text(max_size=40).filter(lambda text: not first_unfit(text))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(texts, min_size=3, max_size=3), st.booleans(), st.sampled_from([None, 1])
)
def test_any_texts_come_back_from_json(values, ascii_only, indent):
    assume(any(value.strip() for value in values))  # no file of empty texts is taken
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
        ([*TALK, "Hi."], "turn 3 is not an object with a role and content"),
        (TALK * 51, "it has 102 turns, but at most 100 are allowed"),
    ],
)
def test_each_broken_conversation_is_said_in_a_sentence(turns, wrong):
    whole = json.dumps({"q1": turns})
    taken = hand_in(whole, instance_ids=["q1"], conversations=True)
    [problem] = taken.problems
    assert problem.code == "broken-conversations"
    assert problem.message == (
        f"Conversations that cannot be shown: q1 (entry 1, {wrong}); give a list of "
        "turns, each with role and content."
    )
    # of other tasks' outputs, texts alone are taken
    assert hand_in(whole, instance_ids=["q1"]).problems[0].code == (
        "non-text-predictions"
    )

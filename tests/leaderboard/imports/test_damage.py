"""Damaged files change no number silently: they are refused, or a problem names the place."""

import re

import pytest

from genie.lib.errors import GenieError
from leaderboard.imports.readers.read import read
from leaderboard.imports.selectors import About
from leaderboard.imports.services.bring_in import bring_in
from leaderboard.imports.services.plan import preview_import
from tests.factories import make_user
from tests.leaderboard.imports.examples import RANKME, file_of, sources
from tests.refusals import refusal


def problems(files, layout, choices=None, scales=None):
    parts = sources(files)
    judgments = read(parts, layout=layout, choices=choices)
    about = About(scales=scales or {})
    shown, _ = preview_import(judgments, slug="x", about=about, files=parts)
    return judgments, " ".join(str(one) for one in shown.problems)


def test_files_of_which_nothing_is_read_are_named():
    files = {**RANKME, "a_likert_quality.csv": ""}
    choices = {"rating": "tone"}
    judgments, told = problems(files, "rankme-rows", choices, scales={"*": "1 to 6"})
    assert set(judgments.judged["criterion"]) == {"tone"}
    assert "No rating was read from texts.csv." in told
    assert "a_likert_quality.csv: Not read: " in told


@pytest.mark.parametrize("worker", ["w{}", None])
def test_rows_of_totals_are_left_out_and_named(worker):
    head = ["system", "item", *["worker"] * bool(worker), "fluency"]
    lines = [
        [s, f"i{n}", *[str(worker).format(n % 3)] * bool(worker), str(n % 5 + 1)]
        for n in range(9)
        for s in ("ada", "bob")
    ]
    empty = [""] * (len(head) - 2)
    lines += [["Mean", *empty, "3.07"], ["ada", *empty, "221"]]
    text = "\n".join(map(",".join, [head, *lines]))
    judgments, told = problems({"a.csv": text}, "", {"lost": "yes"})
    assert set(judgments.judged["system"]) == {"ada", "bob"}
    assert len(judgments.judged) == 18
    assert "a.csv, row 20: has neither an item nor a rater" in told
    assert "a.csv, row 21: has neither an item nor a rater" in told


@pytest.mark.parametrize(
    ("pair", "word", "value"),
    [
        ("b,a", "A", None),
        ("b,a", "'A'", None),
        ("red,Tie", "tie", None),
        ("B,A", "A", 0.0),
    ],
)
def test_a_word_that_may_be_a_system_or_a_side_is_not_counted(pair, word, value):
    rows = f"item,worker,system_a,system_b,preferred\n1,w1,x,y,x\n2,w1,{pair},{word}\n"
    if value is None:
        with refusal("choice-needed", match=re.escape(f"count: {word} (1, in row")):
            problems({"a.csv": rows}, "", {"choice": "preferred"})
    else:
        judgments, _ = problems({"a.csv": rows}, "", {"choice": "preferred"})
        assert judgments.rows["value"].tolist() == [1.0, value]


APPRAISE = [
    f"u{w},{system},{item},TGT,ces,eng,{10 * item + w},doc,False,{t}.0,{t + 30}.0"
    for w in range(2)
    for system in "ABC"
    for item in range(3)
    for t in [1690000000 + 60 * item]
]


@pytest.mark.parametrize("n", [4, 13])
@pytest.mark.parametrize(
    ("good", "bad"), [("1", "nan"), ("1", ""), ("TGT", "ODD"), ("1", "four")]
)
def test_a_row_of_appraise_that_is_left_out_changes_no_other(n, good, bad):
    cells = APPRAISE[n].split(",")
    cells[3 if good == "TGT" else 6] = bad
    lines = [*APPRAISE[:n], ",".join(cells), *APPRAISE[n + 1 :]]
    whole, _ = problems({"a.csv": "\n".join(APPRAISE)}, "appraise")
    lost = {"lost": "yes"}
    judgments, told = problems({"a.csv": "\n".join(lines)}, "appraise", lost)
    rest = whole.rows[whole.rows["row"] != n + 1].reset_index(drop=True)
    assert judgments.rows.equals(rest)
    assert f"a.csv, row {n + 1}, " in told


def ratings(values, name="quality"):
    lines = [f"system;item;worker;{name};seconds"]
    lines += [f"s{n % 2};i{n // 2};w1;{value};5" for n, value in enumerate(values)]
    return "\n".join(lines)


def test_commas_that_may_be_decimal_or_of_thousands_are_asked_about():
    table = ratings(["NA", "3,125", "2,500", "4,750"])
    with refusal("two-readings", match=r"can be 3\.125 or 3125") as refused:
        problems({"a.csv": table}, "")
    assert "a.csv, row 3: '3,125'" in str(refused.value)


@pytest.mark.parametrize("word", ["inf", "1e999", "four", "٣"])
@pytest.mark.parametrize("row", [1, 300])
def test_a_cell_that_is_no_number_is_named_wherever_it_is(word, row):
    values = [str(1 + n % 5) for n in range(400)]
    values[row] = word
    files = {"a.csv": ratings(values)}
    judgments, told = problems(files, "")
    assert f"a.csv, row {row + 2}, quality: {word!r} is no number" in told
    assert judgments.judged["value"].notna().sum() == 399


def test_a_name_that_is_too_long_to_be_stored_is_refused():
    name = "A" * 101
    text = f"system,item,worker,value\n{name[1:]},i1,w1,30\n{name},i1,w1,70\n"
    files = [file_of("a.csv", text.encode())]
    judgments = read(files, choices={"system": "system"})
    about = About(scales={"*": "0 to 100"})
    shown, _ = preview_import(judgments, slug="x", about=about, files=files)
    (told,) = shown.refused
    assert told.startswith("a.csv, row 3, system: the name AAAA")
    assert "101 characters, and 100 can be stored" in told
    with pytest.raises(GenieError, match="row 3, system"):
        bring_in(judgments, slug="x", by=make_user("i"), about=about, files=files)


def test_a_scale_of_no_criterion_is_refused_with_the_criteria():
    files = {"a.csv": ratings([1, 2, 3, 4, 5])}
    choices = {"rating": "quality"}
    with refusal("unknown-scale", match=r"no criterion 'qualty'.* are quality"):
        problems(files, "", choices, {"qualty": "1 to 5"})
    _, said = problems(files, "", choices, {"quality": "1 to 5"})
    assert "outside" not in said


def long_table(n=24):
    return ["system,instance,worker,fluency"] + [
        f"{system},i{k // 2},w{k % 3},{1 + k % 5}"
        for k in range(n)
        for system in ("ada", "bob")
    ]


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("layout", ["plain", "appraise"])
def test_a_quotation_mark_that_takes_in_other_rows_is_refused(layout, closed):
    lines = long_table() if layout == "plain" else list(APPRAISE)
    lines[4] = lines[4].replace(",", ',"', 1)
    if closed:
        lines[9] = lines[9].replace(",", ',"', 1)
    with refusal("not-csv", match=r"a\.csv, (line|row) 5"):
        problems({"a.csv": "\n".join(lines)}, "" if layout == "plain" else layout)

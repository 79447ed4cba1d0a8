"""Damaged files change no number silently: they are refused, or a problem names the place."""

import pytest

from genie.lib.errors import GenieError
from leaderboard.imports.readers.item_fields import number_of
from leaderboard.imports.readers.read import read
from leaderboard.imports.readers.sources import Source
from leaderboard.imports.selectors import About
from leaderboard.imports.services.bring_in import bring_in
from leaderboard.imports.services.plan import preview_import
from tests.factories import make_user
from tests.leaderboard.imports.examples import DA, RANKME
from tests.refusals import refusal


def problems(files, layout, choices=None, scales=None):
    sources = [Source(name, text.encode()) for name, text in files.items()]
    judgments = read(sources, layout=layout, choices=choices)
    about = About(scales=scales or {})
    shown, _ = preview_import(judgments, slug="x", about=about, files=sources)
    return judgments, " ".join(str(one) for one in shown.problems)


def test_workers_means_that_cannot_be_read_give_no_other_scores():
    damaged = {**DA, "worker-mean-sd-da-en.csv": ""}
    with pytest.raises(GenieError, match="add the file worker-mean-sd"):
        problems(damaged, "wmt-da")


def test_rows_that_are_there_twice_are_named():
    head, *rows = DA["ad-daen-good-stnd.csv"].splitlines()
    doubled = {**DA, "ad-daen-good-stnd.csv": "\n".join([head, *rows, *rows])}
    _, told = problems(doubled, "wmt-da")
    assert "3 judgments repeat an earlier one" in told
    assert "repeat an earlier one" not in problems(DA, "wmt-da")[1]


@pytest.mark.parametrize("text", ["", "PK\3\4"])
def test_files_of_which_nothing_is_read_are_named(text):
    files = {**RANKME, "a_likert_quality.csv": text}
    judgments, told = problems(files, "rankme-pages", scales={"*": "1 to 6"})
    assert set(judgments.judged["criterion"]) == {"tone"}
    assert "No rating was read from a_likert_quality.csv, texts.csv." in told


@pytest.mark.parametrize("word", ["inf", "nan", "1e999", "1_0", "-Infinity"])
def test_what_is_no_finite_number_is_a_problem(word):
    scores = f"red\t1.5\nred\t-1\nblue\t{word}\nblue\t2\n"
    judgments, told = problems({"en-da.x.seg.score": scores}, "mt-metrics-eval")
    assert f"row 3, score: {word!r} is neither a number nor None" in told
    assert judgments.judged["value"].tolist() == [1.5, -1.0, 2.0]
    assert number_of(word) != number_of(word)


@pytest.mark.parametrize("n", [1, 7])
def test_cells_that_keep_a_criterion_out_refuse_the_file(n):
    rows = ["system,item,rater,fluency,adequacy,note_id"]
    rows += [f"s{k % 2},i{k},r{k % 3},{k % 5 + 1},{k % 5 + 1},{k}" for k in range(24)]
    rows[3] = rows[3].rpartition(",")[0] + ",x"
    for k in range(4, 4 + n):
        rows[k] = ",".join([*rows[k].split(",")[:4], "four", "1"])
    text = "\n".join(rows)
    with refusal("nearly-numbers", match=r"a\.csv, row 5, adequacy: 'four'") as refused:
        problems({"a.csv": text}, "plain")
    assert f"Cells that are no numbers: {n}." in str(refused.value)
    judgments, _ = problems({"a.csv": text}, "plain", {"criteria": "fluency"})
    assert set(judgments.judged["criterion"]) == {"fluency"}
    judgments, told = problems(
        {"a.csv": text}, "plain", {"criteria": "fluency,adequacy"}
    )
    assert len(judgments.judged) == 48 - n
    assert "a.csv, row 5, adequacy: 'four' is not a number" in told


@pytest.mark.parametrize("worker", ["w{}", None])
def test_rows_of_totals_are_left_out_and_named(worker):
    head = ["system", "item", *([] if worker is None else ["worker"]), "fluency"]
    lines = [
        [
            s,
            f"i{n}",
            *([] if worker is None else [worker.format(n % 3)]),
            str(n % 5 + 1),
        ]
        for n in range(9)
        for s in ("ada", "bob")
    ]
    empty = [""] * (len(head) - 2)
    lines += [["Mean", *empty, "3.07"], ["ada", *empty, "221"]]
    text = "\n".join(map(",".join, [head, *lines]))
    judgments, told = problems({"a.csv": text}, "plain")
    assert set(judgments.judged["system"]) == {"ada", "bob"}
    assert len(judgments.judged) == 18
    assert "a.csv, row 20: has neither instance nor worker" in told
    assert "a.csv, row 21: has neither instance nor worker" in told


@pytest.mark.parametrize(
    ("pair", "word", "value"),
    [
        ("b,a", "A", None),
        ("B,A", "a", None),
        ("b,a", "'A'", None),
        ("red,Tie", "tie", None),
        ("a,b", "A", 1.0),
        ("B,A", "A", 0.0),
        ("red,blue", "A", 1.0),
    ],
)
def test_a_word_that_may_be_a_system_or_a_side_is_not_counted(pair, word, value):
    rows = f"item,worker,system_a,system_b,preferred\n1,w1,x,y,x\n2,w1,{pair},{word}\n"
    judgments, told = problems({"a.csv": rows}, "two-choice")
    counted = judgments.rows["value"].dropna().tolist()
    assert counted == [1.0, *([] if value is None else [value])]
    assert ("a.csv, row 3, preferred:" in told) is (value is None)
    assert ("can be a system in other letters" in told) is (value is None)


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
    judgments, told = problems({"a.csv": "\n".join(lines)}, "appraise")
    rest = whole.rows[whole.rows["row"] != n + 1].reset_index(drop=True)
    assert judgments.rows.equals(rest)
    assert f"a.csv, row {n + 1}, " in told


def test_half_a_pair_of_appraise_is_no_score_and_replaces_no_answer():
    def pair(first, second, t):
        times = f"{t}.0,{t + 30}.0"
        return [
            f"u1,{s},1,TGT,ces,eng,{v},{times}"
            for s, v in (("A", first), ("B", second))
        ]

    lines = [*pair(80, 20, 1690000000), *pair("x", 30, 1690000060)]
    judgments, _ = problems({"a.csv": "\n".join(lines[2:])}, "appraise")
    assert not len(judgments.rows)
    judgments, _ = problems({"a.csv": "\n".join(lines[:3])}, "appraise")
    assert judgments.judged["value"].tolist() == [1.0]


@pytest.mark.parametrize("pairs", [False, True])
def test_scores_beyond_those_of_appraise_refuse_the_import(pairs):
    lines = [
        line.replace(",10,doc", ",170,doc")
        for line in APPRAISE
        if not pairs or ",C," not in line
    ]
    files = [Source("a.csv", "\n".join(lines).encode())]
    with refusal(
        "not-on-the-scale", match="170 is outside the scale 0 to 100"
    ) as refused:
        bring_in(
            read(files, layout="appraise"),
            slug="x",
            by=make_user("importer"),
            about=About(),
            files=files,
        )
    assert "a.csv, row 2, " in str(refused.value)


def ratings(values, name="quality"):
    lines = [f"system;item;worker;{name};seconds"]
    lines += [f"s{n % 2};i{n // 2};w1;{value};5" for n, value in enumerate(values)]
    return "\n".join(lines)


def test_commas_that_may_be_decimal_or_of_thousands_are_asked_about():
    table = ratings(["NA", "3,125", "2,500", "4,750"])
    with refusal("two-readings", match=r"can be 3\.125 or 3125") as refused:
        problems({"a.csv": table}, "plain")
    assert "a.csv, row 3, quality: '3,125'" in str(refused.value)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["1,000", "250"], [1000, 250]),
        (["1,000,000", "2,500"], [1e6, 2500]),
        (["3,125", "2,5"], [3.125, 2.5]),
        (["3,125", "0,500"], [3.125, 0.5]),
        (["3.125", "2.500"], [3.125, 2.5]),
    ],
)
def test_commas_that_other_numbers_explain_are_read(words, values):
    judgments, _ = problems({"a.csv": ratings(words)}, "plain")
    assert judgments.judged["value"].tolist() == values


@pytest.mark.parametrize("word", ["inf", "1e999", "four", "80%", "٣"])
@pytest.mark.parametrize("row", [1, 300])
def test_a_cell_that_is_no_number_is_named_wherever_it_is(word, row):
    values = [str(1 + n % 5) for n in range(400)]
    values[row] = word
    files = {"a.csv": ratings(values)}
    judgments, told = problems(files, "")
    assert judgments.layout == "plain"
    assert f"a.csv, row {row + 2}, quality: {word!r} is not a number" in told
    assert len(judgments.judged) == 399


def test_a_name_that_is_too_long_to_be_stored_is_refused():
    name = "A" * 101
    text = f"system,item,worker,value\n{name[1:]},i1,w1,30\n{name},i1,w1,70\n"
    files = [Source("a.csv", text.encode())]
    judgments = read(files, layout="plain")
    about = About(scales={"*": "0 to 100"})
    shown, _ = preview_import(judgments, slug="x", about=about, files=files)
    (told,) = shown.refused
    assert told.startswith("a.csv, row 3, system: the name AAAA")
    assert "101 characters, and 100 can be stored" in told
    with pytest.raises(GenieError, match="row 3, system"):
        bring_in(judgments, slug="x", by=make_user("i"), about=about, files=files)


def test_a_scale_of_no_criterion_is_refused_with_the_criteria():
    files = {"a.csv": ratings([1, 2, 3, 4, 5])}
    with refusal("unknown-scale", match=r"no criterion 'qualty'.* are quality"):
        problems(files, "plain", scales={"qualty": "1 to 5"})
    _, said = problems(files, "plain", scales={"quality": "1 to 5"})
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
    with refusal("not-csv", match=r"a\.csv, row 5, which takes in"):
        problems({"a.csv": "\n".join(lines)}, layout)


def test_quoted_cells_of_several_lines_are_read():
    lines = ["system,instance,worker,fluency,output"]
    lines += [f'{s},i{n},w1,{n % 5 + 1},"a\n""b"", c"' for n in range(9) for s in "ab"]
    judgments, _ = problems({"a.csv": "\n".join(lines)}, "plain")
    assert len(judgments.judged) == 18
    assert judgments.rows["row"].tolist()[:3] == [2, 4, 6]


@pytest.mark.parametrize("ending", ["json", "jsonl"])
@pytest.mark.parametrize("nested", [False, True])
def test_a_key_twice_in_an_object_is_refused(ending, nested):
    rows = [
        f'{{"system": "{s}", "instance": "i{n}", "worker": "w1", "fluency": {n}}}'
        for n in range(1, 6)
        for s in ("ada", "bob")
    ]
    more = ', "about": {"fluency": 1, "fluency": 4}}' if nested else ', "fluency": 4}'
    rows[3] = rows[3].removesuffix("}") + more
    text = "\n".join(rows) if ending == "jsonl" else f"[{','.join(rows)}]"
    with pytest.raises(GenieError, match="'fluency' is there twice") as refused:
        problems({f"a.{ending}": text}, "plain", scales={"*": "1 to 5"})
    assert f"a.{ending}" in str(refused.value)
    assert ("line 4" in str(refused.value)) is (ending == "jsonl")


@pytest.mark.parametrize("word", ["C", "c", "both good", "similar", "Both Good!"])
@pytest.mark.parametrize("layout", ["two-choice", "battles"])
def test_a_word_that_is_no_documented_tie_is_left_out_with_its_row(layout, word):
    if layout == "battles":
        head, start = "model_a,model_b,winner,anony", "red,blue"
        lines = [f"{start},{won},True" for won in ("model_a", word, "tie (bothbad)")]
    else:
        head, start = "system_a,system_b,preferred,item,worker", "red,blue"
        lines = [f"{start},{won},{won},w1" for won in ("A", word, "no preference")]
    judgments, told = problems({"a.csv": "\n".join([head, *lines])}, layout)
    assert judgments.judged["value"].tolist() == [1.0, 0.5]
    assert (
        f"row 3, {'winner' if layout == 'battles' else 'preferred'}: {word!r}" in told
    )


@pytest.mark.parametrize("cut", [False, True])
def test_the_rows_that_were_not_read_are_counted(cut):
    lines = long_table()
    lines[5] = "ada,i2"
    lines[-1] = "bob"
    _, told = problems({"a.csv": "\n".join(lines) + "\n" * (not cut)}, "plain")
    assert "2 of 48 rows were not read" in told
    assert ("may be cut off" in told) is cut


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b" \n", "it is empty"),
        (b"PK\3\4\0\0", "Excel or ZIP"),
        (b"<!DOCTYPE html><table>", "web page"),
        (b"\x89PNG\r\n\0\0", "not text"),
        ("system,item\n".encode("utf-16"), "not text"),
        (b"system,instance,worker,fluency\n", "a header only"),
        (b"Results,,\n,,\nsystem,instance,fluency\nada,i,1\n", "header is in row 3"),
        (b"system,worker,value,value\nada,w,1,1\n", "name each column once"),
        (b"instance,worker,ada,bob\ni1,w1,1,4\n", "A column for each system is not"),
        (b"system,instance,worker\nada,i1,w1\n", "--choose value=COLUMN"),
    ],
)
def test_files_without_a_layout_are_told_why(data, reason):
    with pytest.raises(GenieError, match=r"No layout fits a\.csv: ") as refused:
        read([Source("a.csv", data)])
    assert reason in str(refused.value)


def test_json_without_objects_is_told_why():
    with pytest.raises(GenieError, match="not a list of objects"):
        read([Source("a.json", b"[]")])

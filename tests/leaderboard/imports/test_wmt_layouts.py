"""Appraise, mt-metrics-eval and Google's MQM tables, on WMT's own files and on small ones."""

import json
import re

import pytest

from genie.lib.errors import GenieError
from leaderboard.imports.readers.judgments import Span
from leaderboard.imports.readers.read import read
from leaderboard.imports.readers.sources import sources_in
from leaderboard.imports.readers.spans import fit, mqm_score
from tests.leaderboard.imports.examples import file_of
from tests.refusals import refusal
from tests.shared import SHARED, needs_shared

CAMPAIGNS = {"ESA-1": "240315rc5ESA", "MQM-1": "240315rc5MQM"}


def read_files(layout, choices=None, **files):
    sources = [
        file_of(name.replace("__", "."), text.encode()) for name, text in files.items()
    ]
    return read(sources, layout=layout, choices={"lost": "yes", **(choices or {})})


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize("name", CAMPAIGNS)
def test_rows_of_people_and_published_segment_scores_are_the_same(name):
    sources = sources_in(SHARED / "data" / "esa")
    ours = read(sources, layout="appraise", choices={"campaign": CAMPAIGNS[name]})
    theirs = read(
        sources, layout="mt-metrics-eval", choices={"set": "en-de", "ranks": name}
    ).rows
    theirs = theirs[theirs["criterion"] == name]
    of = ours.judged[ours.judged["criterion"] == name[:3]]
    cell = ["system", "instance"]
    one = of.groupby(cell)["value"].mean().sort_index()
    other = theirs.set_index(cell)["value"].sort_index()
    assert len(one) == len(other) == len(of)
    assert one.to_numpy() == pytest.approx(other.to_numpy())
    assert list(one.index) == list(other.index)


@needs_shared
def test_published_scores_of_wmt23_are_means_of_their_segments():
    folder = SHARED / "data" / "esa"
    choices = {"set": "wmt23-en-de", "ranks": "mqm"}
    found = read(sources_in(folder), layout="mt-metrics-eval", choices=choices)
    means = found.rows.groupby(["criterion", "system"])["value"].mean()
    published = {
        (name, *line.split("\t")[:1]): float(line.split("\t")[1])
        for name in ("mqm", "da-sqm")
        for line in (folder / f"wmt23-en-de.{name}.sys.score").read_text().splitlines()
    }
    assert len(means) == 26
    assert {key: published[key] for key in means.index} == pytest.approx(dict(means))


TIMES = "1760000000.25,1760000031.5"


def test_appraise_leaves_out_rows_of_another_kind():
    rows = [f"u1,red,{n},TGT,eng,dan,83,{TIMES}" for n in range(3)]
    rows.insert(1, f"u1,red,1,TGT,eng,dan,83,d1,False,{TIMES}")
    found = read_files("appraise", scores__csv="\n".join(rows))
    assert [p.row for p in found.problems if p.fatal] == [2]
    assert found.rows["row"].tolist() == [1, 3, 4]


def test_appraise_tells_documents_planted_and_joined_rows_apart():
    text = "\n".join(
        [
            f"u1,wmt23.red+wmt23.blue,1,TGT,eng,dan,83,d1#red,False,{TIMES},7,1",
            f"u1,red,2,BAD,eng,dan,10,d1#red#bad3,False,{TIMES},7,2",
            f"u1,red,3,TGT,eng,dan,70,d1#red,True,{TIMES},7,3",
            f"u1,ende-tutorial1,4,TGT,eng,dan,70,ende-tutorial1,False,{TIMES},7,4",
            f"u1,red,5,REF,eng,dan,90,d1#red,False,{TIMES},7,5",
        ]
    )
    found = read_files("appraise", scores__csv=text)
    assert found.n_by_role() == {
        "document": 1,
        "judgment": 2,
        "planted": 1,
        "reference": 1,
        "tutorial": 1,
    }
    assert found.judged["system"].tolist() == ["red", "blue"]


def test_two_outputs_of_one_task_are_on_one_page_and_no_tie():
    text = f"u1,red,1,TGT,eng,dan,50,{TIMES}\nu1,blue,1,TGT,eng,dan,50,{TIMES}\n"
    rows = read_files("appraise", scores__csv=text).rows
    assert rows[["system", "other", "value", "page"]].to_numpy().tolist() == [
        ["red", "", 50.0, "u1"],
        ["blue", "", 50.0, "u1"],
    ]
    assert rows["seconds"].tolist() == [31.25, 31.25]


def test_the_name_of_an_account_is_kept_only_where_it_is_a_code():
    text = (
        f"eva@example.org,red,1,TGT,eng,dan,83,{TIMES}\n"
        f"Li Wei,red,1,TGT,eng,dan,80,{TIMES}\nengdan0a01,red,1,TGT,eng,dan,9,{TIMES}\n"
    )
    found = read_files("appraise", scores__csv=text)
    assert found.rows["worker"].tolist() == ["worker-1", "worker-2", "engdan0a01"]
    assert "eva@" not in found.rows.to_csv() + found.extra.to_csv()


MQM = """system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity
red\td1\t1\t1\trater1\tSoup\tDie "<v>Suppe</v>" da\tAccuracy/Mistranslation\tMajor
red\td1\t1\t1\trater1\tSoup\tDie "Suppe" da<v>.</v>\tFluency/Punctuation\tMinor
blue\td1\t1\t1\trater2\tSoup\tSuppe\tNo-error\tNo-error
red\td1\t1\t1\trater2\tThe <v>soup</v>\tDie "Suppe" da.\tAccuracy/Omission\tMajor
red\td1\t1\t2\trater2\tMilk\tdas\tNon-translation!\tMajor
red\td1\t1\t3\trater2\tMilk\t<v>das</v>\tFound\tHOTW-test
red\td1\t1\t2\trater1
"""


def test_errors_of_a_table_become_scores_of_segments():
    found = read_files("", mqm__tsv=MQM)
    assert found.layout == "mqm-tsv"
    scores = found.judged[["worker", "system", "instance", "value"]]
    assert scores.to_numpy().tolist() == [
        ["rater1", "red", "1", -5.1],
        ["rater2", "blue", "1", 0.0],
        ["rater2", "red", "1", -5.0],
        ["rater2", "red", "2", -25.0],
    ]
    first = found.rows["spans"][0][0]
    text = found.texts.outputs["red", "1"]
    assert text[first["start"] : first["end"]] == "Suppe"
    assert found.rows["spans"][2][0]["missing"]
    assert found.n_by_role()["planted"] == 1
    assert [p.row for p in found.problems if p.fatal] == [8]


def test_quotation_marks_over_two_rows_take_in_none():
    lines = MQM.splitlines()
    lines[3] = lines[3].replace("Soup", '"Soup')
    lines[5] = lines[5].replace("Milk", 'Milk"')
    found = read_files("", mqm__tsv="\n".join([*lines[:1], *lines[3:6]]))
    assert [text["source"] for text in found.texts.inputs.values()] == [
        '"Soup',
        'Milk"',
    ]


def test_ends_of_spans_are_put_right_by_the_texts():
    text = "Suppen er varm og god i dag."
    words = [(0, 6), (7, 9), (10, 14), (15, 17), (18, 21)]
    right = [Span(*word) for word in words]
    short = [Span(start, end - 1) for start, end in words]
    assert fit([(text, right)]) == ([right], "")
    moved, told = fit([(text, short)])
    assert moved == [right]
    assert "one character" in told
    assert fit([("", short)]) == ([short], "")


def test_severities_have_known_costs():
    assert mqm_score([Span(0, 1, "undecided"), Span(0, 1, "")]) == 0
    with pytest.raises(
        ValueError, match="'odd' is not known; write undecided, neutral"
    ):
        mqm_score([Span(0, 1, "odd")])
    assert mqm_score([Span(0, 1, "critical"), Span(None, None, "minor")]) == -26
    assert (
        mqm_score([Span(0, 1, "major", "Linguistic conventions/Punctuation")]) == -0.1
    )


def test_an_unknown_severity_of_a_table_is_refused_with_its_row():
    n = next(i for i, line in enumerate(MQM.splitlines()) if "\tminor" in line.lower())
    lines = MQM.splitlines()
    lines[n] = re.sub("(?i)\tminor", "\tHuge", lines[n])
    with pytest.raises(GenieError, match=f"row {n + 1}, severity: the sev.*'huge'"):
        read_files("mqm-tsv", mqm__tsv="\n".join(lines))


def test_an_unknown_severity_of_a_span_leaves_its_row_out():
    lines = [spans_row("u1", "red", n, 80) for n in (1, 2, 3)]
    marked = json.dumps([{"start_i": 0, "end_i": 1, "severity": "huge"}])
    quoted = marked.replace('"', '""')
    lines[1] = lines[1].replace("[]", f'"{quoted}"')
    found = read_files("appraise", a__csv="\n".join(lines))
    assert set(found.rows["row"]) == {1, 3}
    (told,) = (str(one) for one in found.problems if one.fatal)
    assert "row 2, spans" in told
    assert "'huge' is not known; write undecided" in told


def spans_row(login, system, item, score, document="d1"):
    about = f"{login},{system},{item},TGT,eng,dan,{score},{document}#{system},False"
    return f"{about},[],{TIMES}"


SPLIT = {
    "two accounts with a part each": [
        *(spans_row("u1", "red", n, 80) for n in (1, 2)),
        *(spans_row("u2", "red", n, 20) for n in (1, 2)),
        *(spans_row("u3", "blue", n, 50) for n in (11, 12)),
    ],
    "a system with a part only": [
        *(spans_row("u1", "red", n, 80) for n in (1, 2)),
        *(spans_row("u3", "blue", n, 50) for n in (11, 12, 13)),
    ],
}


@pytest.mark.parametrize("rows", SPLIT.values(), ids=SPLIT)
def test_segments_without_a_position_are_refused(rows):
    # another document, all of which each system's account had
    rows = [
        *rows,
        spans_row("u1", "red", 30, 9, "d2"),
        spans_row("u3", "blue", 40, 7, "d2"),
    ]
    with refusal("no-position", match="items are numbered within an acc") as refused:
        read_files("appraise", scores__csv="\n".join(rows))
    assert "add the batches (JSON)" in refused.value.message
    found = read_files("appraise", {"items": "apart"}, scores__csv="\n".join(rows))
    assert {"u1:d1:1", "u3:d1:11"} < set(found.judged["instance"])


def test_numbers_beyond_any_batch_are_of_the_test_set():
    rows = [spans_row(f"u{n % 2}", ("red", "blue")[n % 2], n, 80) for n in (713, 720)]
    found = read_files("appraise", scores__csv="\n".join(rows))
    assert found.judged["instance"].tolist() == ["713", "713", "720", "720"]


def test_segments_with_a_position_are_never_numbered_anew():
    rows = SPLIT["two accounts with a part each"]
    items = [
        {"itemID": n, "documentID": f"d1#{system}", "_item": f"{system} | {at} | d1"}
        for system, n, at in (
            ("red", 1, 0),
            ("red", 2, 1),
            ("blue", 11, 0),
            ("blue", 12, 1),
        )
    ]
    batches = json.dumps([{"items": items}])
    found = read_files("appraise", scores__csv="\n".join(rows), batches__json=batches)
    by_red = found.judged[found.judged["system"] == "red"]
    assert by_red["instance"].tolist() == ["1", "1", "2", "2"] * 2


@pytest.mark.parametrize("left_out", [None, 3])
def test_items_that_count_within_documents_keep_these_apart(left_out):
    rows = [
        spans_row(f"u{n}", system, item, 10 * n, document)
        for document in ("d1", "d2")
        for n, system in enumerate(("red", "blue"), 1)
        for item in (1, 2)
    ]
    rows = [row for n, row in enumerate(rows) if n != left_out]
    found = read_files("appraise", scores__csv="\n".join(rows))
    assert set(found.judged["instance"]) == {"d1:1", "d1:2", "d2:1", "d2:2"}

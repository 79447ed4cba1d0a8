"""Each shipped mapping is known as itself, and gives what its files say, no more."""

import gzip
import io
import json
from functools import partial

import pytest

from genie.lib.errors import GenieError
from genie.lib.formats import engine
from leaderboard.files import File
from leaderboard.imports.readers.preview import preview
from leaderboard.imports.readers.read import layout_of, read, shipped_mappings
from tests.leaderboard.imports import examples
from tests.leaderboard.imports.examples import EXAMPLES, sources
from tests.refusals import refusal
from tests.shared import SHARED, needs_shared

DATA = SHARED / "data"


def one(files, **choices):
    return read(sources(files), choices=choices)


def cells(judgments, *columns):
    return judgments.rows[list(columns)].to_numpy().tolist()


def told(judgments, *, fatal):
    return [str(p) for p in judgments.problems if p.fatal == fatal]


def shared(folder, *names):
    paths = [DATA / folder / name for name in names] or sorted(
        path for path in (DATA / folder).rglob("*") if path.is_file()
    )
    return [
        File(path.relative_to(DATA / folder).as_posix(), partial(path.open, "rb"))
        for path in paths
    ]


@pytest.mark.parametrize(("slug", "files", "choices"), EXAMPLES)
def test_each_example_is_known_as_itself_read_and_previewed(slug, files, choices):
    assert layout_of(sources(files)) == slug
    judgments = one(files, **choices)
    assert judgments.layout == slug
    assert len(judgments.rows) == len(judgments.rows.dropna(subset=["role", "word"]))
    if judgments.extra is not None:
        assert list(judgments.extra.index) == list(judgments.rows.index)
    found = preview(judgments)
    again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert again["layout"] == slug
    assert sum(again["roles"].values()) > 0
    assert f"Layout {slug}" in found.to_text()
    assert "Not known: " in found.to_text()
    assert "pay, instructions" in found.to_text()


def test_every_shipped_mapping_has_an_example():
    assert shipped_mappings().keys() <= {slug for slug, _, _ in EXAMPLES}


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize(
    ("folder", "slug", "one_set"),
    [
        ("alt-test", "alt-test", "summeval"), ("dynamic", "two-choice", ""),
        ("wmt22-da", "wmt-da", "cs-en"), ("e2e-nlg", "rankme-pages", ""),
        ("rankme", "rankme-rows", ""),
    ],
)  # fmt: skip
def test_folders_of_others_are_known_and_sets_are_never_mixed(folder, slug, one_set):
    files = shared(folder)
    assert layout_of(files) == slug
    if one_set:
        with refusal("choice-needed", match=one_set):
            read(files)
        with refusal("unknown-choice", match=one_set):
            read(files, choices={"set": "all"})


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize(
    ("folder", "names", "choices", "n", "total"),
    [
        ("dynamic", ["v1.csv", "v1_pairs.csv"], {}, 5000, 2501),
        ("dynamic", ["r1.csv"], {}, 5000, 2409),
        ("e2e-nlg", ["naturalness.csv.gz"], {}, 21195, 3414523),
        ("rankme", ["setup1_rankme.csv", "outputs.csv"], {"ranks": "quality"}, 2700, 259989),
        ("wmt22-da", ["ratings-cs-en.csv.gz"], {}, 20094, 1403727),
        ("alt-test", [], {"set": "summeval", "ranks": "fluency"}, 19200, 79310),
        ("alt-test", [], {"set": "mtbench"}, 246, 118),
    ],
)  # fmt: skip
def test_ratings_of_others_are_all_read(folder, names, choices, n, total):
    judged = read(shared(folder, *names), choices=choices).judged
    assert (len(judged), judged["value"].sum()) == (n, total)


@needs_shared
def test_wmt22_is_read_and_gives_the_published_means():
    judged = read(shared("wmt22-da"), choices={"set": "cs-en"}).judged
    means = (
        judged.groupby(["system", "instance"])["value"].mean().groupby("system").mean()
    )
    published = {}
    for line in (
        (DATA / "wmt22-da/ad-sys-scores-cs-en.csv").read_text().splitlines()[1:]
    ):
        raw, _, _, system, _ = line.split()
        published[system] = float(raw)
    assert means.to_dict() == pytest.approx(published, abs=1e-9)


# --- direct assessment --------------------------------------------------------------


def test_kinds_of_rows_of_direct_assessment_count_as_wmt_counts_them():
    raw, z = one(examples.DA_RAW), one(examples.DA)
    assert cells(raw, "role", "system", "value") == [
        ["judgment", "red", 70], ["repeated", "red", 65], ["planted", "red", 40],
        ["judgment", "blue", 50],
    ]  # fmt: skip
    # names in one cell, with blanks between, above rows with tabs
    assert z.rows["value"].tolist() == [1, 0.5, -2, 0, 0.1]
    assert (raw.standardised, z.standardised) == (False, True)
    assert (len(raw.judged), raw.scales) == (3, {"": "0 to 100"})
    assert raw.rows["seconds"].isna().all()


# --- pages --------------------------------------------------------------------------


def test_a_page_becomes_a_row_for_each_place():
    found = one(examples.PAGES)
    columns = ("worker", "page", "place", "system", "value")
    assert cells(found, *columns) == [
        ["W1", "J1", 0, "red", 50], ["W1", "J1", 1, "blue", 1000], ["W2", "J2", 1, "red", 100],
    ]  # fmt: skip
    assert found.rows["seconds"].tolist() == [60, 60, 72]
    assert found.rows["at"][0] == 1511926146
    assert found.texts.outputs == {("red", "1"): "Hi.", ("blue", "1"): "Ho."}
    assert found.texts.inputs == {"1": {"mr": "name[Ada]"}}
    assert set(found.rows["criterion"]) == {"tone"}


def test_texts_in_another_file_are_those_of_the_same_item_and_system():
    found = one(examples.RANKME, ranks="quality")
    assert found.texts.outputs == {("red", "1"): "Ada is here."}


# --- tables without a mapping -------------------------------------------------------


def test_a_plain_table_with_all_that_goes_wrong():
    found = one(examples.PLAIN, words="oops=none", lost="yes")
    assert cells(found, "row", "role", "system", "value", "word")[:3] == [
        [2, "superseded", "red", 4.5, "4,5"], [3, "judgment", "red", 4, "4"],
        [5, "judgment", "blue", 3, "3"],
    ]  # fmt: skip
    assert [(p.row, p.field) for p in found.problems if p.fatal] == [
        (13, ""),
        (14, "system"),
    ]


def test_what_is_said_twice_counts_once_though_a_worker_is_not_known():
    text = "system,item,rater,score\nred,1,ann,2\nred,1,ann,5\nred,1,,3\nred,1,,3"
    found = one({"ratings.csv": text}, lost="yes")
    assert [row[0] for row in cells(found, "role")] == ["superseded", *["judgment"] * 3]
    assert any("the last holds: 1." in text for text in told(found, fatal=False))


def test_criteria_may_be_columns_and_damaged_texts_are_no_outputs():
    criteria = {"rating": "fluency,adequacy", "lower_is_better": "adequacy"}
    choices = {"text": "output", "source": "source", "reference": "reference"}
    found = one(examples.PLAIN_WIDE, **criteria, **choices)
    assert cells(found, "role", "instance", "criterion", "value") == [
        ["judgment", "i1", "fluency", 4],
        ["planted", "i2", "fluency", 1], ["planted", "i2", "adequacy", 3],
    ]  # fmt: skip
    assert found.texts.outputs == {("red", "i1"): "Hi to you all."}
    assert found.texts.references == {"i1": ["Hello."]}
    assert found.lower_is_better == ("adequacy",)


def test_labels_stay_words():
    files = {
        "l.tsv": "system\titem\tworker\tlabel\nred\t1\tw1\tformal\nred\t2\tw1\todd\n"
    }
    with refusal("choice-needed"):
        one(files, rating="label")
    found = one(files, rating="label", labels="yes")
    assert found.rows["word"].tolist() == ["formal", "odd"]
    assert found.rows["value"].isna().all()


def test_a_table_may_be_packed_or_parquet(tmp_path):
    text = "system,item,worker,value\nred,i1,w1,3\nblue,i1,w1,4.5\n"
    packed = File("r.csv.gz", partial(io.BytesIO, gzip.compress(text.encode())))
    path = tmp_path / "r.parquet"
    with engine() as duck:
        duck.execute(
            "copy (select * from (values ('red', 'i1', 'w1', 3.0), ('blue', 'i1', 'w1', 4.5))"
            f" as t(system, item, worker, value)) to '{path}' (format parquet)"
        )
    whole = read([File(path.name, partial(path.open, "rb"))])
    assert read([packed]).rows["value"].tolist() == [3, 4.5]
    assert whole.rows[["row", "value"]].to_numpy().tolist() == [[1, 3], [2, 4.5]]


# --- preferences --------------------------------------------------------------------


def test_choices_between_two_keep_sides_and_words():
    found = one(examples.TWO, lost="yes", words="purple=none")
    assert cells(found, "instance", "system", "other", "value", "word", "place") == [
        ["1", "red", "blue", 0, "blue", 0], ["2", "blue", "red", 0.5, "tie", 0],
    ]  # fmt: skip
    assert found.rows["seconds"].tolist() == [10, 10]
    assert [p.row for p in found.problems if p.fatal] == [4]
    outputs = {("blue", "1"): "It was very nice.", ("red", "1"): "It was not so nice."}
    assert found.texts.outputs.items() >= outputs.items()


@pytest.mark.parametrize(
    ("words", "choices", "values"),
    [
        ("A,B,tie", {}, [1, 0, 0.5]),
        ("1,2,0", {}, [1, 0, 0.5]),
        ("-2,1,0", {"words": "-2=first, 1=second, 0=tie"}, [1, 0, 0.5]),
        ("neither,red,blue", {}, [0.5, 1, 0]),
    ],
)
def test_words_for_who_won(words, choices, values):
    lines = [f"{i},red,blue,{word},w1" for i, word in enumerate(words.split(","))]
    files = {"v.csv": "\n".join(["item,system_a,system_b,preferred,rater", *lines])}
    found = one(files, choice="preferred", **choices)
    assert found.rows["value"].tolist() == values


def test_battles_tell_names_shown_programs_and_both_bad_apart():
    with refusal("choice-needed", "saw the names"):
        one(examples.BATTLES)
    found = one(examples.BATTLES, counted="judgment")
    assert cells(found, "role", "worker", "value", "word") == [
        ["judgment", "arena_user_5", 0.5, "tie (bothbad)"],
        ["names shown", "arena_user_5", 0, "model_b"],
        ["prediction", "gpt-4", 1, "model_a"],
    ]  # fmt: skip
    assert set(found.rows["place"]) == {0}


def test_turns_of_a_question_are_different_items():
    found = one(examples.MT_BENCH)
    assert found.rows["instance"].tolist() == ["81/1", "81/2"]
    assert set(found.rows["document"]) == {"81"}


# --- labels by people and models ----------------------------------------------------


def test_ids_of_alt_test_give_system_and_criterion():
    found = one(examples.ALT_TEST, ranks="fluency")
    assert found.n_by_role() == {"judgment": 45, "prediction": 44}
    assert set(found.rows["system"]) == {"red", "blue"}
    assert set(found.rows["criterion"]) == {"fluency", "truth"}
    assert found.rows["instance"][0] == "text0"
    pairs = one(examples.ALT_TEST_PAIRS)
    assert cells(pairs, "instance", "system", "other", "value", "word")[:2] == [
        ["82/1", "red", "blue", 0, "model_b"], ["82/2", "red", "blue", 0.5, "tie"],
    ]  # fmt: skip


# --- surveys ------------------------------------------------------------------------


def test_a_survey_of_qualtrics():
    found = one(examples.QUALTRICS, rating="Q{}_{system}_item{item}_fluency")
    assert found.n_by_role() == {"cancelled": 2, "draft": 4, "judgment": 4}
    assert cells(found.__class__("", found.judged), "worker", "instance", "system", "value") == [
        ["p1", "1", "sysA", 5], ["p1", "1", "sysB", 3],
        ["p1", "2", "sysA", 4], ["p1", "2", "sysB", 2],
    ]  # fmt: skip
    assert found.rows["row"].min() == 5


# --- files of other tools -----------------------------------------------------------


def lines(*objects):
    return "".join(json.dumps(one) + "\n" for one in objects)


PAIRS = json.dumps(
    [
        {"id": "q7", "model_a": "red", "model_b": "blue", "text_a": "Yes, I do.", "text_b": "No, I do not."},
        {"id": "q8", "model_a": "blue", "model_b": "red", "text_a": "No, I do not.", "text_b": "No, not at all."},
    ]
)  # fmt: skip


def test_potato_finds_the_systems_of_an_item_in_the_data():
    answers = {"q7": {"selection": "B"}, "q8": {"selection": "A"}}
    said = [
        {"id": item, "label_annotations": {"preference": word}, "span_annotations": []}
        for item, word in answers.items()
    ]
    name = "annotation_output/eva/annotated_instances.jsonl"
    texts = {"text 1": "text_a", "text 2": "text_b"}
    found = one({name: lines(*said), "data/pairs.json": PAIRS}, **texts)
    assert cells(found, "instance", "system", "other", "value", "word") == [
        ["q7", "red", "blue", 0, "B"], ["q8", "blue", "red", 1, "A"],
    ]  # fmt: skip
    assert found.texts.outputs["red", "q7"] == "Yes, I do."


def test_potato_reads_ratings_and_asks_about_several_answers():
    data = lines(
        {"id": "q1", "model": "red"}, {"id": "q2", "model": "blue"}, {"id": "q3", "model": "red"}
    )  # fmt: skip
    said = [
        {"id": "q1", "label_annotations": {"fluency": {"scale_4": "4"}}},
        {"id": "q2", "label_annotations": {"fluency": {"scale_4": "4", "scale_2": "2"}}},
        {"id": "q2", "label_annotations": {"fluency": {"scale_1": "1"}}},
        {"id": "q2", "label_annotations": {"fluency": {"scale_3": "3"}}},
        {"id": "q3", "label_annotations": {"fluency": {"scale_2": "2"}}},
    ]  # fmt: skip
    files = {
        "annotation_output/ann3/annotated_instances.jsonl": lines(*said),
        "d.jsonl": data,
    }
    with refusal("choice-needed", match="4 and 2"):
        one(files)
    found = one(files, words="4 and 2=none", lost="yes")
    assert cells(found, "role", "system", "criterion", "word", "row") == [
        ["judgment", "red", "fluency", "4", 1],
        ["superseded", "blue", "fluency", "1", 3],
        ["judgment", "blue", "fluency", "3", 4],
        ["judgment", "red", "fluency", "2", 5],
    ]


def result(kind, value, name="pw"):
    return {"from_name": name, "to_name": "text1,text2", "type": kind, "value": value}


RIGHT = result("pairwise", {"selected": "right"})
FRUIT = {"prompt": "Name a fruit that is green.", "model1": "red", "model2": "blue"}


def label_studio(*annotations, data=FRUIT, **choices):
    listed = [
        {"completed_by": 2, "created_at": "2026-03-01T10:00:00Z", "lead_time": 12.4,
         "was_cancelled": False, "ground_truth": False, **more, "result": results}
        for results, more in annotations
    ]  # fmt: skip
    task = {"id": 41, "data": data, "annotations": listed, "predictions": []}
    return one({"export.json": json.dumps([task])}, **choices)


def test_label_studio_has_a_row_for_each_result_of_each_annotation():
    found = label_studio(
        ([RIGHT], {}),
        ([RIGHT], {"completed_by": 5, "was_cancelled": True}),
        ([RIGHT], {"completed_by": 6, "ground_truth": True}),
        ([], {"completed_by": 7}),
    )
    assert cells(found, "role", "worker", "system", "other", "criterion", "value") == [
        ["judgment", "2", "red", "blue", "pw", 0],
        ["cancelled", "5", "red", "blue", "pw", 0],
        ["key", "6", "red", "blue", "pw", 0],
    ]  # fmt: skip
    assert (found.rows["at"][0], found.rows["seconds"][0]) == (1772359200, 12.4)


def test_label_studio_has_ratings_of_one_text_and_none_of_one_of_two():
    rating = result("rating", {"rating": 4}, "quality")
    alone = {"prompt": FRUIT["prompt"], "model": "red"}
    found = label_studio(([rating], {}), data=alone)
    assert cells(found, "system", "criterion", "value") == [["red", "quality", 4]]
    of_two = label_studio(([RIGHT, rating], {}), ranks="pw").rows.set_index("criterion")
    assert of_two["value"].isna().to_dict() == {"pw": False, "quality": True}


def scores(*lines):
    return {"wmt24-en-da.mqm.seg.score": "".join(f"{line}\n" for line in lines)}


def test_scores_without_items_are_numbered_by_their_lines():
    found = one(scores("red\tNone", "red\t-1.0", "blue\t-2.5", "blue\t-0.0"))
    assert cells(found, "system", "instance", "criterion", "value") == [
        ["red", "2", "mqm", -1], ["blue", "1", "mqm", -2.5], ["blue", "2", "mqm", 0],
    ]  # fmt: skip
    with refusal("uneven-items", match="1 to 2 rows"):
        one(scores("red\t1", "red\t2", "blue\t1"))


def test_an_unknown_mapping_is_refused_with_the_known_ones():
    with pytest.raises(GenieError, match="known are alt-test"):
        read(sources(examples.DA), layout="qualtrics")

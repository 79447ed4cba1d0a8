"""Layouts of tables: each is known as itself, and gives what its files say, no more."""

import gzip
import json

import numpy as np
import pytest

from genie.lib.errors import GenieError
from genie.lib.formats import engine
from leaderboard.imports.readers.column_names import compiled, guessed
from leaderboard.imports.readers.layout import all_layouts
from leaderboard.imports.readers.preview import preview
from leaderboard.imports.readers.read import guess, read
from leaderboard.imports.readers.sources import Source, sources_in
from tests.leaderboard.imports import examples
from tests.leaderboard.imports.examples import EXAMPLES, sources
from tests.shared import ROOT, SHARED, needs_shared

DATA = SHARED / "data"


def one(files, **choices):
    return read(sources(files), choices=choices)


def cells(judgments, *columns):
    return judgments.rows[list(columns)].to_numpy().tolist()


def told(judgments, *, fatal):
    return [str(p) for p in judgments.problems if p.fatal == fatal]


@pytest.mark.parametrize(("slug", "files", "choices"), EXAMPLES)
def test_each_example_is_guessed_as_itself_read_and_previewed(slug, files, choices):
    looks = guess(sources(files))
    assert next(iter(looks)) == slug
    assert looks[slug].because
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


@needs_shared
@pytest.mark.parametrize(
    ("folder", "slug"),
    [
        ("alt-test", "alt-test"), ("dynamic", "two-choice"), ("e2e-nlg", "rankme-pages"),
        ("rankme", "rankme-pages"), ("wmt22-da", "wmt-da"), ("esa", "appraise"),
        ("wmt24-esa", "appraise"),
    ],
)  # fmt: skip
def test_folders_of_others_are_guessed(folder, slug):
    assert next(iter(guess(sources_in(DATA / folder)))) == slug


@needs_shared
@pytest.mark.parametrize("folder", ["genie", "wmt21-de-en"])
def test_folders_without_judgments_are_left(folder):
    with pytest.raises(GenieError, match="No layout fits"):
        read(sources_in(DATA / folder))


# --- direct assessment --------------------------------------------------------------


def test_raw_scores_come_back_from_standardised_ones():
    raw, z = one(examples.DA), one(examples.DA, values="z")
    assert cells(raw, "role", "system", "value") == [
        ["judgment", "red", 70], ["repeated", "red", 65], ["planted", "red", 40],
        ["judgment", "blue", 50], ["reference", "blue", 52],
    ]  # fmt: skip
    assert z.rows["value"].tolist() == [1, 0.5, -2, 0, 0.1]
    assert (raw.standardised, z.standardised) == (False, True)
    assert raw.languages == ("da", "en")
    assert len(raw.judged) == 3


def test_a_type_or_score_that_is_not_known_leaves_its_row_out():
    text = examples.DA_Z.replace("\tREF\t", "\tODD\t").replace("\t0.5\t", "\tnan\t")
    found = one({"ad-daen-good-stnd.csv": text})
    assert len(found.rows) == 3
    assert [p.row for p in found.problems if p.fatal] == [6, 3]


def test_raw_scores_cannot_be_had_without_the_workers_means():
    with pytest.raises(GenieError, match="worker-mean-sd"):
        one({"ad-daen-good-stnd.csv": examples.DA_Z}, values="raw")


@needs_shared
def test_wmt22_is_read_and_gives_the_published_means():
    files = sources_in(DATA / "wmt22-da")
    assert "cs-en" in guess(files)["wmt-da"].choices[0].options
    found = read(files, choices={"pair": "cs-en"})
    judged = found.judged
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
    apart = [file for file in files if not file.name.startswith("ratings")]
    same = read(apart, choices={"pair": "cs-en"}).rows["value"]
    assert (same == found.rows["value"]).all()


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


def test_files_of_one_design_are_read_together_and_designs_never():
    found = one(examples.RANKME)
    assert cells(found, "system", "criterion", "value") == [
        ["red", "quality", 6], ["blue", "quality", 2], ["red", "tone", 5],
    ]  # fmt: skip
    assert found.texts.outputs == {("red", "1"): "Ada is here."}
    other = examples.RANKME["a_likert_tone.csv"]
    with pytest.raises(GenieError, match="a_likert, b_me"):
        one({**examples.RANKME, "b_me_tone.csv": other})


# --- plain tables -------------------------------------------------------------------


def test_a_plain_table_with_all_that_goes_wrong():
    found = one(examples.PLAIN)
    assert cells(found, "row", "role", "system", "value", "word") == [
        [2, "superseded", "red", 4.5, "4,5"], [3, "judgment", "red", 4, "4"],
    ]  # fmt: skip
    assert [(p.row, p.field) for p in found.problems if p.fatal] == [
        (7, ""), (5, "Score"), (8, "system"),
    ]  # fmt: skip
    assert list(found.extra) == ["note"]
    assert any(
        "E-mail: says who somebody is" in text for text in told(found, fatal=False)
    )


def test_what_is_said_twice_counts_once_though_a_worker_is_not_known():
    lines = [
        "system,item,rater,score",
        "red,1,ann,2",
        "red,1,ann,5",
        "red,1,,3",
        "red,1,,3",
    ]
    found = one({"ratings.csv": "\n".join(lines)})
    assert [row[0] for row in cells(found, "role")] == ["superseded", *["judgment"] * 3]
    assert any("the last holds: 1." in text for text in told(found, fatal=False))


def test_criteria_may_be_columns_and_damaged_texts_are_nobodys():
    found = one(examples.PLAIN_WIDE, lower_is_better="truth")
    assert cells(found, "role", "instance", "criterion", "value") == [
        ["judgment", "i1", "fluency", 4],
        ["planted", "i2", "fluency", 1], ["planted", "i2", "truth", 3],
    ]  # fmt: skip
    assert found.texts.outputs == {("red", "i1"): "Hi"}
    assert found.texts.references == {"i1": ["Hello"]}
    assert found.lower_is_better == ("truth",)


def test_labels_stay_words():
    found = one(examples.PLAIN_WORDS)
    assert found.rows["word"].tolist() == ["good", "bad"]
    assert found.rows["value"].isna().all()


def test_columns_of_any_name_can_be_chosen():
    text = "who,what,which,how\nw1,i1,red,3\nw1,i1,blue,4\n"
    files = sources({"odd.csv": text})
    choices = {"system": "which", "instance": "what", "worker": "who", "value": "how"}
    found = read(files, layout="plain", choices=choices)
    assert cells(found, "worker", "system", "value") == [
        ["w1", "red", 3],
        ["w1", "blue", 4],
    ]
    with pytest.raises(GenieError, match="say which they are"):
        read(files, layout="plain")


def test_a_table_may_be_packed_or_parquet(tmp_path):
    text = "system,item,worker,value\nred,i1,w1,3\nblue,i1,w1,4.5\n"
    packed = read([Source("r.csv.gz", gzip.compress(text.encode()))])
    with engine() as duck:
        duck.execute(
            "copy (select * from (values ('red', 'i1', 'w1', 3.0), ('blue', 'i1', 'w1', 4.5))"
            f" as t(system, item, worker, value)) to '{tmp_path}/r.parquet' (format parquet)"
        )
    whole = read(sources_in(tmp_path))
    assert packed.rows["value"].tolist() == whole.rows["value"].tolist() == [3, 4.5]
    assert whole.rows["row"].tolist() == [1, 2]


# --- preferences --------------------------------------------------------------------


def test_choices_between_two_keep_sides_and_words():
    found = one(examples.TWO)
    assert cells(found, "instance", "system", "other", "value", "word", "place") == [
        ["1", "red", "blue", 0, "blue", 0], ["2", "blue", "red", 0.5, "tie", 0],
    ]  # fmt: skip
    assert found.rows["seconds"].tolist() == [10, 10]
    assert [(p.row, p.field) for p in found.problems if p.fatal] == [
        (5, "winner"),
        (4, ""),
    ]
    assert found.texts.outputs == {("blue", "1"): "Hi.", ("red", "1"): "Ho."}
    assert found.texts.inputs == {"1": {"tense": "past"}}


@pytest.mark.parametrize(
    ("words", "choices", "values"),
    [
        ("A,B,tie", {}, [1, 0, 0.5]),
        ("1,2,2", {}, [1, 0, 0]),
        ("1,2,0", {}, [1, 0, 0.5]),
        (
            "-2,1,0",
            {"first_is": "-2,-1", "second_is": "1,2", "tie_is": "0"},
            [1, 0, 0.5],
        ),
        ("neither,red,blue", {}, [0.5, 1, 0]),
    ],
)
def test_words_for_who_won(words, choices, values):
    lines = [f"{i},red,blue,{word},w1" for i, word in enumerate(words.split(","))]
    files = {"v.csv": "\n".join(["item,system_a,system_b,preferred,rater", *lines])}
    assert one(files, **choices).rows["value"].tolist() == values


def test_numbers_whose_meaning_nobody_said_are_refused():
    files = {
        "v.csv": "item,system_a,system_b,preferred,rater\n1,a1,b1,1,w\n2,a1,b1,0,w\n"
    }
    with pytest.raises(GenieError, match="first_is"):
        one(files)


def test_battles_tell_names_shown_programs_and_both_bad_apart():
    found = one(examples.BATTLES)
    assert cells(found, "role", "worker", "value", "word") == [
        ["judgment", "arena_user_5", 0.5, "tie (bothbad)"],
        ["names shown", "arena_user_5", 0, "model_b"],
        ["prediction", "gpt-4", 1, "model_a"],
    ]  # fmt: skip
    assert set(found.rows["place"]) == {0}
    assert found.texts.inputs["q1"] == {"prompt": "Hej?"}
    assert found.texts.outputs["blue", "q1"] == "Nej."


def test_battles_of_every_release():
    columns = one(examples.BATTLES_55K)
    assert columns.rows["word"].tolist() == ["model_b"]
    assert (
        columns.texts.outputs["blue", "1"]
        == "assistant: Ha\n\nuser: And?\n\nassistant: So."
    )
    assert "No column says who voted" in told(columns, fatal=False)[0]
    strings = one(examples.BATTLES_100K)
    assert strings.texts.outputs == {("red", "h1"): "Hej."}
    assert (
        "cannot be read, whose texts are left out: 1" in told(strings, fatal=False)[0]
    )
    assert json.loads(strings.extra["dedup_tag"][0])["sampled"] is True
    parts = one(examples.BATTLES_140K)
    assert cells(parts, "worker", "page", "word", "value") == [
        ["", "s1", "both_bad", 0.5]
    ]
    assert parts.texts.outputs["red", "x1"] == "Hej?"
    turns = one(examples.MT_BENCH)
    assert turns.rows["instance"].tolist() == ["81/1", "81/2"]
    assert set(turns.rows["document"]) == {"81"}


# --- labels by people and models ----------------------------------------------------


def test_ids_of_alt_test_give_system_and_criterion():
    found = one(examples.ALT_TEST)
    assert found.n_by_role() == {"judgment": 25, "prediction": 24}
    assert set(found.rows["system"]) == {"red", "blue"}
    assert set(found.rows["criterion"]) == {"fluency", "truth"}
    assert found.rows["instance"][0] == "text0"
    pairs = one(examples.ALT_TEST_PAIRS)
    assert cells(pairs, "instance", "system", "other", "value", "word") == [
        ["82/1", "red", "blue", 0, "model_b"], ["82/2", "red", "blue", 0.5, "tie"],
    ]  # fmt: skip


# --- surveys ------------------------------------------------------------------------


def test_a_survey_of_qualtrics():
    found = one(examples.QUALTRICS)
    assert found.n_by_role() == {
        "cancelled": 2,
        "draft": 5,
        "judgment": 4,
        "planted": 1,
    }
    assert cells(found.__class__("", found.judged), "worker", "instance", "system", "value") == [
        ["p1", "item1", "sysA", 5], ["p1", "item1", "sysB", 3],
        ["p1", "item2", "sysA", 4], ["p1", "item2", "sysB", 2],
    ]  # fmt: skip
    assert set(found.extra) == {"Status", "Duration (in seconds)", "Finished"}
    assert "10.0.0.1" not in found.extra.to_csv()
    assert found.rows["row"].min() == 5


def test_words_of_a_survey_count_what_people_say():
    text = examples.WIDE["w.csv"].replace("P1,1,2,3,", "P1,Good,Bad,Good,")
    mixed = one({"w.csv": text})
    assert len(told(mixed, fatal=True)) == 3
    assert cells(mixed, "worker", "value") == [["P2", v] for v in (4, 5, 6, 7)]
    counted = one({"w.csv": text}, labels="Good=5,Bad=1")
    assert counted.rows["value"].tolist() == [5, 1, 5, 4, 5, 6, 7]
    only = (
        examples.WIDE["w.csv"]
        .replace("P2,4,5,6,7", "P2,a,b,c,d")
        .replace("P1,1", "P1,z")
    )
    assert np.isnan(one({"w.csv": only}).rows["value"]).all()


@pytest.mark.parametrize(
    ("columns", "pattern"),
    [
        ([f"{s}_{i}_{c}" for s in ("red", "blue") for i in (1, 2, 3) for c in ("tone", "truth")],
         "{system}_{instance}_{criterion}"),
        ([f"fluency.{s}.{i}" for s in ("red", "blue") for i in (1, 2, 3)],
         "{criterion}.{system}.{instance}"),
        ([f"item{i} - model{m}" for i in (1, 2) for m in "AB"], "{instance} - {system}"),
        (["rate_fixed1", "rate_fixed2", "class_fixed1", "rate_uniform"], ""),
        (["age", "gender", "country", "comment"], ""),
    ],
)  # fmt: skip
def test_patterns_of_columns_are_guessed_or_not(columns, pattern):
    assert guessed(columns) == pattern


@pytest.mark.parametrize(
    "pattern", ["{system}_{system}", "{worker}", "{instance}", "x" * 300]
)
def test_patterns_that_say_nothing_are_refused(pattern):
    with pytest.raises(GenieError):
        compiled(pattern)


def test_a_star_takes_names_with_the_separator():
    found = compiled("{system*}_{instance}_{criterion}").fullmatch(
        "my_new_model_3_tone"
    )
    assert found.groups() == ("my_new_model", "3", "tone")


def test_every_layout_says_what_it_is_and_has_its_line_in_the_docs():
    page = (ROOT / "docs/importing.md").read_text("utf-8")
    for slug, layout in all_layouts().items():
        assert f"| `{slug}` |" in page
        assert layout.slug == slug
        assert layout.title
        assert layout.files

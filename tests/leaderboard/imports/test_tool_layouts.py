"""Pearmut, Potato and Label Studio, on examples of our own."""

import json

import pytest

from genie.lib.errors import GenieError
from leaderboard.imports.readers.judgments import Role
from leaderboard.imports.readers.read import guess, read
from leaderboard.imports.readers.sources import Source
from tests.refusals import refusal


def source(name, *values):
    """Write a file of JSON, a line each where there are several."""
    lines = [v if isinstance(v, str) else json.dumps(v) for v in values]
    return Source(name, "\n".join(lines).encode())


SOUP = {
    "item_id": "d1-s1",
    "src": "The soup is cold.",
    "tgt": {"red": "Suppen er kold.", "blue": "Suppen er varm."},
}
MILK = {
    "item_id": "d1-s2",
    "src": "So is the milk.",
    "tgt": {"red": "Det er mælken også.", "blue": "Og 😀 mælken er grøn."},
}


def span(start, end, severity="major", category=None):
    about = {"severity": severity, "category": category}
    return {"start_i": start, "end_i": end, **about}


def submitted(user, item_i, items, said, at=1771000000.0):
    actions = [
        {"time": at, "action": "load"},
        {"time": at + 40, "action": "submit"},
    ]
    return {
        "user_id": user,
        "item_i": item_i,
        "item": items,
        "annotation": said,
        "actions": actions,
    }


def scores(red, blue, spans=()):
    return {
        "red": {"score": red, "error_spans": []},
        "blue": {"score": blue, "error_spans": list(spans)},
    }


CAMPAIGN = {"campaign_id": "menu", "info": {"protocol": "ESA"}, "data": []}


def pearmut(*lines, campaign=CAMPAIGN):
    files = [
        source("data/outputs/menu.jsonl", *lines),
        source("data/progress.json", {"menu": {"quiet-fork-12": {"token_pass": "s3"}}}),
        source("data/tasks/menu.json", campaign),
    ]
    (slug, _), *_ = guess(files).items()
    assert slug == "pearmut"
    return read(files)


def test_pearmut_gives_each_text_its_score_and_spans():
    found = pearmut(
        submitted(
            "quiet-fork-12",
            0,
            [SOUP, MILK],
            [
                scores(96, 20, [span(10, 13)]),
                scores(90, 40, [span("missing", "missing")]),
            ],
        )
    )
    rows = found.judged
    esa = rows[rows["criterion"] == "ESA"]
    assert esa[["system", "instance", "value"]].to_numpy().tolist() == [
        ["red", "d1-s1", 96],
        ["blue", "d1-s1", 20],
        ["red", "d1-s2", 90],
        ["blue", "d1-s2", 40],
    ]
    assert rows[rows["criterion"] == "MQM"]["value"].tolist() == [0, -5, 0, -5]
    (marked,) = esa["spans"].iloc[1]
    assert SOUP["tgt"]["blue"][marked["start"] : marked["end"]] == "varm"
    assert esa["spans"].iloc[3][0]["missing"]
    assert esa["seconds"].sum() == 40
    assert found.documents == {"d1-s1": "d1-s1", "d1-s2": "d1-s1"}
    assert found.texts.outputs["blue", "d1-s2"].startswith("Og")
    assert "s3" not in rows.to_csv()


def test_pearmut_leaves_out_what_is_no_judgment():
    check = {**SOUP, "item_id": "c1", "validation": {"red": {"score": [80, 90]}}}
    found = pearmut(
        submitted("u1", "welcome_0", [SOUP], [scores(1, 2)]),
        submitted("u1", "random_0", [SOUP], [scores(3, 4)]),
        submitted("u1", "goodbye_0", [SOUP], [None]),
        submitted("u1", 0, [SOUP], [scores(5, 6)]),
        submitted("u1", 0, [SOUP], [scores(7, 8)]),
        submitted("u2", 0, [check], [scores(9, 10)]),
        submitted("u2", 1, [SOUP, MILK], [scores(5, 6)]),
        {"user_id": "u3"},
    )
    esa = found.rows[found.rows["criterion"] == "ESA"]
    by_role = esa.groupby("role")["value"].apply(list).to_dict()
    assert by_role == {
        Role.JUDGMENT: [7, 8, 10],
        Role.KEY: [85],
        Role.PLANTED: [3, 4, 9],
        Role.SUPERSEDED: [5, 6],
        Role.TUTORIAL: [1, 2],
    }
    wrong = [(p.row, p.field) for p in found.problems if p.fatal]
    assert wrong == [(8, "item_i"), (7, "annotation")]


def test_pearmut_reads_sliders_older_lists_and_places_of_a_browser():
    older = {"item_id": "d1-s2", "src": "x", "models": ["red", "blue"]}
    older["tgt"] = list(MILK["tgt"].values())
    said = [
        {"sliders": {"Fluency": 4, "Adequacy": 77}, "error_spans": []},
        {"sliders": {"Fluency": 2, "Adequacy": 7}, "error_spans": [span(6, 11)]},
    ]
    found = pearmut(
        submitted("u1", 0, [older], [said]),
        campaign={"campaign_id": "menu", "info": {"protocol": "DA"}},
    )
    fluency = found.rows[found.rows["criterion"] == "Fluency"]
    assert fluency[["system", "value"]].to_numpy().tolist() == [["red", 4], ["blue", 2]]
    assert set(found.rows["criterion"]) == {"Fluency", "Adequacy"}
    (marked,) = fluency["spans"].iloc[1]
    assert MILK["tgt"]["blue"][marked["start"] : marked["end"]] == "mælken"
    assert any("emoji" in str(problem) for problem in found.problems)


def test_pearmut_with_the_names_of_models_on_screen_is_no_judgment():
    shown = {**CAMPAIGN, "info": {"protocol": "DA", "show_model_names": True}}
    found = pearmut(submitted("u1", 0, [SOUP], [scores(7, 8)]), campaign=shown)
    assert found.n_by_role() == {"names shown": 2}


def test_a_campaign_of_pearmut_alone_holds_no_judgments():
    with pytest.raises(GenieError, match="campaign alone"):
        read([source("menu.json", CAMPAIGN)], layout="pearmut")


def pages(folder, user, answers, spans=()):
    """Write one person's answers as each age of Potato does."""
    labels = {item: {"preference": said} for item, said in answers.items()}
    old = [
        {"id": item, "label_annotations": said, "span_annotations": []}
        for item, said in labels.items()
    ]
    pairs = {
        item: [
            [{"schema": "preference", "name": name}, value]
            for name, value in said.items()
        ]
        for item, said in answers.items()
    }
    state = {"user_id": user, "instance_id_to_label_to_value": pairs}
    new = [
        {"instance_id": item, "user_id": user, "labels": said, "spans": {}}
        for item, said in labels.items()
    ]
    return {
        "old": source(f"{folder}/{user}/annotated_instances.jsonl", *old),
        "state": source(f"{folder}/{user}/user_state.json", state),
        "export": source("exports/jsonl/annotations.jsonl", *new),
        "table": source(
            "exports/annotations.csv",
            "instance_id,user_id,preference.selection,preference.scale_value",
            *(
                f"{item},{user},{said.get('selection', '')},{said.get('scale_value', '')}"
                for item, said in answers.items()
            ),
        ),
    }


PAIRS = source(
    "data/pairs.json",
    [
        {
            "id": "q7",
            "prompt": "Say yes.",
            "models": ["red", "blue"],
            "texts": ["Yes.", "No."],
        },
        {
            "id": "q8",
            "prompt": "Say no.",
            "models": ["blue", "red"],
            "texts": ["No.", "Not."],
        },
    ],
)


@pytest.mark.parametrize("age", ["old", "state", "export", "table"])
def test_potato_turns_positions_back_into_systems_in_all_its_ages(age):
    answers = {"q7": {"selection": "B"}, "q8": {"scale_value": "-2"}}
    files = [PAIRS, pages("annotation_output", "eva@example.org", answers)[age]]
    (slug, look), *_ = guess(files).items()
    assert slug == "potato"
    assert [choice.found for choice in look.choices] == [
        "models",
        "texts",
        "prompt",
        "",
    ]
    found = read(files)
    rows = found.rows[["worker", "instance", "system", "other", "value", "word"]]
    assert rows.to_numpy().tolist() == [
        ["worker-1", "Say yes.", "red", "blue", 0.0, "B"],
        ["worker-1", "Say no.", "blue", "red", 1.0, "-2"],
    ]
    assert found.texts.outputs["blue", "Say yes."] == "No."


def test_potato_reads_ratings_and_says_where_an_answer_is_not_known():
    data = source(
        "data/items.jsonl",
        {"id": "q1", "prompt": "Hi?", "model": "red", "text": "The soup is 😀 cold."},
        {"id": "q2", "prompt": "Hi?", "model": "blue", "text": "Hey."},
    )
    said = source(
        "annotation_output/ann3/annotated_instances.jsonl",
        {
            "id": "q1",
            "label_annotations": {
                "fluency": {"scale_4": "4"},
                "tone": {"warm": "true"},
            },
            "span_annotations": [{"start": 15, "end": 19, "annotation": "major"}],
            "behavioral_data": {"time_string": "Time spent: 0d 0h 1m 5s "},
        },
        {
            "id": "q2",
            "label_annotations": {"fluency": {"scale_4": "4", "scale_2": "2"}},
        },
        {"id": "consent.html", "label_annotations": {"agree": {"yes": "1"}}},
        {"id": "q9", "label_annotations": {"fluency": {"scale_4": "4"}}},
        {"id": "q2", "label_annotations": {"fluency": {"scale_1": "1"}}},
        {"id": "q2", "label_annotations": {"fluency": {"scale_3": "3"}}},
        {"label_annotations": {"fluency": {"scale_3": "3"}}},
    )
    found = read([data, said])
    rows = (
        found.rows[["role", "system", "criterion", "word", "row"]].to_numpy().tolist()
    )
    assert rows == [
        ["judgment", "red", "fluency", "4", 1],
        ["judgment", "red", "tone", "warm", 1],
        ["judgment", "red", "spans", "1 spans", 1],
        ["superseded", "blue", "fluency", "1", 5],
        ["judgment", "blue", "fluency", "3", 6],
    ]
    assert found.rows["seconds"][0] == 65
    assert found.rows["value"][2] == -5
    (marked,) = found.rows["spans"][2]
    assert found.texts.outputs["red", "Hi?"][marked["start"] : marked["end"]] == "cold"
    wrong = [(p.row, p.field) for p in found.problems if p.fatal]
    assert wrong == [(7, ""), (2, "fluency"), (4, "id")]


def test_potato_needs_the_data_and_whose_texts_it_holds():
    said = pages("annotation_output", "ann3", {"q7": {"selection": "B"}})["old"]
    with pytest.raises(GenieError, match="data that was shown is missing"):
        read([said])
    bare = source("data.json", [{"id": "q7", "bot": "red", "say": "Hi"}])
    with pytest.raises(GenieError, match="Items have bot, id, say"):
        read([said, bare])


def result(name, kind, value, to_name="text1"):
    return {
        "id": "r",
        "from_name": name,
        "to_name": to_name,
        "type": kind,
        "value": value,
    }


def said_by(who, *results, **more):
    about = {
        "completed_by": who,
        "created_at": "2026-03-01T10:00:00Z",
        "lead_time": 12.4,
    }
    return {"id": 9, "was_cancelled": False, **about, "result": list(results), **more}


FRUIT = {
    "prompt": "Name a fruit.",
    "text1": "A 🍐 pear.",
    "text2": "Spoon.",
    "model1": "red",
    "model2": "blue",
}
WHO = {"id": 2, "email": "eva@example.org", "first_name": "Eva"}
RIGHT = result("pw", "pairwise", {"selected": "right"}, "text1,text2")


def label_studio(*annotations, **choices):
    task = {"id": 41, "data": FRUIT, "annotations": list(annotations)}
    task["predictions"] = [said_by(None, RIGHT, model_version="judge-7b")]
    task["drafts"] = [said_by(3, RIGHT)]
    files = [source("export.json", [task])]
    (slug, _), *_ = guess(files).items()
    assert slug == "label-studio"
    return read(files, choices=choices)


def test_label_studio_refuses_to_guess_which_name_is_what():
    with refusal("choice-needed", match="The names are pw, quality"):
        label_studio(said_by(2, RIGHT, result("quality", "rating", {"rating": 4})))
    with pytest.raises(GenieError, match="'odd=fluency' is not understood"):
        label_studio(said_by(2, RIGHT), criteria="odd=fluency")


def test_label_studio_gives_pairs_ratings_and_spans_to_their_systems():
    found = label_studio(
        said_by(
            WHO,
            RIGHT,
            result("quality", "rating", {"rating": 4}),
            result("quality2", "rating", {"rating": 1}, "text2"),
            result("err", "labels", {"start": 5, "end": 9, "labels": ["minor"]}),
        ),
        said_by(5, RIGHT, was_cancelled=True),
        said_by(6, RIGHT, ground_truth=True),
        criteria="pw=preference,quality=quality,quality2=quality,err=errors",
    )
    rows = found.judged[["worker", "system", "other", "criterion", "value"]]
    assert rows.to_numpy().tolist() == [
        ["2", "red", "blue", "preference", 0.0],
        ["2", "red", "", "quality", 4.0],
        ["2", "blue", "", "quality", 1.0],
        ["2", "red", "", "errors", -1.0],
    ]
    assert found.n_by_role() == {
        "cancelled": 1,
        "draft": 1,
        "judgment": 4,
        "key": 1,
        "prediction": 1,
    }
    (marked,) = found.rows["spans"][3]
    text = found.texts.outputs["red", "Name a fruit."]
    assert text[marked["start"] : marked["end"]] == "pear"
    assert found.rows["at"][0] == 1772359200
    assert "Eva" not in found.rows.to_csv()
    assert "eva@" not in found.rows.to_csv()


@pytest.mark.parametrize("word", ["Huge", "Style"])
def test_label_studio_counts_no_text_with_an_error_of_unknown_cost(word):
    marks = [
        result("err", "labels", {"start": 5, "end": 9, "labels": [label]})
        for label in ("minor", word)
    ]
    found = label_studio(said_by(WHO, *marks), criteria="err=errors")
    assert found.judged["value"].isna().all()


def test_label_studio_flattened_is_read_with_the_same_mapping():
    row = {**FRUIT, "id": 41, "annotation_id": 9, "annotator": 2, "lead_time": 4000}
    rows = [{**row, "pw": "left", "quality": {"choices": ["3"]}}]
    mapping = {"criteria": "pw=preference,quality=quality@2"}
    small = read([source("min.json", rows)], choices=mapping)
    header = "id,annotation_id,annotator,model1,model2,prompt,pw,quality"
    line = '41,9,2,red,blue,Name a fruit.,left,"[""3""]"'
    table = read([source("export.csv", header, line)], choices=mapping)
    for found in (small, table):
        values = found.judged[["system", "other", "value", "instance"]]
        assert values.to_numpy().tolist() == [
            ["red", "blue", 1.0, "Name a fruit."],
            ["blue", "", 3.0, "Name a fruit."],
        ]
    assert any("breaks" in str(problem) for problem in small.problems)


def test_label_studio_says_what_is_not_known():
    found = label_studio(
        said_by(None, result("pw", "choices", {"choices": ["good"]}, "text1,text2")),
        said_by(None, RIGHT),
        criteria="pw=preference",
    )
    assert [p.field for p in found.problems] == ["pw", "completed_by"]
    assert found.n_by_role()["judgment"] == 1

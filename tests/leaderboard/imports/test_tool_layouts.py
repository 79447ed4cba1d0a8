"""Pearmut, on examples of our own."""

import json

import pytest

from genie.lib.errors import GenieError
from leaderboard.imports.readers.judgments import Role
from leaderboard.imports.readers.read import guess, read
from tests.leaderboard.imports.examples import file_of


def source(name, *values):
    lines = [v if isinstance(v, str) else json.dumps(v) for v in values]
    return file_of(name, "\n".join(lines).encode())


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
    actions = [{"time": at, "action": "load"}, {"time": at + 40, "action": "submit"}]
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
    return read(files, choices={"lost": "yes"})


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
        Role.PLANTED: [3, 4, 9],
        Role.SUPERSEDED: [5, 6],
        Role.TUTORIAL: [1, 2],
    }
    assert [p.row for p in found.problems if p.fatal] == [7, 8]


def test_pearmut_reads_sliders_and_places_of_a_browser():
    said = {
        "red": {"sliders": {"Fluency": 4, "Adequacy": 77}, "error_spans": []},
        "blue": {
            "sliders": {"Fluency": 2, "Adequacy": 7},
            "error_spans": [span(6, 11)],
        },
    }
    found = pearmut(
        submitted("u1", 0, [MILK], [said]),
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
    with pytest.raises(GenieError, match="campaign alone has none"):
        read([source("menu.json", CAMPAIGN)], layout="pearmut")

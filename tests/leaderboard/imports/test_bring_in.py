"""Judgments from elsewhere get a board."""

import json
from collections import Counter

import numpy as np
import pytest
from pandas.testing import assert_frame_equal

from leaderboard.imports.readers.judgments import (
    Judgments,
    Role,
    Texts,
    frame,
    from_rows,
)
from leaderboard.imports.selectors import About, judgments_of
from leaderboard.imports.services.bring_in import bring_in
from leaderboard.metric_runs import services
from leaderboard.models import (
    Import,
    JointEvaluation,
    MetricPiece,
    MetricResult,
    Score,
    Task,
)
from tests.factories import make_task, make_user
from tests.leaderboard.imports.examples import file_of
from tests.refusals import refusal


def ratings(n=20, systems=("red", "blue", "green"), workers=4, seed=1, **more):
    rng = np.random.default_rng(seed)
    rows = [
        (f"w{i % workers}", f"seg{i}", system, float(rng.integers(40, 60) + 10 * s))
        for i in range(n)
        for s, system in enumerate(systems)
    ]
    worker, instance, system, value = map(list, zip(*rows, strict=True))
    columns = {"worker": worker, "instance": instance, "system": system}
    return Judgments(
        "plain",
        frame(
            {
                **columns,
                "criterion": "overall",
                "value": value,
                "row": list(range(2, len(rows) + 2)),
                **more,
            }
        ),
    )


def test_a_plain_table_gets_a_ranked_board(client):
    user = make_user("importer")
    row = bring_in(ratings(), slug="elsewhere", by=user)
    scores = Score.own.filter(superseded_at=None).order_by("-mean")
    assert [one.submission.system_name for one in scores] == ["green", "blue", "red"]
    assert scores[0].rank_first == 1
    assert row.task.imported
    page = client.get("/tasks/elsewhere/")
    assert page.status_code == 200
    assert "green" in page.text


def said(row, value, worker="w1", instance="s1", system="red", **more):
    who = {"worker": worker, "instance": instance, "system": system}
    return {**who, "value": value, "row": row, **more}


WHAT = [
    said(
        2,
        70.5,
        at=1760000000.25,
        seconds=31.5,
        document="news",
        spans=[
            {"start": 0, "end": 4, "severity": "minor", "category": ""},
            {"missing": True, "severity": "major", "category": "x"},
        ],
    ),
    said(3, 12, role="planted"),
    said(4, 71, role="repeated", page="p1", place=3),
    said(5, 33.3, system="blue", word="33,3"),
    said(6, 10.0, worker="", instance="s2", system="blue", spans=[]),
    said(7, float("nan"), worker="w2", instance="s2", word="n/a"),
    said(8, 5.5, worker="w2", instance="s2", criterion="mqm"),
    said(9, 0.1, worker="w2", instance="s2", system="blue", criterion="mqm"),
    said(
        10,
        0.5,
        worker="w2",
        instance="s2",
        system="blue",
        other="red",
        criterion="which",
    ),
    said(11, 50, worker="w2", instance="tutorial", system="t1", role="tutorial"),
    said(12, 3, worker="w2", instance="x" * 250, system="blue", criterion="long " * 20),
]


def test_what_was_imported_is_read_back_as_it_was():
    judgments = Judgments(
        "plain",
        from_rows(WHAT),
        counted=(Role.JUDGMENT, Role.REPEATED),
        texts=Texts(
            {"s1": {"source": "Ein Satz."}},
            {("red", "s1"): "A sentence."},
            {"s1": ["One sentence."]},
        ),
        documents={"s1": "news", "s2": "sport"},
        domains={"s1": "news"},
        languages=("de", "en"),
        lower_is_better=("mqm",),
    )
    about = About(scales={"*": "0 to 100"})
    row = bring_in(judgments, slug="elsewhere", by=make_user("importer"), about=about)
    back = judgments_of(row.task)
    names = dict(zip(back.rows["worker"], judgments.rows["worker"], strict=True))
    assert len(names) == 3
    assert names[""] == ""
    found = back.rows.assign(worker=back.rows["worker"].map(names).astype(object))
    assert_frame_equal(found, judgments.rows, check_exact=True)
    for name in (
        "texts",
        "documents",
        "domains",
        "languages",
        "lower_is_better",
        "counted",
        "layout",
    ):
        assert getattr(back, name) == getattr(judgments, name)


def test_programs_keep_their_names_and_people_do_not():
    judgments = ratings(n=3)
    rows = judgments.rows
    rows.loc[rows["instance"] == "seg0", ["worker", "role"]] = ["gpt-4o", "prediction"]
    # who also judged as a person is one
    rows.loc[rows.index[-1], "role"] = "prediction"
    row = bring_in(judgments, slug="elsewhere", by=make_user("importer"))
    assert row.said["judges"] == ["gpt-4o"]
    names = judgments_of(row.task).rows["worker"]
    assert (names == "gpt-4o").tolist() == (rows["worker"] == "gpt-4o").tolist()
    assert not set(names) & {"w1", "w2"}


def test_preferences_get_a_joint_evaluation_and_a_board_of_shares(client):
    rng = np.random.default_rng(2)
    rows = [
        {
            "worker": f"w{i % 5}",
            "instance": f"q{i}",
            "system": a,
            "other": b,
            "value": float(rng.choice([0, 0.5, 1], p=[0.2, 0.2, 0.6])),
        }
        for i in range(40)
        for a, b in [("red", "blue"), ("green", "red"), ("green", "blue")]
    ]
    row = bring_in(
        Judgments("battles", from_rows(rows), languages=("eng", "deu")),
        slug="elsewhere",
        by=make_user("importer"),
    )
    best = Score.own.filter(superseded_at=None).order_by("-mean").first()
    assert best.submission.system_name == "green"
    assert 50 < best.mean < 100
    # whose time nobody knows counts as a worker all the same
    shown = client.get(f"/submissions/{best.submission.pk}/").text
    assert "They come from 5 raters" in shown
    about = client.get(f"/tasks/{row.task.slug}/methods/").text
    assert "comparisons won for each instance, averaged over the instances" in about
    # screen readers know the languages of HTML, not those of tools
    assert (row.task.source_language, row.task.target_language) == ("en", "de")
    joint = JointEvaluation.objects.get()
    assert joint.results["criteria"]["overall"]["n_judgements"] > 0
    # preferences go out again as they came
    answer = client.get(f"/tasks/{row.task.slug}/metrics/files/battles.jsonl")
    votes = [json.loads(line) for line in answer.getvalue().splitlines()]
    words = {1.0: "model_a", 0.0: "model_b", 0.5: "tie"}
    assert Counter((v["model_a"], v["model_b"], v["winner"]) for v in votes) == Counter(
        (said["system"], said["other"], words[said["value"]]) for said in rows
    )
    assert client.get(f"/joint-evaluations/{joint.pk}/").status_code == 200
    for page in ("", "methods/", "pairs/", "outputs/", "weights/", "evaluations/"):
        assert client.get(f"/tasks/{row.task.slug}/{page}").status_code in (200, 404)


DEGENERATE = {
    "one worker": {"workers": 1},
    "one system": {"systems": ("red",)},
    "one row": {"n": 1, "systems": ("red",)},
    "two rows": {"n": 1, "systems": ("red", "blue")},
    "nobody known": {"n": 6, "worker": ""},
    "constant": {"n": 6, "value": 7.0},
    "z-scores": {"n": 6, "value": -0.25},
}


@pytest.mark.parametrize("more", DEGENERATE.values(), ids=DEGENERATE)
def test_little_or_nothing_to_tell_still_gets_a_board(client, more):
    judgments = ratings(
        **{k: v for k, v in more.items() if k in ("n", "workers", "systems")}
    )
    for name in ("worker", "value"):
        if name in more:
            judgments.rows[name] = more[name]
    about = About(scales={"*": "-1 to 100"})
    row = bring_in(judgments, slug="elsewhere", by=make_user("importer"), about=about)
    assert client.get("/tasks/elsewhere/").status_code == 200
    assert client.get("/tasks/elsewhere/methods/").status_code == 200
    assert_frame_equal(
        judgments_of(row.task).rows.drop(columns="worker"),
        judgments.rows.drop(columns="worker"),
    )


def test_what_cannot_be_imported_is_refused_in_a_sentence():
    by, file = make_user("importer"), file_of("a.csv", b"a")
    bring_in(ratings(n=3), slug="elsewhere", by=by, files=[file])
    make_task("our-own")
    ranks = ratings(n=3)
    ranks.rows["value"] = 500.5
    for judgments, slug, files, code in (
        (ratings(n=3), "elsewhere", [file], "imported-already"),
        (ratings(n=3), "our-own", [], "not-imported"),
        (ratings(n=3), "Not a slug", [], "bad-slug"),
        (ranks, "elsewhere", [], "not-on-the-scale"),
        (Judgments("plain", frame({})), "empty", [], "no-judgments"),
    ):
        with refusal(code):
            bring_in(judgments, slug=slug, by=by, files=files)
    assert Import.objects.count() == 1


def test_a_stopped_import_leaves_nothing():
    def stop(what, done, of):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bring_in(ratings(), slug="elsewhere", by=make_user("importer"), tell=stop)
    assert not Task.own.exists()


def test_metrics_are_computed_of_systems_whose_outputs_are_all_there():
    judgments = ratings(n=3, systems=("red", "blue"))
    for i in range(3):
        judgments.texts.inputs[f"seg{i}"] = {"source": f"Satz {i}"}
        judgments.texts.references[f"seg{i}"] = [f"Sentence number {i}."]
        judgments.texts.outputs["red", f"seg{i}"] = f"Number {i}, a sentence."
    judgments.texts.outputs["blue", "seg0"] = "Sentence."
    row = bring_in(judgments, slug="elsewhere", by=make_user("importer"))
    services.catch_up(row.task)
    for piece in MetricPiece.objects.all():
        services.compute(piece.pk)
    measured = MetricResult.own.values_list("submission__system_name", "metric")
    assert {name for name, _ in measured} == {"red"}
    assert {metric for _, metric in measured} >= {"chrf", "sacrebleu"}

"""Judgments and scores as files: the numbers of the board, and nothing private."""

import csv
import io
import json
import zipfile

import numpy as np
import pytest
from django.core.cache import cache

from crowd.models import Rating
from genie.accounts.throttles import FileThrottle
from leaderboard.metric_board import mtme_files, services
from leaderboard.metric_board.exports import csv_pieces, safe_name, unique_names
from leaderboard.metric_board.mtme_files import DataSet
from leaderboard.metric_board.selectors.downloads import pseudonym
from leaderboard.metric_board.views.downloads import WRITERS
from leaderboard.models import (
    Comparison,
    HumanEvaluation,
    ShownOutput,
    Subject,
    Submission,
    Task,
)
from quality.models import Ban, TestQuestion
from tests.factories import answer, make_item, make_worker
from tests.leaderboard.metric_board.judged import judged_system, measured
from tests.leaderboard.metric_board.test_metrics_of_others import hand_in

FOLDER = "/tasks/tidy-news/metrics/files/"


@pytest.fixture(autouse=True)
def fresh_counts():
    cache.clear()


def get(client, name):
    answered = client.get(FOLDER + name)
    assert answered.status_code == 200
    assert f"tidy-news.{name}" in answered["Content-Disposition"]
    if answered.streaming:
        return b"".join(answered.streaming_content)
    return answered.content


def table(client, name):
    return list(csv.DictReader(io.StringIO(get(client, name).decode())))


def everything(client):
    found = []
    for name in WRITERS:
        if client.get(FOLDER + name).status_code == 404:
            continue  # a file without a line is not sent
        content = get(client, name)
        if name.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                content = b"".join(
                    n.encode() + archive.read(n) for n in archive.namelist()
                )
        found.append(content.decode())
    return "\n".join(found)


@pytest.mark.every_engine
def test_judgments_are_those_that_count(client, world):
    rows = table(client, "judgments.csv")
    assert len(rows) == 6 * 25
    assert {row["system"] for row in rows} == {s.system_name for s in world.systems}
    mean = np.mean([float(r["value"]) for r in rows if r["system"] == "Owl"])
    score = world.systems[-1].scores.get()
    assert 100 * mean == pytest.approx(score.mean)
    assert {row["simulated"] for row in rows} == {"false"}
    lines = [json.loads(x) for x in get(client, "judgments.jsonl").splitlines()]
    assert [line["value"] for line in lines] == [float(row["value"]) for row in rows]


def test_pseudonyms_are_stable_within_a_task_and_tell_nothing(client, world, settings):
    names = [{row["worker"] for row in table(client, "judgments.csv")} for _ in "ab"]
    assert names[0] == names[1]
    assert len(names[0]) == 6
    other = Task(slug="other")
    pk = Rating.own.first().assignment.worker_id
    assert pseudonym(world.task, pk) in names[0]
    assert pseudonym(other, pk) not in names[0]
    settings.SECRET_KEY = "another secret of the site"
    assert pseudonym(world.task, pk) not in names[0]


def test_no_private_system_test_question_or_worker_gets_out(client, world, cast):
    fields = {"team": cast.team, "owner": cast.submitter, "n_judged": 25}
    for name, change in (
        ("Hidden", {"visibility": "PRIVATE"}),
        ("Gone", {"own_state": "WITHDRAWN"}),
        ("Waiting", {"published_at": None}),
    ):
        found = judged_system(world.task, 0.5, rng=world.rng, name=name, **fields)
        measured(found, "chrf", np.full(40, 77.25))
        Submission.objects.filter(pk=found.pk).update(**change)
    Task.own.update(hidden_references=True)
    # a test question, and a worker under a ban, in the campaign of a public system
    campaign = world.systems[0].human_evaluation.campaign
    trap = make_item(campaign, "trap-question")
    worker = make_worker(name="worker-at-the-platform")
    answer(trap, worker, 0.125)
    TestQuestion.objects.create(campaign=campaign, item=trap, polarity="positive")
    metric = hand_in(world, cast.rival, name="Unseen")
    said = everything(client)
    for word in (
        "Hidden",
        "Gone",
        "Waiting",
        "77.25",
        "0.125",
        "trap",
        "at-the-platform",
        "Reference number",
        "Unseen",
        "nina",
    ):
        assert word not in said, word
    assert "Source number" not in everything(client)
    services.publish(metric)
    assert "Unseen (rita)" in get(client, "metric-scores.csv").decode()


def test_a_banned_workers_ratings_are_left_out(client, world):
    evaluation = HumanEvaluation.objects.get(submissions=world.systems[0])
    worker = Rating.objects.filter(item__campaign=evaluation.campaign).first()
    Ban.objects.create(
        pool_id=evaluation.campaign.pool_id,
        worker=worker.assignment.worker,
        reason="careless",
    )
    assert len(table(client, "judgments.csv")) == 5 * 25


def test_scores_are_those_of_the_board(client, world):
    rows = table(client, "metric-scores.csv")
    assert len(rows) == 6 * 3 * 41
    own = world.systems[2].metric_results.get(metric="chrf")
    mine = [r for r in rows if (r["system"], r["metric"]) == ("Wren", "chrf")]
    assert float(mine[0]["value"]) == own.value
    assert [float(r["value"]) for r in mine[1:]] == own.per_instance
    lines = get(client, "metric-scores.jsonl").splitlines()
    assert len(lines) == len(rows)


def test_mt_metrics_evals_layout(client, world):
    with zipfile.ZipFile(io.BytesIO(get(client, "mtme.zip"))) as archive:
        assert set(archive.namelist()) == {
            "tidy-news/documents/en-en.docs",
            "tidy-news/human-scores/en-en.overall.seg.score",
            "tidy-news/human-scores/en-en.overall.sys.score",
            *(
                f"tidy-news/metric-scores/en-en/{metric}.{level}.score"
                for metric in ("chrf-refA", "length-refA", "ter-refA")
                for level in ("seg", "sys")
            ),
        }
        docs = archive.read("tidy-news/documents/en-en.docs").decode().splitlines()
        assert docs[:2] == ["all\ti0", "all\ti1"]
        path = "tidy-news/human-scores/en-en.overall.seg.score"
        seg = archive.read(path).decode().splitlines()
        assert len(seg) == 6 * 40
        assert sum(line.endswith("\tNone") for line in seg) == 6 * 15
        path = "tidy-news/metric-scores/en-en/chrf-refA.sys.score"
        whole = archive.read(path).decode().splitlines()
        assert [line.split("\t")[0] for line in whole] == [
            s.system_name for s in world.systems
        ]
    assert get(client, "mtme.zip") == get(client, "mtme.zip")
    # texts only where the licence lets them be handed on
    Task.own.update(licence="CC BY 4.0")
    with zipfile.ZipFile(io.BytesIO(get(client, "mtme.zip"))) as archive:
        text = archive.read("tidy-news/references/en-en.refA.txt").decode()
        assert text.splitlines()[39] == "Reference number 39."
        assert "tidy-news/sources/en-en.txt" in archive.namelist()


def test_a_torn_document_is_as_many_as_it_has_stretches():
    about = DataSet("t", "de-en", ["a", "b", "a"], outputs={})
    [(path, text)] = mtme_files.data_set(about, [], [])
    assert path == "t/documents/de-en.docs"
    assert text == "all\ta-1\nall\tb-2\nall\ta-3\n"


def test_what_is_downloaded_can_be_handed_in_again(client, world, cast):
    with zipfile.ZipFile(io.BytesIO(get(client, "mtme.zip"))) as archive:
        content = archive.read("tidy-news/metric-scores/en-en/chrf-refA.seg.score")
    again = hand_in(world, cast.rival, content, name="chrF again")
    assert again.file_format == "mtme-seg"
    stored = world.systems[0].metric_results.get(metric="chrf")
    assert again.scores.order_by("pk").first().per_instance == stored.per_instance


@pytest.mark.every_engine
def test_judged_pairs_are_battles(client, world, cast):
    a, b = world.systems[:2]
    # the same judgments as a comparison's
    evaluation = HumanEvaluation.objects.get(submissions=a)
    HumanEvaluation.objects.filter(pk=evaluation.pk).update(
        state="DECIDED", kind="comparison"
    )
    about = {"delta": 0.05, "wave_size": 9, "max_pairs": 9}
    Comparison(evaluation=evaluation, a=a, b=b, **about).save_base(raw=True)
    items = Subject.objects.filter(evaluation=evaluation).order_by("pk")
    for item in items:
        for slot, shown in (("A", a), ("B", b)):
            ShownOutput.objects.create(subject=item, slot=slot, submission=shown)
    lines = [json.loads(x) for x in get(client, "battles.jsonl").splitlines()]
    assert {line["model_a"] for line in lines} == {"Heron"}
    assert {line["model_b"] for line in lines} == {"Kestrel"}
    assert {line["winner"] for line in lines} <= {"model_a", "model_b", "tie"}
    assert lines[0]["judge"].startswith("w-")
    # who stood first is model a, and what was said is of places
    of_first = ShownOutput.objects.filter(subject=items[0])
    of_first.filter(slot="A").update(submission=b)
    of_first.filter(slot="B").update(submission=a)
    turned = [json.loads(x) for x in get(client, "battles.jsonl").splitlines()]
    key = "question_id"
    [before], [after] = (
        [one for one in told if one[key] == items[0].instance.instance_id]
        for told in (lines, turned)
    )
    assert (after["model_a"], after["model_b"]) == ("Kestrel", "Heron")
    assert after["winner"] == before["winner"]
    Submission.objects.filter(pk=b.pk).update(visibility="PRIVATE")
    empty = client.get(FOLDER + "battles.jsonl")
    assert (empty.status_code, b"no results for battles" in empty.content) == (
        404,
        True,
    )


def test_an_empty_task_gives_headers(client, world):
    Submission.own.update(visibility="PRIVATE")
    assert get(client, "judgments.csv").decode().count("\n") == 1
    for name in ("judgments.jsonl", "mtme.zip"):
        assert client.get(FOLDER + name).status_code == 404


def test_other_files_are_not_found(client, world):
    for address in (FOLDER + "secrets.csv", "/tasks/none/metrics/files/mtme.zip"):
        assert client.get(address).status_code == 404
    assert client.post(FOLDER + "mtme.zip").status_code == 405


def test_names_are_safe_and_unique():
    assert safe_name("../a b\t/c||d") == "a_b_c_d"
    assert safe_name("…") == "unnamed"
    assert unique_names({1: "A b", 2: "A_b", 3: "C"}) == {
        1: "A_b-1",
        2: "A_b-2",
        3: "C",
    }
    text = "".join(csv_pieces(("a",), ({"a": f"={n}"} for n in range(4_500))))
    assert text.count("\n") == 4_501
    assert "\n'=0\n" in text


def test_nobody_fetches_files_all_the_time(client, world, client_of, monkeypatch):
    monkeypatch.setattr(FileThrottle, "rate", "2/hour")
    for _ in "ab":
        get(client, "judgments.csv")
    refused = client.get(FOLDER + "judgments.csv")
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= 3600
    get(client_of("rival"), "judgments.csv")

"""The metric board as a visitor sees it."""

import re

import pytest

from genie.lib import jobs
from leaderboard.metric_board import services
from leaderboard.metric_runs import services as runs
from leaderboard.models import MetricBoard, MetricRun, OutsideMetric, Submission
from tests.browser import overflows, violations
from tests.leaderboard.metric_board.conftest import use_metrics
from tests.leaderboard.metric_board.test_metrics_of_others import csv_of

ADDRESS = "/tasks/tidy-news/metrics/"


def page(client, query=""):
    answer = client.get(ADDRESS + query)
    assert answer.status_code == 200
    return answer.text


def test_a_task_without_scores_says_what_will_be_here(client, world):
    assert "No numbers yet" in page(client)


def test_a_board_under_way_and_one_with_too_few_say_so(client, world):
    services.refresh(world.task)
    assert "Computing." in page(client)
    for submission in world.systems[2:]:
        Submission.objects.filter(pk=submission.pk).update(own_state="WITHDRAWN")
    assert services.refresh(world.task) == 0
    assert MetricBoard.objects.first().state == "TOO_FEW"
    assert "Too few systems" in page(client)


def test_a_failed_board_says_so_without_the_reason(client, board):
    MetricBoard.objects.create(
        task=board.task,
        criterion="overall",
        inputs_sha256="x",
        state="FAILED",
        failure="KeyError: secret",
        seed=1,
        code_version="1",
        wanted_at=board.wanted_at.replace(year=2100),
    )
    said = page(client)
    assert "latest computation failed" in said
    assert "secret" not in said
    assert "System level" in said


@pytest.mark.parametrize("by", ["", "kendall"])
def test_with_few_systems_metrics_are_not_ranked_and_the_board_says_why(
    client, world, by
):
    Submission.objects.filter(pk=world.systems[0].pk).update(own_state="WITHDRAWN")
    services.refresh(world.task)
    jobs.drain()
    found = MetricBoard.objects.first()
    assert (found.n_systems, found.payload["rankings"]) == (5, {})

    said = page(client, f"?by={by}")
    assert "Too few systems to rank metrics." in said
    assert "are shown for at least 6 systems" in said
    assert "System level" in said
    # five systems do not bear three decimals
    system_level = said.split("System level")[1].split("</section>")[0]
    assert not re.search(r"[01]\.\d{2}", re.sub(r"<svg.*?</svg>", "", system_level))
    assert "Pearson correlation beyond ±0.88" in said
    for ranked in ("Cluster", "Ranked by", "p-value", "aria-sort", "▼"):
        assert ranked not in said
    body = client.get("/api/v1/tasks/tidy-news/metric-board/").json()
    assert body["rankings"] == {}
    assert "are shown for at least 6 systems" in body["why_not_ranked"]
    assert "beyond ±0.88 in one of 20" in body["caution"]
    assert {line["cluster"] for line in body["metrics"]} == {None}
    assert [line["slug"] for line in body["metrics"]] == ["chrf", "ter"]


def test_pearson_is_tested_by_williams_too(client, board):
    assert "<h3>Williams’ test</h3>" in page(client, "?by=pearson")
    assert "<h3>Williams’ test</h3>" not in page(client, "?by=kendall")
    body = client.get("/api/v1/tasks/tidy-news/metric-board/?by=pearson").json()
    (p,) = [v for row in body["rankings"]["pearson"]["williams"] for v in row if v]
    assert 0 < p < 1
    better, other = body["rankings"]["pearson"]["order"]
    assert body["williams"] == {"better": better, "next": other, "p": p, "n": 6}
    # by whatever metrics are ranked, the sentence says how many systems it rests on
    written = "&lt; .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".")
    assert f"p {written}, 6 systems" in page(client)
    assert "williams" not in body["rankings"]["kendall"]


def test_a_person_is_a_row_where_three_have_rated(client, board):
    assert "One worker" not in page(client)
    url = "/api/v1/tasks/tidy-news/metric-board/"
    assert client.get(url).json()["person"] is None
    cell = {"value": 0.75, "low": 0.6, "high": 0.9, "n": 9}
    board.payload["person"] = {
        "n_raters": 9,
        "n_outputs": 12.0,
        "covers": "which people rated",
        "system": {"pairwise-accuracy": cell},
        "instance": {"calibrated": {**cell, "epsilon": 0.0}},
    }
    board.save()
    said = page(client)
    assert "One worker against the others: pairwise accuracy .75" in said
    assert "the average of 9 with a median of 12 outputs" in said
    body = client.get(url).json()["person"]
    assert (body["n_raters"], body["statistics"]["calibrated"]["low"]) == (9, 0.6)
    table = client.get(f"{ADDRESS}files/agreement.csv")
    lines = b"".join(table.streaming_content).decode().splitlines()
    assert sum(",person,," in line for line in lines) == 2
    rows = client.get(f"{ADDRESS}files/agreement.json").json()
    assert {row["of"] for row in rows} == {"metric", "person"}


@pytest.mark.parametrize("by", ["pearson", "kendall", "calibrated", "tau-14", "odd"])
def test_it_is_ranked_by_what_is_asked_for(client, board, by):
    said = page(client, f"?by={by}&metric=ter&criterion=none")
    assert "TER</bdi> vs. human scores" in said
    expected = "soft-accuracy" if by == "odd" else by
    assert f"by={expected}" in said
    if by == "tau-14":
        assert "No tests between metrics by τ-14" in said


def test_simulated_judgments_are_labelled_everywhere(client, board):
    Submission.own.update(simulated=True)
    services.refresh(board.task)
    jobs.drain()
    said = page(client)
    assert "not rated by people" in said
    assert "judged by people" not in said
    assert "vs. simulated annotators" in said


@pytest.mark.every_engine
@pytest.mark.parametrize("change", ["visibility", "own_state"])
def test_what_is_taken_back_is_gone_at_once(client, board, change):
    values = {"visibility": "PRIVATE", "own_state": "WITHDRAWN"}
    Submission.objects.filter(system_name="Heron").update(**{change: values[change]})
    said = page(client)
    assert "Heron" not in said
    assert "Computing." in said


def test_showing_a_board_computes_nothing_and_asks_little(
    client, board, django_assert_max_num_queries, monkeypatch
):
    monkeypatch.setattr(services, "metric_board", None)
    with django_assert_max_num_queries(14):
        page(client)


@pytest.mark.every_engine
def test_metrics_that_are_not_here_are_named(client, world):
    task = use_metrics(world.task, "chrf", "bleurt", "rougeL")
    runs.catch_up(task)
    said = page(client)
    assert "BLEURT: not computed here" in said
    assert "GENIE_BLEURT_MODEL" not in said
    assert "ROUGE-L: being computed, 0 of 6 batches" in said
    runs.stop(MetricRun.objects.get(metric="rougeL"))
    assert "ROUGE-L: stopped by staff" in page(client)


@pytest.mark.every_engine
def test_hostile_names_stay_text(client, board):
    payload = board.payload
    payload["systems"][0]["name"] = payload["labels"]["chrf"]["label"] = "<script>x"
    MetricBoard.objects.update(payload=payload)
    said = page(client, "?metric=chrf")
    assert "<script>" not in said
    assert "&lt;script&gt;x" in said


def test_an_unknown_task_is_not_found(client, db):
    assert client.get("/tasks/nothing/metrics/").status_code == 404


@pytest.mark.browser
def test_in_a_browser(board, cast, open_page, tmp_path):
    for width, scheme in (("phone", "light"), ("desktop", "dark")):
        found = open_page(ADDRESS, width=width, scheme=scheme)
        assert not overflows(found)
        assert violations(found) == []
        found.locator("table.meta th a", has_text="Pearson").first.click()
        found.wait_for_url("**by=pearson**")
    file = tmp_path / "scores.csv"
    file.write_bytes(csv_of())
    page_ = open_page(ADDRESS + "hand-in/", width="phone", user=cast.rival)
    assert not overflows(page_)
    assert violations(page_) == []
    page_.get_by_label("Name of the metric").fill("MyScore")
    page_.get_by_label("Scores", exact=True).set_input_files(file)
    page_.get_by_role("button", name="Upload").click()
    page_.get_by_text("Only you can see this.").wait_for()
    assert violations(page_) == []
    assert not overflows(page_)
    page_.get_by_role("button", name="Publish").click()
    page_.get_by_text("will appear on the metric board").wait_for()
    assert OutsideMetric.objects.get().published_at


def test_the_systems_board_says_what_is_not_computed_here(client, world):
    task = use_metrics(world.task, "chrf", "bleurt")
    assert "not computed here" not in client.get("/tasks/tidy-news/").text
    runs.catch_up(task)
    said = client.get("/tasks/tidy-news/?columns=all").text
    assert said.count("not computed here") == 6

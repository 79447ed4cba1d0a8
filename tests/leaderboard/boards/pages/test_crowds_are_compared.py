"""One task on two platforms: a page, the API and a command compare its crowds."""

import csv
from datetime import timedelta
from io import StringIO
from unittest.mock import Mock

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone
from django_q.models import OrmQ

from crowd.models import Campaign
from genie.lib import jobs
from leaderboard.boards.selectors.certainty import pools_of
from leaderboard.evaluation.run import REFIT_JOB
from leaderboard.evaluation.services import fit_pieces, platform_crowds, refit
from leaderboard.evaluation.services.refit import refit_board
from leaderboard.jobs import refit_board as refit_job
from leaderboard.models import BoardFit, FitPiece, Submission
from tests.factories import make_task, make_worker
from tests.kept import kept
from tests.leaderboard.boards.pages.judged import judge

PAGE, API = "/tasks/tidy-news/methods/", "/api/v1/tasks/tidy-news/crowds/"


@pytest.fixture
def judged(team, submitter):
    """Three systems on the site, and the same three, under other names, on a panel."""
    return kept("two platforms", lambda: on_two_platforms(team, submitter))


def on_two_platforms(team, submitter):
    task = make_task(n_instances=20, sample_size=20)
    systems = {"Kite": 0.9, "Ox": 0.7, "Elk": 0.3}
    crowds = [[make_worker() for _ in range(6)] for _ in range(2)]
    both = {"owner": submitter, "team": team}
    for place, workers in enumerate(crowds):
        for seed, (name, quality) in enumerate(systems.items()):
            made = judge(
                task,
                quality - 0.2 * place,
                seed=seed + 10 * place,
                system=f"{name}{' again' * place}",
                workers=workers,
                **both,
            )
            rows = Submission.objects.filter(pk=made.pk)
            rows.update(file_sha256=name[0] * 64)
            if place:
                campaigns = Campaign.objects.filter(
                    pk=made.human_evaluation.campaign.pk
                )
                campaigns.update(platform="panel")
    BoardFit.objects.update(inputs_sha256="")
    refit_board(task)
    return task


@pytest.mark.slow
def test_the_same_predictions_on_two_platforms_are_one_system(judged):
    (one,) = pools_of(judged)
    assert {line.system for line in one.comparison.systems} == {"Kite", "Ox", "Elk"}
    assert one.comparison.n_ratings == (60, 60)
    assert one.comparison.n_workers == (6, 6)
    assert one.comparison.correlation.n_systems == 3


def test_systems_of_one_name_are_told_apart(judged):
    Submission.objects.filter(system_name="Elk").update(system_name="Kite")
    (one,) = pools_of(judged)
    assert len({line.system for line in one.comparison.systems}) == 3


def test_page_and_api_show_the_comparison(judged, client):
    assert PAGE in client.get("/tasks/tidy-news/methods/").text
    text = client.get(PAGE).text
    assert "from the same population" in text or "differ" in text
    assert "In 80% of cases" in text
    (one,) = client.get(API).json()["comparisons"]
    assert [crowd["n_ratings"] for crowd in one["crowds"]] == [60, 60]
    assert len(one["systems"]) == 3
    assert 0 < one["population"]["p_value"] <= 1


def test_pages_read_what_the_boards_fit_keeps(judged, client, monkeypatch):
    monkeypatch.setattr(platform_crowds, "compare_crowds", None)
    monkeypatch.setattr(platform_crowds, "ratings_by_platform", None)
    assert "Kite" in client.get(PAGE).text
    assert client.get(API).json()["comparisons"]
    # a fit of an earlier version, until `advance` has made it again
    BoardFit.objects.update(evidence={"overall": {}})
    assert "Scores and ranks of each system in both" not in client.get(PAGE).text


def test_a_fit_is_computed_in_pieces_by_whoever_comes(judged, monkeypatch):
    def current():
        return BoardFit.objects.filter(of=None, superseded_at=None)

    def refitted():
        refit_job(judged.pk)
        again = jobs.queued_jobs() & {(REFIT_JOB, (("pk", judged.pk),))}
        OrmQ.objects.all().delete()
        return not again

    said = ("criteria", "evidence", "weights")
    (at_once,) = current().values(*said)
    current().update(inputs_sha256="")
    before = current().get().pk
    with monkeypatch.context() as killed:
        killed.setattr(
            platform_crowds, "compare_platforms", Mock(side_effect=SystemExit)
        )
        with pytest.raises(SystemExit):
            refit_job(judged.pk)
    assert FitPiece.objects.count() == 2  # weights, and the estimates
    # what another process has done is not done again
    monkeypatch.setattr(fit_pieces, "estimate_board", None)
    monkeypatch.setattr(fit_pieces, "PIECE_SECONDS", -1)
    assert current().get().pk == before
    assert refitted()
    assert current().get().pk != before
    assert list(current().values(*said)) == [at_once]
    assert not FitPiece.objects.exists()
    # old pieces are not gone on with: what is thought of workers has changed
    monkeypatch.undo()
    rows = {"task": judged, "inputs_sha256": refit.inputs_of(judged)}
    FitPiece.objects.create(**rows, name="weights", result={"7": 0.5})
    FitPiece.objects.update(created_at=timezone.now() - timedelta(days=2))
    assert fit_pieces.compute_fit(judged, None, rows["inputs_sha256"]).weights == {}


def test_one_platform_has_no_such_page(judged, client):
    Campaign.own.update(platform="selfhosted")
    BoardFit.objects.update(inputs_sha256="")
    refit_board(judged)
    assert "Scores and ranks of each system in both" not in client.get(PAGE).text
    assert client.get(API).json() == {"task": "tidy-news", "comparisons": []}
    with pytest.raises(CommandError, match="two platforms"):
        call_command("compare_crowds", "tidy-news")
    with pytest.raises(CommandError, match="no task"):
        call_command("compare_crowds", "unknown")


def test_the_command_prints_it(judged):
    out = StringIO()
    call_command("compare_crowds", "tidy-news", stdout=out)
    assert "same population: p = " in out.getvalue()
    assert "correlation of scores" in out.getvalue()


def table(path, *, move, first_worker, seed, systems=("a", "b", "c")):
    rng = np.random.default_rng(seed)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["system", "instance", "worker", "value"])
        for place in range(300):
            worker = place % 15
            value = 50 + 5 * (place % 3) + 3 * (worker % 4) + move
            writer.writerow(
                [
                    systems[place % 3],
                    place // 3 % 50,
                    f"w{first_worker + worker}",
                    round(value + rng.normal(0, 6), 2),
                ]
            )
    return path


def test_two_files_are_two_crowds(tmp_path):
    first = table(tmp_path / "a.csv", move=0, first_worker=0, seed=1)
    second = table(tmp_path / "b.csv", move=9, first_worker=50, seed=2)
    out = StringIO()
    call_command("compare_crowds", str(first), str(second), stdout=out)
    lines = out.getvalue().splitlines()
    assert lines[0] == "Ratings: a.csv and b.csv"
    assert sum("[+" in line for line in lines) == 3
    p = next(line for line in lines if "same population" in line)
    assert float(p.split("p = ")[1].split()[0]) < 0.01
    again = StringIO()
    call_command("compare_crowds", str(first), str(second), stdout=again)
    assert again.getvalue() == out.getvalue()


def test_files_that_cannot_be_compared_are_refused(tmp_path):
    first = table(tmp_path / "a.csv", move=0, first_worker=0, seed=1)
    other = table(
        tmp_path / "b.csv", move=0, first_worker=0, seed=1, systems=("x", "y", "z")
    )
    with pytest.raises(CommandError, match="no system in common"):
        call_command("compare_crowds", str(first), str(other))
    negative = table(tmp_path / "c.csv", move=-80, first_worker=9, seed=1)
    with pytest.raises(CommandError, match="above 0"):
        call_command("compare_crowds", str(first), str(negative), "--scale", "log")
    with pytest.raises(CommandError, match="two files"):
        call_command("compare_crowds", "a", "b", "c")

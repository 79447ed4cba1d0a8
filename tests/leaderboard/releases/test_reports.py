"""A report has what a paper needs of a task, on one page and in one archive."""

import io
import zipfile

import pytest
from django.urls import reverse

from crowd.models import Assignment
from leaderboard.models import Submission
from leaderboard.releases import bundle
from leaderboard.releases.rebuilding.rebuild import rebuild
from quality.models import Ban
from tests.factories import make_task, make_worker
from tests.kept import kept
from tests.leaderboard.boards.pages.judged import judge


@pytest.fixture
def task():
    return make_task("tidy-news", n_instances=20, sample_size=20)


@pytest.fixture
def two(task, team, submitter):
    def judged():
        workers = [make_worker(name=f"secret-{n}") for n in range(3)]
        who = {"workers": workers, "owner": submitter, "team": team}
        judge(task, 0.7, system="Kite_1 | <b>", **who)
        judge(task, 0.2, system="Egret", **who)
        return judge(task, 0.9, system="Hidden", visibility="PRIVATE", **who)

    kept("two", judged)


def address(task):
    return reverse("admin:leaderboard_task_report", args=[task.pk])


def text_of(client, task):
    return client.get(address(task)).text


def test_a_simulation_says_everywhere_that_nobody_was_paid(
    client_of, task, two, tmp_path
):
    Submission.own.update(simulated=True)
    text = text_of(client_of("superuser"), task)
    assert "3 simulated annotators (programs) rated" in text
    assert "not paid" in text
    assert "workers were paid" not in text
    assert "Paid to workers" not in text
    assert "Simulated accounts" in text
    answer = client_of("superuser").post(address(task))
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as packed:
        packed.extractall(tmp_path)
    folder = tmp_path / task.slug
    costs = (folder / "costs.csv").read_text().splitlines()
    assert costs[0] == (
        "system,simulated,paid_to_workers_usd,platform_fees_usd,booked_in_simulation_usd"
    )
    assert all(",yes,0.00,0.00," in line for line in costs[1:])
    for name in ("ethics.md", "README.md", "methods.txt"):
        assert "not paid" in (folder / name).read_text()
    cards = [path.read_text() for path in (folder / "cards").glob("*.md")]
    assert all("not paid" in text for text in cards)
    for path in folder.glob("*.md"):
        assert "paid to workers: $" not in path.read_text()


def test_an_empty_board_has_no_report(client_of, task):
    assert "No human results yet" in text_of(client_of("superuser"), task)
    client = client_of("superuser")
    assert client.post(address(task))["Content-Type"].startswith("text/html")


def test_why_there_is_no_archive_yet_is_said_on_the_page(client_of, task, two):
    # one who rated is excluded, and the scores are not computed again yet
    worker = Assignment.own.filter(state="APPROVED").first().worker
    Ban.objects.create(worker=worker, pool_id=task.slug, reason="careless")
    text = client_of("superuser").post(address(task)).text
    assert "about to be rescored" in text
    assert "3 workers rated" in text


def test_the_archive_has_all_that_computes_scores_again(client_of, task, two, tmp_path):
    answer = client_of("superuser").post(address(task))
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as packed:
        packed.extractall(tmp_path)
        names = packed.namelist()
    folder = tmp_path / task.slug
    assert {
        f"{task.slug}/table.{form}" for form in ("tex", "md", "csv", "json", "bib")
    } <= (set(names))
    assert (folder / "methods.txt").read_text().startswith("3 workers rated")
    assert (folder / "figure.svg").read_text().startswith("<svg")
    costs = (folder / "costs.csv").read_text()
    assert "Egret,no," in costs
    assert "python manage.py" not in (folder / "README.md").read_text()
    ethics = (folder / "ethics.md").read_text()
    assert "- workers: 3, of whom 0 excluded" in ethics
    assert "Approval by a research ethics committee: for the authors" in ethics
    assert len(list((folder / "cards").glob("*.md"))) == 2
    everything = "".join(
        path.read_text() for path in folder.rglob("*") if path.is_file()
    )
    assert "secret-" not in everything
    assert bundle.check(folder / "data") > 5
    assert rebuild(folder / "data").n_same["scores"] > 2

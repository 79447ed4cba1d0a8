"""The evaluation card says what is stored, to those who may see the scores."""

import shutil
import subprocess
from datetime import timedelta

import pytest
from django.utils import timezone

from crowd.models import Campaign, QualificationTest
from leaderboard.models import Submission, Task
from tests.factories import make_metrics, make_ranked, make_submission, make_worker
from tests.leaderboard.boards.pages.judged import judge


@pytest.fixture
def kite(task, who):
    workers = [make_worker(name=f"secret-{n}") for n in range(3)]
    made = judge(
        task, 0.7, system="Kite_1 [x](http://a) \\& | <b>", workers=workers, **who
    )
    make_metrics(made, sacrebleu=31.25)
    return made


def fetched(client, submission, form):
    return client.get(f"/submissions/{submission.pk}/card.{form}")


def test_the_seed_of_the_sample_is_told_only_once_nobody_is_asked(client, kite, task):
    Task.objects.filter(pk=task.pk).update(sample_seed=987654321987)
    seed = b"987654321987"
    every = ("card.json", "card.md", "card.tex", "card/")

    def telling(*forms):
        pages = [client.get(f"/submissions/{kite.pk}/{form}") for form in forms]
        assert {page.status_code for page in pages} == {200}
        return {seed in page.content for page in pages}

    assert telling(*every) == {True}
    for state in ("SCHEDULED", "RUNNING", "PAUSED"):
        Campaign.objects.filter(pool=task.slug).update(state=state)
        assert telling("card.json") == {False}
    assert telling(*every) == {False}
    Campaign.objects.filter(pool=task.slug).update(state="COMPLETE")
    assert telling("card.json") == {True}
    test = QualificationTest.objects.create(
        name="tidy", pool_id=task.slug, title="Tidy", state="PUBLISHED", seed=1
    )
    assert telling("card.json") == {False}
    QualificationTest.objects.filter(pk=test.pk).update(state="RETIRED")
    make_submission(
        task, state="APPROVED", system="Next", owner=kite.owner, team=kite.team
    )
    assert telling("card.json") == {False}


def test_a_second_request_is_short(client, kite, django_assert_max_num_queries):
    tag = fetched(client, kite, "json")["ETag"]
    with django_assert_max_num_queries(5):
        again = client.get(
            f"/submissions/{kite.pk}/card.json", headers={"If-None-Match": tag}
        )
    assert again.status_code == 304
    kite.system_name = "Red Kite"
    kite.save()
    assert b"Red Kite" in fetched(client, kite, "json").content


def test_no_form_of_it_names_a_worker(client, kite):
    for form in ("json", "md", "tex"):
        assert b"secret-" not in fetched(client, kite, form).content
    page = client.get(f"/submissions/{kite.pk}/card/").content
    assert b"secret-" not in page


def test_markdown_and_latex_hold_whatever_a_name_has(client, kite, tmp_path):
    markdown = fetched(client, kite, "md").content.decode()
    latex = fetched(client, kite, "tex").content.decode()

    assert "[x](http" not in markdown
    assert r"Kite\_1 [x](http://a) \textbackslash{}\&" in latex
    assert latex.count("{") == latex.count("}")
    if shutil.which("pdflatex"):
        (tmp_path / "c.tex").write_text(
            "\\documentclass{article}\\usepackage{booktabs}\\usepackage[T1]{fontenc}"
            f"\\begin{{document}}{latex}\\end{{document}}"
        )
        subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "c.tex"],
            cwd=tmp_path,
            check=True,
            capture_output=True,
        )


def test_programs_that_played_workers_are_named_so(client, task, read, who):
    robot = judge(
        task,
        0.5,
        system="Robot",
        simulated=True,
        workers=[make_worker(simulated=True)],
        **who,
    )
    assert (
        "simulated annotators (programs)"
        in fetched(client, robot, "md").content.decode()
    )
    assert "Simulated: not rated by people" in read(
        client.get(f"/submissions/{robot.pk}/card/")
    )


def test_an_anonymous_team_is_in_no_card(client, client_of, kite, team):
    Submission.objects.filter(pk=kite.pk).update(
        anonymous_until=timezone.localdate() + timedelta(days=2)
    )
    assert team.name not in fetched(client, kite, "json").content.decode()
    assert team.name in fetched(client_of("submitter"), kite, "json").content.decode()


def test_who_may_not_see_the_scores_gets_no_card(client, client_of, kite, task, who):
    private = make_ranked(task, 70, visibility="PRIVATE", **who, system="Secret")
    waiting = make_submission(task, state="MEASURED", **who)
    for path in ("card/", "card.json"):
        assert client.get(f"/submissions/{private.pk}/{path}").status_code == 404
        assert client.get(f"/submissions/{waiting.pk}/{path}").status_code == 404
        own = client_of("team_mate").get(f"/submissions/{private.pk}/{path}")
        assert own.status_code == 200
    assert fetched(client, kite, "pdf").status_code == 404
    Submission.objects.filter(pk=kite.pk).update(own_state="WITHDRAWN")
    assert fetched(client, kite, "json").status_code == 404

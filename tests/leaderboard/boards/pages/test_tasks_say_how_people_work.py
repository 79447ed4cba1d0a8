"""A task's page shows the work itself and what quality control found; staff see money."""

import pytest

from crowd.hit_templates import all_templates
from crowd.models import Budget, QualificationTest, Requirement
from leaderboard.tasks.services.load import load_task
from leaderboard.tasks.shipped import known_tasks
from quality.models import Ban, Grade, TestQuestion
from tests.factories import (
    answer,
    make_evaluation,
    make_item,
    make_submission,
    make_task,
    make_worker,
)

ABOUT = "/tasks/tidy-news/methods/"


def test_the_example_of_the_real_template_is_shown(client, task, read):
    template = all_templates()["summarization"]
    said = read(client.get(ABOUT))
    assert "An example HIT" in said
    assert template.example["prediction"][:40] in said
    assert task.human.criteria["overall"] in said
    assert "strongly agree" in said.lower()


def test_the_guidelines_stand_below_the_headings_of_the_page(client, task):
    page = client.get(ABOUT).content.decode()
    assert page.count("<h1") == 1
    assert "<h3>Judging summaries</h3>" in page


def test_quality_control_is_told_in_figures_of_people_and_programs_apart(
    client, task, read, who
):
    assert "No test questions answered yet." in read(client.get(ABOUT))
    submission = make_submission(task, **who, state="ANNOTATING")
    campaign = make_evaluation(submission).campaign
    people, program = make_worker(name="secret-worker"), make_worker(simulated=True)
    for n, (worker, correct) in enumerate(
        [(people, True), (people, False), (program, True)]
    ):
        item = make_item(campaign, f"question {n}")
        test_question = TestQuestion.objects.create(
            campaign=campaign, item=item, polarity="POSITIVE"
        )
        Grade.objects.create(
            test_question=test_question,
            assignment=answer(item, worker),
            worker=worker,
            pool_id=task.slug,
            polarity="POSITIVE",
            correct=correct,
        )
    Ban.objects.create(worker=people, pool_id=task.slug, reason="careless")

    said = read(client.get(ABOUT))

    assert (
        "1 rater answered 2 test questions, 1 of them (50.0%) incorrectly, and 1 is"
        in said
    )
    assert "simulated So far: 1 rater answered 1 test question, 0 of them" in said
    assert "secret-worker" not in said


def test_what_workers_need_is_said(client, task, read):
    assert "No qualification test is required" in read(client.get(ABOUT))
    QualificationTest.objects.create(
        name="careful",
        pool_id=task.slug,
        title="Careful reading",
        state="PUBLISHED",
        seed=1,
    )
    for fields in (
        {"kind": "TEST", "test_name": "careful"},
        {"kind": "APPROVED", "at_least": 500},
        {"kind": "COUNTRY", "countries": "GB US"},
    ):
        Requirement.objects.create(pool_id=task.slug, **fields)
    said = read(client.get(ABOUT))
    assert "“Careful reading”: 80% of its questions, 2 attempts, 24 hours" in said
    assert "at least 500 approved HITs" in said
    assert "lives in one of: GB US" in said


@pytest.mark.parametrize("slug", ["demo-qa", "demo-translation"])
def test_every_demo_task_shows_its_work(client, db, slug):
    assert slug in known_tasks()
    load_task(slug)
    assert b"An example HIT" in (client.get(f"/tasks/{slug}/methods/").content)


def test_staff_see_campaigns_and_money_first(client_of, task, read, who):
    submission = make_submission(task, **who, state="ANNOTATING")
    campaign = make_evaluation(submission).campaign
    Budget.objects.create(pool_id=task.slug, limit_cents=50_000)

    said = read(client_of("superuser").get("/admin/"))

    assert f"{campaign.title} running 0 of 3 – – $0.00 of $1,000.00" in said
    assert "Tidy news $0.00 $500.00 $500.00" in said


def test_a_task_of_no_kind_does_not_look_free_of_charge(client):
    make_task("ours", kind="free")
    make_task("news", kind="summarization")
    tasks = client.get("/tasks/").text
    assert "Summarization" in tasks
    assert ">Free<" not in tasks
    assert "/ Free" not in client.get("/tasks/ours/").text

"""A qualification test is drawn from what nobody judges, and campaigns require it."""

from dataclasses import replace

import pytest

from crowd.models import Item, QualificationTest, Requirement, WorkerRecord
from crowd.workers.selectors.eligible import campaigns_for
from crowd.workers.selectors.requirements import inputs_of_tests
from genie.lib.errors import GenieError
from leaderboard.designs.base import content_key
from leaderboard.evaluation.services import qualification
from leaderboard.models import Instance
from leaderboard.tasks.services.inputs import instances_for_tests
from quality.models import TestQuestion
from tests.crowd.making import make_worker
from tests.crowd.workers.qualifications.making import take
from tests.factories import (
    make_task,
    make_user,
)
from tests.leaderboard.evaluation.hidden.conftest import launch

RULES = {"n": 4, "pass_percent": 75, "n_tries": 3}


def task_with(n=40, sample_size=20, **human):
    task = make_task(n_instances=n, sample_size=sample_size)
    task.config["human"] |= human
    task.save()
    return task


def keys(task, instances):
    return {content_key(task.slug, one.instance_id) for one in instances}


@pytest.fixture
def task():
    return task_with()


def test_the_questions_are_half_right_and_half_wrong_and_nobody_judges_them(task):
    test = qualification.draw_test(task, 6, rules={"n_tries": 3})
    questions = list(test.questions.all())
    assert [q.expected["good"] for q in questions].count(True) == 3
    assert (test.state, test.name, test.pool_id) == ("DRAFT", task.slug, task.slug)
    assert test.n_tries == 3
    unjudged = task.instances.filter(sample_rank__gte=20)
    assert {q.content_key for q in questions} <= keys(task, unjudged)
    assert len({q.content_key for q in questions}) == 6
    references = dict(Instance.own.values_list("instance_id", "references"))
    by_key = {content_key(task.slug, name): texts for name, texts in references.items()}
    for one in questions:
        own = one.data["prediction"] in by_key[one.content_key]
        assert own is one.expected["good"]


def test_the_seed_is_the_sites_own_and_stored(task, settings):
    first = qualification.draw_test(task, 4)
    again = qualification.draw_test(task, 4, seed=first.seed)

    def shown(test):
        return [q.data["prediction"] for q in test.questions.all()]

    assert again.version == 2
    assert sorted(shown(again)) == sorted(shown(first))
    settings.SECRET_KEY = "of another site"
    elsewhere = qualification.draw_test(task, 4)
    assert elsewhere.seed not in {first.seed, again.seed}


def test_test_questions_of_campaigns_are_made_of_other_inputs(task):
    def of_campaigns(n, **human):
        human = replace(task.human, test_questions="references", **human)
        return keys(task, instances_for_tests(task, human, 7, n=n))

    qualification.draw_test(task, 6)
    shown = inputs_of_tests(task.slug)
    assert len(shown) == 6
    judged = keys(task, task.instances.filter(sample_rank__lt=20))
    assert of_campaigns(10) == judged
    # where one worker has everything: from outside the sample, and not of the test
    outside = of_campaigns(10, workers=1)
    assert len(outside - judged) == 14
    assert not shown & outside


@pytest.mark.parametrize(("n", "code"), [(1, "too-few-questions"), (21, "too-few-references")])  # fmt: skip
def test_a_test_that_cannot_be_drawn_is_refused(task, n, code):
    with pytest.raises(GenieError) as refusal:
        qualification.draw_test(task, n)
    assert refusal.value.code == code
    assert not QualificationTest.own.exists()


def test_instances_without_a_reference_are_not_asked(task):
    task.instances.filter(sample_rank__gte=24).update(references=[" "])
    with pytest.raises(GenieError, match="has 4 instances"):
        qualification.draw_test(task, 5)
    assert qualification.draw_test(task, 4).questions.count() == 4


def test_a_design_with_two_outputs_is_drawn_as_pairs():
    task = task_with(
        design="preference",
        scale="preference-5",
        hit_template="preference-summarization",
        criteria={"overall": "Which is better?"},
    )
    test = qualification.draw_test(task, 6)
    slots = [q.expected["slot"] for q in test.questions.all()]
    assert (len(slots), set(slots) <= {"A", "B"}) == (6, True)


def test_a_configured_test_is_drawn_once_published_and_required():
    task = task_with(
        qualification_test=RULES, requirements={"approved": 0, "countries": ["US"]}
    )
    _, campaign = launch(task)
    test = QualificationTest.own.get()
    assert (test.state, test.pass_percent, test.questions.count()) == ("PUBLISHED", 75, 4)  # fmt: skip
    kinds = campaign.requirements.values_list("kind", flat=True)
    assert set(kinds) == {"APPROVED", "COUNTRY", "TEST"}
    hidden = Item.objects.filter(pk__in=TestQuestion.own.values("item"))
    assert not inputs_of_tests(task.slug) & set(
        hidden.values_list("content_key", flat=True)
    )
    launch(task, "Gull")
    assert QualificationTest.own.count() == 1
    worker = make_worker(task.slug)
    WorkerRecord.objects.create(worker=worker, country="US")
    assert campaigns_for(worker) == []
    take(worker, name=task.slug)
    assert len(campaigns_for(worker)) == 2


def test_a_task_that_asks_for_nothing_requires_nothing(task):
    launch(task)
    assert not QualificationTest.own.exists()
    assert not Requirement.own.exists()


def test_staff_draw_a_test_by_a_button(task, client):
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    page = "/admin/leaderboard/task/"
    sent = {"action": "draw_test_selected", "_selected_action": [task.pk]}
    asked = client.post(page, sent)
    assert "the other half another instance" in asked.text
    rules = {"n": 4, "n_asked": 2, "pass_percent": 100, "n_tries": 1, "wait_hours": 0}
    drawn = client.post(page, {**sent, **rules, "confirmed": "yes"}, follow=True)
    assert drawn.redirect_chain[-1][0] == "/admin/crowd/qualificationtest/"
    test = QualificationTest.own.get()
    assert f"Drawn: {test}." in drawn.text
    assert (test.n_asked, test.pass_percent, test.state) == (2, 100, "DRAFT")
    many = {**sent, **rules, "n": 50, "confirmed": "yes"}
    assert "has 20 instances" in client.post(page, many, follow=True).text


def test_true_is_configuration_enough():
    task = task_with(qualification_test=True)
    assert qualification.ensure(task) == task.slug
    assert QualificationTest.own.get().questions.count() == 8
    assert qualification.ensure(task) == task.slug
    assert QualificationTest.own.count() == 1

"""Workers read what their job is: a task's summary says what systems do."""

from dataclasses import replace

import pytest
from django.test import Client

from crowd import hit_templates
from leaderboard.tasks.services.configuration import hit_type_of
from tests.crowd.making import make_campaign, make_worker
from tests.factories import make_task, make_user

SYSTEMS_JOB = "Translate sentences that were written in German into English."


@pytest.mark.parametrize("slug", hit_templates.all_templates())
def test_each_template_says_the_job_in_each_of_its_languages(slug):
    task = make_task("de-en", summary=SYSTEMS_JOB)
    template = hit_templates.get(slug)
    for language in ("en", *template.words):
        human = replace(task.human, hit_template=slug, language=language)
        words = template.words.get(language, template)
        kind = hit_type_of(task, human, human.criteria)
        assert kind.description == words.description
        assert kind.title == f"Rate texts: {task.title}"


def test_home_tells_workers_of_two_tasks_their_own_jobs(client: Client):
    worker = make_worker("de-en", "news", user=make_user("sam"))
    for slug, template in (("de-en", "translation"), ("news", "summarization")):
        task = make_task(slug, title=slug, summary=SYSTEMS_JOB)
        human = replace(task.human, hit_template=template)
        kind = hit_type_of(task, human, human.criteria)
        make_campaign(pool=slug, hit_type=kind)
    client.force_login(worker.user)
    text = client.get("/work/").text
    for template in ("translation", "summarization"):
        assert hit_templates.get(template).description in text
    assert SYSTEMS_JOB not in text

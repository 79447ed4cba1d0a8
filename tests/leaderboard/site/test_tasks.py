"""What a task's pages tell of it."""

import re

from leaderboard.boards.views import tasks
from leaderboard.site import views
from tests.each import each
from tests.factories import make_ranked, make_submission, make_task


def test_all_tasks_are_listed_those_with_results_first_demonstrations_last(
    client, team, submitter
):
    make_task("demo-a", title="A demonstration", demo=True)
    waiting = make_task("real-y", title="Yak reports")
    make_submission(waiting, team=team, owner=submitter)
    for title, visibility in (("Zebra reports", "PUBLIC"), ("Zoo reports", "PRIVATE")):
        who = {"team": team, "owner": submitter, "visibility": visibility}
        make_ranked(make_task(title[:3].lower(), title=title), 60, **who)

    html = client.get("/tasks/").content.decode()

    titles = ["Zebra reports", "Yak reports", "Zoo reports", "A demonstration"]
    assert sorted(titles, key=html.index) == titles


def test_many_tasks_are_paged_and_found_by_name_and_kind(
    client, without_decoys, monkeypatch
):
    monkeypatch.setattr(tasks, "CARDS", 2)
    monkeypatch.setattr(views, "CARDS", 2)
    for name in ("anemone", "beetle", "cuckoo"):
        make_task(name, title=name.title(), kind="translation")
    make_task("dormouse", title="Dormouse", kind="summarization", demo=True)

    def titles(query=""):
        answer = client.get(f"/tasks/{query}")
        return answer, re.findall(r'<h3><a href="/tasks/[^"]+">(\w+)', answer.text)

    first, shown = titles()
    assert shown == ["Anemone", "Beetle"]
    assert 'href="?page=2"' in first.text
    assert titles("?page=2")[1] == ["Cuckoo", "Dormouse"]
    assert titles("?page=3")[0].status_code == 404
    assert titles("?q=O%00U")[1] == ["Dormouse"]
    found, shown = titles("?kind=translation&page=2")
    assert shown == ["Cuckoo"]
    assert 'href="?kind=translation&amp;page=1"' in found.text
    assert "No benchmark task is loaded" not in titles("?q=<b>")[0].text
    assert 'value="&lt;b&gt;"' in titles("?q=<b>")[0].text
    assert len(titles("?kind=none")[1]) == 2
    assert "All 4 tasks" in client.get("/").text


@each("template", ["no-such-template", "../../../etc", ""])
def test_a_task_without_instructions_has_an_about_page(client, db, template, read):
    task = make_task()
    task.config["human"]["hit_template"] = template
    task.save()

    words = read(client.get("/tasks/tidy-news/methods/"))

    assert "What were raters asked?" in words
    assert "Guidelines for raters" not in words


def test_a_task_with_the_least_configuration_has_pages(client, db):
    make_task(
        config={
            "fields": {},
            "metrics": {},
            "human": {
                "design": "direct-assessment",
                "scale": "likert-5",
                "hit_template": "",
                "sample_size": 1,
                "reward_cents": 1,
                "criteria": {},
            },
            "quota": {},
        },
        n_instances=0,
    )

    for page in ("", "methods/"):
        assert client.get(f"/tasks/tidy-news/{page}").status_code == 200


def test_how_it_works_states_the_sites_own_figures(client, db, read, settings):
    settings.GENIE = {
        **settings.GENIE,
        "MINIMUM_HOURLY_CENTS": 1775,
        "BAN_THRESHOLD": 0.97,
        "BOOTSTRAP_RESAMPLES": 12_345,
    }

    words = read(client.get("/how-it-works/"))

    for told in ("$17.75 an hour", "exceeds 0.97", "12,345 times"):
        assert told in words

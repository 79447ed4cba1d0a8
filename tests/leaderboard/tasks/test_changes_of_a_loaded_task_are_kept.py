"""What changes of a loaded task is kept with who and when; scores never mix."""

import copy
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from genie.lib.errors import GenieError
from leaderboard.evaluation import decide
from leaderboard.models import HumanEvaluation, Task
from leaderboard.tasks import shipped
from leaderboard.tasks.services.load import load_definition
from tests.factories import make_ranked, make_team, make_user, tell


@pytest.fixture
def boss():
    return make_user("boss", is_staff=True, is_superuser=True)


@pytest.fixture
def load(boss):
    def load(**human):
        document = copy.deepcopy(shipped.definition("demo-qa"))
        document |= human.pop("top", {})
        document["human"] |= human
        folder = shipped.folder("demo-qa")
        return load_definition("demo-qa", document, folder, by=boss).task

    return load


def test_each_change_is_kept_with_who_and_what(load, boss):
    load()
    load()
    load(reward_cents=7, top={"title": "Other words"})
    first, second = Task.own.get().revisions.all()
    assert (first.number, first.by, first.changes) == (1, boss, {})
    assert second.by == boss
    assert second.changes == {
        "title": ["School Science (demo)", "Other words"],
        "human.reward_cents": [5, 7],
    }
    assert Task.own.get().human.reward_cents == 7


def test_what_is_said_as_it_was_understood_is_no_change(load):
    task = load()
    load(ratings_per_instance=1, canary=False)
    assert task.revisions.count() == 1


def test_before_anybody_was_asked_everything_may_change(load):
    load()
    task = load(criteria={"overall": "Is it true?"})
    assert list(task.human.criteria.values()) == ["Is it true?"]
    assert list(task.revisions.last().changes) == ["human.criteria"]


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"criteria": {"overall": "Is it true?"}}, "human.criteria"),
        ({"design": "slider", "scale": "slider-100"}, "human.design, human.scale"),
        ({"top": {"fields": {"q": "Question"}, "source": {"field": ""}}}, "fields"),
        ({"top": {"output_format": "code"}}, "output_format"),
    ],
    ids=["criteria", "scale", "fields", "format"],
)
def test_afterwards_nothing_that_scores_depend_on(load, boss, change, key):
    task = load()
    make_ranked(task, 70, team=make_team("Team", boss), owner=boss)
    assert HumanEvaluation.objects.filter(task=task).exists()
    with pytest.raises(GenieError, match=key) as refused:
        load(**change)
    assert refused.value.code == "incomparable"
    assert Task.own.get().config == task.config
    assert task.revisions.count() == 1
    load(reward_cents=9)
    assert task.revisions.count() == 2


def test_nor_while_a_withdrawn_result_may_come_back(load, boss):
    task, changed = load(), {"criteria": {"overall": "Is it true?"}}
    kite = make_ranked(task, 70, team=make_team("Team", boss), owner=boss)
    decide.withdraw(kite, by=boss, reason="")
    with pytest.raises(GenieError, match=r"human\.criteria"):
        load(**changed)
    kite.events.update(at=timezone.now() - timedelta(days=2))
    tell(kite, "MEASURED", "Something was added later.")
    load(**changed)
    with pytest.raises(GenieError, match="less than a day ago"):
        decide.restore(kite, by=boss)


@pytest.mark.parametrize("strategy", ["comparison", "joint"])
def test_of_several_systems_at_once_as_well(load, boss, strategy):
    def table(**says):
        return load(top={strategy: {"criteria": {"overall": "Which?"}, **says}})

    task = table()
    changed = {"criteria": {"overall": "Which one is shorter?"}}
    # nobody has been asked in this way yet, whoever was asked in another
    make_ranked(task, 70, team=make_team("Team", boss), owner=boss)
    table(**changed)
    table()
    HumanEvaluation.objects.create(
        task=task,
        kind=strategy,
        state=HumanEvaluation.State.ANNOTATING,
        n_instances=1,
        seed=1,
        requested_by=boss,
    )
    for change in (changed, {"allow_tie": True}):
        with pytest.raises(GenieError, match=f"{strategy}.{next(iter(change))}"):
            table(**change)
    table(canary=True)
    assert list(task.revisions.last().changes) == [f"{strategy}.canary"]


def test_staff_read_it_on_the_tasks_page(load, boss, client):
    load()
    task = load(reward_cents=7)
    client.force_login(boss)
    page = client.get(reverse("admin:leaderboard_task_change", args=[task.pk]))
    assert "human.reward_cents: 5 → 7" in page.content.decode()

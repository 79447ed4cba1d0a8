"""People get the instances on which judges disagree: drawn with known chances, undone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from django.urls import reverse

from crowd.models import Campaign
from genie.lib.errors import GenieError
from leaderboard.boards.selectors.weights import weighted_rows
from leaderboard.designs.unit import Unit
from leaderboard.evaluation.estimates import estimate_board, plain_intervals
from leaderboard.evaluation.selectors.board_ratings import (
    board_ratings,
    board_scores,
    current_fit,
    evaluations_of,
)
from leaderboard.evaluation.services.joint import request as ask_for_joint
from leaderboard.judges.services import choose, define
from leaderboard.models import DrawnTests, InstanceChoice, JudgeRun
from leaderboard.releases import bundle
from leaderboard.releases.make import make as make_release
from leaderboard.releases.rebuilding.rebuild import rebuild
from leaderboard.stats.judges.choosing import choose_instances, disagreement
from leaderboard.stats.systems.chances import weighted_interval, weighted_systems
from leaderboard.tasks.services import revisions
from tests.factories import (
    make_evaluation,
    make_task,
    make_team,
    make_user,
    make_worker,
)
from tests.leaderboard.boards.pages.judged import judge
from tests.leaderboard.judges.conftest import add_system, approved, worked


@pytest.fixture
def staff(db):
    return make_user("anna", is_staff=True, is_superuser=True)


@pytest.fixture
def runs(db):
    """Give two finished runs of judges that disagree on the second half of a task."""
    task = make_task(n_instances=40, sample_size=10)
    human(task, estimate="plain")
    add_system(task, "Kite", lambda at: f"Text {at}.")
    return [answered(task, "words", 0), answered(task, "likes-long", 1)]


def answered(task, script, which):
    made = {"endpoint": "scripted", "model": script}
    judge = define.make(script, "1", made, per_minute=0)
    run = worked(approved(judge, task, n_instances=task.n_instances))
    for call in run.calls.select_related("instance"):
        at = call.instance.position
        level = at % 4 / 4
        call.values = {"overall": level if at < 20 or not which else (at * 7 % 5) / 5}
        call.save()
    return run


def sample_of(task):
    rows = task.instances.filter(sample_rank__lt=task.sample_size)
    return sorted(rows.values_list("position", flat=True))


def test_the_draw_is_stored_repeatable_and_can_be_undone(runs, staff):
    task = runs[0].task
    before = list(
        task.instances.order_by("position").values_list("sample_rank", flat=True)
    )
    choice = choose.choose(runs, "overall", by=staff, because="They are dear.")
    chances = np.array(
        task.instances.order_by("position").values_list("propensity", flat=True)
    )
    assert chances.sum() == pytest.approx(10)
    assert chances[20:].mean() > 1.2 * chances[:20].mean()
    ranks = task.instances.values_list("sample_rank", flat=True)
    assert sorted(ranks) == list(range(40))
    assert (choice.n, choice.by, choice.because) == (10, staff, "They are dear.")
    assert set(choice.runs.all()) == set(runs)
    first = sample_of(task)
    with pytest.raises(GenieError, match="chosen already"):
        choose.choose(runs, "overall", by=staff, because="Again.")
    assert choose.undo(choice, by=staff, because="No.")
    now = list(
        task.instances.order_by("position").values_list("sample_rank", flat=True)
    )
    assert now == before
    assert not task.instances.exclude(propensity=None).exists()
    assert not choose.undo(choice, by=staff, because="No.")
    again = choose.choose(runs, "overall", by=staff, because="Yes.")
    # nobody draws until they like it
    assert (again.seed, sample_of(task)) == (choice.seed, first)
    assert InstanceChoice.objects.filter(task=task).count() == 2


def test_what_was_drawn_of_test_questions_is_drawn_anew(runs, staff):
    evaluation = runs[0].task.submissions.get().human_evaluation
    DrawnTests.objects.create(
        evaluation=evaluation, campaign_key="k", asked_how="x", n_wanted=1
    )
    choose.choose(runs, "overall", by=staff, because="Yes.")
    assert not DrawnTests.objects.exists()


def test_nothing_is_drawn_or_undone_once_people_were_asked(runs, staff):
    choice = choose.choose(runs, "overall", by=staff, because="Yes.")
    make_evaluation(runs[0].task.submissions.first())
    with pytest.raises(GenieError, match="people have been asked"):
        choose.undo(choice, by=staff, because="No.")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda task, runs: make_evaluation(task.submissions.first()), "been asked"),
        (lambda task, runs: setting(task, imported=True), "judged elsewhere"),
        (lambda task, runs: runs.pop(), "two judges"),
        (lambda task, runs: runs.append(runs[0]), "another judge"),
        (lambda task, runs: unfinished(runs[1]), "not over"),
        (
            lambda task, runs: runs[1].calls.filter(instance__position__gt=30).delete(),
            "31 of 40",
        ),
        (lambda task, runs: human(task, estimate="adjusted"), "plain means"),
        (lambda task, runs: human(task, sample_size=40), "all 40"),
    ],
)
def test_what_cannot_be_chosen_is_refused_in_words(runs, staff, spoil, why):
    spoil(runs[0].task, runs)
    with pytest.raises(GenieError, match=why):
        choose.choose(runs, "overall", by=staff, because="Yes.")
    assert not runs[0].task.instances.exclude(propensity=None).exists()


def setting(task, **fields):
    type(task).objects.filter(pk=task.pk).update(**fields)


def human(task, **said):
    task.config["human"] |= said
    task.save()


def unfinished(run):
    run.state = JudgeRun.State.RUNNING
    run.save()


@pytest.mark.every_engine
def test_what_it_rests_on_cannot_change_and_nothing_is_judged_side_by_side(runs, staff):
    task = runs[0].task
    choose.choose(runs, "overall", by=staff, because="Yes.")
    other = add_system(task, "Owl", lambda at: "x", state="PUBLISHED")
    document = {**task.config, "human": {**task.config["human"], "sample_size": 12}}
    with pytest.raises(GenieError, match=r"human\.sample_size cannot change"):
        revisions.revise(task, document, by=staff)
    third = add_system(task, "Wren", lambda at: "x", state="PUBLISHED")
    systems = [third, other]
    with pytest.raises(GenieError, match="chosen by judges"):
        ask_for_joint(systems, by=staff)


def test_staff_choose_and_undo_in_the_admin(runs, staff, client):
    client.force_login(staff)
    add = reverse("admin:leaderboard_instancechoice_add")
    said = {"criterion": "overall", "because": "They are dear."}
    refused = client.post(add, {**said, "runs": [runs[0].pk]})
    assert b"two judges" in refused.content
    made = client.post(add, {**said, "runs": [run.pk for run in runs]})
    choice = InstanceChoice.objects.get()
    assert made.url == reverse(
        "admin:leaderboard_instancechoice_change", args=[choice.pk]
    )
    page = client.get(made.url).content.decode()
    assert "equally likely ones would have 0.250" in page
    lists = reverse("admin:leaderboard_instancechoice_changelist")
    client.post(
        lists,
        {
            "action": "undo_selected",
            "_selected_action": [choice.pk],
            "reason": "No.",
            "confirmed": "yes",
        },
    )
    choice.refresh_from_db()
    assert choice.undone_because == "No."


def a_task(seed, n=100, n_all=2_500):
    """Give instances, chances and one system's ratings by workers of other strictness."""
    rng = np.random.default_rng(seed)
    hard = rng.gamma(1.5, 1, n_all)
    truth = 70 - 8 * hard + rng.normal(0, 8, n_all)
    judges = truth[:, None] / 10 + hard[:, None] * rng.normal(0, 1, (n_all, 2))
    drawn = choose_instances(disagreement(judges), n, seed=seed)
    worker = rng.permutation(np.arange(n) % 25)
    values = truth[drawn.instances] + rng.normal(0, 5, 25)[worker] + rng.normal(0, 9, n)
    return truth, drawn, worker, values


def test_weighted_means_hold_for_all_instances_and_unweighted_ones_do_not():
    held, errors = np.zeros(2), np.zeros(2)
    n_tasks = 100
    for seed in range(n_tasks):
        truth, drawn, worker, values = a_task(seed)
        chances = drawn.propensities[drawn.instances]
        for way, one in enumerate((chances, np.ones(len(chances)))):
            found = weighted_interval(values, worker, drawn.instances, one)
            errors[way] += (found.estimate - truth.mean()) / n_tasks
            held[way] += (found.low <= truth.mean() <= found.high) / n_tasks
    assert abs(errors[0]) < 0.5
    assert errors[1] < -2
    assert held[0] >= 0.9
    assert held[1] < 0.85


def test_equal_chances_give_the_plain_mean_and_its_clustered_error():
    from leaderboard.stats.judges.with_people import judged_mean

    _, drawn, worker, values = a_task(1)
    chances = drawn.propensities[drawn.instances]
    beside = judged_mean(
        values,
        worker,
        drawn.instances,
        np.zeros(2_500),
        seed=0,
        propensities=drawn.propensities,
    ).plain
    found = weighted_interval(values, worker, drawn.instances, chances)
    assert found.estimate == pytest.approx(beside.estimate)
    assert found.half_width == pytest.approx(beside.half_width, rel=0.1)
    same = weighted_interval(values, worker, drawn.instances, np.full(100, 0.3))
    assert same.estimate == pytest.approx(values.mean())


def test_boards_weigh_estimates_and_comparisons():
    rng = np.random.default_rng(3)
    chances = np.where(np.arange(60) < 30, 0.9, 0.1)
    rows = []
    for system, hard in ((1, 80.0), (2, 20.0)):
        for at in range(60):
            level = 50.0 if at < 30 else hard
            rows.append((system, at, at % 12, level + rng.normal(0, 5), chances[at]))
    names = ["submission", "instance", "worker", "value", "chance"]
    ratings = pd.DataFrame(rows, columns=names).assign(criterion="overall")
    ratings["value"] /= 100
    unit = Unit(0.0, 1.0)
    units = {(1, "overall"): unit, (2, "overall"): unit}
    found = estimate_board(ratings, units, {1, 2})
    fit = found.fits["overall"]
    # nine in ten of all instances are hard
    assert fit.means == pytest.approx([77, 23], abs=1.5)
    assert found.compared["overall"].fit is fit
    assert found.standings[1, "overall"].estimates == {}
    own = ratings[ratings["submission"] == 1]
    plain = plain_intervals(unit, own, seed=0, n_resamples=200)
    assert plain[0.95].estimate == pytest.approx(fit.means[0])
    assert plain[0.5].half_width < plain[0.95].half_width


def test_few_and_equal_ratings_are_no_error():
    alone = weighted_interval([1, 2, 4], list("xxx"), [0, 1, 2], [0.5, 0.5, 0.2])
    assert "not which workers" in alone.covers
    assert alone.low < alone.estimate < alone.high
    one = weighted_systems([3.0], ["a"], ["x"], [0], [0.5])
    assert np.isnan(one.freedom[0, 0])
    for wrong in ([0.0], [1.1], [np.nan]):
        with pytest.raises(ValueError, match="chance"):
            weighted_systems([3.0], ["a"], ["x"], [0], wrong)


@pytest.fixture
def judged(runs, staff):
    """Give two systems on the board of a task whose instances were chosen."""
    task = runs[0].task
    choose.choose(runs, "overall", by=staff, because="They are dear.")
    owner, workers = make_user("sam"), [make_worker() for _ in range(5)]
    both = {"owner": owner, "team": make_team("Desk", owner), "workers": workers}
    judge(task, 0.8, seed=1, system="Wren", **both)
    judge(task, 0.4, seed=2, system="Owl", **both)
    return task


def test_the_board_of_chosen_instances_is_weighted_and_says_so(judged, client, staff):
    ratings = board_ratings(evaluations_of(list(board_scores(judged))))
    fit = current_fit(judged).criteria["overall"]
    for score in board_scores(judged):
        own = ratings[ratings["submission"] == score.submission_id]
        mean = 100 * np.average(own["value"], weights=1 / own["chance"])
        assert score.mean == pytest.approx(mean, abs=1e-6)
        assert abs(mean - 100 * own["value"].mean()) > 0.01
        assert list(score.estimates) == ["plain"]
        assert (
            score.covers
            == "which workers rated the outputs and which instances were drawn"
        )
        place = fit["systems"].index(str(score.submission_id))
        assert fit["means"][place] == pytest.approx(mean)
    for name in ("board", "evidence", "metric-board"):
        page = client.get(reverse(f"leaderboard:{name}", args=[judged.slug]))
        assert "drawn before anybody was asked" in page.content.decode(), name
    told = client.get(reverse("api:task-detail", args=[judged.slug])).json()
    assert told["human"]["instances_chosen"].startswith("People judge instances")
    told = client.get(reverse("api:evidence", args=[judged.slug])).json()
    assert told["criteria"][0]["cannot_conclude"][-1].startswith("How few ratings")
    (row, *_) = weighted_rows(judged, {"overall": 1.0})
    assert row.estimate == pytest.approx(max(fit["means"]), abs=1e-6)


@pytest.mark.parametrize("still_asked", [False, True])
def test_a_release_of_chosen_instances_is_rebuilt(judged, tmp_path, still_asked):
    if still_asked:
        Campaign.objects.update(state=Campaign.State.RUNNING)
    make_release(judged, tmp_path / "release")
    manifest = bundle.read_manifest(tmp_path / "release")
    rows = bundle.read_table(tmp_path / "release", "judgments")
    choice = manifest["instance_choice"]
    assert choice["words"].startswith("People judge instances")
    assert len(choice["judges"]) == 2
    assert (choice["seed"] is None) == still_asked
    assert {row["propensity"] is None for row in rows} == {still_asked}
    told = rebuild(tmp_path / "release")
    assert bool(told.skipped) == still_asked
    assert (told.n_same["scores"] > 10) != still_asked
    readme = (tmp_path / "release" / "README.md").read_text("utf-8")
    assert "not equally likely to be drawn" in readme
    if not still_asked:
        spoil = tmp_path / "release" / "judgments.jsonl"
        spoil.write_text(
            spoil.read_text().replace('"propensity": 0.', '"propensity": 0.1')
        )
        with pytest.raises(GenieError):
            rebuild(tmp_path / "release")

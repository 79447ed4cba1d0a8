"""A metric that a task adds or sets anew is computed for what was handed in before."""

import pytest

from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.boards.selectors.evidence import metric_lines
from leaderboard.metric_runs import services
from leaderboard.metrics.bleurt import Bleurt
from leaderboard.metrics.sacrebleu_metrics import Ter
from leaderboard.models import MetricPiece, MetricResult, MetricRun, Task
from leaderboard.tasks import shipped
from leaderboard.tasks.chosen_metrics import chosen_metrics
from leaderboard.tasks.config import read_metrics
from leaderboard.tasks.config.kinds import Place
from leaderboard.tasks.services import load
from tests.leaderboard.metric_board.conftest import use_metrics
from tests.refusals import refusal


def catch_up(task):
    services.catch_up(task)
    jobs.drain()


def results(submission, metric):
    return MetricResult.objects.filter(submission=submission, metric=metric)


def shown(submission, metric):
    submission.refresh_from_db()
    return next(x.value for x in metric_lines(submission) if x.words.slug == metric)


@pytest.mark.every_engine
def test_a_metric_that_is_added_is_computed_for_old_submissions(task, two):
    use_metrics(task, "chrf", "length", "rougeL")
    catch_up(task)
    run = MetricRun.objects.get()
    assert (run.metric, run.state, run.pieces.count()) == ("rougeL", "DONE", 2)
    assert run.finished_at is not None
    assert results(two[0], "rougeL").get().value == pytest.approx(100)
    assert results(two[1], "rougeL").get().value < 90
    before = list(MetricResult.own.order_by("pk").values_list("pk", "value"))
    catch_up(task)
    assert list(MetricResult.own.order_by("pk").values_list("pk", "value")) == (before)


def test_parameters_of_a_task_are_used_and_signed(task, two):
    use_metrics(task, "sacrebleu", sacrebleu={"lowercase": True})
    catch_up(task)
    assert "case:lc" in results(two[0], "sacrebleu").get().signature


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"use": ["chrf"], "chrf": {"words": 2}}, "chrF takes word_order"),
        ({"use": ["chrf"], "chrf": {"word_order": "2"}}, "must be a whole number"),
        ({"use": ["chrf"], "chrf": {"word_order": True}}, "must be a whole number"),
        ({"use": ["chrf"], "ter": {}}, "does not name"),
        ({"use": ["length"], "length": {"a": 1}}, "takes no parameters"),
    ],
)
def test_parameters_that_a_metric_does_not_have_are_refused(table, said):
    with refusal("bad-task", match=said):
        chosen_metrics(read_metrics(table, Place("metrics", [])))


@pytest.mark.every_engine
def test_new_settings_keep_the_old_result_beside_the_new_one(task, two):
    old = results(two[1], "chrf").get()
    use_metrics(task, "chrf", chrf={"word_order": 2})
    catch_up(task)
    assert results(two[1], "chrf").count() == 2
    new = results(two[1], "chrf").exclude(pk=old.pk).get()
    assert "nw:2" in new.signature
    assert shown(two[1], "chrf") == new.value != old.value
    # and back: the old numbers are the current ones again, computed when they were
    use_metrics(task, "chrf")
    catch_up(task)
    assert results(two[1], "chrf").count() == 2
    assert shown(two[1], "chrf") == old.value
    back = results(two[1], "chrf").get(signature=old.signature)
    assert back.computed_at == old.computed_at


@pytest.mark.every_engine
def test_results_from_before_settings_were_kept_are_taken_over(task, two):
    MetricResult.own.update(identity="")
    n = MetricResult.own.count()
    catch_up(task)
    assert MetricResult.own.count() == n
    assert not MetricResult.own.filter(identity="").exists()


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(Ter, "piece", 7)


@pytest.mark.every_engine
def test_a_heavy_metric_does_not_hold_the_walk_up(task, system, small_pieces):
    use_metrics(task, "chrf", "ter")
    submission = system("Chatty", lambda row: f"Perhaps {row.references[0]}.")
    assert results(submission, "ter").exists()
    n = -(-task.n_instances // 7)
    assert MetricPiece.objects.filter(state="DONE", output={}).count() == n
    assert "1 automatic metric" in submission.events.get(state="MEASURED").sentence


def test_pieces_put_together_are_the_whole(task, system, small_pieces):
    use_metrics(task, "ter")
    found = system("Chatty", lambda row: f"Perhaps {row.references[0]} it is.")
    whole = Ter().compute(services.batch_of(found))
    stored = results(found, "ter").get()
    assert stored.value == pytest.approx(whole.overall, abs=1e-12)
    assert stored.signature == whole.signature
    assert stored.details == whole.details
    assert stored.per_instance == pytest.approx(whole.per_instance.tolist(), abs=1e-6)


@pytest.mark.every_engine
def test_a_run_can_be_stopped_and_goes_on_where_it_was(task, two, small_pieces):
    use_metrics(task, "chrf", "ter")
    services.catch_up(task)
    run = MetricRun.objects.get()
    # only a few pieces of a run are in the queue at a time
    assert jobs.n_waiting() == services.IN_QUEUE < run.pieces.count()
    jobs.run_next()
    assert services.stop(run)
    jobs.drain()
    assert run.pieces.filter(state="DONE").count() == 1
    done = run.pieces.get(state="DONE")
    catch_up(task)
    assert run.pieces.filter(state="DONE").count() == 1
    assert not MetricResult.own.filter(metric="ter").exists()
    run.refresh_from_db()
    assert services.resume(run)
    jobs.drain()
    run.refresh_from_db()
    assert run.state == "DONE"
    assert MetricResult.own.filter(metric="ter").count() == 2
    done.refresh_from_db()
    assert done.n_attempts == 1


def test_what_was_lost_from_the_queue_is_queued_again(task, two, small_pieces):
    use_metrics(task, "ter")
    services.catch_up(task)
    from django_q.models import OrmQ

    OrmQ.objects.all().delete()
    catch_up(task)
    assert MetricResult.own.filter(metric="ter").count() == 2


def test_a_piece_that_fails_says_why_and_can_be_tried_again(
    task, two, small_pieces, monkeypatch
):
    def fail(self, batch):
        raise RuntimeError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(Ter, "_measure", fail)
        use_metrics(task, "ter")
        for _ in range(4):
            catch_up(task)
    run = MetricRun.objects.get()
    assert run.state == "DONE"
    assert "RuntimeError: no room" in run.reason
    assert not MetricResult.own.filter(metric="ter").exists()
    assert services.resume(run)
    jobs.drain()
    run.refresh_from_db()
    assert (run.state, run.reason) == ("DONE", "")
    assert MetricResult.own.filter(metric="ter").count() == 2
    assert not services.resume(run)


@pytest.mark.every_engine
def test_a_piece_computed_twice_changes_nothing(task, two):
    use_metrics(task, "ter")
    catch_up(task)
    before = list(MetricResult.own.order_by("pk").values_list("pk", flat=True))
    for piece in MetricPiece.objects.all():
        services.compute(piece.pk)
    assert before == list(MetricResult.own.order_by("pk").values_list("pk", flat=True))


@pytest.mark.every_engine
def test_withdrawn_submissions_are_left_alone(task, two, small_pieces):
    use_metrics(task, "ter")
    services.catch_up(task)
    type(two[0]).objects.filter(pk=two[0].pk).update(own_state="WITHDRAWN")
    jobs.drain()
    assert [r.submission_id for r in MetricResult.own.filter(metric="ter")] == [
        two[1].pk
    ]
    assert MetricRun.objects.get().state == "DONE"


@pytest.mark.every_engine
def test_settings_that_change_again_end_the_run_under_way(task, two, small_pieces):
    use_metrics(task, "ter")
    services.catch_up(task)
    use_metrics(task, "ter", ter={"lowercase": False})
    catch_up(task)
    old, new = MetricRun.objects.order_by("pk")
    assert (old.state, old.reason, old.pieces.count()) == (
        "STOPPED",
        services.OBSOLETE,
        0,
    )
    assert new.state == "DONE"
    use_metrics(task, "ter")
    catch_up(task)
    old.refresh_from_db()
    assert old.state == "DONE"


@pytest.mark.every_engine
def test_staff_are_told_why_a_metric_is_not_computed_here(task, two, monkeypatch):
    use_metrics(task, "chrf", "bleurt")
    catch_up(task)
    run = MetricRun.objects.get()
    assert run.state == "ABSENT"
    assert "GENIE_BLEURT_MODEL" in run.reason or "not installed" in run.reason
    monkeypatch.setattr(Bleurt, "available", lambda self: None)
    monkeypatch.setattr(Bleurt, "_parameters", lambda self: {"model": "tiny"})
    monkeypatch.setattr(Bleurt, "_measure", lambda self, batch: Ter()._measure(batch))
    catch_up(task)
    assert MetricRun.objects.get().state == "DONE"


@pytest.mark.every_engine
def test_a_task_without_references_lacks_metrics_that_need_them(task, two):
    use_metrics(task, "chrf", "ter")
    task.instances.update(references=[])
    MetricResult.own.all().delete()
    catch_up(task)
    assert set(MetricRun.objects.values_list("metric", "state")) == {
        ("chrf", "ABSENT"),
        ("ter", "ABSENT"),
    }


def test_a_task_with_a_wrong_parameter_is_not_loaded(db, monkeypatch):
    found = shipped.definition("demo-qa")
    found["metrics"]["chrf"] = {"words": 2}
    monkeypatch.setattr(shipped, "definition", lambda slug: found)
    with pytest.raises(GenieError, match=r"metrics\.chrf\.words: there is no such"):
        load.load_task("demo-qa")
    assert not Task.own.exists()

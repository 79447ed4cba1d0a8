"""A release holds what the public board rests on, and gives its numbers again."""

import csv
import hashlib
import io
import json
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from crowd.models import Assignment, Campaign, Worker
from genie.lib.errors import GenieError
from leaderboard.evaluation import rescoring
from leaderboard.evaluation.selectors.system_ratings import (
    all_system_ratings_of,
    system_ratings_of,
)
from leaderboard.evaluation.services.refit import inputs_of, refit_board
from leaderboard.metric_runs import services
from leaderboard.metric_runs.services import write_result
from leaderboard.models import HumanEvaluation, Instance, Score, Submission, Task
from leaderboard.releases import bundle, croissant
from leaderboard.releases.gathering.judgments import task_ids
from leaderboard.releases.make import make, pack
from leaderboard.releases.rebuilding.rebuild import rebuild
from leaderboard.tasks.intake.join import Item
from leaderboard.tasks.license import may_be_copied
from leaderboard.tasks.services import load
from quality.detection.services.judge import judge as judge_workers
from quality.models import Ban, Grade, TestQuestion
from tests.factories import answer, make_item, make_task, make_worker
from tests.kept import kept
from tests.leaderboard.boards.pages.judged import judge, rate

CRITERIA = {"overall": "Is it good?", "fluency": "Is it fluent?"}
SECRET = "Reference that nobody may see"


@pytest.fixture(autouse=True)
def genies_detector(settings):
    """Judge by counts of test questions alone: what a release can compute again."""
    settings.GENIE = {**settings.GENIE, "DETECTOR": "rate-guarded-2"}


def measured(submission):
    """Keep the light metrics that the task asks for, as the walk does."""
    batch = services.batch_of(submission)
    for one in services.chosen_of(submission.task):
        write_result(submission, one, one.metric.compute(batch))


@pytest.fixture
def task(team, submitter):
    return kept("a released board", lambda: board_of(team, submitter))


def board_of(team, submitter):
    """Three systems, two of them public; a banned worker, rejected and lost work."""
    task = make_task(n_instances=12, sample_size=12, licence="CC BY 4.0")
    task.config["human"]["criteria"] = CRITERIA
    task.config["metrics"]["use"] = ["sacrebleu", "rougeL", "length"]
    task.save()
    workers = [make_worker() for _ in range(5)]
    both = {"owner": submitter, "team": team, "workers": workers}
    kite = judge(task, 0.8, seed=1, system="Kite", **both)
    wren = judge(task, 0.4, seed=2, system="=Wren", **both)
    Submission.objects.filter(pk=wren.pk).update(
        anonymous_until=timezone.localdate() + timedelta(days=9),
        description="By the famous group",
    )
    private = judge(task, 0.9, seed=3, system="Secret", visibility="PRIVATE", **both)
    for submission in (kite, wren, private):
        measured(submission)
    _left_out(kite)
    _graded(kite, workers)
    HumanEvaluation.objects.filter(submissions=kite).update(
        scored_at=timezone.now() - timedelta(hours=1)
    )
    rescoring.rescore(task.pk)
    return task


def _left_out(submission):
    evaluation = HumanEvaluation.objects.get(submissions=submission)
    instance = submission.task.instances.first()
    values = dict.fromkeys(CRITERIA, 0.0)
    banned = make_worker()
    rate(evaluation, instance, banned, values)
    Ban.objects.create(worker=banned, pool_id=submission.task.slug, reason="careless")
    for change in (
        {"state": Assignment.State.REJECTED},
        {"replaced_at": timezone.now()},
    ):
        item = rate(evaluation, instance, make_worker(), values)
        Assignment.objects.filter(hit=item.hit).update(**change)


def _graded(submission, workers):
    campaign = submission.human_evaluation.campaign
    for n, worker in enumerate(workers):
        for k in range(4):
            item = make_item(campaign, f"test question {n} {k}")
            test_question = TestQuestion.objects.create(
                campaign=campaign, item=item, polarity="POSITIVE"
            )
            assignment = answer(item, worker)
            Grade.objects.create(
                test_question=test_question,
                assignment=assignment,
                worker=worker,
                pool_id=submission.task.slug,
                polarity="POSITIVE",
                correct=k < n,
            )
    judge_workers(submission.task.slug)
    Ban.own.filter(verdict__isnull=False).delete()


@pytest.fixture
def folder(task, tmp_path):
    return make(task, tmp_path / "release").folder


def rows(folder, name):
    return bundle.read_table(folder, name)


def everything(folder):
    return "".join(path.read_text("utf-8") for path in folder.iterdir())


def rebuilt(folder, **options):
    out = io.StringIO()
    call_command("rebuild", str(folder), stdout=out, **options)
    return out.getvalue()


def test_the_archive_is_rebuilt_as_it_was_downloaded(folder, tmp_path):
    archive = tmp_path / "release-2026-11-23-1.zip"
    pack([folder], archive)
    assert rebuilt(archive) == rebuilt(folder)
    archive.write_bytes(b"no archive")
    with pytest.raises(CommandError, match=r"neither a release's folder nor its \.zip"):
        rebuilt(archive)


def test_what_was_released_stays_when_inputs_are_added(
    task, folder, submitter, tmp_path, monkeypatch
):
    before, inputs = rebuilt(folder), inputs_of(task)
    # the task.toml of tests is not whole
    monkeypatch.setattr(load, "change", lambda *_args, **_named: None)
    named = dict.fromkeys(task.field_labels, "One more?")
    load.add_instances(task, {"more": Item("", named, ["Yes."])}, by=submitter)
    assert rebuilt(folder) == before
    assert inputs_of(task) == inputs
    again = make(task, tmp_path / "again").folder
    for table in ("scores", "ratings"):
        assert rows(again, table) == rows(folder, table)


def counting(found):
    return next(row for row in found if row["counts"])


def changed(folder, name, change):
    """Change a table's rows, and the checksums with them, as a forger would."""
    found = rows(folder, name)
    columns = list(found[0])
    change(found)
    bundle.write_table(folder, name, columns, found)
    bundle.write_checksums(folder)


@contextmanager
def forged(folder, name, change):
    whole = (folder / f"{name}.jsonl").read_text("utf-8")
    changed(folder, name, change)
    yield
    (folder / f"{name}.jsonl").write_text(whole, "utf-8")
    bundle.write_checksums(folder)


@pytest.mark.every_engine
def test_every_number_comes_out_again_without_a_database(folder, task):
    with CaptureQueriesContext(connection) as captured:
        said = rebuilt(folder)

    assert len(captured) == 0
    assert "numbers match the published ones" in said
    for kind in ("scores", "ranks", "metrics", "detectors", "rows"):
        assert f"{kind}: 0 " not in said
    assert "not checked" not in said


@pytest.mark.every_engine
def test_of_a_fit_to_all_evidence_probabilities_are_taken(task, settings, tmp_path):
    settings.GENIE = {**settings.GENIE, "DETECTOR": "all-evidence"}
    judge_workers(task.slug)
    folder = make(task, tmp_path / "release").folder
    fit = bundle.read_manifest(folder)["detectors"]["ALL"]
    assert (fit["detector"], fit["n_workers"]) == ("all-evidence", 7)
    rebuilt = rebuild(folder)
    # wrong answers, and whether each worker is unreliable
    assert rebuilt.n_same["detectors"] == 8
    [skipped] = rebuilt.skipped
    assert "P(noisy) was not recomputed" in skipped
    assert "Each worker's `p_noisy` and" in (folder / bundle.CARD).read_text("utf-8")
    other = lambda found: found[0].update(noisy=not found[0]["noisy"])  # noqa: E731
    changed(folder, "test_questions", other)
    with pytest.raises(GenieError, match="is unreliable"):
        rebuild(folder)


def test_detectors_are_rebuilt_with_the_rate_that_the_task_set(task, tmp_path):
    judge_workers(task.slug, noisy_below={"POSITIVE": 0.6})
    Ban.own.filter(verdict__isnull=False).delete()
    folder = make(task, tmp_path / "release").folder
    fit = bundle.read_manifest(folder)["detectors"]["POSITIVE"]
    assert fit["parameters"]["threshold_rate"] == 0.6
    assert "numbers match the published ones" in rebuilt(folder)


@pytest.mark.parametrize("estimate", ["adjusted", "z"])
def test_scores_that_cover_days_come_out_again(task, tmp_path, estimate):
    for place, assignment in enumerate(Assignment.own.order_by("pk")):
        at = timezone.now() - timedelta(days=place % 4)
        Assignment.objects.filter(pk=assignment.pk).update(submitted_at=at)
    task.config["human"]["estimate"] = estimate
    task.save()
    Score.own.update(fit=None)
    task = Task.objects.get(pk=task.pk)
    refit_board(task)
    folder = make(task, tmp_path / "release").folder
    (covers, *_) = {row["covers"] for row in rows(folder, "scores")}
    assert "day" in covers
    assert "numbers match the published ones" in rebuilt(folder)


def test_a_contrastive_system_comes_out_without_a_rank(task, tmp_path):
    Submission.own.filter(system_name="Kite").update(entry="contrastive")
    refit_board(task)
    folder = make(task, tmp_path / "release").folder
    found = {(row["entry"], row["rank_last"]) for row in rows(folder, "systems")}
    assert found == {("contrastive", None), ("", 1)}
    assert "numbers match the published ones" in rebuilt(folder)
    changed(folder, "systems", lambda found: [row.update(entry="") for row in found])
    with pytest.raises(CommandError, match="rank"):
        rebuilt(folder)


@pytest.mark.parametrize("estimate", ["plain", "z"])
def test_ranks_by_rank_sums_come_out_again(task, tmp_path, estimate):
    task.config["human"] |= {"estimate": estimate, "ranks": "rank-sums"}
    task.save()
    task = Task.objects.get(pk=task.pk)
    refit_board(task)
    folder = make(task, tmp_path / "release").folder
    assert bundle.read_manifest(folder)["ranks"] == "rank-sums"
    assert "Ranks are those of WMT" in everything(folder)
    assert "numbers match the published ones" in rebuilt(folder)
    changed(folder, "systems", lambda found: found[0].update(rank_last=7))
    with pytest.raises(CommandError, match="rank_last"):
        rebuilt(folder)


def test_tables_are_the_same_with_few_systems_in_memory(task, tmp_path, monkeypatch):
    whole = make(task, tmp_path / "whole", key=b"key").folder
    monkeypatch.setattr("leaderboard.releases.gathering.results.AT_ONCE", 1)
    monkeypatch.setattr("leaderboard.releases.gathering.judgments.OUTPUTS_AT_ONCE", 1)
    told = []
    parts = make(
        task, tmp_path / "parts", key=b"key", tell=lambda *of: told.append(of)
    ).folder
    names = sorted(path.name for path in whole.glob("*.csv"))
    for name in [*names, *(f"{name[:-4]}.jsonl" for name in names)]:
        assert (whole / name).read_bytes() == (parts / name).read_bytes(), name
    # two systems in judgments, metrics and predictions
    assert list(dict.fromkeys(told)) == [(n, 6) for n in range(1, 7)]


def test_rows_in_any_order_are_found_by_their_group(folder):
    found = rows(folder, "judgments")
    bundle.write_table(folder, "judgments", list(found[0]), sorted(found, key=str))
    groups = bundle.Groups(folder, "judgments", ("submission", "criterion"))
    key = found[0]["submission"], found[0]["criterion"]
    own = [row for row in found if (row["submission"], row["criterion"]) == key]
    assert sorted(groups.rows(*key), key=str) == sorted(own, key=str)
    assert groups.rows("nobody", "nothing") == []
    assert bundle.Groups(folder, "nothing", ["a"]).keys() == set()


def test_the_csv_leaves_out_what_is_nested_and_keeps_what_is_empty(tmp_path):
    columns = ["name", "links", "fields"]
    bundle.write_table(
        tmp_path, "t", columns, [{"name": "a", "links": ["x"]}, {"name": "b"}]
    )
    assert (tmp_path / "t.csv").read_text() == "name,fields\na,\nb,\n"
    assert bundle.write_table(tmp_path, "t", columns, []) == 0
    assert (tmp_path / "t.csv").read_text() == "name,links,fields\n"


def test_all_ratings_less_those_left_out_are_the_ratings_that_count(task):
    pks = list(HumanEvaluation.own.order_by("pk").values_list("pk", flat=True))
    every = all_system_ratings_of(pks)
    counted = every[every["why_not"] == ""]
    columns = ["submission", "criterion", "instance", "worker", "value"]

    assert len(every) > len(counted)
    assert sorted(counted[columns].itertuples(index=False, name=None)) == sorted(
        system_ratings_of(pks)[columns].itertuples(index=False, name=None)
    )


def test_test_questions_and_hidden_references_are_in_no_release(task, tmp_path):
    Instance.objects.filter(task=task).update(references=[SECRET])
    task.hidden_references = True
    task.save()

    folder = make(task, tmp_path / "hidden", texts=True).folder

    assert "test question 0" not in everything(folder)
    assert SECRET not in everything(folder)
    assert "sacrebleu needs references, which are hidden" in rebuilt(folder)


def test_texts_go_out_only_under_a_licence_that_lets_them(task, tmp_path):
    task.licence = "Not stated with the release; another says CC BY"
    task.save()

    folder = make(task, tmp_path / "closed").folder

    assert not (folder / "predictions.jsonl").exists()
    assert "Source number" not in everything(folder)
    assert "Prediction for" not in everything(folder)
    said = rebuilt(folder)
    assert "not checked: texts are not in this release (6 results)" in said
    assert "the license does not state" in everything(folder)
    assert croissant.metadata(folder)["license"] == task.licence


def test_what_the_work_may_cost_is_not_told(task, tmp_path):
    task.config["budget"] = {"cents": 98_765_432_101}
    task.save()
    folder = make(task, tmp_path / "r").folder
    assert "98765432101" not in everything(folder)
    config = bundle.read_manifest(folder)["config"]
    assert config["human"] == task.config["human"]
    assert not {"budget", "quota"} & config.keys()


def test_scores_that_are_about_to_change_are_not_released(task, tmp_path):
    worker = Assignment.own.filter(state="APPROVED").first().worker
    Ban.objects.create(worker=worker, pool_id=task.slug, reason="careless")
    with pytest.raises(CommandError, match="about to be rescored"):
        call_command("release", task.slug, "--out", str(tmp_path / "r"))


def test_what_is_no_release_is_said_to_be_none(tmp_path):
    with pytest.raises(CommandError, match="is not a release"):
        rebuilt(tmp_path)


def test_a_taken_folder_and_an_unknown_task_are_refused(task, tmp_path):
    (tmp_path / "file").write_text("x")
    for out in (tmp_path, tmp_path / "file"):
        with pytest.raises(CommandError, match="already exists"):
            call_command("release", task.slug, "--out", str(out))
    with pytest.raises(CommandError, match="no task"):
        call_command("release", "nothing", "--out", str(tmp_path / "x"))


def test_a_board_without_scores_makes_a_release_that_is_rebuilt(tmp_path):
    task = make_task("empty")
    out = io.StringIO()
    call_command("release", "empty", "--out", str(tmp_path / "r"), "--json", stdout=out)
    assert json.loads(out.getvalue())["rows"]["systems"] == 0
    assert "numbers match" in rebuilt(tmp_path / "r")
    assert task.n_instances == 3


@pytest.mark.every_engine
def test_scores_superseded_are_not_released(task, tmp_path):
    kite = Submission.objects.get(system_name="Kite")
    current = Score.objects.filter(
        submission=kite, criterion="overall", superseded_at=None
    )
    current.update(superseded_at=timezone.now())
    refit_board(task)
    folder = make(task, tmp_path / "r").folder
    assert [row["system"] for row in rows(folder, "systems")] == ["=Wren"]


def test_a_partial_score_has_no_rank_in_a_release_and_none_when_rebuilt(task, tmp_path):
    first = HumanEvaluation.own.order_by("pk").first()
    HumanEvaluation.objects.filter(pk=first.pk).update(n_instances=100)
    refit_board(task)
    folder = make(task, tmp_path / "partial").folder
    ranks = {row["system"]: row["rank_first"] for row in rows(folder, "systems")}
    assert ranks == {"=Wren": 1, "Kite": None}
    said = {row["system"]: row["partial"] for row in rows(folder, "systems")}
    assert "12 of 100" in said["Kite"]
    assert "numbers match" in rebuilt(folder)
    changed(folder, "systems", lambda found: found[-1].update(rank_first=1))
    with pytest.raises(CommandError, match="rank_first of submission"):
        rebuilt(folder)


def test_the_release_is_of_what_the_public_board_shows(folder, team):
    systems = rows(folder, "systems")
    assert [row["system"] for row in systems] == ["Kite", "=Wren"]
    judged = rows(folder, "judgments")
    assert {row["submission"] for row in judged} == {
        row["submission"] for row in systems
    }
    assert "Secret" not in everything(folder)
    # an anonymous team stays so
    assert [row["team"] for row in systems] == [team.name, None]
    assert "famous" not in everything(folder)
    # what does not count is there with its reason
    reasons = sorted({row["why_not"] for row in judged if not row["counts"]})
    assert reasons == ["replaced", "work rejected", "worker excluded"]
    assert sum(row["counts"] for row in judged) == 2 * 12 * 2
    # the same rows in both formats, and no formula
    text = (folder / "systems.csv").read_text("utf-8")
    found = list(csv.DictReader(io.StringIO(text)))
    assert [row["system"] for row in found] == ["Kite", "'=Wren"]
    lines = (folder / "judgments.csv").read_text("utf-8").splitlines()
    assert len(lines) - 1 == len(judged)
    card = (folder / "README.md").read_text("utf-8")
    assert "## Human evaluation" in card
    assert "20 answers, 10 incorrect;" in card
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["counts"]["systems"] == 2
    assert manifest["code_version"]


def test_pseudonyms_and_orders_are_drawn_anew_for_each_release(task, tmp_path):
    first, second, *more = (make(task, tmp_path / f"r{i}").folder for i in range(6))
    names = {row["worker"] for row in rows(first, "judgments")}
    assert len(names) == 5 + 3
    graded = {row["worker"] for row in rows(first, "test_questions")}
    assert len(graded) == 5
    assert graded < names
    assert not names & {row["worker"] for row in rows(second, "judgments")}
    for worker in Worker.objects.all():
        assert worker.pseudonym not in everything(first)
        assert worker.platform_worker_id not in everything(first)
    # the order does not follow the workers' keys
    found = [rows(one, "test_questions")[0] for one in (first, second, *more)]
    assert len({row["n_correct"] for row in found}) > 1


def test_which_instances_are_judged_is_told_only_when_nobody_is_asked(task, tmp_path):
    def told(name):
        folder = make(task, tmp_path / name).folder
        ranks = {row["sample_rank"] for row in rows(folder, "instances")}
        named = [row["instance"] for row in rows(folder, "judgments")]
        assert rebuild(folder).n_same["scores"] > 0
        return bundle.read_manifest(folder)["sample_seed"], ranks, named

    known = set(task_ids(task).values())
    seed, ranks, named = told("over")
    assert (seed, ranks) == (str(task.sample_seed), set(range(12)))
    assert set(named) <= known
    campaign = Campaign.objects.filter(pool=task.slug).order_by("pk")[0]
    Campaign.objects.filter(pk=campaign.pk).update(state="RUNNING")
    assert told("one")[:2] == (None, {None})
    Campaign.objects.filter(pool=task.slug).update(state="RUNNING")
    seed, ranks, numbered = told("running")
    assert (seed, ranks) == (None, {None})
    assert "which instances were rated" in everything(tmp_path / "running")
    assert not set(numbered) & known
    # one number for one instance, in the order of the task
    assert len(set(zip(named, numbered, strict=True))) == len(set(named))
    assert sorted(set(numbered)) == [
        f"judged-{n:05d}" for n in range(1, len(set(named)) + 1)
    ]


def test_licences_in_doubt_are_closed():
    open_ = (
        "Apache-2.0 (written for this project)|Apache License 2.0|CC BY-SA 4.0|CC-BY-4.0|"
        "CC BY-NC-ND 3.0|cc0|CC0-1.0|CC0 1.0 Universal|MIT|MIT License|BSD-3-Clause|"
        "ODC-BY 1.0|Public domain"
    )
    closed = (
        "MIT Press, all rights reserved|Mitteilung des Verlags|Apache-20||Not stated|"
        "Public domain in some countries|CC BYpass|All rights reserved|"
        "For research only, like CC BY"
    )
    assert [one for one in open_.split("|") if not may_be_copied(one)] == []
    assert [one for one in closed.split("|") if may_be_copied(one)] == []


FORGED = [
    ("scores", lambda r: r[0].update(mean=r[0]["mean"] + 0.001), "mean"),
    ("scores", lambda r: r[0].update(high=r[0]["high"] - 0.001), "high"),
    ("scores", lambda r: r[0]["histogram"].update({"1": 99}), "histogram 1"),
    ("scores", lambda r: r.pop(), "score of submission"),
    ("scores", lambda r: r[0].update(n_excluded_workers=3), "excluded workers"),
    ("judgments", lambda r: counting(r).update(value=0.6), "score"),
    ("systems", lambda r: r[0].update(rank_last=2), "rank"),
    ("metrics", lambda r: r[-1].update(value=r[-1]["value"] + 0.01), "submission"),
    ("metrics", lambda r: r[0]["per_instance"].pop(), "instances"),
    ("predictions", lambda r: r[0].update(text="Something else."), "submission"),
    ("test_questions", lambda r: r[0].update(p_noisy=0.123), "P(noisy)"),
    ("test_questions", lambda r: r[0].update(n_correct=9), "incorrectly"),
    ("instances", lambda r: r[0].update(references=["Other words."]), "submission"),
]


def test_the_first_number_that_differs_is_named(folder):
    for table, change, said in FORGED:
        with forged(folder, table, change), pytest.raises(GenieError) as refused:
            rebuild(folder)
        assert said in refused.value.message, (table, said)


def test_a_release_that_was_changed_or_is_of_another_format_is_refused(folder):
    (folder / "more.txt").write_text("x")
    with pytest.raises(
        CommandError, match=r"more\.txt has been changed since the release"
    ):
        rebuilt(folder)
    (folder / "more.txt").unlink()
    manifest = bundle.read_manifest(folder)
    for given in ("genie-release-2", "genie-release-9"):
        bundle.write_manifest(folder, {**manifest, "format": given})
        bundle.write_checksums(folder)
        with pytest.raises(CommandError, match=given):
            rebuilt(folder)
    bundle.write_manifest(folder, manifest)
    (folder / "instances.jsonl").unlink()
    bundle.write_checksums(folder)
    with pytest.raises(CommandError, match="scores of this release cannot be read"):
        rebuilt(folder)
    (folder / "scores.csv").write_text("x")
    with pytest.raises(CommandError, match=r"scores\.csv"):
        rebuilt(folder)

import io
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.core.files.storage import default_storage
from django.utils import timezone

from genie.lib import jobs
from leaderboard.evaluation import decide
from leaderboard.models import Submission
from leaderboard.submissions.services import submit
from leaderboard.submissions.services import submit as about_system
from tests.refusals import refusal


@pytest.mark.every_engine
def test_a_file_is_stored_under_its_sha256_once(hand_in, good):
    first, second = hand_in(good, name="One"), hand_in(good, name="Two")
    assert first.file.name == second.file.name
    assert first.file.name.endswith(first.file_sha256)
    assert default_storage.exists(first.file.name)


def test_the_fourth_in_a_week_is_refused_with_the_date_of_the_next(hand_in, good):
    for number in range(3):
        hand_in(good, name=f"System {number}")
    with refusal("quota-reached", match="3 of the 3 submissions") as refused:
        hand_in(good)
    assert refused.value.details["next_at"]
    assert Submission.own.count() == 3
    rival = get_user_model().objects.create_user("rival")
    hand_in(good, owner=rival)
    Submission.own.update(created_at=timezone.now() - timedelta(days=7, minutes=1))
    hand_in(good)


@pytest.mark.parametrize(
    "fields", [{"own_state": "INVALID"}, {"failure_permanent": True}]
)
def test_invalid_files_and_our_failures_do_not_count(hand_in, good, task, sam, fields):
    for number in range(3):
        hand_in(good, name=f"System {number}")
    Submission.own.update(**fields)
    assert submit.quota(task, submit.team_for(sam)).used == 0
    hand_in(good)


def test_a_file_over_the_limit_is_refused_before_its_end(hand_in, settings):
    settings.GENIE = {**settings.GENIE, "MAX_UPLOAD_BYTES": 3 << 20}

    class Endless(io.RawIOBase):
        n_read = 0

        def seek(self, *_):
            return 0

        def read(self, size=-1):
            self.n_read += size
            return b"x" * size

    file = Endless()
    with refusal("file-too-large", match="larger than 3 MB") as refused:
        submit.store(file)
    assert "also applies after decompression" in refused.value.message
    assert file.n_read <= 4 << 20


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"name": ""}, "bad-name"),
        ({"name": "a" * 101}, "bad-name"),
        ({"name": "\u200b\u00ad"}, "bad-name"),
        ({"name": "half \ud800 a pair"}, "bad-name"),
        ({"links": ["https://example.org/\ud800"]}, "bad-link"),
        ({"links": ["https://"]}, "bad-link"),
        ({"links": ["http://[broken"]}, "bad-link"),
        ({"links": ["https://a.org/" + 487 * "x"]}, "bad-link"),
        ({"description": "x" * 4001}, "bad-description"),
        ({"description": "half \udfff a pair"}, "bad-description"),
        ({"description": "NUL\x00"}, "bad-description"),
    ],
)
def test_bad_input_is_refused_in_words_and_leaves_nothing_behind(hand_in, fields, code):
    with refusal(code) as refused:
        hand_in(b"{}", **fields)
    assert refused.value.message.endswith(".")
    assert Submission.own.count() == 0
    assert jobs.n_waiting() == 0


def test_a_link_may_have_500_characters():
    link = "https://a.org/" + 486 * "x"
    assert about_system.checked_links([link]) == [link]


def test_a_valid_file_is_measured_by_every_metric_of_the_task(hand_in, good, task):
    submission = hand_in(good)
    jobs.drain()
    submission.refresh_from_db()
    assert (submission.state, submission.work.failure) == ("MEASURED", "")
    results = {r.metric: r for r in submission.metric_results.all()}
    assert set(results) == set(task.config["metrics"]["use"])
    assert results["sacrebleu"].value == pytest.approx(100)
    assert results["rougeL"].value == pytest.approx(100)
    assert all(result.signature for result in results.values())
    assert len(results["chrf"].per_instance) == task.n_instances


def test_a_step_that_fails_three_times_can_be_retried(hand_in, good, boss, monkeypatch):
    from leaderboard.evaluation.run import advance
    from leaderboard.metric_runs import services

    def broken(_submission):
        raise OSError("disk\ngone")

    submission = hand_in(good)
    monkeypatch.setattr(services, "batch_of", broken)
    for _ in range(4):
        jobs.drain()
        advance()
    submission.refresh_from_db()
    assert submission.failed_step == "measure"
    assert submission.failure_permanent
    assert submission.n_attempts == 3
    assert "disk\\ngone" in submission.work.failure
    monkeypatch.undo()
    decide.retry_submission(submission, by=boss)
    jobs.drain()
    submission.refresh_from_db()
    assert submission.state == "MEASURED"
    assert not submission.failed

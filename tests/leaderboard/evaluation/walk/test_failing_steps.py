"""A step that fails, dies or comes second: what is written, and how the walk goes on."""

from pathlib import Path

from django.core.files.storage import default_storage

from leaderboard import jobs as steps
from leaderboard.metric_runs import services
from leaderboard.submissions.services import lifecycle, submit
from tests.leaderboard.evaluation.steps import now, settle


def test_who_fails_at_a_step_that_another_process_has_done_says_nothing(
    hand_in, good, monkeypatch
):
    submission = hand_in(good)
    real = lifecycle.read_predictions

    def slow(*args, **kwargs):
        monkeypatch.setattr(lifecycle, "read_predictions", real)
        steps.validate(submission.pk)  # the other process
        raise OSError("connection lost")

    monkeypatch.setattr(lifecycle, "read_predictions", slow)
    steps.validate(submission.pk)
    found = now(submission)
    assert (found.state, found.failed, found.n_attempts) == ("VALID", False, 0)


def test_a_stored_file_that_is_gone_or_cut_short_is_our_failure_in_plain_words(
    hand_in, good, task, sam
):
    gone, cut = hand_in(good, name="Gone"), hand_in({"qa-01": "x"}, name="Cut")
    default_storage.delete(gone.file.name)
    Path(cut.file.path).write_bytes(b"{")
    settle()
    for submission in (gone, cut):
        found = now(submission)
        assert (found.state, found.errors) == ("RECEIVED", [])
        assert found.failure_permanent
        assert found.work.failure == (
            "The stored file is lost or damaged on our side. Please submit it again."
        )
    assert submit.quota(task, submit.team_for(sam)).used == 0


def test_a_file_cut_short_on_its_way_to_storage_is_not_the_whole(hand_in, good):
    first = hand_in(good, name="Killed while it was stored")
    Path(first.file.path).write_bytes(b"{")
    again = hand_in(good, name="Once more")
    settle()
    assert now(again).state == "MEASURED"


def test_an_error_of_the_system_is_told_without_its_path(hand_in, good, monkeypatch):
    submission = hand_in(good)
    steps.validate(submission.pk)

    def full(_submission):
        raise OSError(28, "No space left on device", "/var/lib/genie/secret-place")

    monkeypatch.setattr(services, "batch_of", full)
    steps.measure(submission.pk)
    assert "No space left on device" in now(submission).work.failure
    assert "secret-place" not in now(submission).work.failure

"""A release proves that its scores are in the public log, and that the log has only grown."""

import json

import pytest
from django.core.management.base import CommandError

from genie.history import log
from genie.history.models import LogEntry
from leaderboard.models import Score
from leaderboard.releases import bundle
from leaderboard.releases import make as public_log
from leaderboard.releases.make import make
from tests.leaderboard.releases.test_releases_are_made_and_rebuilt import (  # noqa: F401
    genies_detector,
    rebuilt,
    task,
)


def lines(folder):
    text = (folder / bundle.LOG).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def change(folder, work):
    """Change the log of a release as somebody who covers their tracks would."""
    found = lines(folder)
    work(found)
    text = "".join(f"{json.dumps(line)}\n" for line in found)
    (folder / bundle.LOG).write_text(text, "utf-8")
    bundle.write_checksums(folder)


def test_scores_are_proved_and_a_forged_one_is_found(task, tmp_path):  # noqa: F811
    folder = make(task, tmp_path / "one").folder
    head, *entries = lines(folder)
    n_scores = bundle.count_rows(folder, "scores")
    assert (head["size"], head["earlier"]) == (log.head().size, [])
    assert len(entries) == n_scores > 0
    assert f"public log: {8 * n_scores:,} numbers match" in rebuilt(folder)
    # the release itself is logged, with what names all of its files
    newest = LogEntry.objects.latest("pk")
    assert json.loads(newest.data)["log_size"] == head["size"]
    public_log.log_release(
        folder, task
    )  # by a process that goes on where one was killed
    assert LogEntry.objects.latest("pk") == newest

    def raised(found):
        said = json.loads(found[1]["data"])
        found[1]["data"] = json.dumps({**said, "mean": said["mean"] + 1})

    change(folder, raised)
    with pytest.raises(CommandError, match="is in the public log: True was published"):
        rebuilt(folder)


def test_the_log_of_a_later_release_begins_with_that_of_an_earlier(task, tmp_path):  # noqa: F811
    earlier = make(task, tmp_path / "earlier").folder
    later = make(task, tmp_path / "later").folder
    said = rebuilt(later, since=earlier)
    sizes = lines(earlier)[0]["size"], lines(later)[0]["size"]
    assert f"has only grown, from {sizes[0]} to {sizes[1]} entries" in said
    assert "only grown" in rebuilt(later, since=later)
    with pytest.raises(CommandError, match="Swap the two"):
        rebuilt(earlier, since=later)
    # whoever rewrites history has another root for the same size
    change(earlier, lambda found: found[0].update(root="00" * 32))
    with pytest.raises(CommandError, match="The site has rewritten its public log"):
        rebuilt(later, since=earlier)
    (earlier / bundle.LOG).write_text('{"size": "many"}\n')
    bundle.write_checksums(earlier)
    with pytest.raises(CommandError, match="cannot be read"):
        rebuilt(later, since=earlier)
    (earlier / bundle.LOG).unlink()
    bundle.write_checksums(earlier)
    with pytest.raises(CommandError, match="has no public log"):
        rebuilt(later, since=earlier)
    assert "older than the public log" in rebuilt(earlier)


def test_scores_from_before_the_log_are_named(task, tmp_path):  # noqa: F811
    pk = Score.own.filter(superseded_at=None).earliest("pk").pk
    LogEntry.objects.filter(kind=log.Kind.SCORE, about=pk).delete()
    said = rebuilt(make(task, tmp_path / "one").folder)
    assert "not checked: The public log does not contain 1 scores" in said

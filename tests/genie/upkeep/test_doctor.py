"""What the doctor finds where something is wrong, and that it finds nothing where not."""

import hashlib
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import Group
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.utils import timezone
from django_q.models import Failure, Schedule

from crowd.models import AccessKey, Campaign, LedgerEntry, Requester
from crowd.requester.services import access_keys
from genie.lib import jobs
from genie.schedules import SCHEDULES
from genie.upkeep import doctor
from genie.upkeep.restore import mark
from leaderboard.models import Submission
from tests.factories import (
    answer,
    make_evaluation,
    make_submission,
    make_task,
    make_team,
    make_user,
    make_worker,
    pay,
)

CONTENT = b'{"predictions": []}'


@pytest.fixture
def submission():
    ada = make_user("ada")
    made = make_submission(make_task(), team=make_team("Herons", ada), owner=ada)
    name = default_storage.save("submissions/ab/abc", ContentFile(CONTENT))
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    Submission.own.update(file=name, file_sha256=sha256)
    jobs.install(SCHEDULES)
    return made


def found(name: str) -> tuple[str, str]:
    finding = dict(doctor.examine(slow=True))[name]
    return finding.verdict, finding.sentence


def test_a_site_without_trouble_has_none(submission, capsys):
    call_command("doctor")
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith("ok ")] == []
    assert len(lines) == len(doctor._EXAMINATIONS) >= 10


def test_second_factors_of_a_group_that_was_renamed_are_missed(settings):
    settings.GENIE = {**settings.GENIE, "SECOND_FACTOR": ["Finance", "superusers"]}
    Group.objects.get_or_create(name="Finance")
    assert found("second factors") == ("ok", "required for: Finance")
    Group.objects.filter(name="Finance").update(name="Money")
    verdict, sentence = found("second factors")
    assert (verdict, sentence.rpartition(" ")[2]) == ("problem", "Finance")


def test_an_upload_that_is_changed_missing_or_of_nobody(submission):
    assert found("uploads") == ("ok", "in the database: 1")
    place = default_storage.path("submissions/ab/abc")
    Path(place).write_bytes(CONTENT[::-1])
    verdict, sentence = found("uploads")
    assert verdict == "problem"
    assert "changed: 1, the first being submissions/ab/abc" in sentence
    default_storage.delete("submissions/ab/abc")
    assert "missing: 1, the first being" in found("uploads")[1]
    Submission.own.update(file="")
    default_storage.save("submissions/cd/cde", ContentFile(b"x"))
    assert found("uploads") == ("warning", "in the database: 0; not in the database: 1")


def test_work_without_its_payment_and_payments_that_failed(submission):
    evaluation = make_evaluation(submission, state=Campaign.State.RUNNING)
    item = evaluation.campaign.hits.first().items.get()
    done = answer(item, make_worker())
    assert "assignments without a reward: 1" in found("money")[1]
    entry = pay(done, 9, state="PLANNED")
    assert found("money")[0] == "ok"
    assert "$0.09 planned" in found("money")[1]
    LedgerEntry.own.update(state="FAILED")
    said = "failed: 1, being sent for more than an hour: 0"
    assert found("payments") == ("warning", said)
    before = timezone.now() - timedelta(hours=1, seconds=1)
    LedgerEntry.objects.filter(pk=entry.pk).update(state="SENDING", created_at=before)
    assert "an hour: 1" in found("payments")[1]


def test_keys_made_with_a_secret_that_is_gone(submission):
    boss = make_user("boss")
    rita = Requester.objects.create(name="Rita")
    key, _secret = access_keys.create_key(rita, boss)
    assert found("requesters' keys") == ("ok", "valid: 1")
    AccessKey.own.update(made_with="0123456789abcdef")
    verdict, sentence = found("requesters' keys")
    assert verdict == "problem"
    assert "fingerprint 0123456789abcdef" in sentence
    access_keys.revoke_key(key)
    assert found("requesters' keys")[0] == "ok"


def test_a_requesters_account_that_does_not_add_up():
    rita = Requester.objects.create(name="Rita")
    access_keys.deposit(rita, 500, key="bank 1")
    assert found("money")[0] == "ok"
    Requester.own.update(held_cents=7)
    assert "accounts that do not add up: 1" in found("money")[1]
    Requester.own.update(held_cents=0, balance_cents=501)
    assert found("money")[0] == "problem"


def test_a_queue_that_is_late_or_fails(submission):
    then = dict.fromkeys(("started", "stopped"), timezone.now())
    Failure.objects.create(id="a", name="a", func="f", success=False, **then)
    assert found("queue")[0] == "warning"
    Schedule.objects.update(next_run=timezone.now() - timedelta(hours=1))
    verdict, sentence = found("queue")
    assert verdict == "problem"
    assert "failed in the last day: 1" in sentence


def test_a_restore_that_was_not_finished_ends_the_command_with_1(submission):
    mark().write_text("[]")
    try:
        with pytest.raises(SystemExit) as caught:
            call_command("doctor", "--quick")
    finally:
        mark().unlink()
    assert caught.value.code == 1


def test_an_examination_that_fails_is_a_finding(submission, monkeypatch):
    def broken():
        raise OSError(28, "No space left on device")

    broken_one = doctor.Examination("broken", broken, slow=False, needs_database=False)
    monkeypatch.setitem(doctor._EXAMINATIONS, "broken", broken_one)
    assert "No space left" in found("broken")[1]

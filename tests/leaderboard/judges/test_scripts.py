"""Judges without an endpoint: scripts, the command, and staff's pages."""

import json

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse

from genie.lib.errors import GenieError
from leaderboard.judges.selectors.scores import scores_of
from leaderboard.judges.selectors.told import data_sent
from leaderboard.judges.services import ask, decide, define
from leaderboard.models import Judge, JudgeAnswer, JudgeBudget, JudgeRun, OutsideMetric
from tests.factories import make_user
from tests.leaderboard.judges.conftest import add_system, approved, make_script, worked


def test_a_script_is_called_a_script_wherever_it_stands(judged):
    run = worked(approved(make_script(), judged))
    assert run.state == "DONE"
    assert data_sent(run)[0] == (
        "Genie sends no data to other servers, because the judge is a script of this "
        "site."
    )
    metric = OutsideMetric.objects.get()
    assert metric.name == "script: words 1 (overall)"
    assert "language model" not in metric.description
    assert run.calls.first().answer.model == "script words"
    assert run.calls.first().reasons["overall"].startswith("Scripted:")


def test_the_same_texts_get_the_same_answers(judged):
    first = worked(approved(make_script(), judged))
    again = worked(approved(make_script(), judged, occasion="again"))
    assert scores_of(first, "overall") == scores_of(again, "overall")


def test_what_cannot_be_asked_is_refused_in_words(judged):
    for made, words in [
        ({"endpoint": "scripted", "model": "gpt"}, "scripted judge's model"),
        ({"endpoint": "nowhere", "model": "m"}, "no endpoint 'nowhere'"),
        ({"endpoint": "scripted", "model": "words", "k": 99}, "from 1 to 20"),
        ({"endpoint": "scripted", "model": "words", "prompt": "x"}, "in one place"),
    ]:
        with pytest.raises(GenieError, match=words):
            define.make("x", "1", made)
    with pytest.raises(GenieError, match="does not ask about 'style'"):
        ask.ask(make_script(), judged, ask.Wish(criteria=["style"]))
    with pytest.raises(GenieError, match="scale mqm does not fit"):
        ask.ask(make_script("likes-long", scale="mqm"), judged, ask.Wish())


def test_the_command_says_the_price_and_asks_only_when_told(judged, capsys):
    call_command("judge", "--json", task=judged.slug, script="words")
    said = capsys.readouterr()
    assert json.loads(said.out)["at_most_cents"] == 0
    assert "No requests were sent" in said.err
    assert not Judge.objects.exists()
    by = make_user("nina").username
    call_command("judge", task=judged.slug, script="words", send=True, by=by)
    assert "6 answered, 0 without a valid answer, of 6" in capsys.readouterr().out
    assert OutsideMetric.objects.get().owner.username == by


def test_a_judge_of_a_file_needs_an_amount(judged, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GENIE_JUDGES", "lab")
    monkeypatch.setenv("GENIE_JUDGE_LAB_URL", "https://judges.example/v1")
    path = tmp_path / "lark.toml"
    path.write_text(
        'name = "lark"\nversion = "1"\ninput_price = 15.5\noutput_price = 60\n'
        '[definition]\nendpoint = "lab"\nmodel = "m-1"\ntemperature = 0.5\n'
    )
    call_command("judge", task=judged.slug, judge=path)
    said = capsys.readouterr().out
    assert "Sent to judges.example (lab) for the model m-1." in said
    assert "Hidden references: not sent." in said
    with pytest.raises(CommandError, match="--most-cents"):
        call_command("judge", task=judged.slug, judge=path, send=True)
    with pytest.raises(CommandError, match="no budget"):
        call_command("judge", task=judged.slug, judge=path, send=True, most_cents=5)
    assert not JudgeRun.objects.exists()


def test_staff_make_price_and_approve_in_the_admin(judged, client):
    client.force_login(make_user("rosa", is_staff=True, is_superuser=True))
    made = json.dumps({"endpoint": "scripted", "model": "words"})
    fields = {"name": "words", "version": "1", "definition": made, "input_price": 0}
    pace = {"output_price": 0, "per_minute": 0, "at_once": 2, "timeout_seconds": 5}
    page = client.post(
        reverse("admin:leaderboard_judge_add"), {**fields, **pace, "n_retries": 1}
    )
    judge = Judge.objects.get()
    assert page.status_code == 302
    add = reverse("admin:leaderboard_judgerun_add")
    assert client.get(add).status_code == 200
    client.post(add, {"judge": judge.pk, "task": judged.pk})
    run = JudgeRun.objects.get()
    runs = reverse("admin:leaderboard_judgerun_changelist")
    chosen = {"action": "approve_selected", "_selected_action": run.pk}
    page = client.post(runs, chosen).text
    assert "Hidden references: not sent." in page
    said = {**chosen, "confirmed": "yes", "references": "on", "reason": "go"}
    page = client.post(runs, said, follow=True).text
    assert "Hidden references: no" in page
    del said["references"]
    client.post(runs, said)
    assert worked(run).state == "DONE"
    assert run.decided_by.username == "rosa"
    for name in ("judgerun", "judge"):
        pk = run.pk if name == "judgerun" else judge.pk
        address = reverse(f"admin:leaderboard_{name}_change", args=[pk])
        page = client.get(address).text.replace("<wbr>", "")
        assert judge.signature in page
    JudgeBudget.objects.create(task=judged, cents=700)
    for name in ("judgecall", "judgecost", "judgebudget", "judgerun", "judge"):
        page = client.get(reverse(f"admin:leaderboard_{name}_changelist"))
        assert page.status_code == 200, name
    assert decide.decline(run, by=None) is False


def test_with_a_deleted_submission_goes_what_was_said_of_it(judged):
    finch = add_system(judged, "Finch", lambda at: "a" * (12 + 10 * at))
    run = worked(approved(make_script(), judged))
    kite, wren = judged.submissions.exclude(pk=finch.pk).order_by("pk")
    loose = JudgeAnswer.objects.create(request_sha256="0" * 64, judge=run.judge)
    other = make_script("obeys")
    kept = JudgeAnswer.objects.create(request_sha256="1" * 64, judge=other)
    said = {
        one: set(run.calls.filter(submission=one).values_list("answer", flat=True))
        for one in (kite, wren, finch)
    }
    # the same words are answered once, and stay while anybody said them
    assert said[kite] == said[finch]
    for one in (wren, kite):
        one.predictions.all().delete()
        one.evaluated.all().delete()
        one.delete()
    left = set(JudgeAnswer.objects.values_list("pk", flat=True))
    assert left == said[finch] | {kept.pk}
    assert not JudgeAnswer.objects.filter(pk=loose.pk).exists()
    assert run.calls.count() == 3

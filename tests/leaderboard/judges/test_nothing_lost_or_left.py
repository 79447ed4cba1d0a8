"""What stops half-way: no money is counted twice or not at all, and no words stay behind."""

import json
from decimal import Decimal
from types import SimpleNamespace

import pytest

from genie.lib.errors import GenieError
from leaderboard.judges.endpoint import reply_of
from leaderboard.judges.models import MICROCENTS
from leaderboard.judges.selectors.told import texts_sent_by
from leaderboard.judges.services import ask, decide
from leaderboard.models import (
    EvaluatedSystem,
    JudgeAnswer,
    JudgeBudget,
    JudgeRun,
    Submission,
)
from tests.judge_server import texts_in
from tests.leaderboard.judges.conftest import approved, make_judge, worked
from tests.leaderboard.judges.test_designs import joint  # noqa: F401

PRICES = {"input_price": Decimal(300), "output_price": Decimal(2000)}


def deleted(system):
    EvaluatedSystem.objects.filter(submission=system).delete()
    system.delete()


def test_money_is_added_to_a_stopped_run_only_and_never_taken(server, judged):
    run = ask.ask(make_judge(**PRICES), judged, ask.Wish())
    JudgeBudget.objects.create(task=judged, cents=1000)
    for state in ("ASKED", "DECLINED", "DONE", "RUNNING"):
        JudgeRun.objects.filter(pk=run.pk).update(state=state)
        assert not decide.resume(run, cents=500)
        run.refresh_from_db()
        assert run.approved_cents == 0
    JudgeRun.objects.filter(pk=run.pk).update(state="STOPPED")
    stale = JudgeRun.objects.get(pk=run.pk)
    assert decide.resume(run, cents=600)
    decide.stop(run)
    # who looked before the other one added something
    assert decide.resume(stale, cents=300)
    run.refresh_from_db()
    assert run.approved_cents == 600
    decide.stop(run)
    with pytest.raises(GenieError, match="left in the budget"):
        decide.resume(stale, cents=1001)
    run.refresh_from_db()
    assert (run.state, run.approved_cents) == ("STOPPED", 600)
    assert run.microcents <= run.approved_cents * MICROCENTS


def test_answers_about_a_page_go_with_each_of_its_outputs(server, joint):  # noqa: F811
    def quotes(body):
        outputs = {n[-1]: t for n, t in texts_in(body).items() if n.startswith("Output")}  # fmt: skip
        every = " ".join(outputs.values())
        return json.dumps({slot: {"overall": {"reason": every, "answer": 10}} for slot in outputs})  # fmt: skip

    server.rule = quotes
    run = worked(approved(make_judge(mode="joint"), joint))
    secret = Submission.objects.get(system_name="Kite")
    text = secret.predictions.first().text
    assert JudgeAnswer.objects.filter(text__contains=text).exists()
    deleted(secret)
    assert not JudgeAnswer.objects.filter(text__contains=text).exists()
    assert not any(text in str(call.reasons) for call in run.calls.all())


def test_other_pages_of_a_joint_judge_stay(server, joint):  # noqa: F811
    run = worked(approved(make_judge(mode="joint"), joint, per_page=2))
    gone = Submission.objects.get(system_name="Tern")
    stays = [call.pk for call in run.calls.all() if gone.pk not in call.beside]
    deleted(gone)
    assert [call.pk for call in run.calls.all()] == stays
    assert run.calls.exclude(answer=None).count() == len(stays) > 0


def test_first_attempts_go_even_where_a_run_was_declined(server, judged):
    server.rule = lambda body: "quotes bbbb, and no JSON" if "bbbb" in str(texts_in(body)) else None  # fmt: skip
    judge = make_judge(n_retries=1)
    ask.ask(judge, judged, ask.Wish(occasion="never approved"))
    stopped = approved(judge, judged, occasion="stopped")
    assert decide.stop(stopped)
    assert decide.decline(stopped, by=None)
    worked(approved(judge, judged))
    assert JudgeAnswer.objects.filter(text__contains="bbbb").count() == 6
    deleted(Submission.objects.get(system_name="Wren"))
    assert not JudgeAnswer.objects.filter(text__contains="bbbb").exists()
    assert JudgeAnswer.objects.exists()


def test_what_an_endpoint_calls_itself_is_one_line_that_moves_no_terminal():
    hostile = "m-1\n\x1b[2J\u202eevil\u2028x\x00"
    said = SimpleNamespace(content="a\nb", refusal=hostile)
    answer = SimpleNamespace(
        choices=[SimpleNamespace(message=said)],
        model=hostile,
        system_fingerprint=hostile,
    )
    reply = reply_of(answer, 0.0)
    told = {reply.refusal, reply.model, reply.fingerprint}
    assert told == {"m-1 [2Jevil x"}
    assert reply.text == "a\nb"


@pytest.mark.parametrize("own_words", ["", "I will not."])
def test_a_filter_of_contents_counts_as_a_refusal(own_words):
    said = SimpleNamespace(content="", refusal=own_words)
    choice = SimpleNamespace(message=said, finish_reason="content_filter")
    reply = reply_of(SimpleNamespace(choices=[choice]), 0.0)
    assert reply.refusal == (own_words or "content filter")


@pytest.mark.parametrize("hidden", [True, False])
def test_references_that_left_are_said(server, judged, hidden):
    judged.config["human"]["show_reference"] = True
    judged.hidden_references = hidden
    judged.save()
    run = ask.ask(make_judge(), judged, ask.Wish())
    assert ("references" in texts_sent_by(run.judge, [run])) == (not hidden)

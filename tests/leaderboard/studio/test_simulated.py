"""A simulated pilot: programs answer a draft; priced, approved, paid by the ledger of judges."""

from __future__ import annotations

import json
import re
from decimal import Decimal

import pytest
from django.core.management import CommandError
from django.test import Client
from django.urls import reverse

from crowd.models import Campaign
from genie.lib import jobs
from leaderboard.judges.models import (
    Judge,
    JudgeAnswer,
    JudgeBudget,
    JudgeCost,
    JudgeRun,
    JudgeSheet,
)
from leaderboard.models import Draft, OutsideMetric, Task
from leaderboard.studio.services import keep
from tests.cast import allow
from tests.factories import make_user
from tests.judge_server import texts_in
from tests.leaderboard.judges.conftest import make_judge, server  # noqa: F401
from tests.leaderboard.studio.test_new import (  # noqa: F401
    QUESTIONS,
    WIDE,
    WORDS,
    boss,
    csv_of,
    new,
)
from tests.leaderboard.studio.test_pages import MAKES, asked, at, begin, text

pytestmark = pytest.mark.django_db

MAY = ["leaderboard.add_judgerun", "leaderboard.change_judgerun"]
PRICES = {"input_price": Decimal(300), "output_price": Decimal(2000)}
HOSTILE = "</q><script>alert(1)</script> =1+1"


@pytest.fixture
def mia(client):
    user = make_user("mia", is_staff=True)
    allow(user, MAKES, *MAY)
    client.force_login(user)
    return client


@pytest.fixture
def draft(mia):
    return drafted(mia)


def drafted(client, files=None, **changes):
    begin(client, files or {"a.csv": csv_of(WIDE)})
    draft = Draft.objects.get()
    client.post(at(draft, "ask"), asked(**changes))
    return draft


def options(client, draft):
    """Give what can be chosen, by its words."""
    page = text(client.get(at(draft, "simulated")))
    found = re.findall(r'name="judges" value="(\w+)"[^>]*>\s*([^<]*)<', page)
    return {words.strip(): value for value, words in found}


def price(client, draft, *names, **changes):
    chosen = [
        v for words, v in options(client, draft).items() if words.startswith(names)
    ]
    sent = {"price": "", "judges": chosen, "n_items": "5", "repeats": "1", **changes}
    answer = client.post(at(draft, "simulated"), sent)
    assert answer.status_code == 302, text(answer)
    return text(client.get(at(draft, "simulated")))


def approve(client, draft, page, **said):
    sent = dict(re.findall(r'name="(sheet|shown_cents)" value="(\d+)"', page))
    client.post(at(draft, "simulated"), {"approve": "", **sent, **said})
    jobs.drain()
    return text(client.get(at(draft, "simulated")))


def test_a_script_answers_with_no_endpoint_and_no_budget(mia, draft):
    assert [one.split(":")[0] for one in options(mia, draft)] == [
        *("words 1", "likes-long 1", "obeys 1")
    ]
    page = price(mia, draft, "words 1", "likes-long 1", repeats="2")
    assert "a script, no measurement of anything" in page
    assert "nothing leaves this site" in page
    # nothing happens before a person has approved it
    jobs.drain()
    assert not JudgeAnswer.objects.exists()
    page = approve(mia, draft, page)
    assert page.count("20 of 20") == 2
    assert "says nothing of how good a system is" in page
    assert "<bdi>words 1</bdi> and <bdi>likes-long 1</bdi>: Spearman" in page
    assert "Scripted: 0." in page
    assert f"{at(draft, 'page')}?n=" in page
    # no task, no person, no board
    assert {run.state for run in JudgeRun.objects.all()} == {"DONE"}
    assert not Task.objects.exists()
    assert not Campaign.objects.exists()
    assert not OutsideMetric.objects.exists()
    assert not JudgeCost.objects.exclude(microcents=0).exists()


def test_what_is_broken_unclear_or_telling_is_named(mia, server):  # noqa: F811
    files = {
        **WIDE,
        "question": ["What comes after", *QUESTIONS[1:]],
        "ada": [f"An answer that is whole, on {word}." for word in WORDS],
        "bob": ["Cut off in the", *(f"Bad, on {word}." for word in WORDS[1:])],
    }
    draft = drafted(mia, {"a.csv": csv_of(files)})

    def answer(body):
        [output] = [t for name, t in texts_in(body).items() if name == "Output"]
        word = output.split()[-1].rstrip(".")
        if word == WORDS[1]:
            return "nothing that could be read"
        if word == WORDS[2]:
            return "Strongly disagree"
        if word == WORDS[3]:
            return "Agree"
        return "Strongly agree" if "whole" in output else "Disagree"

    server.answer = answer
    make_judge(n_retries=0)
    page = price(mia, draft, "lark 1", n_items="10", repeats="2")
    assert "127.0.0.1" in page
    page = approve(mia, draft, page, private="on")
    found = json.loads(mia.get(at(draft, "simulated"), {"as": "json"}).content)
    [told] = found["judges"]
    names = found["items"]

    def named(numbers):
        return [int(re.sub(r"\D", "", names[number])) for number in numbers]

    first = int(re.sub(r"\D", "", names[0]))
    assert named(told["unanswered"]) == [first + 1]
    [one] = told["criteria"]
    assert named(one["lowest"]) == [first + 2]
    assert named(one["silent"]) == [first + 3]
    assert len(one["telling"]) == 5
    assert one["repeats_share"] == 0
    assert {(t["where"], t["what"]) for t in found["texts"]} == {
        ("Question", "seems cut off"),
        ("output of bob", "seems cut off"),
    }
    assert "No valid answer at all for 1" in page
    assert "All systems got the lowest score: broken, or too hard" in page
    assert found["note"].startswith("Said by programs")


def test_prices_budget_approval_and_what_leaves(mia, draft, server):  # noqa: F811
    make_judge(**PRICES)
    page = price(mia, draft, "lark 1")
    assert "no licence" not in page
    run = JudgeRun.objects.get()
    assert run.most_cents > 0
    assert f"At most <strong>${run.most_cents / 100:.2f}</strong>" in page
    assert "Outputs that are private or not on the board: SENT" in page
    # nobody said that the texts may leave
    assert "private outputs: yes" in approve(mia, draft, page)
    # and judges have no budget on drafts
    assert "no budget on drafts" in approve(mia, draft, page, private="on")
    assert server.requests == []
    JudgeBudget.objects.create(task=None, cents=run.most_cents)
    # another price than was shown
    stale = page.replace(f'value="{run.most_cents}"', 'value="1"')
    assert "another one now" in approve(mia, draft, stale, private="on")
    approve(mia, draft, page, private="on")
    run.refresh_from_db()
    assert (run.state, run.sheet.content != {}) == ("DONE", True)
    assert len(server.requests) == 10
    assert "ada" not in server.everything()  # names of systems stay here
    # what was bought is not bought again: the same inputs cost nothing
    page = price(mia, draft, "lark 1")
    assert "no licence" not in page
    assert "At most <strong>$0.00</strong>" in page
    approve(mia, draft, page, private="on")
    assert len(server.requests) == 10
    # the ledger adds up, and a task's budget is another one
    spent = sum(cost.microcents for cost in JudgeCost.objects.all())
    assert spent == JudgeRun.objects.order_by("pk")[0].microcents > 0


def test_reasons_are_a_program_s_words_and_harm_nobody(mia, draft, server):  # noqa: F811
    said = {"overall": {"reason": HOSTILE, "answer": "Agree"}}
    server.rule = lambda body: json.dumps(said)
    make_judge()
    page = approve(mia, draft, price(mia, draft, "lark 1"), private="on")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "a program’s words" in page
    server.rule = lambda body: json.dumps({"overall": {"reason": "=1+1", "answer": "Agree"}})  # fmt: skip
    make_judge(version="2")
    approve(mia, draft, price(mia, draft, "lark 2"), private="on")
    table = mia.get(at(draft, "simulated"), {"as": "csv"}).content.decode()
    assert table.splitlines()[0].startswith("judge,script,item,system")
    assert "'=1+1" in table
    assert ",=1+1" not in table


def test_pairs_are_asked_in_both_orders(mia, draft):
    mia.post(at(draft, "ask"), asked(question_1="Which is better?"))
    assert [one.split(":")[0] for one in options(mia, draft)][
        2
    ] == "likes-first-pairs 1"
    page = approve(mia, draft, price(mia, draft, "likes-first-pairs 1"))
    calls = JudgeRun.objects.get().calls.values_list("item", "system", "rival")
    assert {(item, rival, one) for item, one, rival in calls} == set(calls)
    assert len(calls) == 10
    assert "of the pairs the place decides" in page


def test_criteria_that_say_the_same_and_repeats_that_do_not(mia, server):  # noqa: F811
    draft = drafted(mia, name_2="fluent", question_2="It reads well.")
    answers = iter(["Agree", "Disagree", "Neutral"] * 1000)

    def answer(body):
        one = next(answers)
        return json.dumps(
            {name: {"reason": "", "answer": one} for name in ("overall", "fluent")}
        )

    server.rule = answer
    make_judge(at_once=1)
    page = price(mia, draft, "lark 1", n_items="10", repeats="4")
    page = approve(mia, draft, page, private="on")
    assert "put the outputs in the same order" in page
    assert page.count("this question is unclear to this program") == 2


def test_a_deleted_draft_ends_it_and_keeps_the_ledger(mia, draft, server):  # noqa: F811
    make_judge(**PRICES)
    JudgeBudget.objects.create(task=None, cents=10_000)
    approve(mia, draft, price(mia, draft, "lark 1"), private="on")
    n, spent = JudgeCost.objects.count(), JudgeRun.objects.get().microcents
    assert (n, spent > 0) == (10, True)
    page = price(mia, draft, "lark 1", n_items="8")
    sent = dict(re.findall(r'name="(sheet|shown_cents)" value="(\d+)"', page))
    mia.post(at(draft, "simulated"), {"approve": "", "private": "on", **sent})
    assert JudgeRun.objects.filter(state="RUNNING").count() == 1
    mia.post(at(draft, "delete"))
    jobs.drain()
    assert {run.state for run in JudgeRun.objects.all()} == {"DONE", "DECLINED"}
    assert JudgeCost.objects.count() == n
    assert {sheet.content == {} for sheet in JudgeSheet.objects.all()} == {True}
    assert not Draft.objects.exists()


def test_texts_are_forgotten_with_an_account_s_drafts(mia, draft):
    price(mia, draft, "words 1")
    Draft.objects.all().delete()  # as with the owner's account
    keep.forget_old()
    assert JudgeSheet.objects.get().content == {}
    assert JudgeRun.objects.get().state == "DECLINED"


def test_who_may_not_ask_or_approve_does_not(draft):
    user = make_user("max", is_staff=True)
    allow(user, MAKES)
    client = Client()
    client.force_login(user)
    assert client.get(at(draft, "simulated")).status_code == 404
    draft.owner = user
    draft.save()
    assert "Somebody who may ask judges" in text(client.get(at(draft, "simulated")))
    for act in ("price", "stop", "end", "approve"):
        sheet = JudgeSheet.objects.create(key=f"draft-{draft.pk}", title="x")
        sent = {act: "", "judges": ["x"]}
        assert client.post(at(draft, "simulated"), sent).status_code == 403
        sheet.delete()
    assert not Judge.objects.exists()


def test_what_runs_is_stopped_resumed_and_not_priced_meanwhile(mia, draft):
    page = price(mia, draft, "words 1")
    sent = dict(re.findall(r'name="(sheet|shown_cents)" value="(\d+)"', page))
    mia.post(at(draft, "simulated"), {"approve": "", **sent})
    chosen = {"price": "", "n_items": "5", "repeats": "1"}
    sha256 = JudgeRun.objects.get().judge.sha256
    answer = mia.post(at(draft, "simulated"), {**chosen, "judges": [sha256]})
    assert (answer.status_code, "at work on this draft" in text(answer)) == (400, True)
    mia.post(at(draft, "simulated"), {"stop": ""})
    assert JudgeRun.objects.get().state == "STOPPED"
    mia.post(at(draft, "simulated"), {"resume": ""})
    jobs.drain()
    assert JudgeRun.objects.get().state == "DONE"


def test_the_command_asks_programs_of_files_and_loads_nothing(new, tmp_path):  # noqa: F811
    out = new("mine", {"a.csv": csv_of(WIDE)}, "--pilot-by", "words", "likes-long")
    assert "Nothing leaves this site" in out
    assert "Nothing was sent and nothing was loaded" in out
    assert not JudgeRun.objects.exists()
    assert not Judge.objects.exists()
    path = tmp_path / "found.json"
    out = new(
        "mine",
        {"a.csv": csv_of(WIDE)},
        *("--pilot-by", "words", "likes-long", "--pilot-send"),
        *("--pilot-inputs", "4", "--pilot-json", str(path)),
    )
    assert out.count("16 answered") == 2
    assert "says nothing of how good a system is" in out
    assert "overall, by a script" in out
    assert len(json.loads(path.read_text())["answers"]) == 32
    assert JudgeSheet.objects.get().content == {}
    assert not Task.objects.exists()


def test_the_command_sends_no_more_than_it_may(new, server, tmp_path):  # noqa: F811
    judge = tmp_path / "lark.toml"
    judge.write_text(
        'name = "lark"\nversion = "1"\ninput_price = 300\noutput_price = 2000\n'
        '[definition]\nendpoint = "stand-in"\nmodel = "m-1"\n'
    )
    wanted = ("--pilot-by", str(judge), "--pilot-send")
    for more, words in (
        ((), "this costs money"),
        (("--pilot-most-cents", "1"), "could pass"),
        (("--pilot-most-cents", "1000"), "no budget on drafts"),
    ):
        with pytest.raises(CommandError, match=f"(?i){words}"):
            new("mine", {"a.csv": csv_of(WIDE)}, *wanted, *more)
    assert server.requests == []
    assert not JudgeRun.objects.exists()


def test_staff_of_judges_see_its_price_and_budget_in_the_admin(mia, draft, boss):  # noqa: F811
    approve(mia, draft, price(mia, draft, "words 1"))
    run = JudgeRun.objects.get()
    client = Client()
    client.force_login(boss)
    for name in ("judgerun", "judgecost", "judgecall", "judgebudget"):
        page = client.get(reverse(f"admin:leaderboard_{name}_changelist"))
        assert page.status_code == 200
        # money is staff's to see, what was asked and said is the owner's
        seen = "My answers (draft)" in text(page)
        assert seen == (name in {"judgerun", "judgecost"})
    page = text(client.get(reverse("admin:leaderboard_judgerun_change", args=[run.pk])))
    assert "overall, by a script" not in page
    sent = {"task": "", "judge": "", "cents": "500", "_why": "x", "reason": "x"}
    client.post(reverse("admin:leaderboard_judgebudget_add"), sent)
    assert str(JudgeBudget.objects.get()) == "all judges on drafts"
    # a second one for the same would let through nothing more, and is refused
    client.post(reverse("admin:leaderboard_judgebudget_add"), sent)
    assert JudgeBudget.objects.count() == 1
    assert client.get("/api/v1/judge-runs/").json()["results"] == []

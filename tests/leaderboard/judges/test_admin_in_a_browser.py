"""Staff define a judge, ask it, approve what it may do and see how far it is, in a browser."""

import json
import re

import pytest
from django.contrib.auth import get_user_model

from leaderboard.judges.services.work import work
from leaderboard.models import JudgeRun
from tests.leaderboard.judges.test_designs import asked_as

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# what is stored, and not what is read: JSON, fields by their names, parts of a cent
RAW = re.compile(r'[{\[]\s*"|microcents|Traceback|\bNone\b|_cents')


@pytest.fixture
def seen(open_page):
    page = open_page("/admin/", user=get_user_model().objects.create_superuser("boss"))
    site = page.url.split("/admin/")[0]

    def see(path=""):
        if path:
            page.goto(f"{site}/admin/leaderboard/{path}")
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            wide = "document.documentElement.scrollWidth - window.innerWidth"
            assert page.evaluate(wide) <= 0, (page.url, width)
        text = page.inner_text("#content")
        assert not RAW.search(text), (page.url, RAW.search(text))
        return text

    page.see = see
    return page


def test_a_scripted_judge_is_made_asked_approved_and_watched(seen, judged):
    asked_as(judged, design="mqm", scale="mqm", hit_template="mqm-translation")
    seen.see("judge/")
    seen.goto(seen.url + "add/")
    seen.fill("[name=name]", "marker")
    seen.fill("[name=version]", "1")
    made = {"endpoint": "scripted", "model": "words"}
    seen.fill("[name=definition]", json.dumps(made))
    seen.click("input[value=Add]")
    assert "mode: pointwise" in seen.see()
    seen.see("judgerun/add/")
    seen.select_option("[name=judge]", label="marker 1")
    seen.select_option("[name=task]", label=str(judged))
    seen.click("input[value='Price it']")
    assert "6 questions about overall, in " in seen.see()
    seen.see("judgerun/")
    seen.check(".action-select")
    seen.select_option("[name=action]", "approve_selected")
    seen.click("button[name=index]")
    assert "Genie sends no data to other servers" in seen.see()
    seen.fill("[name=reason]", "costs nothing")
    seen.click("input[value=Approve]")
    assert "0 answered" in seen.see("judgerun/")
    run = JudgeRun.objects.get()
    work(run.pk)
    assert "6 answered" in seen.see("judgerun/")
    assert "6 answered, 0 without a valid answer" in seen.see(f"judgerun/{run.pk}/change/")  # fmt: skip
    call = run.calls.exclude(marks=[]).first()
    said = seen.see(f"judgecall/{call.pk}/change/")
    assert "“" in said
    assert "a script; no person" in said
    for name in ("judgecall", "judgecost", "judgebudget"):
        seen.see(f"{name}/")

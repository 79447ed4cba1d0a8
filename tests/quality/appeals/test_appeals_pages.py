"""The worker's page of an appeal and the page on which staff answer it."""

from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from crowd.campaigns.services import review
from crowd.models import Assignment, Consent, Exclusion, HITType
from genie.lib.errors import GenieError
from quality.appeals import services as service
from quality.bans import services
from quality.bans.selectors import soft_weights
from quality.detection.services import next_hit
from quality.detection.services.evidence import record_of
from quality.models import (
    Appeal,
    Ban,
    DetectorFit,
    Grade,
    Standing,
    TestQuestion,
)
from quality.test_questions.selectors import right_answer
from tests.crowd.making import (
    POOL,
    do_all,
    hit_type,
    make_campaign,
    make_worker,
    text_of,
)
from tests.factories import make_user, signed_in
from tests.quality.making import grade, place

WORDS = "I read it <b>twice</b>."
BAN = reverse("appeals:ban", args=[POOL])


@pytest.fixture
def wim():
    return make_worker(user=make_user("wim"))


@pytest.fixture
def site(wim):
    return signed_in(wim.user)


@pytest.fixture
def boss(ada):
    return signed_in(ada)


@pytest.fixture
def work(wim):
    campaign = make_campaign(2)
    first, second = do_all(wim)
    review.reject(first.pk, None, "Too quick.")
    test_question = place(campaign, second.hit.items.get(), "POSITIVE")
    grade(test_question, second, pool=POOL)
    return Assignment.objects.get(pk=first.pk)


def address(work):
    return reverse("appeals:work", args=[work.pk])


def answer_page(appeal):
    return reverse("admin:quality_appeal_answer", args=[appeal.pk])


@pytest.mark.every_engine
def test_pages_lead_to_the_appeal_and_it_is_sent_once(site, wim, work):
    for name in ("work:messages", "work:earnings"):
        assert address(work) in site.get(reverse(name)).text
    assert address(work) in site.get(reverse("work:hit", args=[work.pk])).text
    page = site.get(address(work))
    assert "Too quick." in page.text
    response = site.post(address(work), {"words": WORDS}, follow=True)
    assert "A person will review it" in text_of(response)
    assert "I read it &lt;b&gt;twice&lt;/b&gt;." in response.text
    assert "<textarea" not in response.text
    again = site.post(address(work), {"words": "Other words."})
    assert again.status_code == 422
    assert "You have already appealed" in text_of(again)
    assert Appeal.own.get().words == WORDS


def test_a_banned_worker_finds_the_way_and_the_answer(site, wim, ada):
    make_campaign(1)
    services.ban(wim, POOL, by=None, reason="0 of 9 right.")
    for name in ("work:home", "work:messages"):
        page = site.get(reverse(name))
        assert BAN in page.text
        assert "0 of 9" not in page.text
    assert "0 of 9" not in site.get(BAN).text
    site.post(BAN, {"words": WORDS})
    service.uphold(Appeal.own.get().pk, by=ada, sentence="It <i>stands</i>.")
    page = site.get(BAN)
    assert "The decision stands." in page.text
    assert "It &lt;i&gt;stands&lt;/i&gt;." in page.text
    services.lift(Ban.own.get().pk, by=ada, reason="x")
    assert site.get(BAN).status_code == 200


def test_others_and_strangers_see_nothing_of_it(work, wim):
    services.ban(wim, POOL, by=None, reason="x")
    other = signed_in(make_worker(user=make_user("wanda")).user)
    nobody, visitor = signed_in(make_user("nobody")), Client()
    for path in (address(work), BAN):
        for client, status in ((other, 404), (nobody, 403), (visitor, 302)):
            assert client.get(path).status_code == status
            assert client.post(path, {"words": "Mine."}).status_code == status
    assert not Appeal.own.exists()


def test_rejected_work_alone_has_an_appeal_with_words_and_no_key(site, work, wim):
    good = Assignment.own.exclude(pk=work.pk).get()
    assert site.get(address(good)).status_code == 404
    assert site.get(BAN).status_code == 404
    response = site.post(address(work), {"words": "  "})
    assert response.status_code == 422
    assert 'role="alert"' in response.text
    assert not Appeal.own.exists()
    page = site.get(address(work))
    item = work.hit.items.get()
    assert item.data["fields"][0]["text"] in unescape(page.text)
    assert item.data["prediction"] in unescape(page.text)
    assert "overall: " in page.text
    assert "Gold answer" not in page.text


def test_staff_see_what_waits_first_and_the_evidence(boss, ada, wim, work):
    done = service.against_rejection(wim, work.pk, "Old words.")
    service.uphold(done.pk, by=ada, sentence="No.")
    services.ban(wim, POOL, by=None, reason="3 of 9 right.")
    waiting = service.against_ban(wim, POOL, WORDS)
    index = boss.get("/admin/").text
    assert "Appeals to decide: 3" in index  # two are decoys
    assert answer_page(waiting) in index
    shown = boss.get(reverse("admin:quality_appeal_changelist")).text
    assert shown.index(answer_page(waiting)) < shown.index(answer_page(done))
    page = boss.get(answer_page(waiting))
    assert "I read it &lt;b&gt;twice&lt;/b&gt;." in page.text
    assert "3 of 9 right." in text_of(page)
    assert "positive 0 1" in text_of(page)
    page = text_of(boss.get(answer_page(done)))
    assert "overall: 0.75" in page
    assert "Answer number" in page
    assert "ada" in page


def test_a_rejected_test_question_shows_texts_edit_and_key(boss, wim, monkeypatch):
    criteria = {"right": "Is it right?", "clear": "Is it clear?"}
    campaign = make_campaign(1, hit_type=hit_type(criteria=criteria))
    [done] = do_all(wim)
    review.reject(done.pk, None, "Not read.")
    edit = {"edit": {"sentence": "“1865” became “1885”."}}
    test_question = TestQuestion(
        campaign=campaign,
        item=done.hit.items.get(),
        polarity="NEGATIVE",
        expected={"criteria": ["right"]},
    )
    if hasattr(TestQuestion, "made_from"):
        test_question.made_from = edit
    else:
        monkeypatch.setattr(TestQuestion, "made_from", edit, raising=False)
    test_question.save()
    page = text_of(
        boss.get(answer_page(service.against_rejection(wim, done.pk, WORDS)))
    )
    for said in ("Question What is it?", "Answer number 0.", "“1865” became “1885”."):
        assert said in page
    assert "right 0.75 (Agree) Neutral or Disagree or Strongly disagree" in page
    assert "clear 0.75 (Agree) not marked" in page
    theirs = text_of(signed_in(wim.user).get(address(done)))
    assert "What is it?" in theirs
    for key in ("test question", "1885", "Strongly disagree"):
        assert key not in theirs


@pytest.mark.every_engine
def test_staff_answer_once(boss, wim, work):
    other = make_worker()
    services.ban(other, POOL, by=None, reason="x")
    decoy = service.against_ban(other, POOL, WORDS)
    one = service.against_rejection(wim, work.pk, WORDS)
    page = answer_page(one)
    assert boss.post(page, {"grant": "Grant", "sentence": ""}).status_code == 422
    said = {"sentence": "You are right."}
    granted = boss.post(page, {"grant": "Grant the appeal", **said}, follow=True)
    assert "Answered:" in text_of(granted)
    second = boss.post(page, {"uphold": "x", "sentence": "No."}, follow=True)
    assert "already been answered" in text_of(second)
    one.refresh_from_db()
    assert (one.state, one.answer) == ("GRANTED", "You are right.")
    assert "<textarea" not in boss.get(page).text
    work.refresh_from_db()
    assert work.state == "APPROVED"
    decoy.refresh_from_db()
    assert decoy.answered_at is None


def test_staff_let_a_decision_stand(boss, wim):
    make_campaign(1)
    services.ban(wim, POOL, by=None, reason="x")
    one = service.against_ban(wim, POOL, WORDS)
    boss.post(answer_page(one), {"uphold": "The decision stands", "sentence": "No."})
    one.refresh_from_db()
    assert one.state == "UPHELD"
    assert Exclusion.own.exists()


def test_an_answer_that_cannot_be_paid_is_said(boss, wim, work, monkeypatch):
    def refuse(*_args, **_fields):
        raise GenieError("The budget has no room.", code="over-budget")

    one = service.against_rejection(wim, work.pk, WORDS)
    monkeypatch.setattr(service, "overturn", refuse)
    sent = {"grant": "x", "sentence": "Yes."}
    page = boss.post(answer_page(one), sent, follow=True)
    assert "The budget has no room." in text_of(page)
    one.refresh_from_db()
    assert one.state == "WAITING"


def test_staff_see_the_texts_the_answer_and_what_counts_as_right(boss, wim, work):
    services.ban(wim, POOL, by=None, reason="3 of 9 right.")
    for appeal in (
        service.against_ban(wim, POOL, WORDS),
        service.against_rejection(wim, work.pk, WORDS),
    ):
        page = text_of(boss.get(answer_page(appeal)))
        item = Grade.own.get().test_question.item
        [field] = item.data["fields"]
        row = page[page.index("Gold answer") :]
        for words in (
            f"{field['label']} {field['text']}",
            f"Text to rate {item.data['prediction']}",
            "overall: 0.75 (Agree)",
            "wrong",
        ):
            assert words in row
    records = text_of(boss.get(reverse("admin:quality_grade_worker", args=[wim.pk])))
    assert field["text"] in records


@pytest.mark.parametrize(
    ("scale", "expected", "polarity", "words"),
    [
        ("likert-5", {}, "POSITIVE", "Strongly agree or Agree"),
        ("slider-100", {}, "POSITIVE", "above 50"),
        ("slider-100", {}, "NEGATIVE", "50 or less"),
        ("magnitude", {"threshold": 0.5}, "NEGATIVE", "50 or less"),
        ("two-choice", {"slot": "B"}, "POSITIVE", "B is better"),
        ("magnitude", {"not_best": "C"}, "POSITIVE", "C is not the best"),
    ],
)
def test_what_is_right_is_said_in_words_of_the_scale(scale, expected, polarity, words):
    one = HITType(scale=scale, criteria={"overall": "?"})
    assert right_answer(polarity, expected, one) == words
    several = HITType(scale=scale, criteria={"right": "?", "clear": "?", "short": "?"})
    said = right_answer(polarity, {**expected, "criteria": ["right"]}, several)
    assert said == f"right: {words}"
    said = right_answer(polarity, {**expected, "criteria": ["right", "clear"]}, several)
    assert said == f"{words}; on each of right, clear"


def test_a_record_is_seen_by_both_sides_and_can_be_appealed(site, boss, ada, wim):
    make_campaign(2)
    do_all(wim)
    page = reverse("appeals:record", args=[POOL])
    assert "no record of you" in text_of(site.get(page))
    fit = DetectorFit.objects.create(pool_id=POOL, n_workers=1, seed=1)
    Standing.objects.create(
        worker=wim, pool_id=POOL, fit=fit, n_questions=4, p_careless=0.9, weight=0.3
    )
    assert soft_weights(POOL) == {str(wim.pk): 0.3}
    assert "about 25 percent" in text_of(site.get(page))
    assert page in site.get(reverse("work:home")).content.decode()
    Consent.own.update(text_sha256="0" * 64)  # staff have changed the text since
    assert "about 25 percent" in text_of(site.get(page))
    worker_page = reverse("admin:quality_grade_worker", args=[wim.pk])
    assert "0.30" in text_of(boss.get(worker_page))
    # from the first item of the next campaign
    make_campaign(2, key="next")
    assert next_hit._p_careless(wim, POOL, record_of(wim, POOL)) == (0.9, True)
    site.post(page, {"words": WORDS})
    appeal = Appeal.own.get()
    assert "the weight of their answers" in str(appeal)
    assert service.exclusion_appeal(wim) is None
    assert service.grant(appeal.pk, by=ada, sentence="You do read.")
    assert soft_weights(POOL) == {}
    assert not Ban.own.exists()
    assert "You do read." in text_of(site.get(page))

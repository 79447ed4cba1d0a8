import re
from datetime import timedelta
from html import unescape

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crowd.campaigns.services import review
from crowd.campaigns.services.work import next_assignment, release_overdue
from crowd.models import HIT, Assignment, Invitation, LedgerEntry, Rating, Worker
from crowd.worker_site import pages
from crowd.workers.services import exclusions, invitations
from crowd.workers.services import invitations as consent
from genie.accounts.throttles import WrongCodes, WrongCodesOfLink
from tests.crowd.making import (
    POOL,
    do_all,
    hit_type,
    item,
    items,
    make_campaign,
    make_worker,
    text_of,
)
from tests.factories import make_user, signed_in

State = Assignment.State
ANSWER = {"answer-0-0": "0.75"}
JSON = {"Accept": "application/json"}
FORM = {"username": "wanda", "password1": "grey heron 7", "password2": "grey heron 7"}


def start(client):
    """Ask for work; give the open assignment and the address of its page."""
    response = client.post(reverse("work:next"))
    assignment = Assignment.own.get(state=State.ACCEPTED)
    address = reverse("work:hit", args=[assignment.pk])
    assert response["Location"] == address
    return assignment, address


@pytest.fixture
def invitation():
    return reverse("work:invitation", args=[invitations.invite(make_user("sam"))])


def test_a_newcomer_makes_an_account_by_invitation_and_is_signed_in(invitation):
    client = Client()
    weak = {**FORM, "password1": "12345678", "password2": "12345678"}
    response = client.post(invitation, weak)
    assert response.status_code == 422
    assert "too common" in text_of(response)
    assert not Worker.own.exists()
    assert client.get(invitation).status_code == 200
    response = client.post(invitation, FORM, follow=True)
    assert response.redirect_chain == [(reverse("work:home"), 302)]
    worker = Worker.own.get()
    assert worker.user.get_username() == "wanda"
    assert Client().post(invitation, {**FORM, "username": "w2"}).status_code == 410
    assert not get_user_model().objects.filter(username="w2").exists()


def test_somebody_with_an_account_uses_that_and_a_used_link_says_so(invitation):
    client = Client()
    assert f"?next={invitation}" in client.get(invitation).text
    wanda = make_user("wanda")
    client.force_login(wanda)
    assert "Take part as" in text_of(client.get(invitation))
    assert not Worker.own.exists()  # a look is not a yes
    client.post(invitation)
    assert Worker.own.get().user == wanda
    client.force_login(make_user("wilma"))
    for link in (invitation, reverse("work:invitation", args=["guessed"])):
        response = client.get(link)
        assert response.status_code == 410
        assert "This link does not work" in text_of(response)


@pytest.mark.parametrize("has_account", [False, True])
def test_a_link_with_a_code_asks_for_it_and_says_when_it_is_wrong(has_account):
    token = invitations.invite(make_user("sam"), places=9, code="sea")
    link = reverse("work:invitation", args=[token])
    client = Client()
    if has_account:
        client.force_login(make_user("wanda"))
    response = client.post(link, {**FORM, "code": "see"})
    assert response.status_code == 422
    assert "The code is wrong" in text_of(response)
    assert not Worker.own.exists()
    assert get_user_model().objects.filter(username="wanda").exists() is has_account
    client.post(link, {**FORM, "code": "sea"})
    assert Worker.own.get().user.get_username() == "wanda"


def test_codes_cannot_be_guessed_at_will(monkeypatch):
    token = invitations.invite(make_user("sam"), places=9, code="sea")
    link = reverse("work:invitation", args=[token])
    monkeypatch.setattr(WrongCodes, "rate", "3/hour")
    client = Client(REMOTE_ADDR="192.0.2.6")
    for code in ("see", "sew", "sail"):
        assert client.post(link, {**FORM, "code": code}).status_code == 422
    refused = client.post(link, {**FORM, "code": "sea"})
    assert refused.status_code == 429
    assert "Too many wrong codes" in text_of(refused)
    client.force_login(make_user("another account"))
    assert client.post(link, {"code": "sea"}).status_code == 429
    assert not Worker.own.exists()
    # somebody else still comes in, however often the right code was used before
    for place in range(5):
        other = Client(REMOTE_ADDR="192.0.2.7")
        sent = {**FORM, "username": f"wilma{place}", "code": "sea"}
        assert other.post(link, sent).status_code == 302
    monkeypatch.setattr(WrongCodesOfLink, "rate", "3/hour")
    assert other.post(link, {"code": "sea"}).status_code == 429


def test_a_link_that_is_of_no_use_to_a_worker_leads_to_their_work(invitation):
    client = signed_in(make_user("wanda"))
    client.post(invitation)
    token = invitations.invite(make_user("sara"), limited_to=[POOL])
    page = client.post(reverse("work:invitation", args=[token]), follow=True)
    assert page.redirect_chain == [(reverse("work:home"), 302)]
    assert "give the invitation to someone else" in text_of(page)
    assert Invitation.own.order_by("-pk")[0].n_taken == 0
    make_campaign(1)
    there = client.post(reverse("work:invitation", args=[token]))["Location"]
    assert there == reverse("work:consent", args=[POOL])


@pytest.mark.parametrize("name", ["home", "earnings"])
def test_pages_want_a_signed_in_worker(name, client):
    address = reverse(f"work:{name}")
    assert client.get(address)["Location"] == f"{reverse('login')}?next={address}"
    client.force_login(make_user("nobody"))
    response = client.get(address)
    assert response.status_code == 403
    assert "by invitation" in text_of(response)


def test_the_way_leads_from_consent_through_instructions_to_the_work():
    worker = make_worker(user=make_user("wilma"), agreed=False)
    client = signed_in(worker.user)
    make_campaign(2)
    home = client.get(reverse("work:home"))
    assert reverse("work:consent", args=[POOL]) in home.text
    assert ">Start<" not in home.text
    assert client.post(reverse("work:next"))["Location"] == reverse("work:home")
    page = client.get(reverse("work:consent", args=[POOL]))
    assert "Taking part is voluntary" in text_of(page)
    response = client.post(reverse("work:consent", args=[POOL]))
    assert response["Location"] == reverse("work:instructions", args=[POOL])
    assert "Strongly disagree" in text_of(client.get(response["Location"]))
    start(client)


def test_volunteers_read_that_nothing_is_paid_and_no_price_of_nothing(site, wim):
    make_campaign(3, hit_type=hit_type(reward_cents=0))
    home = text_of(site.get(reverse("work:home")))
    guide = text_of(site.get(reverse("work:instructions", args=[POOL])))
    _, address = start(site)
    at_work = site.get(address).text
    assert "unpaid" in home
    assert "This work is unpaid" in guide
    assert "<span>unpaid</span>" in at_work
    for shown in (home, guide, at_work):
        assert "pays $0.00" not in shown
        assert "$0.00 each" not in shown
    review.approve([one.pk for one in do_all(wim)])
    assert ">approved</span>" in site.get(reverse("work:earnings")).text


def test_the_page_shows_the_text_the_question_and_the_answers(site):
    make_campaign(3, of=[item(f"k{i}", text=f"Because of {i}.") for i in range(3)])
    assignment, address = start(site)
    response = site.get(address)
    shown = text_of(response)
    assert assignment.hit.items.get().data["prediction"] in shown
    assert "This is a reasonable answer." in shown
    for label in (
        "Strongly agree",
        "Agree",
        "Neutral",
        "Disagree",
        "Strongly disagree",
    ):
        assert label in shown
    assert "1 of 3" in shown
    assert "$0.00 pending" in shown
    assert "pays $0.10" in shown
    assert not re.search(r"<input type=.radio.[^>]+checked", response.text)
    assert address in site.get(reverse("work:home")).text
    response = site.get(address)
    assert "script-src 'self'" in response["Content-Security-Policy"]
    assert not re.search(r"\sstyle=|\son\w+=|<style|<script>|https?://", response.text)


def test_sending_an_answer_leads_to_the_next_hit(site):
    make_campaign(2)
    first, address = start(site)
    response = site.post(address, {**ANSWER, "active_seconds": "3.5", "remark": "Odd."})
    second = Assignment.own.get(state=State.ACCEPTED)
    assert response["Location"] == reverse("work:hit", args=[second.pk])
    first.refresh_from_db()
    assert (first.state, first.remark) == (State.SUBMITTED, "Odd.")
    assert first.active_seconds is not None
    assert Rating.own.get().value == 0.75
    assert "2 of 2" in text_of(site.get(response["Location"]))
    assert "$0.10 pending" in text_of(site.get(response["Location"]))
    over = site.post(response["Location"], ANSWER, follow=True)
    assert over.redirect_chain[-1][0] == reverse("work:home")
    assert "There is no more of this work for you" in text_of(over)


@pytest.mark.every_engine
def test_a_double_submit_counts_once(site):
    make_campaign(2)
    _, address = start(site)
    first = site.post(address, ANSWER)
    second = site.post(address, ANSWER)
    assert first["Location"] == second["Location"]
    assert Rating.own.count() == LedgerEntry.own.count() == 1
    response = site.get(address)
    assert "Your answer is stored" in text_of(response)
    assert 'id="hit"' not in response.text
    assert "no-store" in response["Cache-Control"]
    response = site.post(address, {"answer-0-0": "0"})
    assert response.status_code == 409
    assert "your first answer counts" in text_of(response)
    assert Rating.own.get().value == 0.75


def test_an_unusable_answer_comes_back_with_a_sentence(site):
    make_campaign(1, hit_type=hit_type(criteria={"a": "First?", "b": "Second?"}))
    assignment, address = start(site)
    for sent in ({}, {"answer-0-0": "0.9"}, {"answer-0-0": ""}):
        response = site.post(address, {**sent, "remark": "I cannot read <b>this</b>."})
        assert response.status_code == 422
        assert 'role="alert"' in response.text
        assert "I cannot read &lt;b&gt;this&lt;/b&gt;." in response.text
    # one answer that was given stands when the other is missing
    response = site.post(address, {"answer-0-0": "0.25"})
    checked = re.findall(r'name="([^"]+)" value="([^"]+)"[^>]*checked', response.text)
    assert checked == [("answer-0-0", "0.25")]
    assignment.refresh_from_db()
    assert assignment.state == State.ACCEPTED


def test_a_returned_hit_goes_to_others_and_never_comes_back(site):
    make_campaign(1)
    assignment, address = start(site)
    response = site.post(reverse("work:return", args=[assignment.pk]), follow=True)
    assert "This does not count against you" in text_of(response)
    assert HIT.own.get().n_available == 1
    assert "You returned this HIT" in text_of(site.get(address))
    assert site.post(reverse("work:next"))["Location"] == reverse("work:home")


def test_work_whose_time_is_over_says_so(site):
    make_campaign(1)
    assignment, address = start(site)
    Assignment.own.update(deadline_at=timezone.now() - timedelta(hours=1))
    assert "The time for this HIT is up" in text_of(site.get(address))
    response = site.post(address, ANSWER)
    assert response.status_code == 409
    assert "was not stored" in text_of(response)
    release_overdue()
    assert "The time for this HIT is up" in text_of(site.get(address))
    assert not Rating.own.exists()
    assert assignment.pk


def test_a_look_claims_nothing(site):
    make_campaign(1)
    for name in ("home", "earnings"):
        site.get(reverse(f"work:{name}"))
    site.get(reverse("work:instructions", args=[POOL]))
    back = reverse("work:return", args=[1])
    for path in (reverse("work:next"), back, reverse("work:zone")):
        assert site.get(path).status_code == site.head(path).status_code == 302
        assert site.put(path).status_code == 405
    assert site.get(reverse("work:next"))["Location"] == reverse("work:home")
    assert not Assignment.own.exists()


def test_the_start_page_counts_what_is_left_for_this_worker(site, monkeypatch):
    make_campaign(3, of=items(3, "a-"))
    make_campaign(4, of=items(4, "b-"))  # three inputs are the same
    assert "4 left for you" in text_of(site.get(reverse("work:home")))
    make_campaign(2, of=items(2, "c-"), pool="other", hit_type=hit_type(title="Others"))
    assert (
        reverse("work:consent", args=["other"]) in site.get(reverse("work:home")).text
    )
    monkeypatch.setattr(pages, "OFFERS", 1)
    first = site.get(reverse("work:home")).text
    assert 'href="?page=2"' in first
    assert "Others" not in first
    assert "Others" in site.get(reverse("work:home"), {"page": 2}).text


def test_a_worker_stays_with_the_kind_of_work_that_they_chose(site, wim):
    consent.give_consent(wim, "other")
    make_campaign(1, of=items(1, "a-"))
    make_campaign(1, of=items(1, "b-"), pool="other")
    site.post(reverse("work:next"), {"pool": "other"})
    assignment = Assignment.own.get()
    assert assignment.hit.campaign.pool_id == "other"
    page = site.post(reverse("work:next"), {"pool": POOL}, follow=True)
    assert "Please finish this page first." in page.text
    assert Assignment.own.count() == 1
    response = site.post(reverse("work:hit", args=[assignment.pk]), ANSWER)
    assert response["Location"] == reverse("work:home")
    assert Assignment.own.count() == 1


def test_another_kind_of_work_in_the_same_pool_begins_with_its_instructions(site, wim):
    make_campaign(1, of=items(1, "a-"))
    kind = hit_type(template="binary-judgement", scale="binary", reward_cents=25)
    make_campaign(of=items(3, "b-")[1:], hit_type=kind)
    assert "$0.10 to $0.25 each" in text_of(site.get(reverse("work:home")))
    first, address = start(site)
    sent = site.post(address, ANSWER, headers=JSON).json()
    other = Assignment.own.get(state=State.ACCEPTED)
    there = reverse("work:instructions", args=[POOL]) + f"?hit={other.pk}"
    assert sent["next"] == there
    page = site.get(there)
    assert "Each HIT pays $0.25" in text_of(page)
    work = reverse("work:hit", args=[other.pk])
    assert f'href="{work}"' in page.text
    assert f'href="{there}"' in site.get(work).text
    # once is enough, and what was read before stays as it was
    following = site.post(work, {"answer-0-0": "1"}, headers=JSON).json()["next"]
    assert following == reverse("work:hit", args=[Assignment.own.latest("pk").pk])
    before = site.get(f"{reverse('work:instructions', args=[POOL])}?hit={first.pk}")
    assert "Each HIT pays $0.10" in text_of(before)
    strange = reverse("work:instructions", args=[POOL])
    for wrong in ("0", "x", "9" * 30):
        assert site.get(f"{strange}?hit={wrong}").status_code == 404


def test_what_is_read_before_the_first_piece_is_about_that_piece(site, wim):
    make_campaign(1, of=items(1, "a-"))
    assert next_assignment(make_worker()) is not None
    kind = hit_type(template="binary-judgement", scale="binary", reward_cents=25)
    make_campaign(of=items(2, "b-")[1:], hit_type=kind)
    page = text_of(site.get(reverse("work:instructions", args=[POOL])))
    assert "Each HIT pays $0.25" in page


def test_who_is_excluded_in_mid_work_reads_why_and_gets_nothing_more(site, wim):
    make_campaign(2)
    _, address = start(site)
    exclusions.exclude(wim, POOL, "Your answers differ from others; write to us.")
    refused = site.post(address, ANSWER, headers=JSON)
    assert (refused.status_code, refused.json()["next"]) == (409, address)
    page = text_of(site.get(address))
    assert "Your answers differ from others; write to us." in page
    assert "are not stored and not paid" in page
    assert "This does not count against you" not in page
    page = text_of(site.get(reverse("work:home")))
    assert "Your answers differ from others; write to us." in page
    assert "left for you" not in page
    assert site.post(reverse("work:next"))["Location"] == reverse("work:home")
    assert site.get(reverse("work:consent", args=[POOL])).status_code == 404


def test_earnings_show_what_became_of_each_piece(site, wim):
    make_campaign(3)
    done = [assignment.pk for assignment in do_all(wim)]
    review.approve(done[:1])
    review.reject(done[1], None, "Sent after half a second.")
    page = text_of(site.get(reverse("work:earnings")))
    assert "Pending approval $0.10" in page
    assert "Approved $0.10" in page
    assert "Sent after half a second." in page


def test_earnings_do_a_constant_number_of_queries(site, wim, django_assert_max_num_queries):  # fmt: skip
    make_campaign(12)
    do_all(wim)
    with django_assert_max_num_queries(21):
        site.get(reverse("work:earnings"))


@pytest.mark.parametrize(("cents", "most"), [(0, 14), (5, 15)])
def test_a_turn_takes_few_queries(site, cents, most, django_assert_max_num_queries):
    make_campaign(6, hit_type=hit_type(reward_cents=cents))
    _, path = start(site)
    for _ in range(2):  # counts the page's figures, and reads the consent
        path = site.post(path, ANSWER, headers=JSON).json()["next"]
    with django_assert_max_num_queries(most + 1):  # PostgreSQL locks the worker
        told = site.post(path, ANSWER, headers=JSON).json()
    assert "<b>4</b> of 6" in told["page"]
    assert ("$0.15</b> pending" in told["page"]) == bool(cents)


def test_pending_pay_is_counted_when_paid_work_follows_unpaid_work(site, wim):
    make_campaign(1, of=items(1, "a-"))
    do_all(wim)
    make_campaign(2, of=items(3, "b-")[1:], hit_type=hit_type(reward_cents=0))
    site.get(path := start(site)[1])
    next_assignment(make_worker())  # takes the other unpaid HIT
    make_campaign(1, of=items(4, "c-")[3:])
    assert "$0.10</b> pending" in site.post(path, ANSWER, headers=JSON).json()["page"]


def test_an_answer_sent_twice_leads_to_the_page_that_is_open(site):
    make_campaign(2)
    _, path = start(site)
    first, again = (site.post(path, ANSWER, headers=JSON).json() for _ in range(2))
    assert again["next"] == first["next"]
    assert Assignment.own.count() == 2


def test_a_number_scale_has_a_number_field(site):
    make_campaign(1, hit_type=hit_type(scale="slider-100"))
    _, address = start(site)
    page = site.get(address).text
    assert re.search(r'type="number"[^>]+min="0" max="100"', page)
    assert 'value=""' in page
    site.post(address, {"answer-0-0": "62.5"})
    assert Rating.own.get().value == 62.5


def test_the_script_is_told_where_to_go_on_what_can_be_mended_and_what_is_over(site):
    make_campaign(2)
    _, address = start(site)
    wrong = site.post(address, {}, headers=JSON)
    assert (wrong.status_code, wrong.json()["final"]) == (422, False)
    reply = site.post(address, ANSWER, headers=JSON).json()
    second = Assignment.own.get(state=State.ACCEPTED)
    assert reply["next"] == reverse("work:hit", args=[second.pk])
    # the next HIT comes along, and nothing more once there is none
    assert f'data-hit="{second.pk}"' in reply["page"]
    over = site.post(reply["next"], ANSWER, headers=JSON).json()
    assert over == {"next": reverse("work:home")}
    late = site.post(address, {"answer-0-0": "0"}, headers=JSON)
    assert (late.status_code, late.json()["final"]) == (409, True)
    assert late.json()["next"] == address
    site.logout()
    response = site.post(address, ANSWER, headers=JSON)
    assert response.status_code == 401
    assert "signed out" in response.json()["error"]


def test_a_nonsense_time_does_no_harm(site):
    make_campaign(7)
    _, address = start(site)
    for seconds in ("", "x", "nan", "inf", "-5", "1e999", "9" * 5_000):
        address = site.post(address, {**ANSWER, "active_seconds": seconds})["Location"]
    for assignment in Assignment.own.all():
        assert assignment.state == State.SUBMITTED
        assert assignment.active_seconds is None or assignment.active_seconds < 60
    assert Assignment.own.count() == 7


def test_somebody_elses_work_is_not_found(site):
    make_campaign(1)
    other = next_assignment(make_worker())
    for name in ("hit", "return"):
        address = reverse(f"work:{name}", args=[other.pk])
        assert site.post(address, ANSWER).status_code == 404
    assert site.get(reverse("work:hit", args=[other.pk])).status_code == 404
    other.refresh_from_db()
    assert other.state == State.ACCEPTED


HOSTILE = ["<script>alert(1)</script>", "]]>", "=cmd|' /C calc'!A0", "{{ x }}{% y %}", "\u202eabc", "a' onx='b"]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_shown_and_not_obeyed(site, text):
    kind = hit_type(title=text, description=text, criteria={text: text})
    make_campaign(1, of=[item("k", text=text, question=text)], hit_type=kind)
    _, address = start(site)
    for page in (
        address,
        reverse("work:home"),
        reverse("work:instructions", args=[POOL]),
    ):
        response = site.get(page)
        assert "<script>alert" not in response.text
        assert not re.search(r"<[^>]+\sonx=", response.text)
        assert text in unescape(response.text)
    site.post(address, ANSWER)
    assert Rating.own.get().criterion == text[:50]


def test_a_page_tells_nothing_about_what_is_judged_and_who_judges(site, wim):
    make_campaign(
        2,
        key="submission:4711",
        title="Submission 4711 by Team Heron, system Kite",
        of=items(2, "positive-test-"),
        hit_type=hit_type(title="Judge answers"),
    )
    other = make_worker()
    assignment, address = start(site)
    pages = [
        address,
        reverse("work:home"),
        reverse("work:earnings"),
        reverse("work:instructions", args=[POOL]),
        reverse("work:consent", args=[POOL]),
    ]
    for page in pages:
        source = site.get(page).text
        for secret in ("4711", "Heron", "Kite", "positive", "input-", other.pseudonym):
            assert secret not in source
        assert "test question" not in source.lower()
    assert assignment.hit.items.get().key not in site.get(address).text

"""The pages of a test and of messages: from consent to the work, without a leak."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client, RequestFactory
from django.urls import reverse

from crowd.messages import services
from crowd.models import AttemptAnswer, Message, TestAttempt
from crowd.templatetags.crowd import n_unread_messages
from crowd.workers.services import requirements
from crowd.workers.services.qualification_tests import publish
from tests.crowd.making import POOL, hit_type, make_campaign, make_worker, text_of
from tests.crowd.workers.qualifications.making import (
    NAME,
    drawn_test,
    right_answer,
    take,
    written_test,
    wrong_answer,
)
from tests.factories import make_user, signed_in

TEST = reverse("work:test", args=[NAME])
JSON = {"Accept": "application/json"}


def sent(row, right=True):
    given = (right_answer if right else wrong_answer)(row)
    return {"position": row.position, "answer-0-0": given.get("overall", ""), **given}


def begin(client):
    response = client.post(TEST)
    attempt = TestAttempt.own.order_by("-pk").first()
    assert response["Location"] == reverse("work:attempt", args=[attempt.pk])
    return attempt, response["Location"]


def rows_of(attempt):
    return list(attempt.answers.select_related("question", "attempt__test__hit_type"))


def test_the_way_leads_from_consent_over_the_test_to_the_work():
    worker = make_worker(user=make_user("wilma"), agreed=False)
    site = signed_in(worker.user)
    drawn_test(2)
    requirements.of_campaign(make_campaign(2), requirements.Wanted(), test_name=NAME)
    home = site.get(reverse("work:home"))
    assert reverse("work:consent", args=[POOL]) in home.text
    assert site.get(TEST)["Location"] == reverse("work:consent", args=[POOL])
    told = site.post(reverse("work:consent", args=[POOL]))["Location"]
    assert TEST in site.get(told).text
    home = site.get(reverse("work:home"))
    assert "This work requires a short test first." in text_of(home)
    assert TEST in home.text
    assert ">Start<" not in home.text
    assert "Start the test" in text_of(site.get(TEST))
    attempt, address = begin(site)
    for row in rows_of(attempt):
        assert f"question {row.position + 1} of 2" in text_of(site.get(address))
        assert site.post(address, sent(row))["Location"] == address
    page = site.get(address)
    assert "You passed" in page.text
    assert "2 of 2 right" in text_of(page)
    assert "/hit/" in site.post(reverse("work:next"), {"pool": POOL})["Location"]


def test_who_fails_reads_the_score_and_when_to_come_again(site):
    drawn_test(4, n_tries=2)
    attempt, address = begin(site)
    for row in rows_of(attempt):
        site.post(address, sent(row, right=row.position == 0))
    page = text_of(site.get(address))
    assert "Not this time" in page
    assert "1 of 4 right" in page
    assert "You can try again from" in page
    assert "Attempts left: 1" in page
    assert "instructions" not in page  # there is no work, so there are none
    assert "Start the test" not in text_of(site.get(TEST))
    refused = site.post(TEST)
    assert refused.status_code == 409
    assert "You can try again from" in text_of(refused)


def test_no_page_tells_what_is_right(site, wim):
    """Two tests that differ in nothing but the right answers have the same pages."""

    def pages(name, good):
        test = drawn_test(1, published=False, name=name)
        test.questions.update(expected={"good": good})
        publish(test.pk)
        address = site.post(reverse("work:test", args=[name]))["Location"]
        attempt = TestAttempt.objects.get(test=test)
        found = [site.get(reverse("work:test", args=[name])), site.get(address)]
        sent = {"position": 0, "answer-0-0": "1" if good else "0"}
        found.append(site.post(address, sent, headers=JSON))
        return [without_keys(page.text, name, attempt) for page in found]

    def without_keys(text, name, attempt):
        text = re.sub(r'csrfmiddlewaretoken" value="[^"]+"', "", text)
        return (
            text.replace(name, "")
            .replace(f"try/{attempt.pk}", "")
            .replace(f'data-hit="{attempt.pk}-', "")
        )

    pairs = zip(pages("one", True), pages("other", False), strict=True)
    for first, second in pairs:
        assert first == second
        assert "expected" not in first
    assert TestAttempt.objects.filter(passed=True).count() == 2


def test_a_written_question_does_not_say_its_answer(site):
    written_test(
        ("Which one is it?", ["<this>", "that"], 1), ("And now?", ["a", "b"], 0)
    )
    attempt, address = begin(site)
    page = site.get(address)
    assert "&lt;this&gt;" in page.text or "And now?" in page.text
    assert "checked" not in page.text.replace('id="shortcuts" checked', "")
    assert "expected" not in page.text
    for row in rows_of(attempt):
        site.post(address, sent(row))
    assert "You passed" in site.get(address).text


@pytest.mark.every_engine
def test_an_answer_is_refused_kept_and_sent_twice_without_harm(site):
    drawn_test(2)
    attempt, address = begin(site)
    first = rows_of(attempt)[0]
    empty = site.post(address, {"position": 0})
    assert empty.status_code == 422
    assert "Please answer every question." in text_of(empty)
    assert site.post(address, {"position": 0}, headers=JSON).status_code == 422
    for wrong in ("", "x", "99", "²"):
        assert site.post(address, {"position": wrong}).status_code == 404
    for _ in range(2):
        assert site.post(address, sent(first), headers=JSON).json() == {"next": address}
    other = site.post(address, sent(first, right=False), headers=JSON)
    assert (other.status_code, other.json()["final"]) == (409, True)
    assert AttemptAnswer.own.exclude(answered_at=None).count() == 1
    assert "Continue the test" in text_of(site.get(TEST))
    assert begin(site)[0].pk == attempt.pk
    assert "question 2 of 2" in text_of(site.get(address))


def test_tests_and_messages_want_their_own_worker(site):
    assert site.get(TEST).status_code == 404
    test = drawn_test(1, published=False)
    assert site.get(TEST).status_code == 404
    publish(test.pk)
    attempt = take(make_worker(user=make_user("wanda")))
    address = reverse("work:attempt", args=[attempt.pk])
    assert site.get(address).status_code == 404
    assert site.post(address, {"position": 0, "answer-0-0": "1"}).status_code == 404
    client = Client()
    for address in (TEST, reverse("work:messages"), reverse("work:attempt", args=[1])):
        assert client.get(address).status_code == 302
    client.force_login(make_user("nobody"))
    for address in (TEST, reverse("work:messages"), reverse("work:attempt", args=[1])):
        assert client.get(address).status_code == 403


def test_other_templates_are_asked_as_their_hits_are(site):
    written = hit_type(scale="slider-100")
    drawn_test(2, of=written)
    attempt, address = begin(site)
    assert 'type="number"' in site.get(address).text
    for row in rows_of(attempt):
        value = "90" if row.question.expected["good"] else "10"
        site.post(address, {"position": row.position, "answer-0-0": value})
    assert "You passed" in site.get(address).text


def test_many_messages_stand_on_several_pages(site, wim):
    services.send_many(
        Message(worker=wim, kind="BONUS", subject=f"Number {n}", text="x")
        for n in range(60)
    )
    page = site.get(reverse("work:messages")).text
    assert "Number 59" in page
    assert "Number 9<" not in page
    assert Message.own.filter(read_at=None).count() == 10
    assert "Number 9" in site.get(reverse("work:messages"), {"page": 2}).text
    assert site.get(reverse("work:messages"), {"page": 3}).status_code == 404
    for list_ in ("page", "theirs"):
        assert site.get(reverse("work:earnings"), {list_: 1}).status_code == 200
        assert site.get(reverse("work:earnings"), {list_: 2}).status_code == 404


def test_messages_are_counted_until_they_are_read(site, wim):
    assert "No messages." in text_of(site.get(reverse("work:messages")))
    other = make_worker(user=make_user("wanda"))
    for worker, text in ((wim, "Line one.\n\nLine <b>two</b>."), (other, "Not yours.")):
        services.send(worker, Message.Kind.BONUS, "A <bonus>", text)
    assert "1 new" in text_of(site.get(reverse("work:home")))
    page = site.get(reverse("work:messages"))
    assert "A &lt;bonus&gt;" in page.text
    assert "Line &lt;b&gt;two&lt;/b&gt;." in page.text
    assert "Not yours." not in page.text
    assert ">new<" in page.text
    again = site.get(reverse("work:messages"))
    assert ">new<" not in again.text
    assert "1 new" not in text_of(again)
    assert Message.objects.get(worker=other).read_at is None


def test_guests_are_not_told_how_many_messages_others_have():
    stranger = make_worker()
    services.send(stranger, Message.Kind.BONUS, "x", "y")
    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    assert n_unread_messages({"request": request}) == 0


def test_what_a_worker_takes_along_tells_the_score_and_not_the_answers(site, wim):
    drawn_test(2)
    take(wim, n_wrong=1)
    services.send(wim, Message.Kind.BONUS, "A bonus", "Five cents.")
    data = site.get("/account/data.json")
    (tried,) = data.json()["worker"]["test_attempts"]
    assert (tried["n_right"], tried["passed"]) == (1, False)
    assert data.json()["worker"]["messages"][0]["text"] == "Five cents."
    assert "expected" not in data.text
    assert '"right"' not in data.text


def test_questions_with_their_answers_are_shown_in_one_place():
    root = Path(__file__).resolve().parents[4]
    # where they are kept, drawn and marked, and where staff write them
    may = {"crowd/workers", "crowd/models.py", "leaderboard/studio/services"}
    may.add("leaderboard/evaluation/services/qualification.py")
    named = {
        str(path.relative_to(root))
        for app in ("crowd", "quality", "leaderboard", "genie")
        for path in (root / app).rglob("*.py")
        if "migrations" not in path.parts
        and re.search("QualificationQuestion|AttemptAnswer", path.read_text("utf-8"))
    }
    shown = {one for one in named if not one.startswith(tuple(may))}
    assert shown == {"crowd/worker_site/qualification.py"}

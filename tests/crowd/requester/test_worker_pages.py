import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from crowd.campaigns.selectors.work_records import key_of_request, key_of_requester
from crowd.campaigns.services import work_records
from crowd.hits.models import WorkRecord
from crowd.models import RequesterAssignment, RequesterHIT, Worker, WorkerAlias
from crowd.requester.models import new_entity_id
from crowd.requester.pages import frame
from crowd.requester.protocol import clock
from crowd.requester.services import offers
from tests.crowd.requester.making import (
    external,
    group_of,
    html,
    post,
    qualification,
    state_of,
    worker,
)
from tests.crowd.requester.on_site import OnSite, send
from tests.steps import steps

PAGE = "<!doctype html><html><head><title>x</title></head><body><form></form></body>"


def test_a_worker_finds_looks_at_does_and_is_told_of_a_hit(desk, wanda):
    hit = post(desk, Question=html(PAGE), MaxAssignments=2)
    assert reverse("work:requests") in wanda.get("home").text
    listed = wanda.get("requests").text
    assert "Say how it reads" in listed
    assert "$0.40" in listed
    look = wanda.get("request", group_of(hit))
    _, known = wanda.frame(look)
    assert known["assignmentId"] == "ASSIGNMENT_ID_NOT_AVAILABLE"
    assert known["hitId"] == hit
    assert "workerId" not in known
    assert not RequesterAssignment.own.exists()
    turn = wanda.accept(hit)
    _, known = wanda.frame(wanda.get("turn", turn.entity_id))
    assert known["assignmentId"] == turn.entity_id
    assert known["workerId"] == turn.worker.customer_id
    told = send(
        known["turkSubmitTo"], assignmentId=turn.entity_id, mood="glad", hitId="x"
    )
    assert told.status_code == 200
    (got,) = desk.client.list_assignments_for_hit(HITId=hit)["Assignments"]
    assert got["WorkerId"] == known["workerId"]
    assert (
        "<QuestionIdentifier>mood</QuestionIdentifier><FreeText>glad<" in got["Answer"]
    )
    assert "hitId" not in got["Answer"]
    assert "assignmentId" not in got["Answer"]
    assert "Your answer is stored" in wanda.get("turn", turn.entity_id).text
    assert "Say how it reads" not in wanda.get("requests").text  # one each
    earned = wanda.get("earnings").text
    assert "pending approval" in earned
    desk.client.approve_assignment(AssignmentId=turn.entity_id)
    desk.client.send_bonus(
        WorkerId=got["WorkerId"],
        AssignmentId=turn.entity_id,
        BonusAmount="0.25",
        Reason="Fine",
    )
    earned = wanda.get("earnings")
    assert earned.context["earnings"].approved == 65
    assert "$0.25" in earned.text


def test_hits_of_a_group_are_not_handed_out_in_the_order_of_the_table(desk, wanda):
    hits = [post(desk, Question=html(PAGE), MaxAssignments=2) for _ in range(6)]
    hit_type = RequesterHIT.objects.get(entity_id=hits[0]).hit_type
    now = clock.now()

    def first_of(who):
        return offers.next_few(who, hit_type, now, 1)[0].entity_id

    firsts = [first_of(worker(f"w{n}")) for n in range(12)]
    assert len(set(firsts)) >= 4
    group = hit_type.group_id
    shown = wanda.get("request", group).context["hit"].entity_id
    assert wanda.get("request", group).context["hit"].entity_id == shown
    got = []
    for _ in hits:
        looked_at = wanda.get("request", group).context["hit"].entity_id
        assert wanda.accept(looked_at).hit.entity_id == looked_at
        got.append(looked_at)
    assert sorted(got) == sorted(hits)
    assert got != hits
    assert offers.next_few(wanda.worker, hit_type, now, 5) == []


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite tells what it did")
def test_a_group_of_many_hits_is_not_counted_to_its_end(desk, wanda, monkeypatch):
    monkeypatch.setattr(offers, "COUNTED", 3)
    pk = RequesterHIT.objects.get(entity_id=post(desk, Question=html(PAGE))).pk
    now = clock.now()

    def posted(n, **fields):
        one = RequesterHIT.objects.get(pk=pk)
        for field, value in fields.items():
            setattr(one, field, value)
        for _ in range(n):
            one.pk, one.entity_id = None, new_entity_id()
            one.save()

    def looked_at():
        [group] = offers.groups(wanda.worker, now)
        return group.n_left_shown

    assert looked_at() == "1"
    posted(5)
    assert looked_at() == "3+"
    before = steps(looked_at)
    posted(60)
    posted(60, announced=True)
    assert looked_at() == "3+"
    assert "3+ left for you" in wanda.get("requests").text
    assert steps(looked_at) < 1.5 * before


def test_the_frame_has_an_origin_of_its_own_and_may_send_to_one_place_only(desk, wanda):
    turn = wanda.accept(post(desk, Question=html(PAGE)))
    page = wanda.get("turn", turn.entity_id)
    assert "allow-same-origin" not in page.text
    assert "allow-top-navigation" not in page.text
    address, known = wanda.frame(page)
    served = Client().get(address)
    rules = served["Content-Security-Policy"].split("; ")
    assert [one for one in rules if one.startswith("sandbox")] == [
        "sandbox allow-scripts allow-forms allow-popups allow-modals"
    ]
    assert f"form-action {known['turkSubmitTo']}/" in rules
    assert "frame-ancestors http://testserver" in rules
    assert "base-uri 'none'" in rules
    assert "X-Frame-Options" not in served
    assert served["Referrer-Policy"] == "no-referrer"
    assert served.cookies == {}
    assert PAGE.split("<title>")[1] in served.text
    assert served.text.index("requester_page") > served.text.index("<head>")


def test_an_external_page_keeps_its_own_origin_but_not_ours(desk, wanda):
    hit = post(desk, Question=external("https://lab.example.org/a?b=1&amp;c=2#top"))
    turn = wanda.accept(hit)
    page = wanda.get("turn", turn.entity_id)
    address, known = wanda.frame(page)
    assert address.startswith("https://lab.example.org/a?b=1&c=2&assignmentId=")
    assert address.endswith("#top")
    assert "frame-src 'self' https:" in page["Content-Security-Policy"]
    assert "allow-same-origin" in page.text
    send(known["turkSubmitTo"] + "/", assignmentId=turn.entity_id, code="77")
    assert state_of(turn.entity_id) == "Submitted"
    ours = post(desk, Question=external("https://testserver/work/"), Reward="0.05")
    look = wanda.get("request", group_of(ours))
    assert "allow-same-origin" not in look.text


def test_a_second_origin_serves_requesters_pages_alone(desk, wanda, settings):
    turn = wanda.accept(post(desk, Question=html(PAGE)))
    shown = wanda.get("turn", turn.entity_id)
    assert "is by the requester" in shown.text  # marked whether or not
    own, _ = wanda.frame(shown)
    settings.GENIE = {
        **settings.GENIE,
        "SITE_URL": "http://testserver/",
        "REQUESTER_ORIGIN": "https://pages.example",
    }
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "pages.example"]
    page = wanda.get("turn", turn.entity_id)
    address, known = wanda.frame(page)
    assert address.startswith("https://pages.example/work/frame/")
    assert "frame-src 'self' https://pages.example;" in page["Content-Security-Policy"]
    assert Client().get(own).status_code == 404  # no longer on the site itself
    assert send(known["turkSubmitTo"], mood="good").status_code == 404

    # signed in, as a browser would be that shares its cookies with a host beside
    there = Client(SERVER_NAME="pages.example", secure=True)
    there.cookies.update(wanda.client.cookies)
    path = address.removeprefix("https://pages.example")
    served = there.get(path, secure=True)
    rules = served["Content-Security-Policy"].split("; ")
    assert "frame-ancestors http://testserver" in rules
    assert f"form-action {known['turkSubmitTo']}/" in rules
    assert any(rule.startswith("sandbox ") for rule in rules)
    for elsewhere in ("/", "/login/", "/admin/", "/work/", "/turk", "/static/none.js"):
        answer = there.get(elsewhere, secure=True)
        assert (answer.status_code, answer.content) == (404, b"Not found.\n"), elsewhere
        assert answer.cookies == {}
    for spelling in ("pages.example:444", "Pages.example", "pages.example."):
        answer = there.get("/login/", secure=True, headers={"host": spelling})
        assert answer.content == b"Not found.\n", spelling
    sent = there.post(
        f"{path.partition('?')[0]}mturk/externalSubmit", {"mood": "good"}, secure=True
    )
    assert sent.status_code == 200
    assert state_of(turn.entity_id) == "Submitted"
    ours = post(desk, Question=external("https://pages.example/work/"), Reward="0.05")
    assert "allow-same-origin" not in wanda.get("request", group_of(ours)).text


def test_an_address_to_look_at_a_hit_ends_by_itself(desk, wanda, monkeypatch):
    hit = post(desk, Question=html(PAGE))
    address, _ = wanda.frame(wanda.get("request", group_of(hit)))
    assert Client().get(address).status_code == 200
    monkeypatch.setattr(frame, "_LOOK_FOR", timedelta(seconds=-1))
    assert Client().get(address).status_code == 410


def test_nothing_is_sent_in_without_the_token_of_that_assignment(desk, wanda, hands):
    hit = post(desk, MaxAssignments=3)
    turn = wanda.accept(hit)
    walt = OnSite("walt")
    other = walt.accept(hit)
    _, known = wanda.frame(wanda.get("turn", turn.entity_id))
    public = f"http://testserver/work/frame/{turn.entity_id}"
    assert send(public, assignmentId=turn.entity_id, x="1").status_code == 404
    bent = known["turkSubmitTo"][:-1] + (
        "A" if known["turkSubmitTo"][-1] != "A" else "B"
    )
    assert send(bent, assignmentId=turn.entity_id, x="1").status_code == 404
    preview = frame.for_preview(turn.hit)
    assert send(f"http://testserver/work/frame/{preview}", x="1").status_code == 404
    assert send(f"http://testserver/work/look/{preview}", x="1").status_code == 409
    crossed = send(known["turkSubmitTo"], assignmentId=other.entity_id, x="1")
    assert crossed.status_code == 400
    unsent = Client().get(known["turkSubmitTo"] + "/mturk/externalSubmit")
    assert unsent.status_code == 400
    assert state_of(turn.entity_id) == state_of(other.entity_id) == "Accepted"
    # another worker's session changes nothing: the token decides whose work it is
    assert walt.get("turn", turn.entity_id).status_code == 404
    assert (
        send(known["turkSubmitTo"], assignmentId=turn.entity_id, x="1").status_code
        == 200
    )
    again = send(known["turkSubmitTo"], assignmentId=turn.entity_id, x="2")
    assert again.status_code == 409
    assert "FreeText>1<" in RequesterAssignment.objects.get(pk=turn.pk).answer
    hands.forward(seconds=601)
    late = walt.get("turn", other.entity_id)
    assert "The time for this HIT is up" in late.text
    token = frame.for_turn(other)
    assert send(f"http://testserver/work/frame/{token}", x="1").status_code == 409
    assert Client().get(reverse("work:turn-frame", args=[token])).status_code == 410


def test_a_returned_hit_is_open_again_and_a_full_one_is_not(desk, wanda):
    hit = post(desk)
    turn = wanda.accept(hit)
    assert wanda.accept(hit) is None  # not offered while it is open
    assert "Continue" in wanda.get("requests").text
    walt = OnSite("walt")
    assert walt.accept(hit) is None
    wanda.client.post(reverse("work:turn-return", args=[turn.entity_id]))
    assert "returned" in wanda.get("turn", turn.entity_id).text
    walt.do(hit, x="1")
    assert wanda.accept(hit) is None
    assert walt.get("request", group_of(hit)).status_code == 404


def test_a_group_hands_out_one_hit_after_another(desk, wanda):
    hits = [post(desk, UniqueRequestToken=str(n)) for n in range(4)]
    done = {
        wanda.do(hits[0], x="1"),
        wanda.do(hits[2], x="1"),
        wanda.do(hits[0], x="1"),
    }
    assert len(done) == 3
    assert {state_of(one) for one in done} == {"Submitted"}
    # the list says how this requester has decided
    decide = RequesterAssignment.objects.filter(entity_id__in=done)
    decide.update(state="Approved", approved_at=clock.now() + timedelta(hours=5))
    decide.filter(entity_id=min(done)).update(state="Rejected", rejected_at=clock.now())
    work_records.renew({key_of_requester(decide[0].hit.requester_id): (2, 1)})
    listed = re.sub("<[^>]+>", "", wanda.get("requests").text)
    assert "66% of the last 3 HITs approved" in listed
    assert "usually decided within 5 hours" in listed
    assert "1 of 2 appeals granted" in listed
    # three answers of one person are nobody's pace but hers
    assert "an hour" not in listed
    group = key_of_request(decide[0].hit.hit_type_id)
    WorkRecord.objects.create(key=group, median_seconds=36)
    assert "an hour at other workers’ pace" in wanda.get("requests").text


def test_what_guards_discovery_and_preview_is_held(desk, wanda):
    kind = qualification(desk)

    def need(guarded):
        asked = {"QualificationTypeId": kind, "Comparator": "Exists"}
        return [asked | {"ActionsGuarded": guarded}]

    hidden, closed, open_ = (
        post(desk, Title=guarded, QualificationRequirements=need(guarded))
        for guarded in ("DiscoverPreviewAndAccept", "PreviewAndAccept", "Accept")
    )
    listed = wanda.get("requests").text
    assert "DiscoverPreviewAndAccept" not in listed
    assert "not met" in listed
    assert wanda.get("request", group_of(hidden)).status_code == 404
    assert "<iframe" not in wanda.get("request", group_of(closed)).text
    assert "<iframe" in wanda.get("request", group_of(open_)).text
    for hit in (hidden, closed, open_):
        assert wanda.accept(hit) is None
    wanda.client.post(reverse("work:requester-qualification", args=[kind]))
    (asked,) = desk.client.list_qualification_requests()["QualificationRequests"]
    desk.client.accept_qualification_request(
        QualificationRequestId=asked["QualificationRequestId"]
    )
    for hit in (hidden, closed, open_):
        assert wanda.accept(hit) is not None


def test_blocked_and_excluded_workers_are_offered_nothing(desk, wanda):
    done = wanda.do(post(desk), x="1")
    post(desk, Title="Another one")
    who = RequesterAssignment.objects.get(entity_id=done).worker.customer_id
    desk.client.create_worker_block(WorkerId=who, Reason="x")
    assert "Another one" not in wanda.get("requests").text
    desk.client.delete_worker_block(WorkerId=who)
    assert "Another one" in wanda.get("requests").text
    Worker.objects.filter(pk=wanda.worker.pk).update(excluded=True)
    assert "Another one" not in wanda.get("requests").text


def test_who_is_no_worker_sees_none_of_it(desk, wanda):
    turn = wanda.accept(post(desk))
    stranger = Client()
    for name, args in (
        ("requests", []),
        ("request", [turn.hit.hit_type.group_id]),
        ("turn", [turn.entity_id]),
    ):
        answer = stranger.get(reverse(f"work:{name}", args=args))
        assert answer.status_code == 302
        assert "/login/" in answer["Location"]
    assert WorkerAlias.own.count() == 1

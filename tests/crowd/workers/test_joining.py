"""Invitations to groups and to some work, by mail, and open sign-up with review."""

import re
from html import unescape

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from crowd.models import Invitation, Requirement, Worker
from crowd.requester.services.offers import left_for
from crowd.workers.selectors.eligible import is_open
from crowd.workers.selectors.requirements import unmet
from crowd.workers.services import invitations
from genie.lib import jobs
from genie.lib.errors import GenieError
from tests.crowd.making import POOL, make_campaign, make_pools
from tests.factories import make_user


def test_a_place_can_be_limited_to_some_work_and_widened_later(sam):
    mine, other = make_campaign(1), make_campaign(1, pool="other")
    token = invitations.invite(sam, limited_to=[POOL])
    wim = invitations.redeem(token, make_user("wim"))
    assert is_open(wim, mine)
    assert not is_open(wim, other)
    assert left_for(wim, timezone.now()).query.is_empty()
    with pytest.raises(GenieError) as caught:
        invitations.redeem(invitations.invite(sam, limited_to=[POOL]), wim.user)
    assert caught.value.code == "already-a-worker"
    invitations.redeem(invitations.invite(sam, limited_to=["other"]), wim.user)
    wim = Worker.objects.get(pk=wim.pk)
    assert wim.limited_to == ["other", POOL]
    assert is_open(wim, other)
    invitations.redeem(invitations.invite(sam), wim.user)
    assert Worker.objects.get(pk=wim.pk).limited_to == []


def test_a_campaign_can_be_for_a_group(sam):
    campaign = make_campaign(1)
    Requirement.objects.create(campaign=campaign, kind="TEST", test_name="lab")
    token = invitations.invite(sam, places=3, group="lab")
    wim = invitations.redeem(token, make_user("wim"))
    eve = invitations.redeem(invitations.invite(sam), make_user("eve"))
    assert unmet(wim, [campaign], timezone.now()) == {}
    assert campaign.pk in unmet(eve, [campaign], timezone.now())
    # who works here already joins the group by the same link, once
    invitations.redeem(token, eve.user)
    assert unmet(eve, [campaign], timezone.now()) == {}
    assert "lab" in eve.messages.get().text
    with pytest.raises(GenieError):
        invitations.redeem(token, eve.user)
    assert Invitation.objects.get(group="lab").n_taken == 2


def test_staff_put_workers_into_a_new_group(office, sam):
    worker = invitations.redeem(invitations.invite(sam), make_user("wim"))
    page = reverse("admin:crowd_worker_changelist")
    data = {"action": "grant_selected", "_selected_action": [worker.pk], "confirmed": "yes"}  # fmt: skip
    assert "Choose one" in office.post(page, data).text
    office.post(page, {**data, "new_group": "lab"})
    assert worker.qualification_grants.get().name == "lab"
    assert office.get(page, {"qualification": "lab"}).context["cl"].result_count == 1


def invite_by_mail(office, text, **fields):
    file = SimpleUploadedFile("people.csv", text.encode())
    data = {"places": 1, "n_links": 1, "days": 14, "people": file, **fields}
    return office.post(reverse("admin:crowd_invitation_add"), data).text


def test_people_are_invited_by_mail_once_each(office, settings):
    make_campaign(1)
    text = "e-mail;note\nada@example.org;Ada\n\nben@example.org\n"
    page = invite_by_mail(office, text, limited_to=[POOL], code="north")
    assert "2 invitations will be sent" in page
    while jobs.run_next():
        pass
    for pk in Invitation.own.values_list("pk", flat=True):
        invitations.send(pk)
    assert sorted(one.to[0] for one in mail.outbox) == ["ada@example.org", "ben@example.org"]  # fmt: skip
    assert set(Invitation.own.values_list("mail", flat=True)) == {""}
    body = next(one.body for one in mail.outbox if one.to == ["ada@example.org"])
    token = re.search(r"/work/invitation/([^/]+)/", body)[1]
    assert "north" in body
    worker = invitations.redeem(token, make_user("ida"), "north")
    assert (worker.limited_to, str(worker.came_by)) == ([POOL], "Ada")
    Invitation.own.update(mail="ada@example.org", n_taken=1)  # its link was used before
    invitations.send(Invitation.own.first().pk)
    assert len(mail.outbox) == 2


def test_a_line_says_in_which_language_somebody_is_invited(office):
    invite_by_mail(office, "e-mail,language\nada@example.org,de\nben@example.org,\n")
    invite_by_mail(office, "eva@example.org,Eva,FR\n")
    while jobs.run_next():
        pass
    subjects = {one.to[0]: one.subject for one in mail.outbox}
    assert subjects["ben@example.org"] == "[Genie] You are invited"
    assert len(set(subjects.values())) == 3
    wrong = "Line 1: ada@example.org has the language 'tlh'; there are en, de,"
    assert wrong in unescape(invite_by_mail(office, "ada@example.org,Ada,tlh\n"))


def test_wrong_addresses_are_told_by_line_and_nobody_is_invited(office):
    page = invite_by_mail(office, "ada@example.org\nnobody\nAda@example.org\n")
    assert "Line 2: nobody is no e-mail address." in page
    assert "Line 3: Ada@example.org appears twice." in page
    assert "has no e-mail addresses" in invite_by_mail(office, "\n")
    assert not Invitation.own.exists()
    assert not mail.outbox


def test_the_last_invitation_that_keeps_a_study_closed_cannot_be_deleted(office, sam):
    make_pools(POOL, "other")
    invitations.invite(sam, pool=POOL)
    link = Invitation.own.get()
    delete = reverse("admin:crowd_invitation_delete", args=[link.pk])
    assert office.post(delete, {"post": "yes"}).status_code == 403
    invitations.invite(sam, pool="other")
    assert office.post(delete, {"post": "yes"}).status_code == 403
    invitations.invite(sam, pool=POOL)
    assert office.post(delete, {"post": "yes"}).status_code == 302
    assert Invitation.objects.filter(pool=POOL).count() == 1

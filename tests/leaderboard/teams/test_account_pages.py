"""Pages about teams, webhooks, notices, data and leaving: each does what it says."""

import re

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from crowd.models import Worker
from genie.accounts import tokens
from leaderboard.models import Membership, Submission, TeamInvitation, WebhookDelivery
from leaderboard.teams.services import teams
from tests.factories import make_submission, make_task, make_user, signed_in

PASSWORD = "a long enough secret"


@pytest.fixture
def nina():
    return make_user("nina", email="nina@heron.example")


@pytest.fixture
def heron(nina):
    return teams.create(nina, "Heron")


def test_a_team_is_made_and_others_do_not_find_it(nina):
    client = signed_in(nina)
    made = client.post("/teams/", {"name": "Team Heron"})
    assert made["Location"] == "/teams/team-heron/"
    assert "Team Heron" in client.get(made["Location"]).text
    assert "Team Heron" in client.get("/teams/").text
    assert client.post("/teams/", {"name": "\u202e"}).status_code == 400
    rita = signed_in(make_user("rita"))
    assert rita.get("/teams/team-heron/").status_code == 404
    assert Client().get("/teams/team-heron/").status_code == 302


def test_a_link_leads_a_colleague_into_the_team(nina, heron):
    owner, tom = signed_in(nina), make_user("tom")
    page = owner.post("/teams/heron/invite/", {"role": "MEMBER"}, follow=True)
    link = re.search(r"http://testserver(/team-invitation/[\w-]+/)", page.text).group(1)
    assert link not in owner.get("/teams/heron/").text  # shown once
    newcomer = Client().get(link)
    assert newcomer["Location"].startswith("/login/?next=/team-invitation/")

    client = signed_in(tom)
    assert "Join" in client.get(link).text
    assert not heron.members.filter(pk=tom.pk).exists()
    assert client.post(link)["Location"] == "/teams/heron/"
    assert heron.members.filter(pk=tom.pk).exists()
    assert client.get(link).status_code == 410
    # a member is no owner
    assert client.post("/teams/heron/invite/", {"role": "OWNER"}).status_code == 404
    member = f"/teams/heron/members/{nina.pk}/"
    assert client.post(member, {"do": "remove"}).status_code == 404
    assert client.get("/teams/heron/webhooks/").status_code == 404
    mine = f"/teams/heron/members/{tom.pk}/"
    assert client.post(mine, {"do": "remove"})["Location"] == "/teams/"
    assert client.get("/teams/heron/").status_code == 404


def test_an_invitation_by_e_mail_is_sent_and_not_shown(nina, heron, mailoutbox):
    client = signed_in(nina)
    form = {"email": "tom@heron.example", "role": "OWNER"}
    page = client.post("/teams/heron/invite/", form, follow=True)
    (mail,) = mailoutbox
    assert mail.to == ["tom@heron.example"]
    assert "/team-invitation/" in mail.body
    assert "/team-invitation/" not in page.text
    assert TeamInvitation.objects.get().role == "OWNER"
    form["email"] = "tom@"
    assert client.post("/teams/heron/invite/", form).status_code == 400
    back = f"/teams/heron/invitations/{TeamInvitation.objects.get().pk}/take-back/"
    client.post(back)
    assert client.post(back).status_code == 404


def test_the_last_owner_is_told_why_they_stay(nina, heron):
    client = signed_in(nina)
    path = f"/teams/heron/members/{nina.pk}/"
    for do in ("remove", "member"):
        page = client.post(path, {"do": do}, follow=True)
        assert "make someone else an owner first" in page.text
    assert client.post(path, {"do": "promote"}).status_code == 404
    assert teams.role_of(heron, nina) == Membership.Role.OWNER


def test_a_webhook_is_added_tried_and_removed(nina, heron):
    client = signed_in(nina)
    path = "/teams/heron/webhooks/"
    assert client.post(path, {"url": "heron.example"}).status_code == 400
    page = client.post(path, {"url": "https://heron.example/x"}, follow=True)
    hook = heron.webhooks.get()
    assert hook.secret in page.text
    one = f"{path}{hook.pk}/"
    assert (
        "A test event is on its way"
        in client.post(one, {"do": "test"}, follow=True).text
    )
    assert WebhookDelivery.objects.get().kind == "test"
    client.post(one, {"do": "off"})
    hook.refresh_from_db()
    assert not hook.active
    rita = make_user("rita")
    teams.create(rita, "Rook")
    foreign = f"/teams/rook/webhooks/{hook.pk}/"
    assert signed_in(rita).post(foreign, {"do": "remove"}).status_code == 404
    client.post(one, {"do": "remove"})
    assert not heron.webhooks.exists()


def test_notices_are_chosen(nina):
    client = signed_in(nina)
    assert client.get("/account/notices/").text.count("checked") == 4
    client.post("/account/notices/", {"wanted": ["published"]})
    assert client.get("/account/notices/").text.count("checked") == 1
    assert client.post("/account/notices/", {"wanted": ["x"]}).status_code == 400


def test_my_data_are_mine_and_all_of_them(nina, heron):
    _, secret = tokens.issue(nina, name="cluster", scopes=["read"], days=None)
    kite = make_submission(make_task(), team=heron, owner=nina, system="Kite")
    Submission.objects.filter(pk=kite.pk).update(organization="Hull")
    make_submission(make_task("b"), team=heron, owner=make_user("tom"), system="Owl")
    Worker.objects.create(user=nina, platform_worker_id="user-1")
    answer = signed_in(nina).get("/account/data.json")
    data = answer.json()
    assert answer["Content-Disposition"].startswith("attachment")
    assert [row["system_name"] for row in data["submissions"]] == ["Kite"]
    assert data["submissions"][0]["organization"] == "Hull"
    assert data["teams"][0]["team_slug"] == "heron"
    assert data["tokens"][0]["name"] == "cluster"
    assert data["worker"]["pseudonym"]
    assert data["account"]["email"] == "nina@heron.example"
    assert secret not in answer.text
    assert tokens.hash_token(secret) not in answer.text


def test_an_account_is_deleted_as_its_page_says(nina, heron):
    tom = make_user("tom")
    teams.accept(teams.invite(heron, by=nina), tom)
    own = teams.create(nina, "nina")
    open_link = teams.invite(heron, by=nina)
    kite = make_submission(make_task(), team=heron, owner=nina)
    _, secret = tokens.issue(nina, name="cluster", scopes=["read"], days=None)
    client = signed_in(nina)
    page = client.get("/account/delete/")
    assert "Your 1 submission" in page.text
    assert client.post("/account/delete/", {"name": "tom"}).status_code == 400
    assert client.post("/account/delete/", {"name": "nina"})["Location"] == "/"

    kite.refresh_from_db()
    nina.refresh_from_db()
    own.refresh_from_db()
    assert Submission.objects.get(pk=kite.pk).owner == nina
    assert nina.username.startswith("deleted-")
    assert (nina.email, nina.is_active, nina.check_password(PASSWORD)) == (
        "",
        False,
        False,
    )
    assert own.name == "a deleted account"
    assert teams.role_of(heron, tom) == Membership.Role.OWNER
    assert not heron.members.filter(pk=nina.pk).exists()
    assert client.get("/account/").status_code == 302
    assert signed_in(tom).get(f"/team-invitation/{open_link}/").status_code == 410
    headers = {"Authorization": f"Token {secret}"}
    assert Client().get("/api/v1/tasks/", headers=headers).status_code == 401
    again = Client().post("/login/", {"login": "nina", "password": PASSWORD})
    assert again.status_code == 200


def test_the_last_who_may_do_everything_stays():
    ada = make_user("ada", is_superuser=True, is_staff=True)
    answer = signed_in(ada).post("/account/delete/", {"name": "ada"})
    assert answer.status_code == 400
    assert "superuser first" in answer.text
    assert get_user_model().own.get().username == "ada"

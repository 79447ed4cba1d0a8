"""Tokens: shown once, kept as a hash, bounded by scope and time, taken back."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from genie.accounts import tokens
from genie.accounts.authentication import _limit_account
from genie.accounts.models import AccessToken
from genie.lib.errors import GenieError
from leaderboard.models import OutsideMetric
from leaderboard.submissions.selectors import Staff
from tests.cast import allow
from tests.crowd.making import refused
from tests.factories import act, make_ranked, make_task, make_team, make_user, signed_in


@pytest.fixture
def nina():
    return make_user("nina")


def issued(user, *scopes, days=None):
    return tokens.issue(user, name="laptop", scopes=scopes or ["read"], days=days)


def ask(secret, path="/api/v1/submissions/", word="Bearer"):
    return Client().get(path, headers={"Authorization": f"{word} {secret}"})


def test_a_token_is_kept_as_a_hash_only(nina):
    token, secret = issued(nina)
    row = AccessToken.objects.filter(pk=token.pk).values().get()
    assert secret.startswith("genie_")
    assert len(secret) > 40
    assert secret not in repr(row)
    assert row["ending"] == secret[-4:]
    assert tokens.find(secret).user == nina
    assert tokens.find(row["token_sha256"]) is None


@pytest.mark.parametrize("word", ["Bearer", "bearer", "Token"])
def test_both_words_before_a_token_are_understood(nina, word):
    _, secret = issued(nina)
    assert ask(secret, word=word).status_code == 200


def test_errors_manual_and_schema_name_the_same_header(nina):
    path = "/api/v1/submissions/"
    for answer in (Client().get(path), ask("two words"), ask("wrong")):
        assert answer.status_code == 401
        assert answer["WWW-Authenticate"] == "Bearer"
    assert "Authorization: Bearer" in Client().get(path).json()["detail"]
    assert "Authorization: Bearer" in ask("two words").json()["detail"]
    manual = Client().get("/api/docs/").text
    assert "Authorization: Bearer" in manual
    assert "Authorization: Token" not in manual
    schema = Client().get("/api/schema/?format=json").json()
    (named,) = [
        one
        for one in schema["components"]["securitySchemes"].values()
        if one["type"] == "http"
    ]
    assert named["scheme"] == "bearer"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"revoked_at": timezone.now()}, "This token has been revoked."),
        ({"expires_at": timezone.now()}, "This token has expired; create a new one."),
        ({"token_sha256": "0" * 64}, "This token is not valid."),
    ],
)
def test_a_token_that_does_not_work_says_why(nina, change, sentence):
    token, secret = issued(nina)
    AccessToken.objects.filter(pk=token.pk).update(**change)
    answer = ask(secret)
    assert (answer.status_code, answer.json()["detail"]) == (401, sentence)


@pytest.mark.parametrize("secret", ["", "two words", "x" * 5000, "gen\xefe", "a\x00b"])
def test_nonsense_for_a_token_is_refused(nina, secret):
    assert ask(secret).status_code == 401


def test_withdrawing_for_good_takes_a_scope_of_its_own(nina):
    task, team = make_task("tidy-news"), make_team("Heron", nina)
    kite = make_ranked(task, 70, team=team, owner=nina)
    path = f"/api/v1/submissions/{kite.pk}/withdraw/"
    metric = OutsideMetric.objects.create(task=task, owner=nina, name="Mine")

    def answers(*scopes):
        headers = {"Authorization": f"Bearer {issued(nina, *scopes)[1]}"}
        return (
            Client().post(path, {}, headers=headers),
            Client().delete(f"/api/v1/metric-scores/{metric.pk}/", headers=headers),
        )

    for turned_down in answers("read", "submit"):
        assert turned_down.status_code == 403
        assert "scope withdraw" in turned_down.json()["detail"]
    assert [done.status_code for done in answers("withdraw")] == [200, 204]


def test_reading_takes_read_and_handing_in_takes_submit(nina):
    make_task("tidy-news")
    for scope, may_read, may_submit in (
        ("read", 200, 403),
        ("submit", 403, 400),
        ("staff", 403, 403),
    ):
        nina.is_staff = True
        headers = {"Authorization": f"Token {issued(nina, scope)[1]}"}
        assert Client().get("/api/v1/tasks/", headers=headers).status_code == may_read
        sent = Client().post("/api/v1/submissions/", {}, headers=headers)
        assert sent.status_code == may_submit
        if sent.status_code == 403:
            assert sent.json()["code"] == "permission-denied"


@pytest.mark.parametrize("scopes", [["read"], ["read", "submit"]])
def test_without_the_scope_staff_a_token_sees_as_anybody_does(scopes):
    task, sam = make_task("tidy-news"), make_user("sam", is_staff=True)
    allow(sam, Staff.SEE_SUBMISSIONS)
    rita = make_user("rita")
    hidden = make_ranked(
        task, 70, team=make_team("Rook", rita), owner=rita, visibility="PRIVATE"
    )
    path = f"/api/v1/submissions/{hidden.pk}/"
    assert ask(issued(sam, *scopes)[1], path).status_code == 404
    assert ask(issued(sam, *scopes, "staff")[1], path).status_code == 200
    sam.refresh_from_db()
    assert sam.is_staff


def test_only_staff_get_the_scope_staff(nina):
    with pytest.raises(GenieError, match="Only staff"):
        issued(nina, "staff")
    _, secret = issued(make_user("sam", is_staff=True))
    user = _limit_account(tokens.find(secret))
    assert not user.is_staff
    with pytest.raises(RuntimeError):
        user.save()


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"name": " "}, "bad-name"),
        ({"name": "n" * 101}, "bad-name"),
        ({"name": "a\nb"}, "bad-name"),
        ({"scopes": []}, "no-scope"),
        ({"scopes": ["everything"]}, "no-scope"),
        ({"days": 0}, "bad-expiry"),
        ({"days": 100_000}, "bad-expiry"),
    ],
)
def test_what_makes_no_token_is_refused(nina, fields, code):
    wanted = {"name": "laptop", "scopes": ["read"], "days": 30, **fields}
    refused(code, tokens.issue, nina, **wanted)
    assert not AccessToken.own.exists()


def test_nobody_collects_tokens_without_end(nina, monkeypatch):
    monkeypatch.setattr(tokens, "MAX_TOKENS", 2)
    first, _ = issued(nina)
    issued(nina, days=1)
    refused("too-many-tokens", issued, nina)
    assert tokens.revoke(first)
    assert not tokens.revoke(first)
    issued(nina)


def test_the_last_use_is_noted_at_most_once_a_minute(nina):
    token, secret = issued(nina)
    ask(secret)
    token.refresh_from_db()
    first = token.last_used_at
    assert timezone.now() - first < timedelta(minutes=1)
    ask(secret)
    token.refresh_from_db()
    assert token.last_used_at == first
    AccessToken.own.update(last_used_at=first - timedelta(minutes=1, seconds=1))
    ask(secret)
    token.refresh_from_db()
    assert token.last_used_at > first


@pytest.mark.parametrize(
    ("options", "days"), [([], 90), (["--days", "7"], 7), (["--no-expiry"], None)]
)
def test_the_commands_tokens_last_as_long_as_those_of_the_form(nina, options, days):
    call_command("token", "nina", *options)
    token = nina.access_tokens.get()
    if days is None:
        assert token.expires_at is None
    else:
        assert (token.expires_at - token.created_at).days in {days - 1, days}
        assert token.expires_at - token.created_at < timedelta(days=days, minutes=1)


def test_the_form_offers_the_same_number_of_days_first(nina):
    client = signed_in(nina)
    page = client.get("/account/tokens/").text
    assert '<option value="90" selected>' in page
    assert tokens.DEFAULT_DAYS == 90


def test_the_command_does_not_take_two_ends_for_one_token(nina, capsys):
    with pytest.raises(CommandError, match="not allowed with"):
        call_command("token", "nina", "--days", "7", "--no-expiry")
    assert not nina.access_tokens.exists()
    call_command("token", "nina", "--scope", "read", "--days", "7")
    secret = capsys.readouterr().out.strip()
    assert ask(secret).status_code == 200
    assert nina.access_tokens.get().scopes == ["read"]
    with pytest.raises(CommandError, match="no account 'nobody'"):
        call_command("token", "nobody")
    with pytest.raises(CommandError, match="Only staff"):
        call_command("token", "nina", "--scope", "staff")


def test_staff_see_tokens_in_the_admin_and_revoke_them(nina):
    token, _ = issued(nina)
    ada = make_user("ada", is_staff=True, is_superuser=True)
    client = signed_in(ada)
    listing = client.get("/admin/genie/accesstoken/")
    assert "laptop" in listing.text
    page = client.get(f"/admin/genie/accesstoken/{token.pk}/change/")
    assert token.token_sha256 not in page.text
    yes = {"confirmed": "yes", "reason": "It was seen in a repository."}
    act(client, "genie_accesstoken", "revoke_selected", token, **yes)
    token.refresh_from_db()
    assert not token.works
    assert client.get("/admin/genie/accesstoken/add/").status_code == 403

"""Who gets where: the fixed cast on every address of the site and the API.

An address that is not in the matrix fails the test: whoever adds one says who may use
it. The world behind the addresses is one private, published submission of Nina's team.
"""

from __future__ import annotations

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse

from tests.cast import (  # noqa: F401
    CAST,
    cast,
    rival,
    rival_team,
    staff,
    submitter,
    superuser,
    team,
    team_mate,
    worker,
)
from tests.factories import make_ranked, make_task

pytestmark = pytest.mark.django_db

# One sign for each of the cast, in its order (visitor, submitter, team-mate, rival,
# worker, staff, superuser): + gets there, ? is asked to sign in, - does not find it or
# may not.
OPEN = "+++++++"
SIGNED_IN = "?++++++"
# private to a team, which staff see too
INSIDERS = "-++--++"
TEAM = "?++----"
OWNER = "?+-----"
STAFF = "?----++"
WORKER = "?---+--"
# who is signed in is told that this one is not theirs, or not there
NOT_HERS = "?------"
# a secret in the address, or something that this world has not
NOBODY = "-------"
# signed by another machine, not by a person
MACHINE = "???????"

MATRIX: dict[str, str] = {
    OPEN: """
        login logout account_login account_logout account_inactive account_signup
        account_email_verification_sent account_reset_password account_confirm_email
        account_reset_password_done account_reset_password_from_key
        account_reset_password_from_key_done socialaccount_login_cancelled
        api:task-list api:task-detail api:instance-list api:leaderboard
        api:metric-board api:metric-scores-list api:metric-scores-publish
        api:comparison-list api:joint-list api:score-list api:metric-result-list
        api-home api-schema api-docs turk:endpoint turk:endpoint-bare
        work:finished work:submit-preview
        leaderboard:home leaderboard:how-it-works leaderboard:tasks leaderboard:board
        leaderboard:about leaderboard:metric-board leaderboard:comparisons
        leaderboard:board-at leaderboard:board-export leaderboard:board-badge
        leaderboard:check leaderboard:sample leaderboard:differences
        leaderboard:weights leaderboard:story
    """,
    SIGNED_IN: """
        accounts:home accounts:tokens account_reauthenticate account_email
        account_change_password account_set_password account_confirm_login_code
        mfa_index mfa_authenticate mfa_reauthenticate mfa_activate_totp
        mfa_generate_recovery_codes socialaccount_connections
        api:submission-list api:submission-validate api:whoami
        leaderboard:teams leaderboard:notices leaderboard:my-data leaderboard:leave
        leaderboard:submit leaderboard:metric-hand-in leaderboard:ask-comparison
        leaderboard:ask-joint leaderboard:my-submissions
    """,
    INSIDERS: """
        api:submission-detail api:submission-metrics api:submission-metric-results
        api:submission-judgments leaderboard:submission leaderboard:card
        leaderboard:card-file
    """,
    TEAM: "api:submission-withdraw leaderboard:withdraw leaderboard:team",
    OWNER: """
        api:webhook-list api:webhook-detail api:webhook-deliveries leaderboard:invite
        leaderboard:webhooks leaderboard:webhook
    """,
    STAFF: "api:campaign-list api:campaign-detail api:worker-list api:ban-list",
    WORKER: """
        work:home work:earnings work:messages work:next work:requests work:accept
    """,
    NOT_HERS: """
        accounts:revoke-token mfa_deactivate_totp mfa_view_recovery_codes
        mfa_download_recovery_codes appeals:work appeals:ban appeals:requester work:consent
        work:instructions work:test work:attempt work:hit work:return work:request
        work:turn work:turn-return work:requester-qualification work:requester-test
        leaderboard:take-back leaderboard:team-member leaderboard:team-invitation
    """,
    NOBODY: """
        api:metric-scores-detail api:comparison-detail api:joint-detail api:nowhere
        work:invitation work:panel work:arrive work:turn-frame work:preview-frame
        work:submit work:elsewhere leaderboard:submission-badge leaderboard:metric-download
        leaderboard:metric-outside leaderboard:comparison leaderboard:joint
        leaderboard:file leaderboard:realigned hooks:mturk
    """,
    MACHINE: "hooks:prolific socialaccount_login_error socialaccount_signup",
}
POLICY = {name: policy for policy, names in MATRIX.items() for name in names.split()}

# Addresses that take no GET.
POSTED = """
    logout accounts:revoke-token leaderboard:invite leaderboard:take-back
    leaderboard:team-member leaderboard:webhook api:submission-validate
    api:submission-withdraw turk:endpoint turk:endpoint-bare work:next work:return
    work:accept work:turn-return work:submit hooks:prolific hooks:mturk
"""
METHOD = {**dict.fromkeys(POSTED.split(), "post"), "api:webhook-detail": "delete"}
VALUES = {
    "at": "20200101T000000Z",
    "form": "json",
    "uidb36": "1",
    "platform": "prolific",
}
# What staff without any permission may see of the admin.
ADMIN_OF_ALL_STAFF = {
    "index",
    "login",
    "logout",
    "password_change",
    "password_change_done",
    "jsi18n",
}


def addresses(resolver=None, space=""):
    """Go through all patterns with the name by which code calls them."""
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLPattern):
            name = f"{space}:{entry.name}" if space else str(entry.name)
            yield name, entry
        else:
            inner = ":".join(filter(None, [space, entry.namespace]))
            yield from addresses(entry, inner)


def named(pattern):
    return pattern.converters or pattern.regex.groupindex


SITE = {
    name: entry
    for name, entry in addresses()
    # sign-in providers stand in the way only where they are set up
    if not name.startswith("admin:") and entry.name is not None
}


@pytest.fixture
def world(cast):  # noqa: F811
    task = make_task("tidy-news")
    private = make_ranked(
        task, 70, team=cast.team, owner=cast.submitter, visibility="PRIVATE"
    )
    hook = cast.team.webhooks.create(
        url="https://heron.example/", secret="s", created_by=cast.submitter
    )

    def path(name):
        values = {}
        for part in named(SITE[name].pattern):
            values[part] = VALUES.get(part, "nonsense")
            if part == "pk":
                rows = {"webhook": hook, "campaign": private.human_evaluation.campaign}
                kind = next((kind for kind in rows if kind in name), None)
                values[part] = rows.get(kind, private).pk
            if part in {"slug", "pool"}:
                values[part] = cast.team.slug if of_team(name) else task.slug
        return reverse(name, kwargs=values)

    return path


def of_team(name):
    words = ("team", "webhook", "invite", "take-back")
    return any(word in name for word in words)


@pytest.fixture
def ask(cast):  # noqa: F811
    """Ask as somebody; what it changed is undone."""
    sessions = {}
    for who in CAST:
        own = Client()
        if (user := getattr(cast, who)) is not None:
            own.force_login(user)
        sessions[who] = {name: one.value for name, one in own.cookies.items()}

    # one for all: each new client would set up all middleware anew
    client = Client(raise_request_exception=False)

    def ask_(who, path, method="get"):
        client.cookies.clear()
        for name, value in sessions[who].items():
            client.cookies[name] = value
        before = transaction.savepoint()
        data = {"data": {"do": "off"}} if method == "post" else {}
        answer = getattr(client, method)(path, **data)
        transaction.savepoint_rollback(before)
        return answer

    return ask_


def sign_of(answer):
    where = answer.headers.get("Location", "")
    if answer.status_code == 401 or where.startswith(("/login/", "/account/login/")):
        return "?"
    assert answer.status_code < 500, answer.request["PATH_INFO"]
    return "-" if answer.status_code in {403, 404, 410} else "+"


def test_every_address_is_in_the_matrix():
    missing = sorted(set(SITE) - set(POLICY))
    assert missing == [], "Say in tests/test_permissions.py who may use these."
    gone = sorted(set(POLICY) - set(SITE))
    assert gone == [], "These addresses are no more; take them out of the matrix."
    assert sum(len(names.split()) for names in MATRIX.values()) == len(POLICY)


def test_everybody_gets_where_the_matrix_says(world, ask):
    wrong = {}
    for name in SITE:
        path, method = world(name), METHOD.get(name, "get")
        signs = "".join(sign_of(ask(who, path, method)) for who in CAST)
        if signs != POLICY.get(name):
            wrong[name] = f"{signs}, not {POLICY.get(name)}"
    assert wrong == {}


def test_the_admin_is_for_staff_with_the_right_to_it(ask):
    for name, entry in addresses():
        if not name.startswith("admin:") or name in {"admin:login", "admin:logout"}:
            continue
        try:
            path = reverse(name, kwargs=dict.fromkeys(named(entry.pattern), "1"))
        except Exception:  # noqa: BLE001 - addresses that take another kind of value
            continue
        lists = name.endswith(("_changelist", "_add"))
        for who in ("visitor", "submitter") if lists else ("visitor",):
            answer = ask(who, path)
            assert answer.status_code == 302, (who, path)
            assert "login" in answer["Location"], (who, path)
        if name.partition(":")[2] not in ADMIN_OF_ALL_STAFF:
            assert ask("staff", path).status_code != 200, path


def test_a_superuser_finds_every_list_of_the_admin_working(ask):
    lists = [name for name, entry in addresses() if name.endswith("_changelist")]
    assert len(lists) > 20
    for name in lists:
        assert ask("superuser", reverse(name)).status_code == 200, name

"""Who gets where: the fixed cast on every address of the site and the API.

An address that is not in the matrix fails the test: whoever adds one says who may use
it. The world behind the addresses is one private, published submission of Nina's team,
and a comparison and a joint evaluation that Rita has asked for and nobody has approved.
"""

import re
from datetime import date
from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser, Group
from django.core.files.base import ContentFile
from django.db import transaction
from django.template.base import Template
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse
from rest_framework.response import Response

from genie.accounts.models import TaskRole
from leaderboard.evaluation.services.request import create_request as request_evaluation
from leaderboard.judges.definition import whole
from leaderboard.models import Comparison, JointEvaluation, Judge, JudgeRun, Submission
from leaderboard.site.api.operations import Schema
from leaderboard.submissions.selectors import Staff
from tests.cast import CAST, allow
from tests.factories import make_ranked, make_submission, make_task, make_user
from tests.nets.views import call_view

pytestmark = pytest.mark.django_db

# One sign for each of the cast, in its order (visitor, submitter, team-mate, rival,
# worker, staff without permissions, staff, superuser): + gets there, ? is asked to sign
# in, - does not find it or may not.
OPEN = "++++++++"
SIGNED_IN = "?+++++++"
# private to a team, which staff see too
INSIDERS = "-++---++"
TEAM = "?++-----"
OWNER = "?+------"
STAFF = "?-----++"
WORKER = "?---+---"
# not approved: for the rival who asked, and for staff
REQUESTED = "---+--++"
# who is signed in is told that this one is not theirs, or not there
NOT_HERS = "?-------"
# a secret in the address, or something that this world has not
NOBODY = "--------"
# only for the rival who asked
ASKED = "?--+----"
SUPERUSER = "?------+"
# signed by another machine, not by a person
MACHINE = "????????"

MATRIX: dict[str, str] = {
    OPEN: """
        login logout public-status leaderboard:language account_login account_logout account_inactive account_signup
        account_email_verification_sent account_reset_password account_confirm_email
        account_reset_password_done account_reset_password_from_key
        account_reset_password_from_key_done socialaccount_login_cancelled
        api:task-list api:task-detail api:instance-list api:leaderboard
        api:configuration api:history api:differences api:evidence api:published api:crowds api:metric-board api:task-judges api:metric-scores-list api:metric-scores-publish
        api:comparison-list api:joint-list api:score-list api:metric-result-list
        api-home api-schema api-docs turk:endpoint turk:endpoint-bare
        work:finished work:submit-preview
        api:log api:log-entries leaderboard:public-log
        leaderboard:home api:rank-audit leaderboard:how-it-works leaderboard:privacy leaderboard:tasks leaderboard:board
        leaderboard:pairs leaderboard:outputs leaderboard:methods leaderboard:metric-board leaderboard:judges
        leaderboard:board-at leaderboard:board-export
        leaderboard:board-records
        leaderboard:check leaderboard:sample
        leaderboard:published leaderboard:published-file
        leaderboard:board-svg leaderboard:board-png leaderboard:board-card
        leaderboard:board-feed leaderboard:site-card leaderboard:site-feed leaderboard:robots
        leaderboard:sitemap
        leaderboard:docs leaderboard:docs-search leaderboard:docs-page
        leaderboard:docs-file leaderboard:docs-tasks leaderboard:docs-task
        api-docs-group
    """,
    SIGNED_IN: """
        accounts:home accounts:tokens account_reauthenticate account_email
        account_change_password account_set_password account_confirm_login_code
        mfa_index mfa_authenticate mfa_reauthenticate mfa_activate_totp
        mfa_generate_recovery_codes socialaccount_connections usersessions_list
        mfa_list_webauthn mfa_add_webauthn mfa_reauthenticate_webauthn
        mfa_edit_webauthn mfa_remove_webauthn
        api:submission-list api:submission-validate api:comparison-all-pairs api:whoami api:team-list
        leaderboard:teams leaderboard:notices leaderboard:my-data leaderboard:leave
        requester:home leaderboard:submit leaderboard:metric-hand-in leaderboard:ask-comparison
        leaderboard:ask-joint leaderboard:my-submissions
    """,
    INSIDERS: """
        api:submission-detail api:submission-metric-results
        api:submission-judgments api:submission-outputs leaderboard:submission leaderboard:card
        leaderboard:card-file leaderboard:file
    """,
    REQUESTED: """
        api:comparison-detail api:joint-detail leaderboard:comparison leaderboard:joint
    """,
    TEAM: "api:submission-withdraw api:submission-restore api:team-detail leaderboard:withdraw leaderboard:describe leaderboard:team",
    OWNER: """
        api:webhook-list api:webhook-detail api:webhook-deliveries leaderboard:invite
        leaderboard:webhooks leaderboard:webhook
    """,
    STAFF: """
        api:campaign-list api:campaign-detail api:worker-list api:ban-list api:bundle-list
        api:judge-run-list api:judge-run-detail api:judge-run-licences
        api:bundle-detail api:import-list leaderboard:studio-new leaderboard:studio-task
        leaderboard:studio-import-new
    """,
    SUPERUSER: "status api:submission-decision api:comparison-decision api:joint-decision api:judge-run-decision",
    WORKER: """
        work:home work:earnings work:payment work:messages work:settings work:zone work:next
        work:requests work:accept
    """,
    NOT_HERS: """
        accounts:revoke-token accounts:end-session mfa_deactivate_totp mfa_view_recovery_codes
        mfa_download_recovery_codes appeals:work appeals:ban appeals:record appeals:exclusion appeals:requester work:consent work:agreed
        work:instructions work:test work:attempt work:hit work:change work:return work:request
        work:turn work:turn-return work:requester-qualification work:requester-test
        requester:desk requester:revoke-key requester:batches requester:batch
        requester:stop-batch requester:results requester:layouts requester:retire-layout
        leaderboard:take-back leaderboard:team-member
        leaderboard:team-invitation
        leaderboard:studio-files leaderboard:studio-ask leaderboard:studio-page
        leaderboard:studio-people leaderboard:studio-start leaderboard:studio-delete
        leaderboard:studio-tests leaderboard:studio-pilot leaderboard:studio-import
        api:import-detail
    """,
    ASKED: "api:comparison-withdraw api:joint-withdraw",
    NOBODY: """
        accounts:set-up api:log-entry api:metric-scores-detail api:nowhere
        work:invitation work:panel work:arrive work:turn-frame work:preview-frame
        work:submit work:elsewhere work:no-news leaderboard:metric-download
        leaderboard:metric-outside leaderboard:realigned hooks:mturk
        leaderboard:croissant leaderboard:weights
        security-txt
    """,
    MACHINE: "mfa_login_webauthn hooks:prolific socialaccount_login_error socialaccount_signup",
}
POLICY = {name: policy for policy, names in MATRIX.items() for name in names.split()}

# Addresses that take no GET.
POSTED = """
    logout accounts:revoke-token accounts:end-session leaderboard:invite leaderboard:take-back
    leaderboard:team-member leaderboard:webhook leaderboard:studio-delete api:submission-validate
    api:rank-audit api:submission-withdraw api:submission-restore api:comparison-withdraw api:joint-withdraw
    api:judge-run-decision api:bundle-list api:import-list api:comparison-all-pairs turk:endpoint turk:endpoint-bare work:next work:return
    requester:revoke-key requester:stop-batch requester:retire-layout
    work:accept work:zone work:turn-return work:submit hooks:prolific hooks:mturk
"""
# Pages about an account's own sign-in and data: they name it and say that it is staff.
OF_ONESELF = {"leaderboard:my-data", "accounts:tokens", "mfa_activate_totp"}
METHOD = {**dict.fromkeys(POSTED.split(), "post"), "api:webhook-detail": "delete"}
VALUES = {
    "at": "20200101T000000Z",
    "form": "json",
    "uidb36": "1",
    "platform": "prolific",
    "number": 0,
    "language": "de",
    "path": "pictures/wings.svg",
}
# Slugs that are no task's of this world.
DOCS = {
    "leaderboard:docs-page": "glossary",
    "leaderboard:docs-task": "demo-qa",
    "api-docs-group": "tasks",
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


def addresses(resolver=None, space="", outer=()):
    """Go through all patterns with the name by which code calls them."""
    for entry in (resolver or get_resolver()).url_patterns:
        parts = [*outer, *named(entry.pattern)]
        if isinstance(entry, URLPattern):
            entry.parts = parts
            name = f"{space}:{entry.name}" if space else str(entry.name)
            yield name, entry
        else:
            inner = ":".join(filter(None, [space, entry.namespace]))
            yield from addresses(entry, inner, parts)


def named(pattern):
    return pattern.converters or pattern.regex.groupindex


SITE = {
    name: entry
    for name, entry in addresses()
    # sign-in providers stand in the way only where they are set up
    if not name.startswith("admin:") and entry.name is not None
}


# What one permission alone opens to staff.
OPENED_BY: dict[Staff, str] = {
    Staff.SEE_SUBMISSIONS: MATRIX[INSIDERS],
    Staff.SEE_COMPARISONS: "api:comparison-detail leaderboard:comparison",
    Staff.SEE_JOINT_EVALUATIONS: "api:joint-detail leaderboard:joint",
    Staff.ASK_COMPARISONS: "",
    Staff.ASK_JOINT_EVALUATIONS: "",
    Staff.SEE_CAMPAIGNS: "api:campaign-list api:campaign-detail",
    Staff.SEE_WORKERS: "api:worker-list",
    Staff.SEE_BANS: "api:ban-list",
    Staff.SEE_JUDGES: "api:judge-run-list api:judge-run-detail api:judge-run-licences",
    Staff.EXPORT_TASKS: "api:bundle-detail",
    Staff.SEE_REFERENCES: "leaderboard:studio-task",
    Staff.IMPORT_TASKS: "leaderboard:studio-new leaderboard:studio-import-new",
}


@pytest.fixture
def world(cast):
    task = make_task("tidy-news")
    private = make_ranked(
        task, 70, team=cast.team, owner=cast.submitter, visibility="PRIVATE"
    )
    private.file.save("kite.json", ContentFile(b"{}"))
    hook = cast.team.webhooks.create(
        url="https://heron.example/", secret="s", created_by=cast.submitter
    )
    comparison, joint = requested(task, cast)
    rows = {
        "webhook": hook,
        "campaign": private.human_evaluation.campaign,
        "comparison": comparison,
        "joint": joint,
        "judge-run": judge_run(task),
    }

    def path(name):
        values = {}
        for part in SITE[name].parts:
            values[part] = VALUES.get(part, "nonsense")
            if part == "pk":
                kind = next((kind for kind in rows if kind in name), None)
                values[part] = rows.get(kind, private).pk
            if part in {"slug", "pool"}:
                of_task = DOCS.get(name, task.slug)
                values[part] = cast.team.slug if of_team(name) else of_task
        return reverse(name, kwargs=values)

    path.task = task
    return path


def requested(task, cast):
    """Ask, as the rival, which of two public systems is better, in both ways."""
    hers = {"team": cast.rival_team, "owner": cast.rival}
    systems = [make_ranked(task, 60, system=name, **hers) for name in ("Jay", "Crane")]
    about = {"systems": systems, "by": cast.rival.pk, "design": "rankme"}
    comparison = request_evaluation(
        model=Comparison, n_instances=20, **about, a=systems[0], b=systems[1], delta=0.05,
        criterion="overall", rule="beta-mixture", wave_size=10, max_pairs=20,
    )  # fmt: skip
    joint = request_evaluation(
        model=JointEvaluation, n_instances=3, **about, n_asked=3, criteria=["overall"]
    )
    return comparison, joint


def judge_run(task):
    """A script that was asked, and that nobody has approved."""
    made = {"endpoint": "scripted", "model": "words"}
    judge = Judge.objects.create(
        name="words", version="1", sha256="0" * 64, definition=whole(made)
    )
    plan = {"criteria": ["overall"], "submissions": [], "instances": []}
    return JudgeRun.objects.create(judge=judge, task=task, plan=plan)


def of_team(name):
    words = ("team", "webhook", "invite", "take-back")
    return any(word in name for word in words)


@pytest.fixture
def undescribed(monkeypatch):
    """Leave the schema of the API, which is the same for all, empty."""
    monkeypatch.setattr(Schema, "_get_schema_response", lambda *_: Response({}))


@pytest.fixture
def unfilled(monkeypatch, undescribed):
    """Fill no template: only statuses are looked at. A picture is made of the board's."""
    drawn = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
    monkeypatch.setattr(Template, "render", lambda *_: drawn)


@pytest.fixture
def ask(cast):
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
    content_of(answer)  # else a file that is sent stays open
    return "-" if answer.status_code in {403, 404, 410} else "+"


def content_of(answer):
    return b"".join(answer.streaming_content if answer.streaming else [answer.content])


def test_every_address_is_in_the_matrix():
    missing = sorted(set(SITE) - set(POLICY))
    assert missing == [], "Say in tests/test_permissions.py who may use these."
    gone = sorted(set(POLICY) - set(SITE))
    assert gone == [], "These addresses are no more; take them out of the matrix."
    assert sum(len(names.split()) for names in MATRIX.values()) == len(POLICY)


@pytest.mark.usefixtures("unfilled")
def test_everybody_gets_where_the_matrix_says(world, ask, record_property):
    record_property("routes x roles", len(SITE) * len(CAST))
    wrong = {}
    for name in SITE:
        path, method, policy = world(name), METHOD.get(name, "get"), POLICY.get(name)
        # What a visitor gets, all get: a plain account and a superuser ask for it, too.
        asks = ["visitor", "submitter", "superuser"] if policy == OPEN else CAST
        signs = "".join(sign_of(ask(who, path, method)) for who in asks)
        if policy is None or signs != (policy[:3] if policy == OPEN else policy):
            wrong[name] = f"{signs}, not {policy}"
    assert wrong == {}


@pytest.mark.usefixtures("unfilled")
def test_each_permission_opens_to_staff_what_it_names_and_no_more(world):
    def opened(names, *permissions):
        viewer = make_user(
            f"may {len(permissions)} {permissions[0].name}", is_staff=True
        )
        allow(viewer, *permissions)
        client = Client(raise_request_exception=False)
        client.force_login(viewer)
        return {name for name in names if reads(client, world, name)}

    closed = [name for name in SITE if POLICY[name] in {INSIDERS, REQUESTED, STAFF}]
    for permission, names in OPENED_BY.items():
        assert opened(closed, permission) == set(names.split()), permission
    # what all together do not open, none does
    never = MATRIX[NOBODY].split() + MATRIX[OWNER].split() + MATRIX[TEAM].split()
    assert opened(never, *OPENED_BY) == set()
    assert set(OPENED_BY) == set(Staff)
    documented = Path("docs/permissions.md").read_text("utf-8")
    assert [name for name in Staff if f"`{name}`" not in documented] == []


# What is the whole site's, whatever roles somebody has on tasks.
OF_THE_SITE = {Staff.SEE_WORKERS, Staff.EXPORT_TASKS, Staff.IMPORT_TASKS}
# Lists that leave out what belongs to other tasks, and are empty then.
NARROWED = {"api:campaign-list", "api:ban-list", "api:judge-run-list"}


@pytest.mark.usefixtures("unfilled")
def test_a_role_on_a_task_opens_what_its_permissions_open_there_and_nowhere_else(world):
    make_task("elsewhere")
    closed = [name for name in SITE if POLICY[name] in {INSIDERS, REQUESTED, STAFF}]
    here = {
        (permission,): set() if permission in OF_THE_SITE else set(names.split())
        for permission, names in OPENED_BY.items()
    }
    cases = [(world.task.slug, *one) for one in here.items()]
    for pool, permissions, opens in [*cases, ("elsewhere", tuple(OPENED_BY), NARROWED)]:
        group = Group.objects.create(name=f"{pool} {permissions[0]}")
        allow(group, *permissions)
        viewer = make_user(group.name, is_staff=True)
        TaskRole.objects.create(user=viewer, role=group, pool=pool)
        client = Client(raise_request_exception=False)
        client.force_login(viewer)
        opened = {name for name in closed if reads(client, world, name)}
        assert opened == opens, (permissions, pool)
        for name in opened & {"api:campaign-list"}:
            rows = client.get(world(name)).json()["results"]
            assert bool(rows) == (pool == world.task.slug)


def reads(client, world, name):
    if METHOD.get(name, "get") != "get":
        return False
    return sign_of(client.get(world(name))) == "+"


@pytest.mark.usefixtures("unfilled")
def test_a_permission_opens_nothing_to_who_is_not_staff(world):
    viewer = make_user("otto")
    allow(viewer, *Staff)
    client = Client(raise_request_exception=False)
    client.force_login(viewer)
    for name in " ".join((MATRIX[INSIDERS], MATRIX[REQUESTED], MATRIX[STAFF])).split():
        assert sign_of(client.get(world(name))) == "-", name


@pytest.mark.usefixtures("undescribed")
@pytest.mark.slow
def test_staff_without_permissions_read_what_any_account_reads(world, cast):
    hidden = {"team": cast.team, "owner": cast.submitter, "task": world.task}
    make_ranked(mean=40, system="Gull", anonymous_until=date(2999, 1, 1), **hidden)
    make_submission(system="Tern", visibility="PRIVATE", **hidden)
    make_submission(system="Skua", state=Submission.State.DECLINED, **hidden)
    read = {}
    for name, is_staff in (("ulla", False), ("olga", True)):
        client = Client(raise_request_exception=False)
        client.force_login(make_user(name, is_staff=is_staff))
        read[name] = {
            address: plain(client.get(world(address)), name)
            for address in SITE
            if METHOD.get(address, "get") == "get" and address not in OF_ONESELF
        }
    different = [
        name for name, text in read["ulla"].items() if read["olga"][name] != text
    ]
    assert different == []


def plain(answer, name):
    text = content_of(answer).decode("utf-8", "replace").replace(name, "NAME")
    text = text.replace('<li><a href="/admin/">Staff</a></li>', "")
    text = re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"', "", text)
    # the board as of 2026-11-22 22:35 UTC, too: a minute may end between two looks
    text = re.sub(r"\d{8}T\d{6}Z|\d{4}-\d\d-\d\d[T ][\d:.]+", "MOMENT", text)
    return answer.status_code, re.sub(r"\s+", " ", text)


@pytest.mark.usefixtures("unfilled")
def test_the_admin_is_for_staff_with_the_right_to_it(cast):
    for name, entry in addresses():
        if not name.startswith("admin:") or name in {"admin:login", "admin:logout"}:
            continue
        try:
            path = reverse(name, kwargs=dict.fromkeys(entry.parts, "1"))
        except Exception:  # noqa: BLE001 - addresses that take another kind of value
            continue
        lists = name.endswith(("_changelist", "_add"))
        for user in (AnonymousUser(), cast.submitter)[: 1 + lists]:
            answer = call_view(user, path)
            assert answer.status_code == 302, (user, path)
            assert "login" in answer["Location"], (user, path)
        if name.partition(":")[2] not in ADMIN_OF_ALL_STAFF:
            assert call_view(cast.new_staff, path).status_code != 200, path

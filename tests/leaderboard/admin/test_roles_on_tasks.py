"""A role on one task opens that task and nothing else; no page links to a closed one.

Each list of the admin has one row, of one task. Whoever has a role there, or on the
whole site, follows all links; whoever has it on another task finds nothing at all.
"""

import re
from itertools import chain

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.template.base import Template
from django.test import Client
from django.urls import reverse

from crowd.models import Campaign, HITType, Requirement, Worker
from crowd.scales.base import all_scales
from crowd.workers.services import notes
from genie.accounts.models import TaskRole
from genie.accounts.task_admin import OfTask
from leaderboard.models import Submission, Task
from leaderboard.site.roles import ROLES, make_groups
from quality.models import Appeal, Ban
from tests.each import with_slow
from tests.factories import make_task, make_user
from tests.genie.filled import fill_all

ELSEWHERE = "elsewhere"
# what is everybody's, and rows that each page adds
LEFT_OUT = re.compile(
    "/logout/|/jsi18n/|/password_change/|/history/|/privateread/[0-9]"
)
SITE, HERE = "site", "here"


@pytest.fixture
def world(db, without_decoys):
    # tests with transactions of their own leave a database without groups
    make_groups(apps.get_app_config("leaderboard"), "default")
    get_user_model().objects.create_superuser("boss")
    made = fill_all(admin.site)
    task = made[Task]
    for model in made:
        if any(field.name == "pool" for field in model._meta.fields):
            model._default_manager.update(pool=task.slug)
    HITType.own.update(scale=next(iter(all_scales())))
    Campaign.own.update(platform="selfhosted")
    make_task(ELSEWHERE)
    return made


def holder(role, where, slug):
    user = make_user(f"{role} {where}".replace(" ", "-"), is_staff=True)
    group = Group.objects.get(name=role)
    if where == SITE:
        user.groups.add(group)
    else:
        pool = slug if where == HERE else ELSEWHERE
        TaskRole.objects.create(user=user, role=group, pool=pool)
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def links(text):
    found = re.findall(r'href="(/admin/[^"#]*)"', text)
    return {link.replace("&amp;", "&") for link in found}


def crawl(client):
    """Follow the links from the first page; give what each address answered."""
    seen, ahead = {}, ["/admin/"]
    while ahead:
        address = ahead.pop()
        path, _, _query = address.partition("?")
        if path in seen or LEFT_OUT.search(path):
            continue
        answer = client.get(address, follow=True)
        seen[path] = answer.status_code
        if answer.status_code == 200 and "html" in answer["Content-Type"]:
            ahead += links(answer.text)
    return seen


def rows_of_tasks(made):
    for model, model_admin in admin.site._registry.items():
        if isinstance(model_admin, OfTask):
            stem = f"admin:{model._meta.app_label}_{model._meta.model_name}"
            yield reverse(f"{stem}_changelist"), reverse(f"{stem}_change", args=[made[model].pk])  # fmt: skip


@pytest.fixture
def _menu_on_first_page(monkeypatch):
    """Draw the menu, which is the same on all pages, on the first one only."""
    whole = admin.site.get_app_list

    def listed(request, app_label=None):
        drawn = request.path == "/admin/" or app_label is not None
        return whole(request, app_label) if drawn else []

    monkeypatch.setattr(admin.site, "get_app_list", listed)


@pytest.mark.usefixtures("_menu_on_first_page")
@pytest.mark.parametrize("role", with_slow(ROLES, [*ROLES][1:]))
def test_all_links_lead_somewhere_and_a_role_opens_its_task_only(
    role, world, monkeypatch
):
    pk, slug = world[Task].pk, world[Task].slug
    site, here, away = (holder(role, where, slug) for where in (SITE, HERE, ELSEWHERE))
    in_task, reached = crawl(here), crawl(away)
    assert set(in_task.values()) == set(reached.values()) == {200}
    # of all others only statuses are looked at
    monkeypatch.setattr(Template, "render", lambda *_: "")
    # a role on the site reaches all that it reaches on the task
    rows = list(rows_of_tasks(world))
    for path in {*chain(*rows)}:
        opened = site.get(path).status_code
        assert in_task.get(path) or here.get(path).status_code == opened, path
        assert opened == 200 or path not in in_task, path
    # a role on another task finds nothing
    others = [row for _, row in rows]
    for row in others:
        assert away.get(row).status_code in {302, 403, 404}, row
        assert away.post(row, {}).status_code in {302, 403, 404}, row
    assert reached.keys().isdisjoint(others)
    for name, key in (
        ("leaderboard_task_campaigns", pk),
        ("leaderboard_task_report", pk),
        ("leaderboard_worker_evidence", 1),
    ):
        path = reverse(f"admin:{name}", args=[key])
        assert away.get(path).status_code in {403, 404}


def test_actions_reach_only_rows_on_which_their_permission_holds(world):
    """A reviewer of one task who organises another cannot act on the first."""
    slug = world[Task].slug
    client = holder("Organiser", ELSEWHERE, "")
    user = get_user_model().objects.get(username="Organiser-elsewhere")
    reviewer = Group.objects.get(name="Reviewer")
    TaskRole.objects.create(user=user, role=reviewer, pool=slug)
    campaign = world[Campaign]
    Campaign.own.update(state=Campaign.State.RUNNING)
    change = reverse("admin:crowd_campaign_change", args=[campaign.pk])
    assert client.get(change).status_code == 200
    posted = {
        "action": "pause_selected",
        "_selected_action": campaign.pk,
        "confirmed": "yes",
        "reason": "a word",
    }
    changelist = reverse("admin:crowd_campaign_changelist")
    assert "left out" in client.post(changelist, posted, follow=True).text
    shown = {f"shown-{campaign.pk}": "1", f"cents-{campaign.pk}": "10"}
    posted |= {"action": "ask_for_more_selected", "agreed": "yes", "more": "1", **shown}
    assert "left out" in client.post(changelist, posted, follow=True).text
    campaign.refresh_from_db()
    assert campaign.answers_per_hit == 1
    assert campaign.state == Campaign.State.RUNNING
    submission = world[Submission].pk
    for verb in ("approve", "withdraw", "tests"):
        address = reverse(f"admin:leaderboard_submission_{verb}", args=[submission])
        assert client.get(address).status_code == 403, verb
        assert client.post(address, posted).status_code == 403, verb


def test_a_role_is_given_to_staff_on_a_task_that_there_is(world):
    boss = Client()
    boss.force_login(get_user_model().objects.get(username="boss"))
    add = reverse("admin:genie_taskrole_add")
    role = Group.objects.get(name="Reviewer")
    someone = make_user("gwen")
    sent = {"user": someone.pk, "role": role.pk, "pool": ELSEWHERE}
    assert "no staff status" in boss.post(add, sent).text
    someone.is_staff = True
    someone.save()
    assert boss.post(add, {**sent, "pool": "nowhere"}).status_code == 200
    assert boss.post(add, sent).status_code == 302
    given = TaskRole.objects.filter(user=someone).get()
    assert (given.role, given.pool) == (role, ELSEWHERE)


def test_a_workers_page_tells_all_that_its_reader_may_know(world):
    """Found by pseudonym, account or platform id; each part under its permission."""
    worker = world[Worker]
    page = reverse("admin:crowd_worker_change", args=[worker.pk])
    boss = Client()
    boss.force_login(get_user_model().objects.get(username="boss"))
    notes.write(worker, get_user_model().objects.get(username="boss"), "<b>slow</b>")
    everything = ["Work", "Notes and decisions", "Test questions", "Bans", "Appeals"]
    everything += ["Qualifications", "Messages"]
    text = boss.get(page).text
    assert re.findall(r"<caption>([^<·]+?)(?: ·|<)", text) == everything
    assert "Note: &lt;b&gt;slow&lt;/b&gt;" in text
    assert world[Ban].reason in text
    assert world[Appeal].words in text
    finance = make_user("fred", is_staff=True)
    finance.user_permissions.add(Permission.objects.get(codename="view_worker"))
    client = Client()
    client.force_login(finance)
    assert (
        re.findall(r"<caption>([^<·]+?)(?: ·|<)", client.get(page).text)
        == everything[1:2]
    )
    listed = reverse("admin:crowd_worker_changelist")
    for name in (worker.pseudonym, worker.user.username, worker.platform_worker_id):
        assert page in boss.get(listed, {"q": name}, follow=True).text


def test_a_row_cannot_be_moved_to_a_task_of_others(world):
    client = holder("Worker manager", HERE, world[Task].slug)
    required = Requirement.objects.create(
        pool_id=world[Task].slug, kind="APPROVED", at_least=3
    )
    page = reverse("admin:crowd_requirement_change", args=[required.pk])
    sent = {"kind": "APPROVED", "at_least": 4, "why": "More.", "pool": required.pool_id}
    assert client.post(page, {**sent, "pool": ELSEWHERE}).status_code == 403
    required.refresh_from_db()
    assert (required.pool_id, required.at_least) == (world[Task].slug, 3)
    assert client.post(page, sent).status_code == 302
    required.refresh_from_db()
    assert required.at_least == 4


def test_whoever_may_delete_on_the_whole_site_is_left_nothing_out(world):
    user = make_user("dora", is_staff=True)
    names = ["view_requirement", "delete_requirement"]
    user.user_permissions.add(*Permission.objects.filter(codename__in=names))
    client = Client()
    client.force_login(user)
    row = world[Requirement]
    sent = {
        "action": "delete_with_reason",
        "_selected_action": row.pk,
        "confirmed": "yes",
        "reason": "Not needed.",
    }
    listed = reverse("admin:crowd_requirement_changelist")
    assert "Deleted: 1." in client.post(listed, sent, follow=True).text
    assert not Requirement.objects.filter(pk=row.pk).exists()

"""Every route on boards of every kind as a visitor; on one of them, as everybody."""

import pytest

from tests.walk.grid import Walk, in_part, in_sample
from tests.walk.routes import filling, names_rows, routes, rows_of
from tests.walk.worlds import KINDS, ROLES

pytestmark = pytest.mark.django_db
NAMES = list(KINDS)


def test_the_walk_knows_how_to_fill_every_route():
    for route in routes():
        for part in route.parts:
            filling(route, part)
    assert sum(names_rows(route) for route in routes()) > 60


def walk(kind: str, role: str, chosen, *, asks: bool = True) -> Walk:
    walked = Walk(KINDS[kind](), role, asks)
    for route in chosen:
        walked.route(route)
    return walked


def judge(walked: Walk, record_property) -> None:
    record_property("opened", walked.n_opened)
    record_property("statuses", dict(walked.statuses))
    if walked.wrong:
        pytest.fail("\n".join(walked.wrong), pytrace=False)


def named(kind: str, *, sampled: bool):
    return [
        r for r in routes() if names_rows(r) and in_sample(r, kind, NAMES) == sampled
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_some_routes_on_each_kind_of_board(kind, record_property):
    judge(walk(kind, "visitor", named(kind, sampled=True)), record_property)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_other_routes_on_each_kind_of_board(kind, record_property):
    others = [r for r in named(kind, sampled=False) if in_part(r, kind)]
    walked = walk(kind, "visitor", others)
    walked.follow()
    judge(walked, record_property)


@pytest.mark.parametrize("role", ROLES)
def test_some_routes_for_each_role(role, record_property):
    chosen = [r for r in routes() if in_sample(r, role, list(ROLES))]
    judge(walk("full", role, chosen, asks=False), record_property)


@pytest.mark.slow
@pytest.mark.parametrize("role", ROLES)
def test_all_other_routes_for_each_role(role, record_property):
    others = [r for r in routes() if not in_sample(r, role, list(ROLES))]
    chosen = [r for r in others if in_part(r, role)]
    judge(walk("full", role, chosen, asks=False), record_property)


def test_a_draft_and_a_judge_run_are_shown_to_whom_they_concern():
    world = KINDS["full"]()
    rows = rows_of(world)
    assert len(rows["DRAFT"]) == 2
    assert len(rows["JUDGE_RUN"]) == 1
    owners = {"superuser": rows["DRAFT"][0], "view_staff": rows["DRAFT"][1]}
    seen = {}
    for role in ROLES:
        client = world.client(role)
        drafts = {
            pk
            for pk in rows["DRAFT"]
            if client.get(f"/studio/{pk}/files/").status_code == 200
        }
        run = client.get(f"/api/v1/judge-runs/{rows['JUDGE_RUN'][0]}/").status_code
        seen[role] = run
        assert drafts == ({owners[role]} if role in owners else set()), role
    shown = {role for role, status in seen.items() if status == 200}
    assert shown == {"task_staff", "view_staff", "superuser"}, seen

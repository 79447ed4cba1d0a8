"""Every route on boards of every kind as a visitor; on one of them, as everybody."""

import json
from pathlib import Path

import pytest

from leaderboard.metrics import meteor
from tests.each import with_slow
from tests.walk.grid import Walk, in_part, in_sample
from tests.walk.routes import filling, names_rows, routes, rows_of
from tests.walk.worlds import KINDS, ROLES

pytestmark = pytest.mark.django_db
NAMES = list(KINDS)
OUTLINES = Path(__file__).parents[1] / "nets/pages.json"
# What they list is what the walk has opened so far, which is another part each time.
OF_THE_WALK = "admin/genie/privateread/"
HOW_TO_REWRITE = "If this is meant: pytest tests/walk -m 'not slow' --rewrite"


def test_the_walk_knows_how_to_fill_every_route():
    for route in routes():
        for part in route.parts:
            filling(route, part)
    assert sum(names_rows(route) for route in routes()) > 60


@pytest.fixture(autouse=True)
def _without_wordnet(monkeypatch, tmp_path):
    """Let METEOR fail everywhere: not every machine has WordNet."""
    monkeypatch.setattr(meteor, "wordnet_folder", lambda: tmp_path / "no WordNet")


@pytest.fixture
def walk(request):
    rewrites = request.config.getoption("--rewrite")

    def walk_and_judge(kind, role, chosen, *, asks=True, follows=False) -> None:
        if rewrites:
            chosen = [r for r in routes() if names_rows(r) or not asks]
        walked = Walk(KINDS[kind](), role, asks and not rewrites, rewrites)
        for route in chosen:
            walked.route(route)
        if follows:
            walked.follow()
        compare(walked, rewrites=rewrites)
        if walked.wrong:
            pytest.fail("\n".join(walked.wrong), pytrace=False)

    return walk_and_judge


def outlines() -> dict[tuple[str, str], str]:
    """Read the committed outlines by route and, for visitors, kind of board, else role."""
    table = json.loads(OUTLINES.read_text("utf-8")) if OUTLINES.exists() else {}
    rows = [(r, told, cells) for r, by in table.items() for told, cells in by.items()]
    return {(r, one): told for r, told, cells in rows for one in cells.split("; ")}


def compare(walked: Walk, *, rewrites: bool) -> None:
    cell = walked.world.kind if walked.role == "visitor" else f"as {walked.role}"
    known = outlines()
    now = {
        (route, cell): told
        for route, told in walked.outlines.items()
        if not route.startswith(OF_THE_WALK)
    }
    if not rewrites:
        walked.wrong += [
            f"{key}: {known.get(key)}\nis now: {told}\n{HOW_TO_REWRITE}"
            for key, told in now.items()
            if known.get(key) != told
        ]
        return
    table = {route.text: {} for route in routes()}
    for (route, one), told in sorted({**known, **now}.items()):
        if route in table:
            cells = table[route].get(told)
            table[route][told] = f"{cells}; {one}" if cells else one
    table = {route: by_told for route, by_told in sorted(table.items()) if by_told}
    text = json.dumps(table, indent=1, ensure_ascii=False)
    OUTLINES.write_text(f"{text}\n", "utf-8")


def named(kind: str, *, sampled: bool):
    return [
        r for r in routes() if names_rows(r) and in_sample(r, kind, NAMES) == sampled
    ]


@pytest.mark.parametrize("kind", with_slow(KINDS, set(KINDS) - {"full", "people"}))
def test_some_routes_on_each_kind_of_board(kind, walk):
    walk(kind, "visitor", named(kind, sampled=True))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_other_routes_on_each_kind_of_board(kind, walk):
    others = [r for r in named(kind, sampled=False) if in_part(r, kind)]
    walk(kind, "visitor", others, follows=True)


@pytest.mark.parametrize("role", ROLES)
def test_some_routes_for_each_role(role, walk):
    chosen = [r for r in routes() if in_sample(r, role, list(ROLES))]
    walk("full", role, chosen, asks=False)


@pytest.mark.slow
@pytest.mark.parametrize("role", ROLES)
def test_all_other_routes_for_each_role(role, walk):
    others = [r for r in routes() if not in_sample(r, role, list(ROLES))]
    walk("full", role, [r for r in others if in_part(r, role)], asks=False)


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

"""Every address of the site, filled with the rows of a world.

The patterns come from the resolver. A part of an address that FILL does not know how to
fill makes the walk fail: whoever adds such a route says here which rows it names.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from zlib import crc32

from django.apps import apps
from django.contrib.auth import get_user_model
from django.urls import URLPattern, get_resolver
from django.urls.resolvers import RegexPattern

from crowd.models import HIT, Assignment, Campaign, Worker
from leaderboard.models import (
    Comparison,
    Draft,
    Import,
    JointEvaluation,
    JudgeRun,
    OutsideMetric,
    Submission,
    Team,
)
from tests.walk.worlds import World


@dataclass(frozen=True)
class Route:
    """One pattern: its name, its text with <parts>, and whether it can be filled."""

    name: str
    text: str
    parts: tuple[str, ...]

    @property
    def is_admin(self) -> bool:
        return self.text.startswith("admin/")


@cache
def routes() -> tuple[Route, ...]:
    found: dict[str, Route] = {}
    for route in _routes(get_resolver()):
        found.setdefault(route.text, route)
    return tuple(found.values())


def _routes(resolver, space="", before="", parts=()) -> Iterator[Route]:
    for entry in resolver.url_patterns:
        text, own = _text_of(entry.pattern)
        if isinstance(entry, URLPattern):
            name = f"{space}:{entry.name}" if space else str(entry.name)
            yield Route(name, before + text, (*parts, *own))
        else:
            inner = ":".join(filter(None, [space, entry.namespace]))
            yield from _routes(entry, inner, before + text, (*parts, *own))


def _text_of(pattern) -> tuple[str, tuple[str, ...]]:
    if not isinstance(pattern, RegexPattern):
        text = re.sub(r"<(?:\w+:)?(\w+)>", r"<\1>", str(pattern))
        return text, tuple(pattern.converters)
    text = str(pattern).lstrip("^").rstrip("$")
    for name in pattern.regex.groupindex:
        text = re.sub(rf"\(\?P<{name}>(?:\[[^]]*\]|[^()])*\)", f"<{name}>", text)
    return text.replace("(?:/)", "/"), tuple(pattern.regex.groupindex)


# Which rows stand in which part of which address; the first that fits holds. Rows of a
# world are named in capitals, what is the same in all worlds stands here.
FILL: tuple[tuple[str, str, object], ...] = (
    (r"(api/v1/)?tasks/", "slug", "TASK"),
    (r"(api/v1/bundles|studio/tasks)/", "slug", "TASK"),
    (r"(work/(consent|instructions)|work/appeals/(ban|record))/", "pool", "TASK"),
    (r"tasks/.*/at/", "at", "MOMENT"),
    (r"tasks/.*/board\.", "form", ("csv", "json", "tex", "md", "bib", "svg", "png")),
    (r"tasks/.*/published\.", "form", ("csv", "json", "md")),
    (
        r"tasks/.*/metrics/files/",
        "name",
        ("judgments.csv", "battles.jsonl", "mtme.zip", "results.json", "no-such.csv"),
    ),
    (r"submissions/.*/card\.", "form", ("json", "md", "yaml", "csv")),
    (r"(api/v1/)?submissions/", "pk", "SUBMISSION"),
    (r"(api/v1/)?comparisons/", "pk", "COMPARISON"),
    (r"(api/v1/)?joint-evaluations/", "pk", "JOINT"),
    (r"(metrics|api/v1/metric-scores)/", "pk", "OUTSIDE"),
    (r"api/v1/campaigns/", "pk", "CAMPAIGN"),
    (r"api/v1/imports/", "pk", "IMPORT"),
    (r"api/v1/judge-runs/", "pk", "JUDGE_RUN"),
    (r"studio/(import/)?<pk>/", "pk", "DRAFT"),
    (r"(api/v1/)?teams/.*/members/", "pk", "MEMBER"),
    (r"(api/v1/)?teams/.*/(webhooks|invitations)/", "pk", (1,)),
    (r"(api/v1/)?teams/", "slug", "TEAM"),
    (r"work/(hit|agreed|try)/", "pk", "WORK"),
    (r"work/(panel|from)/", "pk", "CAMPAIGN"),
    (r"work/panel/", "panel", ("friends",)),
    (r"work/from/", "platform", ("prolific",)),
    (r"work/test/", "name", ("nonsense",)),
    (r"work/appeals/work/", "pk", "WORK"),
    (r"(work|requester)/.*", "entity_id", ("NONSENSE1",)),
    (r"(work|requester)/.*", "group_id", ("NONSENSE1",)),
    (r"requester/", "customer_id", ("A1NONSENSE",)),
    (r"requester/.*", "pk", (1,)),
    (r"account/(sessions|tokens|2fa/webauthn/keys)/", "pk", (1,)),
    (r"account/.*", "key", ("nonsense",)),
    (r"account/.*", "uidb36", ("1",)),
    (r"(account/set-up|team-invitation|work/\w[\w-]*)/", "token", ("nonsense",)),
    (r"hooks/mturk/", "secret", ("nonsense",)),
    (r"api/v1/history/entries/", "number", (0, 1)),
    (r"api/docs/", "slug", ("tasks", "submissions")),
    (r"docs/tasks/", "slug", ("demo-qa",)),
    (r"docs/files/", "path", ("pictures/wings.svg",)),
    (r"docs/", "slug", ("glossary", "reading-a-board")),
    (r"admin/crowd/payoutrun/", "pk", (1,)),
    (r"admin/.*/worker/", "pk", "WORKER"),
    (r"admin/.*/impose/", "worker_pk", "WORKER"),
    (r"admin/leaderboard/(submission|comparison|jointevaluation|task)/", "pk", "MODEL"),
    (r"admin/\w+/\w+/", "pk", "MODEL"),
    (r"admin/\w+/\w+/", "object_id", "MODEL"),
    (r"admin/auth/user/", "id", "MODEL"),
    (r"admin/r/", "content_type_id", (1,)),
    (r"admin/r/", "object_id", (1,)),
    (r"admin/<app_label>", "app_label", ("leaderboard", "crowd", "quality", "genie")),
    (r"admin/<url>", "url", ("nowhere/",)),
)
# A task, a submission or a study: routes with one of these are opened on every board.
NAMED = {
    "TASK",
    "SUBMISSION",
    "COMPARISON",
    "JOINT",
    "OUTSIDE",
    "CAMPAIGN",
    "IMPORT",
    "JUDGE_RUN",
    "DRAFT",
}


class UnknownPartError(Exception):
    """A part of an address that the walk cannot fill."""


def filling(route: Route, part: str) -> object:
    for start, name, rows in FILL:
        if name == part and re.match(start, route.text):
            return rows
    raise UnknownPartError(
        f"{route.text} ({route.name}): say in FILL of tests/walk/routes.py what <{part}> is"
    )


def names_rows(route: Route) -> bool:
    """Whether a route outside the admin names a task, a submission or a study."""
    if route.is_admin:
        return False
    fills = [filling(route, part) for part in route.parts]
    return any(isinstance(fill, str) and fill in NAMED for fill in fills)


def rows_of(world: World) -> dict[str, list[object]]:
    """Choose the rows of a world that stand in its addresses."""
    task = world.task
    rows = Submission.objects.filter(task=task).order_by("pk")
    systems = [(row.pk, row.state) for row in rows.select_related("human_evaluation")]
    one_a_state = {state: pk for pk, state in systems}
    first = [pk for pk, _ in systems[:2]]
    of_task = {"task": task}
    work = [
        *Assignment.objects.filter(worker__user=world.accounts.get("worker")),
        *HIT.objects.filter(campaign__pool=task.slug).order_by("pk")[:1],
    ]
    return {
        "TASK": [task.slug],
        "MOMENT": ["20200101T000000Z", "29990101T000000Z", "20260101T000000Z"],
        "SUBMISSION": [*dict.fromkeys([*first, *one_a_state.values()])],
        "COMPARISON": _pks(Comparison, task=task),
        "JOINT": _pks(JointEvaluation, task=task),
        "OUTSIDE": _pks(OutsideMetric, **of_task),
        "CAMPAIGN": _pks(Campaign, pool=task.slug)[:2],
        "IMPORT": _pks(Import, **of_task),
        "JUDGE_RUN": _pks(JudgeRun, **of_task),
        "DRAFT": _pks(Draft),
        "MEMBER": _pks(get_user_model())[:1],
        "TEAM": list(Team.own.order_by("pk").values_list("slug", flat=True))[:2],
        "WORK": [row.pk for row in work] or [1],
        "WORKER": _pks(Worker)[:1] or [1],
    }


def _pks(model, **of) -> list[int]:
    return list(model.objects.filter(**of).order_by("pk").values_list("pk", flat=True))


def paths(route: Route, world: World, rows: dict[str, list]) -> list[str]:
    """Fill a route with the rows of a world: no address if it has none of them.

    Of several parts one changes at a time: every form of a file of the first system, and
    the first form for every other one.
    """
    choices = []
    for part in route.parts:
        fill = filling(route, part)
        if fill == "MODEL":
            values = _of_model(route, rows)
        else:
            values = rows[fill] if isinstance(fill, str) else fill
        choices.append(list(values))
    if not all(choices):
        return []
    first = [values[0] for values in choices]
    chosen = [first]
    for place, values in enumerate(choices):
        chosen += [[*first[:place], one, *first[place + 1 :]] for one in values[1:]]
    return [_filled(route, values) for values in chosen]


def _filled(route: Route, values: list) -> str:
    path = f"/{route.text}"
    for part, value in zip(route.parts, values, strict=True):
        path = path.replace(f"<{part}>", str(value))
    return path


def _of_model(route: Route, rows: dict[str, list]) -> list[object]:
    """Choose a row of the model of an admin's page, rows of the task if it has any."""
    _, app, name, *_ = route.text.split("/")
    model = apps.get_model(app, name)
    known = {
        "task": Campaign,
        "submission": Submission,
        "comparison": Comparison,
        "jointevaluation": JointEvaluation,
    }
    if name == "task":
        return list(
            model.objects.filter(slug=rows["TASK"][0]).values_list("pk", flat=True)
        )
    if name in known:
        key = {"comparison": "COMPARISON", "jointevaluation": "JOINT"}.get(name)
        return rows[key or name.upper()]
    return list(model._base_manager.order_by("-pk").values_list("pk", flat=True)[:1])


def number_of(route: str, kind: str) -> int:
    """Number a cell of the grid, the same in every run."""
    return crc32(f"{route} {kind}".encode())

"""One walk: which cells of the grid are opened, and what was wrong with them."""

import os
import re
import traceback
from collections import Counter
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from django.urls import Resolver404, resolve

from genie.lib import jobs
from leaderboard.models import Comparison, MetricResult, Prediction
from tests.walk.checks import (
    Page,
    Truth,
    outline,
    said_by,
    truth_of,
    wrong_with,
    wrong_with_markup,
)
from tests.walk.routes import Route, names_rows, number_of, paths, routes, rows_of
from tests.walk.variants import queries_of
from tests.walk.worlds import BESIDE, World

# One of so many routes of each kind is opened in `make test`; another one of each kind.
SHARE = 16
# Pages found by links: of each route so many, with each set of questions once.
MOST_LINKS = 2
# Django puts a list into a paragraph there.
OF_DJANGO = {"admin:auth_user_password_change"}
# Shapes of pages whose markup was parsed, on any board: a template is parsed once.
PARSED: set[int] = set()
# What they say is of some systems or of another time.
DATED = {"leaderboard:board", "leaderboard:board-at", "leaderboard:board-export"}


def in_part(route: Route, kind: str) -> bool:
    """Whether a cell is in the eighth that `.ci/run` opens for this commit, or in any."""
    part = os.environ.get("GENIE_WALK_PART")
    return not part or number_of(route.text, kind) % 8 == int(part)


def in_sample(route: Route, kind: str, kinds: list[str]) -> bool:
    """Whether a cell is opened by `make test`: every route and every kind has some."""
    return (number_of(route.text, "") + kinds.index(kind)) % SHARE == 0


@dataclass
class Walk:
    """Open addresses of one world as one role, and keep what was wrong."""

    world: World
    role: str = "visitor"
    asks: bool = True
    # for the net: nothing but what the first address of each route is
    only_outlines: bool = False
    wrong: list[str] = field(default_factory=list)
    outlines: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.client = self.world.client(self.role)
        self.rows = rows_of(self.world)
        slug = self.world.task.slug
        self.visitor = self.world.client("visitor")
        board = self.visitor.get(f"/tasks/{slug}/board.json")
        if board.status_code == 202:  # of a long board, by a job
            jobs.drain()
            board = self.visitor.get(f"/tasks/{slug}/board.json")
        self.board = board.json()
        self.truth = truth_of(self.board)
        of_task = {"submission__task": self.world.task}
        self.truth.counts = {
            "metrics": MetricResult.objects.filter(**of_task).count(),
            # before staff approve it, a request concerns who asked and staff alone
            "comparisons": Comparison.objects.filter(task=self.world.task)
            .exclude(state__in=["REQUESTED", "DECLINED", "WITHDRAWN"])
            .count(),
            "texts": Prediction.objects.filter(**of_task).exclude(text="").count(),
        }
        self.truth.said = self.said(f"/api/v1/tasks/{slug}/")
        systems = [*self.rows["SUBMISSION"], 0, 0]
        self.known = {"a": systems[0], "b": systems[1], "slug": slug}
        self.found: dict[str, str] = {}
        self.parsed: set[int] = set()
        self.dated: dict[str, Truth] = {}

    def said(self, above: str) -> dict[str, set[int]]:
        """Collect what the JSON of the board counts, and that of what is on it."""
        addresses = [above, f"{above}evidence/", f"{above}differences/"]
        for rows, name in (
            ("SUBMISSION", "submissions"),
            ("COMPARISON", "comparisons"),
            ("JOINT", "joint-evaluations"),
        ):
            addresses += [f"/api/v1/{name}/{pk}/" for pk in self.rows[rows]]
        answers = [self.visitor.get(address) for address in addresses]
        found = [a.json() for a in answers if a.status_code == 200]
        said = said_by(self.board, *found)
        said.setdefault("systems", set()).update(
            {self.truth.n_rows, self.truth.n_ranked, self.truth.n_scored}
        )
        if answers[2].status_code == 200:
            said["pairs"] = {answers[2].json()["count"]}
        return said

    def route(self, route: Route) -> None:
        found = paths(route, self.world, self.rows)[: 1 if self.only_outlines else None]
        if not self.asks and len(found) > 3:  # each role opens others of many rows
            own = [path for path in found[1:] if number_of(path, self.role) % 3 == 0]
            found = [found[0], *own]
        for place, path in enumerate(found):
            queries = queries_of(route, known=self.known)
            # the questions are asked of the first of several rows alone, and of each
            # route on a third of the kinds
            asked = (
                self.asks
                and place == 0
                and number_of(route.text, self.world.kind) % 6 < 2
            )
            for query in queries if asked else queries[:1]:
                self.open(route, f"{path}?{query}" if query else path)

    def open(self, route: Route, path: str, *, followed: str = "") -> None:
        answer = self.client.get(path)
        content = (
            b"".join(answer.streaming_content) if answer.streaming else answer.content
        )
        status = answer.status_code
        if not followed and route.text not in self.outlines:
            kind = answer.headers.get("Content-Type", "")
            self.outlines[route.text] = outline(status, kind, content)
        if self.only_outlines:
            return
        if status >= 500:
            self.tell(route, path, f"{status}: {_cause(answer)}")
            return
        if followed and status in {400, 404, 410}:
            self.tell(route, path, f"{status}, though {followed} links to it")
        kind = answer.headers.get("Content-Type", "")
        if content and status < 300:
            whole = route.name == "leaderboard:board" and "page=" not in path
            truth = self.truth_at(path) if route.name in DATED else self.truth
            # the admin's pages speak of one row, not of the board
            about = {"whole": whole, "absent": not route.is_admin}
            # with filters and of another time there are fewer of everything
            about["counts"] = (
                self.role == "visitor"
                and route.text.startswith("tasks/")
                and "?" not in path
                and "/at/" not in path
            )
            for what in wrong_with(kind, content, truth, **about):
                self.tell(route, path, what)
            self.leaks(route, path, content)
        if content and kind.startswith("text/html"):
            self.look_at_markup(route, path, content.decode(), linked=status == 200)

    def truth_at(self, path: str) -> Truth:
        """Give what board.json says of the board with the same filters and moment."""
        asked = parse_qsl(urlsplit(path).query, keep_blank_values=True)
        if at := re.search(r"/at/(\w+)/", path):
            asked.append(("at", at[1]))
        of_moment = [(name, value) for name, value in asked if name == "at"]
        found = []
        for query in (of_moment, asked):
            address = f"/tasks/{self.world.task.slug}/board.json?{urlencode(query)}"
            if address not in self.dated:
                answer = self.visitor.get(address)
                board = answer.json() if answer.status_code == 200 else self.board
                self.dated[address] = truth_of(board)
            found.append(self.dated[address])
        whole, some = found
        # ranks, and how many there are, are of the whole board
        return replace(some, n_ranked=whole.n_ranked, counts=self.truth.counts)

    def look_at_markup(
        self, route: Route, path: str, html: str, *, linked: bool
    ) -> None:
        """Parse what is not the same as before, but for numbers and plain text."""
        shape = re.sub(r"\d+|<option[^>]*>", "", html)
        tags = hash(re.sub(r">\s*[^\s<&][^<&]*<", ">text<", shape))
        if tags not in PARSED and route.name not in OF_DJANGO:
            PARSED.add(tags)
            for what in wrong_with_markup(html):
                self.tell(route, path, what)
        if linked and hash(shape) not in self.parsed:
            self.parsed.add(hash(shape))
            self.look_for_links(path, html)

    def leaks(self, route: Route, path: str, content: bytes) -> None:
        text = content.decode("utf-8", "replace")
        if names_rows(route):
            for name in BESIDE:
                if name in text:
                    self.tell(route, path, f"names “{name}” of another task")
        if self.role in {"visitor", "rival", "worker"}:
            for name in self.world.hidden:
                if name in text:
                    self.tell(route, path, f"names “{name}”, which is private")

    def look_for_links(self, path: str, html: str) -> None:
        page = Page(html)
        for link in page.links:
            self.found.setdefault(urljoin(path, link).split("#")[0], path)
        for action, fields in page.forms:
            if action != "#":
                for name, value in fields:
                    address = urljoin(path, action or path.split("?")[0])
                    asked = f"{address.split('?')[0]}?{name}={value}"
                    self.found.setdefault(asked, path)

    def follow(self) -> None:
        """Open what the opened pages link to: each route with each set of questions once."""
        opened: set[tuple] = set()
        by_name = {route.name: route for route in routes()}
        n_of = Counter[str]()
        while self.found:
            address, source = self.found.popitem()
            parts = urlsplit(address)
            if parts.netloc not in {"", "testserver", "localhost:8000"}:
                continue
            try:
                match = resolve(parts.path)
            except Resolver404:
                self.wrong.append(f"{source} links to {address}, which is no address")
                continue
            asked = parse_qsl(parts.query)
            names = sorted({name for name, _ in asked})
            if len(asked) == 1 and asked[0][1].isalpha():
                names.append(asked[0][1])
            shape = (match.route, *names)
            route = by_name.get(match.view_name)
            if shape in opened or route is None or not names_rows(route):
                continue
            n_of[route.name] += 1
            if n_of[route.name] > MOST_LINKS:
                continue
            opened.add(shape)
            if in_part(route, self.world.kind):
                query = f"?{parts.query}" if parts.query else ""
                self.open(route, f"{parts.path}{query}", followed=source)

    def tell(self, route: Route, path: str, what: str) -> None:
        self.wrong.append(
            f"{route.name} | {self.world.kind} | {self.role} | GET {path}: {what}"
        )


def _cause(answer) -> str:
    if not getattr(answer, "exc_info", None):
        return "no exception"
    error = answer.exc_info[1]
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = "/".join(last.filename.split("/")[-4:])
    return f"{error!r} at {place}:{last.lineno}"

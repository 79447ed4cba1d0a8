"""The questions that addresses take: filters, sorts, columns, pages, moments.

For the API they come from its own schema. For pages they are those that the
documentation names, and those that the pages' own links and forms offer.
"""

from functools import cache

from drf_spectacular.generators import SchemaGenerator

from tests.walk.routes import Route

# What stands in for a parameter of the schema that is not a choice among words.
SAMPLES: dict[str, tuple[str, ...]] = {
    "page": ("1", "2", "999"),
    "page_size": ("1", "500", "0"),
    "cursor": ("1", "999999"),
    "q": ("e", "no such name"),
    "team": ("team-1", "nobody"),
    "kind": ("summarization", "nonsense"),
    "task": ("{slug}", "no-such-task"),
    "at": ("2020-01-01", "2999-01-01", "soon"),
    "since": ("2020-01-01", "2999-01-01", "soon"),
    "until": ("2020-01-01", "2999-01-01", "soon"),
    "sort": ("human", "system", "date", "sacrebleu", "nonsense"),
    "a": ("{a}", "nine"),
    "b": ("{b}",),
    "criterion": ("overall", "nonsense"),
    "metric": ("chrf", "nonsense"),
    "submission": ("{a}", "999999"),
    "size": ("1", "4"),
    "platform": ("mturk",),
    "banned_from": ("{slug}",),
    "cents": ("100",),
    "format": ("json", "yaml"),
    "lang": ("de",),
}
BOARD = (
    "sort=human&dir=asc",
    "sort=system",
    "sort=date&dir=asc",
    "sort=sacrebleu&dir=asc",
    "sort=nonsense",
    "columns=all",
    "columns=team&columns=chrf",
    "show=metrics",
    "compare",
    "open={a}",
    "open=nine",
    "q=e",
    "q=no+such+name",
    "q=%00",
    "kind=people",
    "kind=simulated",
    "since=2020-01-01",
    "until=2020-01-01",
    "scored=1",
    "baseline=reference",
    "baseline=none",
    "team=nobody",
    "axis=full",
    "page=1",
    "page=2",
    "page=999",
    "at=2020-01-01",
    "at=2999-01-01",
    "at=soon",
    "lang=de",
)
VARIANTS: dict[str, tuple[str, ...]] = {
    "leaderboard:board": BOARD,
    "leaderboard:board-at": ("columns=all", "sort=system", "q=e"),
    "leaderboard:board-export": (
        "columns=all",
        "scored=1",
        "q=no+such+name",
        "sort=system",
        "at=2020-01-01",
        "at=soon",
    ),
    "leaderboard:board-records": ("q=e", "q=no+such+name", "at=2020-01-01"),
    "leaderboard:board-svg": ("theme=dark", "theme=loud", "at=2020-01-01", "axis=full"),
    "leaderboard:board-png": ("theme=dark", "at=soon"),
    "leaderboard:pairs": (
        "s={a}&s={b}",
        "s={a}",
        "s=nine",
        "s=999999&s={a}",
        "page=2",
        "page=999",
    ),
    "leaderboard:weights": ("w.overall=2", "w.overall=x", "w.nonsense=1"),
    "leaderboard:methods": ("lang=de",),
    "leaderboard:outputs": ("s={a}", "s={a}&against={b}", "s=nine", "by=rating&q=e"),
    "leaderboard:submission": (
        "against={a}",
        "against={b}",
        "against=999999",
        "against=nine",
        "by=rating",
        "by=rating&against={b}",
        "by=sacrebleu",
        "by=nonsense",
        "page=1",
        "page=2",
        "page=999",
        "lang=de",
    ),
    "leaderboard:card-file": ("dataset=lab/data", "dataset=../etc"),
    "leaderboard:metric-board": (
        "by=pearson",
        "by=nonsense",
        "criterion=overall",
        "criterion=nonsense",
    ),
    "leaderboard:judges": ("criterion=overall", "page=2"),
    "leaderboard:ask-comparison": (
        "a={a}&b={b}",
        "a=x",
    ),
    "leaderboard:ask-joint": ("systems={a}", "systems={a}&systems={b}", "systems=x"),
    "leaderboard:submit": ("lang=de",),
}


@cache
def _parameters() -> dict[str, tuple[str, ...]]:
    """Give the questions of each path of the API, one parameter at a time."""
    schema = SchemaGenerator().get_schema(request=None, public=True)
    found = {}
    for path, operations in schema["paths"].items():
        queries = []
        for one in operations.get("get", {}).get("parameters", []):
            if one["in"] == "query":
                name = one["name"]
                values = one["schema"].get("enum") or SAMPLES[name]
                queries += [f"{name}={value}" for value in values]
        found[path] = (*queries, "no_such_parameter=1")
    return found


def queries_of(route: Route, *, known: dict[str, object]) -> list[str]:
    """Give the questions to ask of a route, the empty one first."""
    if route.text.startswith("api/v1/"):
        path = "/" + route.text.replace("<pk>", "{id}")
        for part in route.parts:
            path = path.replace(f"<{part}>", f"{{{part}}}")
        asked = _parameters().get(path, ())
    else:
        asked = VARIANTS.get(route.name, ())
    return ["", *(query.format(**known) for query in asked)]

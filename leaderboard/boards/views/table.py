from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from leaderboard import charts
from leaderboard.boards.selectors.rows import Human, Row
from leaderboard.boards.selectors.sorting import DEFAULT, Order, first_direction
from leaderboard.boards.views.address import Address
from leaderboard.charts import Axis
from leaderboard.metric_runs.selectors import MetricWords, metric_words

# Headings of the rows below the ranked ones.
PROVISIONAL = "Provisional: it is still being checked which ratings count"
PARTIAL = "Partial: too few instances rated to be ranked"
WAITING = "Waiting for human evaluation"


@dataclass(frozen=True)
class Column:
    key: str
    label: str
    query: str
    # "ascending", "descending" or "" as aria-sort has it
    sorted: str


@dataclass(frozen=True)
class Line:
    row: Row
    rank: str
    bracket: str
    # the group of rows that begins with this one, if it is separate
    section: str
    # the cluster that begins with this row, below another
    cluster: int | None
    bar: SafeString
    metrics: list[tuple[str, str]]
    extras: list[Human | None]


def column(key: str, label: str, address: Address) -> Column:
    order = address.order
    if order.key == key:
        turned = Order(key, "asc" if order.reverse else "desc")
        sorted_ = "descending" if order.reverse else "ascending"
    else:
        turned, sorted_ = Order(key, first_direction(key)), ""
    return Column(key, label, address.query(order=turned), sorted_)


def columns(address: Address, *, simulated: bool) -> dict[str, Any]:
    human = "Simulated score" if simulated else "Human score"
    return {
        "system": column("system", "System", address),
        "date": column("date", "Date", address),
        "human": column("human", human, address),
        "metrics": [
            (column(slug, metric_words(slug).label, address), metric_words(slug))
            for slug in address.metrics
        ],
    }


def lines(
    rows: Sequence[Row],
    address: Address,
    *,
    axis: Axis | None,
    absent: Collection[str] = (),
    provisional_apart: bool = False,
) -> list[Line]:
    """Format a page's rows; brackets join neighbors of a cluster; `absent` are metrics."""
    # in any other order neighbors are unrelated
    ranked = address.order == DEFAULT
    groups = [
        _group(row, provisional_apart=provisional_apart) if ranked else ""
        for row in rows
    ]
    joined = [_joined(row, group) for row, group in zip(rows, groups, strict=True)]
    metrics = [metric_words(slug) for slug in address.metrics]
    criteria = address.criteria
    return [
        Line(
            row=row,
            rank=_rank(row),
            bracket=_bracket(joined, i) if ranked else "",
            section=groups[i] if i == 0 or groups[i] != groups[i - 1] else "",
            cluster=row.cluster if ranked and _begins_cluster(rows, i) else None,
            bar=charts.bar(axis, row.human, simulated=row.simulated)
            if axis and row.human
            else SafeString(""),
            metrics=[
                (words.label, _value(row, words, absent=words.slug in absent))
                for words in metrics
            ],
            extras=[row.criteria.get(name) for name in criteria],
        )
        for i, row in enumerate(rows)
    ]


def _rank(row: Row) -> str:
    if row.rank_first is None:
        return ""
    single = row.rank_first == row.rank_last
    ranks = f"{row.rank_first}" if single else f"{row.rank_first}–{row.rank_last}"
    # brackets: the rank that it would have if it were public
    return f"({ranks})" if row.private else ranks


def _group(row: Row, *, provisional_apart: bool) -> str:
    if row.human is None:
        return WAITING
    if row.rank_first is None:
        return PARTIAL
    return PROVISIONAL if provisional_apart and row.human.provisional else ""


def _joined(row: Row, group: str) -> str:
    if row.private or row.rank_first is None:
        return _rank(row)
    # with too many systems for clusters, those of equal ranks are joined
    by = f"cluster {row.cluster}" if row.cluster else _rank(row)
    return f"{group} {by}"


def _bracket(joined: list[str], i: int) -> str:
    if not joined[i]:
        return ""
    above = i > 0 and joined[i - 1] == joined[i]
    below = i + 1 < len(joined) and joined[i + 1] == joined[i]
    return {
        (False, True): " b1",
        (True, True): " b2",
        (True, False): " b3",
        (False, False): "",
    }[above, below]


def _begins_cluster(rows: Sequence[Row], i: int) -> bool:
    clusters = [row.cluster for row in rows[:i] if row.cluster and not row.private]
    row = rows[i]
    if not clusters or row.cluster is None or row.private:
        return False
    return row.cluster > clusters[-1]


def _value(row: Row, words: MetricWords, *, absent: bool) -> str:
    value = row.metrics.get(words.slug)
    if value is None:
        return "not computed here" if absent else ""
    return f"{value:.{words.decimals}f}"

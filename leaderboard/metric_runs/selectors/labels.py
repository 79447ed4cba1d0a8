"""What a metric is, in the words that its column header and its line say."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache

from leaderboard.metrics.base import all_metrics


@dataclass(frozen=True)
class MetricWords:
    """A metric's name, which way is better, and what it is."""

    slug: str
    label: str
    arrow: str
    better: str
    sentence: str
    paper: str
    # how many the field prints: one for scores up to 100, two for ratios
    decimals: int


@cache
def metric_words(slug: str) -> MetricWords:
    """Describe a metric that this site has; the sentence is its docstring's first."""
    metric = all_metrics()[slug]
    arrow, better = {
        True: ("↑", "higher is better"),
        False: ("↓", "lower is better"),
        None: ("", "no preferred direction"),
    }[metric.higher_is_better]
    # one source for what a metric is: the first sentence of its class's docstring
    first = (inspect.getdoc(metric) or "").split("\n\n")[0].replace("\n", " ")
    sentence = first.removeprefix(f"{metric.label}:").strip()
    return MetricWords(
        slug=slug,
        label=metric.label,
        arrow=arrow,
        better=better,
        sentence=sentence[:1].upper() + sentence[1:],
        paper=metric.paper,
        decimals=1 if (metric.range[1] or 0) > 10 else 2,
    )

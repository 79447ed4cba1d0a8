"""A task's metrics with their current settings and descriptions."""

import hashlib
import inspect
from dataclasses import dataclass
from functools import cache

from genie.lib.errors import GenieError
from leaderboard.metric_runs.models import MetricRun
from leaderboard.metrics.base import TURNS, Metric, all_metrics
from leaderboard.tasks.chosen_metrics import chosen_metrics
from leaderboard.tasks.models import Task


@dataclass(frozen=True)
class MetricWords:
    slug: str
    label: str
    arrow: str
    better: str
    sentence: str
    paper: str
    # as usual in the field: one for scores up to 100, two for ratios
    decimals: int


@cache
def metric_words(slug: str) -> MetricWords:
    """Describe a metric of this site; the sentence is the first one of its docstring."""
    metric = all_metrics()[slug]
    arrow, better = {
        True: ("↑", "higher is better"),
        False: ("↓", "lower is better"),
        None: ("", "no preferred direction"),
    }[metric.higher_is_better]
    # the description's single source: the first sentence of the class's docstring
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


@dataclass(frozen=True)
class Chosen:
    metric: Metric
    # compared with a result's to see if it is current; empty if not computed here
    settings: str
    identity: str
    # why it is not computed here, for staff; empty if it is
    absent: str = ""

    @property
    def slug(self) -> str:
        return self.metric.slug

    @property
    def light(self) -> bool:
        """Whether it is computed while a submission is processed, not in pieces afterwards."""
        return self.metric.cost == "light"


def chosen_of(task: Task) -> list[Chosen]:
    """Return the task's metrics that exist on this site, in the task's order."""
    metrics = chosen_metrics(task.configuration.metrics).values()
    compare = any(metric.needs_references for metric in metrics)
    given = task.instances.order_by().exclude(references=[])
    lacks = compare and not given.exists()
    return [_choose(task, metric, lacks_references=lacks) for metric in metrics]


def not_computed_here(task: Task) -> frozenset[str]:
    """Return the metrics that the queue's processes found unavailable."""
    runs = MetricRun.objects.filter(task=task, state=MetricRun.State.ABSENT)
    return frozenset(runs.order_by().values_list("metric", flat=True))


def _choose(task: Task, metric: Metric, *, lacks_references: bool) -> Chosen:
    reason = metric.available()
    if metric.needs_sources and not task.source_field:
        reason = "It needs the source, but the task has no source field."
    if metric.needs_references and lacks_references:
        reason = "It needs references, but the task has none."
    if not reason:
        try:
            settings = metric.settings()
        except GenieError as error:
            reason = error.message
        else:
            languages = f"{task.source_language}>{task.target_language}"
            if task.holds_conversations:
                languages += f"|{TURNS}"
            # settings, which include library versions, and languages both change the numbers
            digest = hashlib.sha256(f"{settings}|{languages}".encode()).hexdigest()
            return Chosen(metric, settings, digest[:32])
    return Chosen(metric, "", "", reason)

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.ranked_scores import ranked
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import public
from leaderboard.tasks.models import Task

N_BEST = 3
N_LATEST = 6
_FEW = 100


@dataclass
class TaskCard:
    task: Task
    best: list[Score] = field(default_factory=list)
    n_systems: int = 0
    n_published: int = 0
    # without those with a partial score
    n_ranked: int = 0
    n_simulated: int = 0

    @property
    def n_pending(self) -> int:
        return self.n_systems - self.n_published

    @property
    def simulated(self) -> bool:
        return self.n_simulated > 0

    @property
    def all_simulated(self) -> bool:
        return self.n_simulated == self.n_systems


def tasks_in_order(text: str = "", kind: str = "") -> QuerySet[Task]:
    """Return tasks: demonstrations and imports last, those with results first."""
    results = Submission.objects.filter(
        public(), task=OuterRef("pk"), published_at__isnull=False
    )
    tasks = Task.objects.filter(name_contains(text)).defer("description")
    if kind:
        tasks = tasks.filter(kind=kind)
    return tasks.annotate(has_results=Exists(results.order_by())).order_by(
        "demo", "imported", "-has_results", "kind", "title", "pk"
    )


def name_contains(text: str) -> Q:
    if not text:
        return Q()
    return Q(title__icontains=text) | Q(slug__icontains=text)


def task_cards(tasks: Iterable[Task]) -> list[TaskCard]:
    """Return each of these tasks with its best systems, in three queries."""
    cards = {task.pk: TaskCard(task) for task in tasks}
    for pk, n, n_published, n_simulated in (
        Submission.objects.filter(public(), task__in=list(cards))
        .order_by()
        .values_list("task_id")
        .annotate(
            n=Count("pk"),
            n_published=Count("pk", filter=Q(published_at__isnull=False)),
            n_simulated=Count("pk", filter=Q(simulated=True)),
        )
    ):
        card = cards[pk]
        card.n_systems, card.n_published, card.n_simulated = n, n_published, n_simulated
    for score, n_ranked in _best([card.task for card in cards.values()]):
        card = cards[score.submission.task_id]
        card.best.append(score)
        card.n_ranked = n_ranked
    return list(cards.values())


def newest_board() -> Task | None:
    """Return the task with the newest result from people, else from programs.

    Imported ratings are no result of this site.
    """
    result = Score.objects.filter(
        ranked(), submission=OuterRef("pk"), superseded_at=None
    )
    published = Submission.objects.filter(
        public(), published_at__isnull=False, task__imported=False
    ).order_by("simulated", "-published_at", "-pk")
    # usually one of the first is ranked: a database looks up the scores of all first
    for rows in (published.filter(pk__in=published.values("pk")[:_FEW]), published):
        ranked_ones = rows.filter(Exists(result.order_by())).select_related("task")
        if newest := ranked_ones.first():
            return newest.task
    return None


def latest(n: int = N_LATEST) -> list[Score]:
    """Return the last published results without imported ones, which came all at once."""
    # more than are shown, because some scores have another criterion or are superseded
    newest = (
        Submission.objects.filter(
            public(), published_at__isnull=False, task__imported=False
        )
        .order_by("-published_at", "-pk")
        .values_list("pk", "task_id")[: 4 * n]
    )
    submissions = dict(newest)
    tasks = Task.objects.filter(pk__in=set(submissions.values()))
    return list(
        _public_scores(tasks.only("slug", "kind", "config"))
        .filter(submission__in=list(submissions))
        .select_related("submission__task", "submission__team", "evaluation")
        .prefetch_related("evaluation__campaigns")
        .order_by("-submission__published_at", "-pk")[:n]
    )


def _best(tasks: list[Task]) -> list[tuple[Score, int]]:
    # a window over all tasks at once, where a query for each would grow with their
    # number; over keys alone, because a score is long
    ranking = (
        _public_scores(tasks)
        .filter(ranked())
        .annotate(
            place=Window(
                RowNumber(),
                partition_by=F("submission__task_id"),
                order_by=[F("mean").desc(), F("pk").asc()],
            ),
            of=Window(Count("pk"), partition_by=F("submission__task_id")),
        )
        .filter(place__lte=N_BEST)
        .order_by("submission__task_id", "place")
    )
    n_ranked = dict(ranking.values_list("pk", "of"))
    scores = Score.objects.select_related("submission").in_bulk(list(n_ranked))
    return [(scores[pk], n) for pk, n in n_ranked.items()]


def _public_scores(tasks: Iterable[Task]) -> QuerySet[Score]:
    by_criterion: dict[str, list[int]] = {}
    for task in tasks:
        by_criterion.setdefault(main_criterion(task), []).append(task.pk)
    # starts from "nothing" because an empty Q selects everything when there is no task
    ranking = Q(pk__in=[])
    for criterion, pks in by_criterion.items():
        ranking |= Q(submission__task__in=pks, criterion=criterion)
    return Score.objects.filter(
        public("submission__"),
        ranking,
        superseded_at=None,
        submission__published_at__isnull=False,
    )

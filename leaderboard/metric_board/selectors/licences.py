"""Whether judges have a license for a board's criterion, in words."""

from collections.abc import Collection

from leaderboard.judges.models import JudgeLicence, JudgeMetric

_WORDS: dict[str, str] = {
    JudgeLicence.State.LICENSED: "licensed",
    JudgeLicence.State.EXPIRED: "licence expired",
}
NONE = "no licence"


def licence_words(metrics: Collection[int | None], criterion: str) -> dict[int, str]:
    """Return the license state of each metric that is a judge; others have none.

    A judge that was asked about a different criterion has no license for this one.
    """
    outside = [pk for pk in metrics if pk]
    if not outside:
        return {}
    rows = JudgeMetric.objects.filter(metric__in=outside).select_related("run")
    words = {}
    for row in rows:
        decided = JudgeLicence.objects.filter(
            run__judge=row.run.judge_id, run__task=row.run.task_id, criterion=criterion
        )
        last = decided.order_by("-pk").first()
        state = last.state if last and row.criterion == criterion else ""
        words[row.metric_id] = _WORDS.get(state, NONE)
    return words

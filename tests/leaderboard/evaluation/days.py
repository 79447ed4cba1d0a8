"""Published scores change once a day: tests that change them more often let days pass."""

from datetime import timedelta

from leaderboard.models import Rescoring


def a_day_later() -> None:
    for row in Rescoring.objects.order_by("on"):
        row.on -= timedelta(days=1)
        row.at -= timedelta(days=1)
        row.save()

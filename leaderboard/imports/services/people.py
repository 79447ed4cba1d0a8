"""Imported raters, as workers without an account."""

from collections.abc import Iterable

from crowd.workers.models.worker import Worker
from leaderboard.imports.about import PLATFORM, platform_worker_id

_BATCH = 2_000


def workers_of(slug: str, names: Iterable[str]) -> dict[str, int]:
    """Return the worker of each name; new ones are created, excluded from all work."""
    id_of = {name: platform_worker_id(slug, name) for name in dict.fromkeys(names)}
    Worker.objects.bulk_create(
        [
            Worker(platform=PLATFORM, platform_worker_id=key, excluded=True)
            for key in id_of.values()
        ],
        batch_size=_BATCH,
        ignore_conflicts=True,
    )
    found: dict[str, int] = {}
    keys = list(id_of.values())
    for start in range(0, len(keys), 500):
        rows = Worker.objects.filter(
            platform=PLATFORM, platform_worker_id__in=keys[start : start + 500]
        )
        found |= dict(rows.values_list("platform_worker_id", "pk"))
    return {name: found[key] for name, key in id_of.items()}

"""Versions of a task: what would make scores incomparable makes a new one."""

import re

from leaderboard.tasks.models import Task


def versions_of(task: Task) -> list[Task]:
    """Give all versions of a task that this site has, the first one first.

    A version names the one before it, which may have been loaded elsewhere only; two may
    follow one. Empty where there is only one.
    """
    first, seen = task, {task.slug}
    while first.version_of and first.version_of not in seen:
        before = Task.objects.filter(slug=first.version_of).first()
        if before is None:
            break
        first = before
        seen.add(first.slug)
    found, newest = [first], [first.slug]
    known = {first.slug}
    while newest:
        later = Task.objects.filter(version_of__in=newest).exclude(slug__in=known)
        rows = list(later.order_by("pk"))
        found += rows
        newest = [row.slug for row in rows]
        known.update(newest)
    return found if len(found) > 1 else []


def next_slug(task: Task) -> tuple[str, int]:
    """Give the address of the next version, and its number."""
    stem = re.sub(r"-\d+$", "", task.slug) if task.version_of else task.slug
    number = max(len(versions_of(task)), 1) + 1
    while Task.objects.filter(slug=f"{stem[:95]}-{number}").exists():
        number += 1
    return f"{stem[:95]}-{number}", number

"""Versions of a task: changes that make scores incomparable create a new one."""

import re

from leaderboard.tasks.models import Task


def versions_of(task: Task) -> list[Task]:
    """Return all versions of a task on this site, the first one first.

    A version refers to the one before it, which may exist on another site only; two may
    follow one. Empty if there is only one.
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
    """Return the slug of the next version, and its number."""
    stem = re.sub(r"-\d+$", "", task.slug) if task.version_of else task.slug
    number = max(len(versions_of(task)), 1) + 1
    while Task.objects.filter(slug=f"{stem[:95]}-{number}").exists():
        number += 1
    return f"{stem[:95]}-{number}", number

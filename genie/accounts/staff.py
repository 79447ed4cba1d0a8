"""Permissions of staff: Django's, on the whole site or on a task.

A task is identified by its slug, which campaigns, bans and budgets call their pool.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, TypeVar

from django.contrib.auth.models import PermissionsMixin
from django.db.models import Q

from genie.accounts.models import TaskRole

if TYPE_CHECKING:
    from django.db.models import QuerySet

    Rows = TypeVar("Rows", bound=QuerySet[Any])

_KEPT = "_pools_of_permissions"


def staff_may(viewer: object, permission: str, pool: str | None = None) -> bool:
    """Check whether the viewer is staff and has a permission such as `app.view_model`.

    As in the admin: staff status alone permits nothing, a permission without it permits
    nothing either, and superusers have every permission. With `pool`, a role on this
    task is enough; without, the permission must apply to the whole site.
    """
    if not _is_staff(viewer):
        return False
    return viewer.has_perm(permission) or (  # type: ignore[attr-defined]
        pool is not None and pool in pools_where(viewer, permission)
    )


def staff_may_somewhere(viewer: object, permission: str) -> bool:
    return staff_may(viewer, permission) or bool(pools_where(viewer, permission))


def pools_where(viewer: object, permission: str) -> frozenset[str]:
    """Return the tasks on which a role of the viewer grants a permission.

    Permissions on the whole site are not included. Read once per request.
    """
    if not _is_staff(viewer):
        return frozenset()
    kept: dict[str, set[str]] | None = getattr(viewer, _KEPT, None)
    if kept is None:
        kept = {}
        roles = TaskRole.objects.filter(user=viewer.pk)  # type: ignore[attr-defined]
        for pool, app, codename in roles.order_by().values_list(
            "pool",
            "role__permissions__content_type__app_label",
            "role__permissions__codename",
        ):
            kept.setdefault(f"{app}.{codename}", set()).add(pool)
        setattr(viewer, _KEPT, kept)
    return frozenset(kept.get(permission, ()))


def open_to(viewer: object, permissions: Iterable[str], *paths: str) -> Q | None:
    """Return a filter for rows on which the viewer has all of the permissions.

    `paths` lead from a row to its task's slug. None if they apply to the whole site.
    """
    pools: frozenset[str] | None = None
    for permission in permissions:
        if not staff_may(viewer, permission):
            here = pools_where(viewer, permission)
            pools = here if pools is None else pools & here
    if pools is None:
        return None
    return of_pools(pools, paths)


def of_pools(pools: Iterable[str], paths: Iterable[str]) -> Q:
    return reduce(or_, (Q(**{f"{path}__in": pools}) for path in paths))


def limit_to_tasks(rows: Rows, viewer: object, permission: str, *paths: str) -> Rows:
    chosen = open_to(viewer, [permission], *paths)
    return rows if chosen is None else rows.filter(chosen)


def _is_staff(viewer: object) -> bool:
    return (
        isinstance(viewer, PermissionsMixin)
        and bool(getattr(viewer, "is_active", False))
        and (viewer.is_superuser or bool(getattr(viewer, "is_staff", False)))
    )

"""What staff may see outside the admin: Django's permissions decide there, too."""

from __future__ import annotations

from django.contrib.auth.models import PermissionsMixin


def staff_may(viewer: object, permission: str) -> bool:
    """Tell whether the viewer is staff and holds a permission such as `app.view_model`.

    As in the admin: to be staff opens nothing by itself, a permission without being
    staff opens nothing either, and superusers hold every permission.
    """
    return (
        isinstance(viewer, PermissionsMixin)
        and (viewer.is_superuser or getattr(viewer, "is_staff", False))
        and viewer.has_perm(permission)
    )

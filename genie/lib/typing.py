from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.contrib.auth.models import User  # noqa: TID251 - the type alone

    Account = User
else:
    Account = Any

"""What an error says about the database."""

from __future__ import annotations

from django.db import InterfaceError, OperationalError, connection


def database_is_down(error: BaseException | None) -> bool:
    """Tell whether an error came of a database that cannot be reached.

    A connection that still works means that the query was at fault, or a lock.
    """
    if not isinstance(error, InterfaceError | OperationalError):
        return False
    return connection.connection is None or not connection.is_usable()

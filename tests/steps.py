"""How much a database did, which is the same on a busy machine as on an idle one."""

from django.db import connection


def steps(call):
    """Count the instructions of SQLite's machine, in tens."""
    n = 0

    def one_more():
        nonlocal n
        n += 1

    connection.ensure_connection()
    connection.connection.set_progress_handler(one_more, 10)
    try:
        call()
    finally:
        connection.connection.set_progress_handler(None, 10)
    return n

"""Write a database of this version with a row in every table, to be upgraded by later ones.

    python -m tests.upgrade.fill tests/upgrade/0.1.0.sql.gz

It is done once for each version, when it is released; the file is never changed.
"""

from __future__ import annotations

import gzip
import os
import sqlite3
import sys
import tempfile
from pathlib import Path


def main(target: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="genie-upgrade-"))
    os.environ.update(
        GENIE_VAR=str(folder), DATABASE_URL="", DJANGO_SETTINGS_MODULE="genie.settings"
    )
    import django

    django.setup()

    from django.apps import apps
    from django.db import connection

    from genie.lib import new_database
    from tests.genie.filled import fill

    new_database.create(connection)
    made: dict = {}
    for model in apps.get_models(include_auto_created=True):
        fill(model, made)
    connection.close()
    with sqlite3.connect(folder / "genie.sqlite3") as database:
        sql = "\n".join(database.iterdump())
    target.write_bytes(gzip.compress(sql.encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

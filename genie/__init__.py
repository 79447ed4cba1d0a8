from __future__ import annotations

import gc
import sys

# Loading Genie makes some hundred thousand objects that stay. Python's collector looks
# for garbage after every 700 new ones, which takes a twentieth of the start.
gc.set_threshold(10_000, 20, 20)

# The REST framework asks for PostgreSQL's own kinds of field whenever psycopg is
# installed, which loads psycopg on every start. No model has such a field.
sys.modules.setdefault("django.contrib.postgres.fields", None)  # type: ignore[arg-type]

from __future__ import annotations

import gc
import sys

# Loading Genie makes some hundred thousand objects that stay. Python's collector would look
# through them again and again for garbage, a tenth of the start; genie/apps.py ends this.
gc.set_threshold(300_000, 20, 20)

# The REST framework asks for PostgreSQL's own kinds of field whenever psycopg is
# installed, which loads psycopg on every start. No model has such a field.
sys.modules.setdefault("django.contrib.postgres.fields", None)  # type: ignore[arg-type]

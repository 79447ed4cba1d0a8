import gc
import os
import sys

VERSION = "0.1.0"

# Set before numpy is imported: waiting threads cost more than they save, and the
# benchmarks measure one thread. Neural metrics read OMP_NUM_THREADS, which stays
# unchanged.
if "OMP_NUM_THREADS" not in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Loading Genie creates several hundred thousand permanent objects. Python's collector
# would search them again and again for garbage, a tenth of the start; genie/apps.py
# ends this.
gc.set_threshold(300_000, 20, 20)

# The REST framework asks for PostgreSQL's field types whenever psycopg is installed,
# which loads psycopg on every start. No model has such a field.
sys.modules.setdefault("django.contrib.postgres.fields", None)  # type: ignore[arg-type]

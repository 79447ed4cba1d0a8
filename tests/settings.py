"""Settings of the test run: the product's own, with a fast hasher and no noise."""

import os
import sys
import tempfile
from pathlib import Path

# Test processes that each want all processors for one matrix wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Each test process has its own folder: no test sees a developer's database or uploads.
os.environ["GENIE_VAR"] = tempfile.mkdtemp(prefix="genie-test-")
os.environ.setdefault("GENIE_SECRET_KEY", "only for tests")
# the smallest tasks' questions stand out; tests of the check turn it on
os.environ.setdefault("GENIE_TEST_QUESTIONS_CHECKED", "0")

from genie.settings import *  # noqa: F403
from genie.settings import DATABASES, INSTALLED_APPS, REST_FRAMEWORK, VAR_DIR

# its commands are tested, too
sys.path.append(str(Path(__file__).resolve().parent.parent / "research"))
INSTALLED_APPS = [*INSTALLED_APPS, "genie_research"]

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
LOGGING = {"version": 1, "disable_existing_loggers": False}
REST_FRAMEWORK = {
    **REST_FRAMEWORK,
    "DEFAULT_THROTTLE_RATES": dict.fromkeys(REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"]),
}
# A code of an app may be half a minute older by the time a loaded machine reads it.
MFA_TOTP_TOLERANCE = 1
# A page's queries are counted in tests, and this adds some once in ten minutes.
USERSESSIONS_TRACK_ACTIVITY = False
# Else each new client, and each test has one, would list and read all static files anew.
WHITENOISE_AUTOREFRESH = True
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]

# A file, not memory: tests with several threads or processes need the real locking.
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["TEST"] = {"NAME": str(Path(VAR_DIR) / "test.sqlite3")}
elif template := os.environ.get("GENIE_TEST_TEMPLATE"):
    # migrated by tests/postgres.sh
    DATABASES["default"]["TEST"] = {"TEMPLATE": template}

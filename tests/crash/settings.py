"""The product's settings, plus an app that kills the queue at chosen points, once each."""

from genie.settings import *  # noqa: F403
from genie.settings import GENIE, INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.crash.apps.CrashConfig"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
GENIE = {**GENIE, "BOOTSTRAP_RESAMPLES": 500, "AUTO_APPROVAL_HOURS": 0}
ALLOWED_HOSTS = ["*"]

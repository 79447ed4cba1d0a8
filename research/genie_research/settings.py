"""Settings of the site, and the commands of research."""

from genie.settings import *  # noqa: F403
from genie.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "genie_research"]

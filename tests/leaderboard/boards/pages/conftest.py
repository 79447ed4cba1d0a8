from tests.leaderboard.site.conftest import *  # noqa: F403
from tests.leaderboard.site.conftest import _fresh  # noqa: F401

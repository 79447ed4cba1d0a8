from tests.leaderboard.api.conftest import fresh_throttles, task  # noqa: F401

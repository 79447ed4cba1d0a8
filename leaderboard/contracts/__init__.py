"""Contracts of metrics, scales, HIT templates, checks and platforms, as tests.

Genie's test suite applies them to its own pieces, and `pytest --genie-extensions`,
which the plugin adds, to external pieces. To test a piece that is not installed,
subclass a contract and pass the piece as a fixture or parameter. A platform needs a
server: its contract is always run this way.
"""

import pytest

KINDS = ("metrics", "platforms", "preflight", "scales", "templates")
# so that a failure shows both sides
pytest.register_assert_rewrite(*(f"{__name__}.{name}" for name in KINDS))

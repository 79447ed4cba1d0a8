"""What every metric, scale, HIT template, check and platform must hold, as tests.

The product's own pieces are held to it by its test suite, and pieces from outside by
`pytest --genie-extensions`, which the plugin adds. Subclass a contract to run it on a piece
of yours that is not installed: give it the piece as a fixture or parameter. A platform
needs a server to talk to: its contract is always run this way.
"""

import pytest

KINDS = ("metrics", "platforms", "preflight", "scales", "templates")
# so that a failure shows both sides
pytest.register_assert_rewrite(*(f"{__name__}.{name}" for name in KINDS))

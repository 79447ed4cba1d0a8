"""What every metric, scale, HIT template and pre-flight check must hold, as tests.

The product's own pieces are held to it by its test suite, and pieces from outside by
`pytest --genie-extensions`, which the plugin adds. Subclass a contract to run it on a piece
of yours that is not installed: give it the piece as a fixture or parameter.
"""

from __future__ import annotations

import pytest

# so that a failure shows both sides
pytest.register_assert_rewrite(
    *(f"{__name__}.{name}" for name in ("metrics", "preflight", "scales", "templates"))
)

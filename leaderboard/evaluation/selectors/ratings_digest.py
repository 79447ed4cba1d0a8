"""A digest of ratings, to detect that the data behind a number have changed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# of one criterion of one system, and of one criterion of several
OF_ONE = ("instance", "worker", "value")
OF_SEVERAL = ("submission", *OF_ONE)


def digest(ratings: pd.DataFrame, columns: Sequence[str]) -> str:
    """Hash the ratings in their order."""
    # CSV writes floats with the digits that read back to the same value, on any machine
    table = ratings[list(columns)].to_csv(index=False, header=False)
    return hashlib.sha256(table.encode()).hexdigest()

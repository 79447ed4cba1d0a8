from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def seed_from(*parts: object) -> int:
    """Derive a seed in [0, 2**63) from names, the same on every machine.

    `parts` are the purpose of the randomness, most general first; ``str()`` of each is
    hashed.
    """
    # A separator that no name holds: ("a", "bc") and ("ab", "c") must differ.
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def generator(seed: int) -> np.random.Generator:
    # Most commands do not need numpy, which would take a tenth of their time.
    from numpy.random import default_rng

    return default_rng(seed)

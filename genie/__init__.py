from __future__ import annotations

import gc

# Loading Genie makes some hundred thousand objects that stay. Python's collector looks
# for garbage after every 700 new ones, which takes a twentieth of the start.
gc.set_threshold(10_000, 20, 20)

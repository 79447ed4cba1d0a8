"""The published tables of the three papers that Genie re-creates, computed again.

A folder per paper, a file per table; `genie reproduce` prints paper, ours and a
verdict for each cell. What only serves the reproduction lives here and not in
`leaderboard.stats`, so the product's own arithmetic stays small.

Front door: models; cell; plot; report; table.
"""

from __future__ import annotations

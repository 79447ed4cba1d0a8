"""Statistics of anybody's table of ratings or pairs, without a database.

`genie stats` reads a file (`read`), estimates (`analysis`, for pairs `preferences`)
with what `leaderboard.stats` has for the boards, and writes text, LaTeX, a page or JSON.
`genie simulate-board` measures how often those intervals hold. `rank_audit` ranks systems
from a score for each item.

Front door: analysis; cleaned; design_studies; latex; page; plots; preferences; rank_audit
(api, read, report, views); read; report; segments; simulated; text; two_crowds.
"""

from __future__ import annotations

"""Statistics of anybody's table of ratings or pairs, without a database.

`genie stats` reads a file (`read`), estimates (`analysis`, for pairs `pairs.analyse`)
with what `leaderboard.stats` has for the boards, and writes text, LaTeX, a page or JSON.
`genie simulate-board` measures how often those intervals hold. `rank_audit` ranks systems
from a score for each item; `judges` and `leaderboard.stats.judges` test whether a judge
may label in a person's place, and study what judges are worth beside people.

Front door: analysis; cleaned; design_studies; judges (labels, licences, studies); latex; page; pairs
(analyse); plots; read; report; segments; simulated; text; two_crowds; rank_audit (api, read,
report).
"""

from __future__ import annotations

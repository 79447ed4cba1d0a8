"""Published tables computed again: of the three papers that Genie re-creates, and of others.

A folder per paper, a file per table; `genie reproduce` prints paper, ours and a
verdict for each cell. What only serves the reproduction lives here and not in
`leaderboard.stats`, so the product's own arithmetic stays small.

`figures` computes sets of figures from anybody's judgments, as readers of
`leaderboard.imports` give them; `folder` compares those of a folder with a list of printed
numbers, and `task_figures` those of a task with what was published of it.

Front door: models; cell; expected; plot; report; table; task_figures (api, beside,
keep, table, views).
"""

from __future__ import annotations

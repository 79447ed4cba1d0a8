"""Compare a task's published numbers with Genie's.

`figure_sets` compute figures from any ratings, as readers of `leaderboard.imports`
return them; `task_figures` compares those of a task with its published numbers.

Front door: models; figures; task_figures (api, keep, views).
"""

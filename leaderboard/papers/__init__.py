"""A task's published numbers beside ours.

`figure_sets` compute figures from any judgments, as readers of `leaderboard.imports`
return them; `task_figures` compares those of a task with its published numbers.

Front door: models; expected; task_figures (api, keep, views).
"""

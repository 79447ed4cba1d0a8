"""Judges: programs, including language models, that answer the raters' questions.

`models` store judges, the cost and texts of runs, and each answer by the hash of its
request. `prompt` and `answers` are pure: the same criteria, instructions and scale that
raters get, with the texts marked as data; `shape` says whether errors are marked and
how many outputs an answer is about. `services.ask` creates and prices a run,
`services.decide` stores approvals of money and texts, and `services.work` asks and puts
the scores on the task's metric board, and nowhere else.

Front door: models; answers; api; definition; scripted; shape; views;
selectors (licenses, pages, requests, shown, told); services (ask, decide,
define, estimate, forget, license, work).
"""

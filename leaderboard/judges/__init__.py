"""Judges: programs, language models among them, that answer what people are asked.

`models` keep what a judge is, what its runs may cost and send, and each answer by the
hash of its request. `prompt` and `answers` are pure: the same criteria, instructions and
scale that people get, texts of others marked as data; `shape` says whether errors are
marked and how many outputs an answer is about. `services.ask` makes and prices a
run, `services.decide` takes a person's word on money and texts, `services.work` asks, and
`services.finish` puts the scores on the task's metric board, and nowhere else.

Front door: models; answers; api; definition; scripted; shape; views;
selectors (audit, licences, pages, requests, shown, told); services (ask, decide,
define, estimate, forget, license, work).
"""

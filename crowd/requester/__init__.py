"""The Mechanical Turk Requester API, version 2017-01-17, over our own workers.

`api` implements AWS JSON 1.1 and Signature Version 4, `protocol` has the tables of
operations, names and limits, `operations` the 39 operations, `questions` the XML of
HITs and tests, `pages` the workers' pages. Code that takes, posts or pays for a
requester's work locks that requester's row, so it runs one by one. These HITs are
separate: they share only workers and their earnings with our campaigns.

Front door: models; batches (results); pages (groups, urls); services (deliver,
overturn).
"""

"""The Mechanical Turk Requester API, version 2017-01-17, over our own workers.

`api` is the wire (AWS JSON 1.1, Signature Version 4), `protocol` the tables of
operations, names and limits, `operations` the 39 operations, `questions` the XML that
HITs and tests are made of, `pages` what workers see of it. Whoever takes, posts or pays
for a requester's work holds that requester's row, so that things happen one by one. Its
HITs are its own: they share workers and their earnings with our campaigns, nothing else.

Front door: models; batches (results); pages (groups, urls); services (overturn).
"""

"""Submissions: a file of predictions is received, checked and stored.

`services.submit` receives the file. `services.lifecycle` reads it in a queued job, and
has the only table of legal states and the only way from one to the next. A problem
becomes a sentence with the line or the instance, never a partly stored submission.
`selectors` decide who may see which parts outside the admin.

Front door: models; forms; preflight; preflight (base); readers; selectors; services
(check_file, idempotency, lifecycle, submit); states; views.
"""

"""Submissions: a file of predictions comes in, is checked and kept.

`services.submit` takes the file, `services.validate` reads it in a queued job; a problem
becomes a sentence with the line or the instance, never a half-stored submission.
`services.lifecycle` is the only table of legal states and the only way from one to the
next. `selectors.visibility` decides who may see what outside the admin.

Front door: models; forms (about_system, submission); preflight; preflight (base);
readers (base, decode, problem); selectors (outputs, visibility); services
(about_system, attempts, check_file, idempotency, lifecycle, submit, validate); views (check_file,
oversize, submit).
"""

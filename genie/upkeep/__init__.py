"""Backups, restores, and the site's health checks.

`backup` and `restore` move a whole site through one file (`archive`). `doctor` runs a
list of examinations, to which upper apps add their own; the command `doctor`, the page
for staff and the e-mails about trouble all show its findings.
"""

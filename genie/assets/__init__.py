"""Templates, static files and documentation of an installed Genie.

In the source tree the folders are links to `templates/`, `static/` and `docs/` at its
top; the wheel has copies, so the same path works in both.
"""

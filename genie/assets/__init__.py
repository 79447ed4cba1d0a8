"""Templates, static files and documentation, where an installed Genie has them.

In the source tree the folders are links to `templates/`, `static/` and `docs/` at its top;
the wheel has copies. So one address is right in both.
"""

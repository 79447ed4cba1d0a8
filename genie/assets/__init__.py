"""Templates and static files, where an installed Genie has them.

In the source tree the two folders are links to `templates/` and `static/` at its top; the
wheel has copies. So one address is right in both.
"""

from __future__ import annotations

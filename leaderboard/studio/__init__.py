"""From people's files to a running evaluation: looked at, drafted, loaded, submitted, started.

Pages and the command `new` call the same services. `look` says what files seem to hold
and all that is wrong with them, and keeps nothing; `make` loads the task and submits each
system as anybody would; `start` approves what was priced, and only that.

Front door: api; services (look, make, preview, start).
"""

from __future__ import annotations

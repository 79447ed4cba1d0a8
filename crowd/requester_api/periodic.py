"""What an older version has queued under these names is still done.

They can go in the release after the next one.
"""

from __future__ import annotations

from crowd.requester.services.periodic import deliver, deliver_due, settle_all

__all__ = ["deliver", "deliver_due", "settle_all"]

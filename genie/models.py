from genie.accounts.models import AccessToken, PrivateRead, TaskRole
from genie.history.models import LogEntry, LogHead
from genie.lib.queue.owners import RunningQueue
from genie.lib.queue.waiting import WaitingJob

__all__ = [
    "AccessToken",
    "LogEntry",
    "LogHead",
    "PrivateRead",
    "RunningQueue",
    "TaskRole",
    "WaitingJob",
]

"""A judge of the demo: a script, and labeled as one beside its scores."""

from collections.abc import Callable

from genie.lib import jobs
from leaderboard.demo import people
from leaderboard.judges.definition import SCRIPTED
from leaderboard.judges.models import JudgeRun
from leaderboard.judges.services import ask, decide, define
from leaderboard.tasks.models import Task

TASK = "demo-summarization"
_SCRIPT = "words"


def judge(say: Callable[[str], None]) -> None:
    task = Task.objects.get(slug=TASK)
    if JudgeRun.objects.filter(task=task).exists():
        return
    admin = people.admin()
    made = {"endpoint": SCRIPTED, "model": _SCRIPT}
    judge = define.make(_SCRIPT, "1", made, by=admin, per_minute=0)
    run = ask.ask(judge, task, ask.Wish(), by=admin)
    decide.approve(run, by=admin, reason="Nothing leaves the site, nothing is paid.")
    jobs.drain()
    say(f"a script that counts words judged {run.n_calls} outputs of {task.title}")

"""What the tests of evaluations do again and again."""

import io
import json

from crowd.models import LedgerEntry
from genie.lib import jobs
from leaderboard.designs.base import content_key
from leaderboard.evaluation import decide
from leaderboard.evaluation.run import advance
from leaderboard.models import Submission
from leaderboard.submissions.services import submit
from tests.factories import asked_about


def settle() -> None:
    advance()
    jobs.drain()


def launch(submission, boss) -> Submission:
    """Check and measure what was handed in, and send it out at once."""
    jobs.drain()
    decide.approve(asked_about(submission), by=boss, start_now=True)
    settle()
    return submission


def send_out(found, boss):
    decide.approve(found, by=boss)
    settle()
    return found


def now(submission) -> Submission:
    return Submission.objects.get(pk=submission.pk)


def spent() -> int:
    unspent = [LedgerEntry.State.CANCELLED, LedgerEntry.State.FAILED]
    rows = LedgerEntry.own.exclude(state__in=unspent)
    return sum(rows.values_list("amount_cents", flat=True))


def ask(task, **human) -> None:
    task.config = {**task.config, "human": {**task.config["human"], **human}}
    task.save()


def work_until(crowd, found, over, *, rounds=4):
    for _ in range(rounds):
        crowd.work()
        settle()
        found.refresh_from_db()
        if over(found):
            break
    return found


def hand_in(task, owner, name, content, *, kind="json", simulated=True):
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    submission = submit.receive(
        task=task,
        owner=owner,
        team=submit.team_for(owner),
        system_name=name,
        file=io.BytesIO(content),
        file_name=f"predictions.{kind}",
        simulated=simulated,
    )
    jobs.drain()
    submission.refresh_from_db()
    return submission


def references_of(task):
    return {
        content_key(task.slug, row.instance_id): set(row.references)
        for row in task.instances.all()
    }


def shown_cents(html):
    return html.partition('name="shown_cents" value="')[2].partition('"')[0]

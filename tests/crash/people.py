"""Whole campaigns by people who know the site from outside: submit, approve, answer, pay.

A page that does not come is asked for again, of whichever server answers. What a server
has acknowledged is remembered, and must be in the database afterwards.
"""

import http.client
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from django.contrib.auth import get_user_model
from django.db import OperationalError, close_old_connections
from django.db.models import Count, F, Q, Sum
from django_q.models import OrmQ

from crowd.campaigns.services import review
from crowd.models import (
    HIT,
    Assignment,
    Campaign,
    Commitment,
    LedgerEntry,
    Payout,
    PayoutRun,
    PayoutTerms,
    Rating,
    Worker,
)
from crowd.money.selectors.payouts import TERMS
from crowd.money.services import payouts
from crowd.workers.services.invitations import register_worker
from genie.history.models import LogEntry
from genie.lib.runner import CLEARED
from leaderboard.demo import OPINIONS, file_of, systems_of
from leaderboard.evaluation import decide
from leaderboard.models import Instance, MetricResult, Prediction, Score, Submission
from leaderboard.submissions.services import submit
from leaderboard.tasks.services import load
from quality.models import Ban, Grade, TestQuestion
from tests.factories import asked_about
from tests.http_worker import HttpWorker

SLUG = "demo-qa"
N_WORKERS = 8
RUNS = "/admin/crowd/payoutrun/"
WALK = [
    "RECEIVED", "VALID", "MEASURED", "APPROVED",
    "ANNOTATING", "ANNOTATED", "SCORED", "PUBLISHED",
]  # fmt: skip


class Sites:
    """A browser that goes to another server when one does not answer."""

    def __init__(self, hosts: list[str], session: str, patience: float = 240) -> None:
        self.hosts, self.patience = hosts, patience
        self.longest_wait = 0.0
        self.cookies = {"sessionid": session}
        self.acknowledged: set[int] = set()

    def get(self, address: str, follow: bool = True) -> SimpleNamespace:
        return self._follow("GET", address, None)

    def post(
        self, address: str, data: dict[str, str], follow: bool = True
    ) -> SimpleNamespace:
        found = self._follow("POST", address, data)
        if hit := re.search(r"/work/hit/(\d+)/$", urlsplit(address).path):
            self.acknowledged.add(int(hit[1]))
        return found

    def _follow(
        self, method: str, address: str, data: dict[str, str] | None
    ) -> SimpleNamespace:
        chain = []
        for _ in range(10):
            status, content, location = self._until_answered(method, address, data)
            if not location:
                return SimpleNamespace(
                    status_code=status, content=content, redirect_chain=chain
                )
            address, method, data = urljoin(address, location), "GET", None
            chain.append((address, status))
        raise AssertionError(f"{address} leads nowhere")

    def _until_answered(self, *asked) -> tuple[int, bytes, str]:
        began = time.monotonic()
        while True:
            self.hosts.append(self.hosts.pop(0))
            try:
                found = self._once(self.hosts[0], *asked)
                if found[0] < 500:
                    waited = time.monotonic() - began
                    self.longest_wait = max(self.longest_wait, waited)
                    return found
                trouble: object = found[0]
            except (OSError, http.client.HTTPException) as error:
                trouble = error
            waited = time.monotonic() - began
            assert waited < self.patience, f"{asked}: {trouble}"
            time.sleep(0.1)

    def _once(
        self, host: str, method: str, address: str, data: dict[str, str] | None
    ) -> tuple[int, bytes, str]:
        body = urlencode(data) if data else None
        pairs = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {"Cookie": pairs}
        if body:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection = http.client.HTTPConnection(host, timeout=20)
        try:
            connection.request(method, address, body, headers)
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        for cookie in response.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.split(";")[0].partition("=")
            self.cookies[name] = value
        return response.status, content, response.headers.get("Location", "")


class Treasurer(HttpWorker):
    """Plans payouts, makes the file and says that the money has arrived."""

    def __init__(self, *known: Any) -> None:
        super().__init__(*known)
        self.paid: set[int] = set()

    def pay(self) -> None:
        patient(review.approve_waiting)
        self.go(f"{RUNS}add/")
        self.send(self._form())
        for state, action in (
            ("PLANNED", "file_selected"),
            ("IN_FILE", "paid_selected"),
        ):
            runs = PayoutRun.objects.filter(state=state)
            for pk in patient(
                lambda runs=runs: list(runs.values_list("pk", flat=True))
            ):
                if self._act(action, pk) and state == "IN_FILE":
                    self.paid.add(pk)

    def _act(self, action: str, pk: int) -> bool:
        self.go(RUNS)
        self.send(self._form(), action=action, _selected_action=str(pk))
        form = self._form()
        if "confirmed" not in form.fields:  # it was done, and its answer was lost
            return False
        given = {"reference": f"bank {pk}"} if action == "paid_selected" else {}
        assert self.send(form, **given).status == 200
        return True

    def _form(self) -> Any:
        forms = self.page.root.xpath("//*[@id='content']//form[@method='post']")
        assert forms, self.page.text
        return forms[-1]


@dataclass
class Play:
    """Everybody but the site itself, one system after another."""

    # of servers, with their ports; None: within this process
    hosts: list[str] | None = None
    think: float = 0.0
    # what there is to do while one waits
    between: Callable[[], object] = field(default=lambda: time.sleep(0.2))
    rows: list[dict] = field(default_factory=list)
    n_turns: int = 0
    n_retries: int = 0

    def begin(self) -> None:
        self.task = load.load_task(SLUG).task
        self.boss = get_user_model().objects.create_superuser("boss")
        self.opinions = opinions()
        self.crowd = [self._worker(number) for number in range(N_WORKERS)]
        PayoutTerms.objects.create(pk=TERMS, every="WEEK", minimum_cents=1)
        self.treasurer = Treasurer("boss", self._read)
        self._connect(self.treasurer, self.boss)

    def round(self, number: int) -> None:
        """Take one system all the way to the board."""
        kinds = systems_of(SLUG)
        kind = kinds[number % len(kinds)]["name"]
        owner = get_user_model().objects.create_user(f"owner-{number}")
        pk = self.submit(file_of(SLUG, kind), owner, f"{kind} {number}")
        self._wait_for(pk, "MEASURED")
        submission = Submission.objects.get(pk=pk)
        decide.approve(asked_about(submission), by=self.boss, start_now=True)
        self._wait_for(submission.pk, "ANNOTATING")
        self._wait_for(submission.pk, "PUBLISHED", meanwhile=self.turns)
        self.rows.append(row(submission.pk))
        self.treasurer.pay()

    def submit(self, path: Path, owner: Any, name: str) -> int:
        with path.open("rb") as file:
            submission = submit.receive(
                task=self.task,
                owner=owner,
                team=submit.team_for(owner),
                system_name=name,
                file=file,
                file_name="predictions.json",
            )
        return submission.pk

    def acknowledged(self) -> set[int]:
        return {
            pk
            for worker in self.crowd
            for pk in getattr(worker.client, "acknowledged", ())
        }

    def longest_wait(self) -> float:
        everybody = [*self.crowd, self.treasurer]
        return max(getattr(one.client, "longest_wait", 0) for one in everybody)

    def turns(self) -> None:
        """Let everybody who gets a HIT answer one."""
        for worker in self.crowd:
            working = worker.resume(SLUG) or self._start(worker)
            assert worker.page.status == 200, worker.page.text
            if working:
                time.sleep(self.think)
                worker.answer()
        self.n_turns += 1
        if self.n_turns % 10 == 0:
            self.treasurer.pay()

    def _start(self, worker: HttpWorker) -> bool:
        """Let somebody begin who has not agreed so far."""
        if not worker.page.root.xpath("//a[contains(@href, '/work/consent/')]"):
            return False
        page = worker.go(f"/work/consent/{SLUG}/")
        page = worker.send(page.form_to("consent"))
        worker.send(page.form_to("/work/next/"))
        return worker.has_work

    def _worker(self, number: int) -> HttpWorker:
        user = get_user_model().objects.create_user(f"worker-{number}")
        row = register_worker(platform_worker_id=user.username, user=user)
        to = payouts.Recipient(user.username, "GB82WEST12345698765432")
        payouts.save_details(row, "BANK", to)
        worker = HttpWorker(user.username, self._read)
        self._connect(worker, user)
        return worker

    def _connect(self, person: HttpWorker, user: Any) -> None:
        person.client.force_login(user)
        if self.hosts:
            session = person.client.cookies["sessionid"].value
            person.client = Sites(list(self.hosts), session)

    def _read(self, given: str, text: str) -> float:
        question = next(q for q in self.opinions if q in given)
        return self.opinions[question].get(text.strip(), OPINIONS["wrong"])

    def _wait_for(
        self, pk: int, state: str, seconds: float = 600, meanwhile=lambda: None
    ) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            meanwhile()
            self.between()
            found = patient(lambda: Submission.objects.get(pk=pk))
            if found.state == state:
                return
            if found.work.failure_permanent:  # staff retry what was killed three times
                assert "interrupted" in found.work.failure, found.work.failure
                rows = type(found.work)._default_manager.filter(pk=found.work.pk)
                patient(lambda rows=rows: rows.update(**CLEARED))
                self.n_retries += 1
        raise AssertionError(
            f"{found} is {found.state}, not {state}: {found.work.failure}"
        )


def patient(ask: Callable[[], Any]) -> Any:
    """Ask the database, again where it was away."""
    for _ in range(50):
        try:
            return ask()
        except OperationalError:
            close_old_connections()
            time.sleep(0.2)
    return ask()


def counts() -> dict[str, int]:
    """Count what was answered and paid."""
    return {
        "answers stored": Assignment.objects.filter(
            state__in=["SUBMITTED", "APPROVED"]
        ).count(),
        "rewards in the ledger": LedgerEntry.objects.filter(kind="REWARD").count(),
        "payouts made": Payout.objects.filter(state="PAID").count(),
        "cents paid out": _cents(Payout.objects.filter(state="PAID")),
    }


def opinions() -> dict[str, dict[str, float]]:
    """What is to be thought of each text, by the question it answers."""
    found: dict[str, dict[str, float]] = {}
    questions = {}
    for instance in Instance.objects.filter(task__slug=SLUG):
        questions[instance.instance_id] = question = instance.fields["question"]
        found[question] = dict.fromkeys(instance.references, OPINIONS["right"])
    for system in systems_of(SLUG):
        texts = json.loads(file_of(SLUG, system["name"]).read_text("utf-8"))
        for instance_id, text in texts.items():
            named = [name for name in OPINIONS if instance_id in system.get(name, ())]
            opinion = OPINIONS[(named or [system["usual"]])[0]]
            found[questions[instance_id]].setdefault(text.strip(), opinion)
    return found


def row(pk: int) -> dict:
    """What the board says of a system, and the way it took there."""
    submission = Submission.objects.get(pk=pk)
    score = Score.objects.get(submission=submission, superseded_at=None)
    return {
        "system": submission.system_name,
        "metrics": sorted(submission.metric_results.values_list("metric", "value")),
        # the adjusted mean depends on who answered what, which nobody decides
        "human": [score.estimates["plain"]["mean"], score.n, score.histogram],
        "walk": [event.state for event in submission.events.order_by("pk")],
    }


def _cents(rows: Any) -> int:
    return rows.aggregate(n=Sum("amount_cents"))["n"] or 0


def broken(n_rounds: int, acknowledged: set[int], paid: set[int]) -> dict[str, int]:
    """Count what must not be, each by its name."""
    sent = Assignment.objects.filter(state__in=["SUBMITTED", "APPROVED"])
    rewards = LedgerEntry.objects.filter(kind="REWARD")
    rewarded = rewards.values("assignment").annotate(n=Count("pk"))
    answered = Count(
        "assignments",
        filter=Q(
            assignments__state__in=["SUBMITTED", "APPROVED"],
            assignments__replaced_at=None,
        ),
    )
    per_hit = HIT.objects.annotate(n=answered)
    twice = Assignment.objects.values("hit", "worker").annotate(n=Count("pk"))
    answers = Rating.objects.values("assignment", "item", "criterion", "slot").annotate(
        n=Count("pk")
    )
    stored = set(sent.values_list("pk", flat=True))
    settled = Payout.objects.filter(state="PAID")
    logged = LogEntry.objects.filter(kind="budget").values_list("data", flat=True)
    noted = [body for text in logged if (body := json.loads(text))["is"] == "paid out"]
    done = LedgerEntry.objects.filter(state="DONE")
    return {
        "payments lost that were acknowledged": len(
            paid - set(settled.values_list("run", flat=True))
        ),
        "cents paid out twice": _cents(settled) - _cents(done),
        "cents logged twice as paid": sum(body["cents"] for body in noted)
        - _cents(settled),
        "workers paid another sum than they earned": sum(
            _cents(settled.filter(worker=worker))
            != _cents(done.filter(assignment__worker=worker))
            for worker in Worker.objects.all()
        ),
        "answers lost that were acknowledged": len(acknowledged - stored),
        "assignments sent in without an answer": sent.filter(ratings=None).count(),
        "answers stored twice": answers.filter(n__gt=1).count(),
        "HITs answered too often": per_hit.filter(n__gt=F("max_assignments")).count(),
        "HITs twice with one worker": twice.filter(n__gt=1).count(),
        "work without a reward": sent.filter(ledger=None).count(),
        "work rewarded twice": rewarded.filter(n__gt=1).count(),
        "rewards without work": rewards.exclude(assignment__in=sent).count(),
        "campaigns too many": Campaign.objects.count() - n_rounds,
        "budgets set aside too many": Commitment.objects.count() - n_rounds,
        "predictions too many": Prediction.objects.count() - 40 * n_rounds,
        "metrics computed twice": MetricResult.objects.count()
        - MetricResult.objects.values("submission", "metric").distinct().count(),
        "test questions placed twice": TestQuestion.objects.count()
        - TestQuestion.objects.values("item").distinct().count(),
        "grades given twice": Grade.objects.count()
        - Grade.objects.values("test_question", "assignment", "criterion")
        .distinct()
        .count(),
        "scores that count twice": Score.objects.filter(superseded_at=None).count()
        - n_rounds,
        "bans of careful workers": Ban.objects.count(),
        "jobs left over": OrmQ.objects.count(),
    }

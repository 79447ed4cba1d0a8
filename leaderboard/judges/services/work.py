"""The requests of a run: in batches, by one process at a time, safe against crashes."""

import time
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.judges import scripted
from leaderboard.judges.endpoint import Asker, Lost, Reply, TurnedAway, endpoint_named
from leaderboard.judges.models import (
    MICROCENTS,
    JudgeAnswer,
    JudgeCall,
    JudgeCost,
    JudgeMetric,
    JudgeRun,
)
from leaderboard.judges.selectors.requests import (
    Request,
    Requests,
    outputs_in,
    price,
    requests_of,
)
from leaderboard.judges.selectors.scores import average_answers, scores_of
from leaderboard.judges.services.decide import RUNNER
from leaderboard.metric_board.models import JUDGED, OutsideMetric, OutsideScores
from leaderboard.metric_board.services import publish, withdraw

# The end of a run: its scores go on the metric board of its task, and nowhere else.
_NAME = 60


def finish(run: JudgeRun) -> bool:
    running = JudgeRun.objects.filter(pk=run.pk, state=JudgeRun.State.RUNNING)
    with transaction.atomic():
        ended = running.update(
            state=JudgeRun.State.DONE, finished_at=timezone.now(), failure=""
        )
        if ended:
            for criterion in run.plan["criteria"]:
                _put_on_board(run, criterion)
    return bool(ended)


def _put_on_board(run: JudgeRun, criterion: str) -> None:
    scores = scores_of(run, criterion)
    owner = run.decided_by or run.asked_by
    # a command's run has no account: it is read from its own pages
    if owner is None or not scores:
        return
    older = JudgeMetric.objects.filter(
        run__judge=run.judge, run__task=run.task, criterion=criterion
    )
    on_board = older.filter(metric__withdrawn_at=None, run__n_calls__gt=run.n_calls)
    # repeated questions, asked to see whether answers have changed, replace nothing
    if run.occasion and on_board.exists():
        return
    for row in older.select_related("metric"):
        withdraw(row.metric)
    kind = "script" if run.judge.is_scripted else "judge"
    whole = _whole(run, scores)
    metric = OutsideMetric.objects.create(
        task=run.task,
        owner=owner,
        name=f"{kind}: {run.judge} ({criterion})"[:_NAME],
        description=f"Answers of {run.judge.what}, not of people. {run.judge.signature}",
        file_name=f"run {run.pk}",
        file_sha256=run.judge.sha256,
        file_format=JUDGED,
        by_instance=whole,
    )
    OutsideScores.objects.bulk_create(
        OutsideScores(
            metric=metric,
            submission_id=submission,
            value=average_answers(run, by_instance.values()),
            per_instance=_row(run, by_instance) if whole else [],
        )
        for submission, by_instance in sorted(scores.items())
    )
    JudgeMetric.objects.create(run=run, criterion=criterion, metric=metric)
    publish(metric)


def _whole(run: JudgeRun, scores: dict[int, dict[int, float]]) -> bool:
    sample = run.task.instances.filter(sample_rank__lt=run.task.sample_size)
    judged = set(sample.values_list("position", flat=True))
    return all(judged <= set(by_instance) for by_instance in scores.values())


def _row(run: JudgeRun, by_instance: dict[int, float]) -> list[float | None]:
    return [by_instance.get(position) for position in range(run.task.n_instances)]


# Money and answers: reserved before a request is sent, stored before it is counted.
State = JudgeCost.State


def hold(run: JudgeRun, request: Request, mine: QuerySet[JudgeRun]) -> JudgeCost | None:
    """Reserve the highest cost of a request.

    Return None if that would exceed the approved amount, or if the run was stopped or
    belongs to another process: then the request must not be sent.
    """
    # as read when the job began: an approved amount never decreases
    room = run.approved_cents * MICROCENTS - request.most
    with transaction.atomic():
        if not mine.filter(microcents__lte=room).update(
            microcents=F("microcents") + request.most
        ):
            return None
        return JudgeCost.objects.create(
            run=run,
            request_sha256=request.sha256,
            n_bytes=request.n_bytes,
            microcents=request.most,
        )


def keep(cost: JudgeCost, reply: Reply) -> JudgeAnswer:
    """Store an answer under its request's hash and settle its cost in one transaction."""
    run = cost.run
    n_in, n_out = reply.input_tokens, reply.output_tokens
    with transaction.atomic():
        answer, _ = JudgeAnswer.objects.get_or_create(
            request_sha256=cost.request_sha256,
            defaults={
                "judge": run.judge,
                "text": reply.text,
                "refusal": reply.refusal,
                "model": reply.model,
                "fingerprint": reply.fingerprint,
                "input_tokens": n_in or 0,
                "output_tokens": n_out or 0,
                "seconds": round(reply.seconds, 3),
            },
        )
        # an endpoint that reports no count is assumed to charge the most
        known = n_in is not None and n_out is not None
        paid = price(run.judge, n_in or 0, n_out or 0) if known else cost.microcents
        _settle(cost, State.PAID, paid)
    return answer


def lose(cost: JudgeCost) -> None:
    """Charge a request with unknown outcome the highest cost."""
    _settle(cost, State.LOST, cost.microcents)


def _settle(cost: JudgeCost, state: State, microcents: int) -> None:
    # LOST, too: the answer may reach a process that was assumed dead
    unknown = [State.HELD, State.LOST]
    with transaction.atomic():
        rows = JudgeCost.objects.filter(pk=cost.pk, state__in=unknown)
        if rows.update(state=state, microcents=microcents, settled_at=timezone.now()):
            JudgeRun.objects.filter(pk=cost.run_id).update(
                microcents=F("microcents") + microcents - cost.microcents
            )


RunState, CallState = JudgeRun.State, JudgeCall.State
# A job yields to others after this many seconds.
PIECE_SECONDS = 20.0
# Questions per query.
_READ = 50
# Interval of checks for a stopped run, in seconds.
_LOOK_SECONDS = 1.0
# This many consecutive failures are systematic.
MOST_FAILURES = 5


class Halt(GenieError):
    """The reason why a run cannot continue by itself."""


@dataclass(frozen=True)
class _Sent:
    request: Request
    calls: list[JudgeCall]
    cost: JudgeCost


@dataclass
class _Piece:
    run: JudgeRun
    mine: QuerySet[JudgeRun]
    asked: Requests
    ask: Asker | None
    deadline: float
    waiting: deque[JudgeCall] = field(default_factory=deque)
    outputs: dict[tuple[int, int], str] = field(default_factory=dict)
    sent: dict[Future[Reply], _Sent] = field(default_factory=dict)
    # the earliest moment of the next request: the endpoint's limit, or its response
    next_at: float = 0.0
    look_at: float = 0.0
    n_failures: int = 0
    halt: str = ""
    after: int = 0


def work(pk: int) -> None:
    done = RUNNER.run(pk, _ask_and_finish)
    if done and JudgeRun.objects.filter(pk=pk, state=RunState.RUNNING).exists():
        jobs.enqueue(RUNNER.job, pk=pk)


def _ask_and_finish(mine: QuerySet[JudgeRun]) -> None:
    run = mine.select_related("judge", "task").get()
    try:
        _ask_some(run, mine)
    finally:
        # the next process need not wait, also if the run was stopped
        this = JudgeRun.objects.filter(pk=run.pk, n_starts=run.n_starts)
        this.update(next_at=timezone.now())
    if mine.exists() and not run.calls.filter(state=CallState.WAITING).exists():
        finish(run)


def _goes_on(piece: _Piece) -> bool:
    now = time.monotonic()
    if now >= piece.look_at:
        piece.look_at = now + _LOOK_SECONDS
        if not _looks(piece):
            return False
    return now < piece.deadline


def _looks(piece: _Piece) -> bool:
    """Extend the lock on the run; False if it was stopped or another process has it."""
    judge = piece.run.judge
    until = timezone.now() + timedelta(seconds=2 * judge.timeout_seconds + 120)
    return bool(piece.mine.update(next_at=until))


def _ask_some(run: JudgeRun, mine: QuerySet[JudgeRun]) -> None:
    judge, ask = run.judge, None
    if not judge.is_scripted:
        endpoint = endpoint_named(judge.definition["endpoint"])
        if endpoint.url != judge.definition["url"]:
            raise Halt(
                "The endpoint's address has changed, which makes it a different judge."
            )
        ask = Asker(endpoint, timeout=judge.timeout_seconds, at_once=judge.at_once)
    # charge the open requests of a dead process
    JudgeCost.objects.filter(run=run, state=State.HELD).update(
        state=State.LOST, settled_at=timezone.now()
    )
    piece = _Piece(run, mine, requests_of(run), ask, time.monotonic() + PIECE_SECONDS)
    try:
        with ThreadPoolExecutor(judge.at_once) as threads:
            try:
                _fill_and_take(piece, threads)
            finally:
                # open requests are paid for: store their answers, whatever else
                # happened
                while piece.sent:
                    _take_in(piece)
    finally:
        if ask:
            ask.close()


def _fill_and_take(piece: _Piece, threads: ThreadPoolExecutor) -> None:
    while _goes_on(piece):
        while len(piece.sent) < piece.run.judge.at_once and _send_next(piece, threads):
            if time.monotonic() > piece.deadline:
                break
        if not piece.sent and not piece.waiting and not _read_more(piece):
            return
        _take_in(piece)
        _refuse_endless(piece)


def _refuse_endless(piece: _Piece) -> None:
    if piece.halt:
        raise Halt(piece.halt)
    if piece.n_failures >= MOST_FAILURES:
        raise Halt(
            f"{MOST_FAILURES} requests failed one after the other; {piece.run.failure}"
        )


def _read_more(piece: _Piece) -> bool:
    rows = piece.run.calls.filter(state=CallState.WAITING, pk__gt=piece.after)
    calls = list(rows.select_related("instance").order_by("pk")[:_READ])
    if not calls:
        return False
    piece.after = calls[-1].pk
    piece.waiting.extend(calls)
    # read again each time: outputs that became private meanwhile are not sent
    piece.outputs.update(outputs_in(piece.run, calls))
    return True


def _send_next(piece: _Piece, threads: ThreadPoolExecutor) -> bool:
    if not piece.waiting and not _read_more(piece):
        return False
    call = piece.waiting.popleft()
    request = _request(piece, call)
    if request is None or _reuse_answer(piece, call, request):
        return True
    for sent in piece.sent.values():
        if sent.request.sha256 == request.sha256:  # systems with the same output
            sent.calls.append(call)
            return True
    if piece.next_at > time.monotonic():
        piece.waiting.appendleft(call)
        if not piece.sent:
            _rest(piece)
        return False
    return _send(piece, threads, request, call)


def _reuse_answer(piece: _Piece, call: JudgeCall, request: Request) -> bool:
    known = JudgeAnswer.objects.filter(request_sha256=request.sha256).first()
    if known is not None:
        _count(piece, call, request, known)
    return known is not None


def _rest(piece: _Piece) -> None:
    until = min(piece.next_at, piece.deadline, piece.look_at)
    time.sleep(max(0.001, until - time.monotonic()))


def _send(
    piece: _Piece, threads: ThreadPoolExecutor, request: Request, call: JudgeCall
) -> bool:
    cost = hold(piece.run, request, piece.mine)
    if cost is None:
        if _looks(piece):
            raise Halt("The approved amount has been used up.")
        piece.waiting.clear()  # stopped, or another process has it
        return False
    if rate := piece.run.judge.per_minute:
        piece.next_at = time.monotonic() + 60 / rate
    future = threads.submit(_answer, piece, request)
    piece.sent[future] = _Sent(request, [call], cost)
    return True


def _request(piece: _Piece, call: JudgeCall) -> Request | None:
    try:
        return piece.asked.request(
            call, piece.outputs, attempt=call.n_attempts, occasion=piece.run.occasion
        )
    except KeyError:
        _end(call, CallState.INVALID, problem="the output may no longer be sent")
        return None


def _answer(piece: _Piece, request: Request) -> Reply:
    if piece.ask is not None:
        return piece.ask.ask(request.body, request.sha256)
    script = piece.run.judge.definition["model"]
    text = scripted.answer(
        script, request.questions, request.texts, piece.asked.scale, request.shape
    )
    return Reply(text, "", f"script {script}", "", 0, 0, 0.0)


def _take_in(piece: _Piece) -> None:
    pause = max(0.001, min(0.5, piece.next_at - time.monotonic()))
    full = len(piece.sent) >= piece.run.judge.at_once or not piece.waiting
    done, _ = wait(
        piece.sent, timeout=0.5 if full else pause, return_when=FIRST_COMPLETED
    )
    for future in done:
        sent = piece.sent.pop(future)
        try:
            reply = future.result()
        except TurnedAway as away:
            _settle(sent.cost, State.FREE, 0)
            _turned_away(piece, sent, away)
        except Lost as lost:
            lose(sent.cost)
            piece.n_failures += 1
            piece.run.failure = str(lost)
            piece.waiting.extendleft(sent.calls)
        else:
            piece.n_failures = 0
            answer = keep(sent.cost, reply)
            for call in sent.calls:
                _count(piece, call, sent.request, answer)


def _turned_away(piece: _Piece, sent: _Sent, away: TurnedAway) -> None:
    piece.run.failure = away.sentence
    if away.again_in is not None:
        piece.waiting.extendleft(sent.calls)
        piece.next_at = max(piece.next_at, time.monotonic() + away.again_in)
        return
    # this request is refused permanently; many of them mean all of them
    piece.n_failures += 1
    for call in sent.calls:
        if away.fatal:
            piece.waiting.append(call)
        else:
            _end(call, CallState.INVALID, problem=away.sentence[:200])
    if away.fatal:
        piece.halt = away.sentence


def _count(
    piece: _Piece, call: JudgeCall, request: Request, answer: JudgeAnswer
) -> None:
    try:
        if answer.refusal:
            raise ValueError(f"refused: {answer.refusal}")
        said = piece.asked.read(call, request, answer.text)
    except ValueError as error:
        call.n_attempts += 1
        call.answer, problem = answer, str(error)[:200]
        if call.n_attempts > piece.run.judge.n_retries:
            _end(call, CallState.INVALID, problem=problem)
        else:
            call.problem = problem
            call.save()
            piece.waiting.append(call)
        return
    call.n_attempts += 1
    call.answer = answer
    call.values, call.reasons = dict(said.values), dict(said.reasons)
    call.marks = said.marks or []
    _end(call, CallState.VALID)


def _end(call: JudgeCall, state: JudgeCall.State, *, problem: str = "") -> None:
    call.state, call.problem = state, problem
    call.save()

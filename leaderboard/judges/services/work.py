"""The requests of a run: in batches, by one process at a time, safe against crashes."""

import time
import uuid
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.judges import scripted
from leaderboard.judges.endpoint import Asker, Lost, Reply, TurnedAway, named
from leaderboard.judges.models import JudgeAnswer, JudgeCall, JudgeCost, JudgeRun
from leaderboard.judges.selectors.requests import (
    Request,
    Requests,
    outputs_in,
    requests_of,
)
from leaderboard.judges.services import ledger
from leaderboard.judges.services.decide import JOB
from leaderboard.judges.services.finish import finish

State, CallState = JudgeRun.State, JudgeCall.State
# A job yields to others after this many seconds.
PIECE_SECONDS = 20.0
# Questions per query.
_READ = 50
# Interval of checks for a stopped run, in seconds.
_LOOK_SECONDS = 1.0
# This many consecutive failures are systematic.
MOST_FAILURES = 5


class Halt(Exception):
    """The reason why a run cannot continue by itself."""


@dataclass
class _Sent:
    request: Request
    calls: list[JudgeCall]
    cost: JudgeCost


@dataclass
class _Piece:
    run: JudgeRun
    holder: str
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
    holder = uuid.uuid4().hex
    run = _take(pk, holder)
    if run is None:
        return
    try:
        _ask_some(run, holder)
    except (Halt, GenieError) as halt:
        sentence = halt.message if isinstance(halt, GenieError) else str(halt)
        _mine(run, holder).filter(state=State.RUNNING).update(
            state=State.STOPPED, failure=sentence[:500]
        )
    finally:
        _mine(run, holder).update(holder="", held_until=None)
    run.refresh_from_db()
    if run.state != State.RUNNING:
        return
    if run.calls.filter(state=CallState.WAITING).exists():
        jobs.enqueue(JOB, pk=pk)
    else:
        finish(run)


def _take(pk: int, holder: str) -> JudgeRun | None:
    now = timezone.now()
    free = Q(held_until=None) | Q(held_until__lt=now)
    rows = JudgeRun.objects.filter(free, pk=pk, state=State.RUNNING)
    # until the first check of the run renews it
    if not rows.update(holder=holder, held_until=now + timedelta(minutes=1)):
        return None
    return JudgeRun.objects.select_related("judge", "task").get(pk=pk)


def _mine(run: JudgeRun, holder: str) -> QuerySet[JudgeRun]:
    return JudgeRun.objects.filter(pk=run.pk, holder=holder)


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
    mine = _mine(piece.run, piece.holder).filter(state=State.RUNNING)
    return bool(mine.update(held_until=until))


def _ask_some(run: JudgeRun, holder: str) -> None:
    judge, ask = run.judge, None
    if not judge.scripted:
        endpoint = named(judge.definition["endpoint"])
        if endpoint.url != judge.definition["url"]:
            raise Halt("The endpoint has another address now: that is another judge.")
        ask = Asker(endpoint, timeout=judge.timeout_seconds, at_once=judge.at_once)
    ledger.lose_all(run)
    piece = _Piece(run, holder, requests_of(run), ask, time.monotonic() + PIECE_SECONDS)
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
    if request is None:
        return True
    if _known(piece, call, request):
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


def _known(piece: _Piece, call: JudgeCall, request: Request) -> bool:
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
    cost = ledger.hold(piece.run, request, holder=piece.holder)
    if cost is None:
        if _looks(piece):
            raise Halt("The approved amount is used up.")
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
            call,
            piece.outputs,
            attempt=call.n_attempts,
            occasion=piece.run.occasion,
        )
    except KeyError:
        _end(call, CallState.INVALID, problem="the output may not leave any more")
        return None


def _answer(piece: _Piece, request: Request) -> Reply:
    """Ask the endpoint, in a thread without database access."""
    if piece.ask is not None:
        return piece.ask.ask(request.body, request.sha256)
    script = piece.run.judge.definition["model"]
    text = scripted.answer(
        script, request.questions, request.texts, piece.asked.scale, request.shape
    )
    return Reply(text, "", f"script {script}", "", 0, 0, 0.0)


def _take_in(piece: _Piece) -> None:
    """Handle responses: stored first, then counted."""
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
            ledger.let_go(sent.cost)
            _turned_away(piece, sent, away)
        except Lost as lost:
            ledger.lose(sent.cost)
            piece.n_failures += 1
            piece.run.failure = str(lost)
            piece.waiting.extendleft(sent.calls)
        else:
            piece.n_failures = 0
            answer = ledger.keep(sent.cost, reply)
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

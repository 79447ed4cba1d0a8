"""The requests of a run: built from the task each time, and checked."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil
from typing import Any

from crowd import hit_templates
from crowd.hits.selectors import SPANS
from crowd.scales.base import Scale
from genie.lib.errors import GenieError
from leaderboard.designs.base import Shown
from leaderboard.judges.answers import Said, read
from leaderboard.judges.definition import digest
from leaderboard.judges.models import Judge, JudgeCall, JudgeRun
from leaderboard.judges.prompt import messages, response_format, texts_of
from leaderboard.judges.selectors.pages import (
    REFERENCE,
    about,
    human_of,
    place_of,
    scale_of,
    shape_of,
    texts_on,
)
from leaderboard.judges.shape import WHOLE, Shape
from leaderboard.stats.judges.injections import plant_probe
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.submissions.selectors import public
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import design_of, show_instance, task_view

# A token is at least a byte, so bytes are the upper limit; about three bytes of
# English, more in other scripts, are one token at endpoints.
BYTES_A_TOKEN = 3
# tokens that endpoints add around messages
_EXTRA_TOKENS = 64


@dataclass(frozen=True)
class Request:
    """A request: its body, its hash, and its highest cost in millionths of a cent."""

    body: Mapping[str, Any]
    texts: list[tuple[str, str]]
    questions: Mapping[str, str]
    sha256: str
    n_bytes: int
    expected: int
    most: int
    shape: Shape = WHOLE
    # slot to its output, or the one output under ""
    outputs: Mapping[str, str] = field(default_factory=dict)


class Requests:
    """The questions of a judge on a task; texts that may not be sent are never read."""

    def __init__(
        self,
        judge: Judge,
        task: Task,
        criteria: Iterable[str],
        *,
        references: bool,
        bytes_a_token: float = BYTES_A_TOKEN,
    ) -> None:
        self.judge, self.task = judge, task
        self.bytes_a_token = bytes_a_token
        self.human = human_of(judge, task)
        self.parts = parts_of(self.human, criteria)
        self.references = references or not task.hidden_references
        self.view = task_view(task, self.human)
        self.design = design_of(task, self.human)
        if self.design.needs_reference and not self.references:
            raise GenieError(
                f"{task.title} uses references, which are hidden. Allow this judge to "
                "receive them.",
                code="references-hidden",
            )

    @cached_property
    def scale(self) -> type[Scale]:
        return scale_of(self.judge, self.human)

    @cached_property
    def instructions(self) -> str:
        template = hit_templates.get(self.human.hit_template)
        if self.human.language in template.words:
            template = template.in_words(self.human.language)
        return self.human.instructions or template.instructions_markdown

    def request(
        self,
        call: JudgeCall,
        outputs: Mapping[tuple[int, int], str],
        *,
        attempt: int = 0,
        occasion: str = "",
    ) -> Request:
        """Build the request of a question; `outputs` has texts by system and instance."""
        seen = show_instance(call.instance)
        texts = texts_on(call, outputs, seen)
        own = place_of(call)
        texts[own] = plant_probe(texts[own], call.probe)
        data = self._data(seen, texts)
        questions = self.parts[call.part]
        request = request_for(
            self.judge,
            self.instructions,
            questions,
            texts_of(data, blind=self.human.judged_blind(questions)),
            self.scale,
            shape=shape_of(self.human, self.design, data),
            bytes_a_token=self.bytes_a_token,
            sample=call.sample,
            attempt=attempt,
            occasion=occasion,
        )
        slots = request.shape.slots or [""]
        return replace(request, outputs=dict(zip(slots, texts, strict=False)))

    def read(self, call: JudgeCall, request: Request, text: str) -> Said:
        """Convert an answer into the form of people's; raise ValueError if invalid."""
        shape = request.shape
        said = read(text, request.questions, self.scale, shape, request.outputs)
        found = about(call, said, shape.slots)
        values = {name: self.rating(value) for name, value in found.values.items()}
        if found.marks is not None:
            values |= self.design.values_beside({SPANS: found.marks})
        return replace(found, values=values)

    def rating(self, value: float) -> float:
        # a ratio to 100, if the reference output has a different value
        return value * 100 / self.human.standard_value if self.scale.relative else value

    def _data(self, seen: Shown, texts: list[str]) -> dict[str, Any]:
        if not self.references:
            seen = replace(seen, references=())
        return self.design.data(self.view, seen, texts)


def request_for(
    judge: Judge,
    instructions: str,
    questions: Mapping[str, str],
    texts: list[tuple[str, str]],
    scale: type[Scale],
    *,
    shape: Shape = WHOLE,
    bytes_a_token: float = BYTES_A_TOKEN,
    sample: int = 0,
    attempt: int = 0,
    occasion: str = "",
) -> Request:
    made = judge.definition
    body: dict[str, Any] = {
        "model": made["model"],
        "messages": messages(made, instructions, questions, texts, scale, shape),
        made["limit"]: made["max_tokens"],
    }
    for name in ("temperature", "top_p"):
        if made[name] is not None:
            body[name] = made[name]
    if made["seed"] is not None:
        # the same seed would give the same answer again
        body["seed"] = made["seed"] + 1_000 * sample + attempt
    if form := response_format(made["form"], questions, scale, shape):
        body["response_format"] = form
    n_bytes = len(json.dumps(body, ensure_ascii=False).encode())
    n_out = min(made["max_tokens"], shape.tokens_back(len(questions)))
    return Request(
        body=body,
        texts=texts,
        questions=questions,
        shape=shape,
        n_bytes=n_bytes,
        sha256=digest([judge.sha256, [occasion, sample, attempt], body]),
        expected=price(judge, ceil(n_bytes / bytes_a_token), n_out),
        most=price(judge, n_bytes + _EXTRA_TOKENS, int(made["max_tokens"])),
    )


def price(judge: Judge, n_in: int, n_out: int) -> int:
    """Return the price of tokens in millionths of a cent, rounded up."""
    return ceil(n_in * judge.input_price + n_out * judge.output_price)


def parts_of(human: HumanConfig, criteria: Iterable[str]) -> list[dict[str, str]]:
    wanted = set(criteria)
    chosen = [
        {name: text for name, text in part.items() if name in wanted}
        for part in human.separate()
    ]
    return [part for part in chosen if part]


def outputs_of(
    task: Task, calls: Iterable[JudgeCall], *, references: bool, private: bool
) -> dict[tuple[int, int], str]:
    """Read the outputs of some questions, only of systems that may be sent."""
    calls = list(calls)
    systems = {call.submission_id for call in calls}
    systems |= {call.other_id for call in calls if call.other_id}
    systems |= {pk for call in calls for pk in call.beside if pk != REFERENCE}
    allowed = sendable(task, references=references, private=private)
    rows = Prediction.objects.filter(
        submission__in=allowed.filter(pk__in=systems),
        instance__in={call.instance_id for call in calls},
    )
    texts = rows.values_list("submission_id", "instance_id", "text")
    return {(system, instance): text for system, instance, text in texts}


def outputs_in(run: JudgeRun, calls: Iterable[JudgeCall]) -> dict[tuple[int, int], str]:
    said = {"references": run.with_references, "private": run.with_private}
    return outputs_of(run.task, calls, **said)


def sendable(task: Task, *, references: bool, private: bool) -> Any:
    rows = Submission.objects.filter(task=task)
    if not private:
        rows = rows.filter(public())
    if task.hidden_references and not references:
        # a system that consists of references
        rows = rows.exclude(baseline=Submission.Baseline.REFERENCE)
    return rows


def requests_of(run: JudgeRun) -> Requests:
    return Requests(
        run.judge,
        run.task,
        run.plan["criteria"],
        references=run.with_references,
        bytes_a_token=run.plan.get("bytes_a_token", BYTES_A_TOKEN),
    )


def all_requests(run: JudgeRun, *, at_once: int = 500) -> Iterator[Request]:
    """Yield every first request of a run, as if all answers were valid."""
    asked = requests_of(run)
    calls = run.calls.select_related("instance").order_by("pk")
    pks = list(calls.values_list("pk", flat=True))
    for first in range(0, len(pks), at_once):
        some = list(calls.filter(pk__in=pks[first : first + at_once]))
        outputs = outputs_in(run, some)
        for call in some:
            yield asked.request(call, outputs, occasion=run.occasion)

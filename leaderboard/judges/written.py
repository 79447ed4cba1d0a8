from collections.abc import Iterable, Mapping

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from leaderboard.judges.models import Judge, JudgeCall
from leaderboard.judges.selectors.pages import REFERENCE
from leaderboard.submissions.models.submission import Prediction, Submission

_TOLD = ("system", "prompt")
_NONE = "–"
_BREAK, _MAY_BREAK = SafeString("<br>"), SafeString("|<wbr>")


def lines(said: Iterable[str]) -> SafeString:
    return format_html_join(_BREAK, "{}", ([one] for one in said))


def signature(judge: Judge) -> SafeString:
    parts = judge.signature.split("|")
    return format_html_join(_MAY_BREAK, "{}", ([one] for one in parts))


def settings(judge: Judge) -> SafeString:
    made = judge.definition
    named = ((name, value) for name, value in made.items() if name not in _TOLD)
    return lines(
        f"{name}: {'none' if value is None else value}"
        for name, value in named
        if value != ""
    )


def frame(judge: Judge) -> SafeString:
    return format_html_join(
        "",
        '<div class="laid"><pre>{}</pre></div>',
        ([judge.definition[name]] for name in _TOLD),
    )


def page(call: JudgeCall) -> str:
    order = call.beside or [call.submission_id, *filter(None, [call.other_id])]
    names = dict(
        Submission.objects.filter(pk__in=order).values_list("pk", "system_name")
    )
    return ", ".join(
        "the reference" if pk == REFERENCE else names.get(pk, "?") for pk in order
    )


def ratings(call: JudgeCall) -> dict[str, str]:
    return {
        name: f"{name}: {value:g}" if isinstance(value, float | int) else name
        for name, value in call.values.items()
    }


def answers(call: JudgeCall) -> str:
    said = [
        f"{rating} ({why})" if (why := call.reasons.get(name)) else rating
        for name, rating in ratings(call).items()
    ]
    return lines(said) if said else _NONE


def marks(call: JudgeCall) -> str:
    marked = [one for one in call.marks if isinstance(one, Mapping)]
    if not marked:
        return _NONE
    rows = Prediction.objects.filter(
        submission=call.submission_id, instance=call.instance_id
    )
    text = rows.values_list("text", flat=True).first() or ""
    return lines(
        f"{_words(one, text)}: {', '.join(_kind(one))}. {one['reason']}"
        for one in marked
    )


def _words(mark: Mapping[str, int], text: str) -> str:
    if "missing" in mark:
        return "something is missing"
    return f"“{text[mark['start'] : mark['end']] or '…'}”"


def _kind(mark: Mapping[str, str]) -> list[str]:
    return [mark[name] for name in ("severity", "category") if name in mark]

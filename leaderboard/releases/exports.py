import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from genie.lib.formats import tabular, tex
from leaderboard.boards.exports.markdown import plain
from leaderboard.releases.selectors.card import Card, Section
from leaderboard.releases.selectors.heds import VERSION, Answered
from leaderboard.releases.selectors.judges import COST, RANKS
from leaderboard.releases.selectors.judges import TITLE as JUDGES
from leaderboard.releases.selectors.of_others import TITLE

FORMAT = "genie-evaluation-card-1"


def as_json(card: Card, sheet: Sequence[Answered], address: str) -> str:
    document = {
        "format": FORMAT,
        "address": address,
        "sections": {title: dict(lines) for title, lines in card.items()},
        "heds": {
            "version": VERSION,
            "answers": [{**asdict(answer), "open": answer.open} for answer in sheet],
        },
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def as_markdown(card: Card, sheet: Sequence[Answered], address: str) -> str:
    """Return one list per section; texts cannot break out of their lines."""
    lines = [f"# Evaluation card: {_plain(_value_of(card, 'system'))}", ""]
    if _value_of(card, "simulated"):
        lines += ["**Simulated: not rated by people.**", ""]
    if TITLE in card:
        lines += [f"**{TITLE}.**", ""]
    lines += [f"From {address}.", "", _plain(paragraph(card)), ""]
    for title, section in card.items():
        if section:
            lines += [f"## {title}", ""]
            lines += [f"- {_plain(key)}: {_plain(value)}" for key, value in section]
            lines.append("")
    lines += [f"## {VERSION}, question by question", ""]
    lines += [
        f"- **{answer.number}** {_plain(_question(answer))}: {_plain(answer.answer)}"
        for answer in sheet
    ]
    return "\n".join([*lines, ""])


def as_latex(card: Card, sheet: Sequence[Answered], address: str) -> str:
    rows: list[list[str]] = []
    for title, section in card.items():
        if section:
            rows.append([rf"\multicolumn{{2}}{{l}}{{\textbf{{{tex(title)}}}}}"])
            rows += [[tex(key), tex(in_words(value))] for key, value in section]
    columns = r"p{0.36\linewidth}p{0.56\linewidth}"
    name = tex(str(_value_of(card, "system")))
    return "\n".join(
        [
            f"% Evaluation card, {tex(address)}",
            r"% \usepackage{booktabs}",
            tex(paragraph(card)),
            "",
            r"\begin{table*}",
            r"\small",
            *tabular(columns, ["what", "as it was"], rows),
            rf"\caption{{Evaluation card of {name}.}}",
            r"\end{table*}",
            "",
            f"% {VERSION}, question by question, in the order of the sheet",
            r"\begin{description}",
            r"\small",
            *(
                rf"\item[{answer.number}] \textit{{{tex(_question(answer))}}}: {tex(answer.answer)}"
                for answer in sheet
            ),
            r"\end{description}",
            "",
        ]
    )


Writer = Callable[[Card, Sequence[Answered], str], str]
WRITERS: dict[str, tuple[str, Writer]] = {
    "json": ("application/json", as_json),
    "md": ("text/markdown; charset=utf-8", as_markdown),
    "tex": ("application/x-tex; charset=utf-8", as_latex),
}


def paragraph(card: Card) -> str:
    # keys differ over all sections, so one mapping serves the sentence
    get = {key: value for section in card.values() for key, value in section}
    results = [
        f"{name}: {result['mean']:.1f}, 95% interval {result['low']:.1f} to {result['high']:.1f}"
        for name, result in card["Results"]
        if isinstance(result, dict)
    ]
    said = _asked_elsewhere(get) if TITLE in card else _asked_here(get)
    said = f"{said} Scores: {'; '.join(results)}." if results else said
    return " ".join([said, *_judges(card.get(JUDGES, []))])


def _judges(section: Section) -> list[str]:
    told = [
        f"{name} ({', '.join(one['answered as']) or one['model']}, prompt "
        f"{one['prompt (SHA-256)'][:12]}, {one['settings']}; "
        f"{one['questions about this system']:,} questions, "
        f"{one['without a valid answer']:,} without a valid answer, "
        f"{one['asked on']}, ${one[COST]:,.2f} including other systems; license: "
        f"{in_words(one['licence'])})"
        for name, one in section
        if isinstance(one, dict) and "prompt (SHA-256)" in one
    ]
    if not told:
        return []
    ranks = str(dict(section)[RANKS])
    programs = "; ".join(told)
    return [f"Judges (programs): {programs}. {ranks}"]


def _asked_elsewhere(get: Mapping[str, Any]) -> str:
    text = (
        f"{get['workers']} workers rated the outputs of {get['system']} for "
        f"{get['rated instances']} instances of {get['task']}; their ratings "
        f"were imported ({get.get('source') or 'several sources, or not recorded'})."
    )
    unknown = get.get("not known")
    return f"{text} Not recorded: {', '.join(unknown)}." if unknown else text


def _asked_here(get: Mapping[str, Any]) -> str:
    whom = "simulated annotators (programs)" if get["simulated"] else "workers"
    n_ratings = get["ratings per output"]
    ratings = "1 rating" if n_ratings == 1 else f"{n_ratings} ratings"
    n_out = get["excluded workers"]
    text = (
        f"{get['workers']} {whom} rated the outputs of {get['system']} for "
        f"{get['rated instances']} randomly chosen instances of {get['task']} "
        f"({get['design']}, {get['scale']}), with {ratings} per output"
    )
    if (reward := get.get("reward per assignment, US dollars")) is None:
        return f"{text}, unpaid."
    text += f", at ${reward:.2f} per assignment"
    hourly = get["hourly pay at that pace, US dollars"]
    text += f" (${hourly:.2f} an hour at the median pace)" if hourly else ""
    text += "; they were not paid. " if get["simulated"] else ". "
    return text + (
        f"Of {get['test questions answered']} answers to hidden test questions, "
        f"{get['answered incorrectly']} were wrong; "
        + (
            "1 worker was excluded."
            if n_out == 1
            else f"{n_out} workers were excluded."
        )
    )


def in_words(value: Any) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(f"{key}: {in_words(part)}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(in_words(part) for part in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _question(answer: Answered) -> str:
    return (
        f"{answer.question} ({answer.criterion})"
        if answer.criterion
        else answer.question
    )


def _value_of(card: Card, name: str) -> Any:
    return dict(card["System and data"])[name]


def _plain(value: Any) -> str:
    return plain(in_words(value))

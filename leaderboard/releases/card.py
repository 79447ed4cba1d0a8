"""The data card: what a release holds, how it came about, what it is no good for."""

from __future__ import annotations

from leaderboard.models import Task
from leaderboard.releases.bundle import Record

_TABLES = {
    "systems": "one line a system on the public board, with its ranks",
    "scores": "the published scores with their intervals, seeds and signatures",
    "judgments": "every rating that was handed in; `counts` is false where it was left "
    "out, and `why_not` says why",
    "metrics": "automatic metrics, overall and for each instance, with signatures",
    "test_questions": "per worker and kind: how many test questions were answered, how "
    "many rightly, and what the detector said",
    "instances": "the task's instances in their order",
    "predictions": "the systems' outputs",
}


def card(task: Task, manifest: Record) -> str:
    """Write the README of a release."""
    counts = manifest["counts"]
    lines = [
        f"# {task.title}: human evaluation data",
        "",
        *(
            [
                "**Simulated or demonstration data is among this: no person said it.**",
                "",
            ]
            if task.demo
            else []
        ),
        f"Made {manifest['made_at']} by Genie {manifest['code_version']}, format "
        f"`{manifest['format']}`.",
        "",
        "## Files",
        "",
        "Each table is there as JSONL (complete) and CSV (without nested values). In "
        "the CSV, a text that a spreadsheet would run begins with a quote.",
        "",
        *(f"- `{name}`, {n:,} rows: {_TABLES[name]}" for name, n in counts.items()),
        "- `manifest.json`: settings, seeds and versions; `SHA256SUMS`: checksums",
        "",
        "## How people were asked",
        "",
        *_asked(task),
        "",
        "## Quality control",
        "",
        *_control(manifest),
        "",
        "## Workers",
        "",
        "Workers have pseudonyms made with a key that was not kept: they are the same "
        "within this release and differ from those of any other. Equal ratings in two "
        "releases can still be recognised; do not try to find out who anybody is.",
        "",
        "## What is not here",
        "",
        *(f"- {line}" for line in _missing(task, manifest)),
        "",
        "## Licence and citation",
        "",
        f"The task's data: {task.licence or 'no licence is stated'}.",
        *(["", "```", task.citation.strip(), "```"] if task.citation.strip() else []),
        "",
        "## Computing it again",
        "",
        "`manage.py rebuild FOLDER` computes every score, rank, metric and detector "
        "posterior from this folder alone, and stops at the first that differs.",
        "",
    ]
    return "\n".join(lines)


def _asked(task: Task) -> list[str]:
    human = task.human
    return [
        f"Design {human['design']}, scale {human['scale']}; "
        f"{task.sample_size:,} instances of each system, drawn once at random and the "
        f"same for every system; {human.get('ratings_per_instance', 1)} rating(s) each; "
        f"{human['reward_cents']} US cents for each.",
        "",
        *(f"- {name}: {text}" for name, text in human.get("criteria", {}).items()),
    ]


def _control(manifest: Record) -> list[str]:
    fits = manifest["detectors"]
    if not fits:
        return ["No test question has been judged in this task."]
    return [
        f"- {kind.lower()}: {fit['n_asked']:,} questions asked, {fit['n_wrong']:,} "
        f"answered wrongly; {fit['n_noisy']:,} of {fit['n_workers']:,} workers found "
        f"careless by {fit['detector']} at {fit['threshold']}."
        for kind, fit in fits.items()
    ]


def _missing(task: Task, manifest: Record) -> list[str]:
    lines = [
        "test questions and the answers to them: they are still in use",
        "private, withdrawn and unpublished systems; teams that are anonymous today",
        "comparisons of pairs and joint evaluations of several systems",
    ]
    if manifest["sample_seed"] is None:
        lines.append(
            "the seed and the order of the draw of instances: with them, test "
            "questions of work that is under way could be recognised"
        )
    if not manifest["texts"]:
        lines.append(
            "inputs, references and predictions: the licence does not say "
            "that they may be handed on"
        )
    elif task.hidden_references:
        lines.append("references, which this task keeps hidden")
    return lines

"""The data card: what a release holds, how it came about, what it is no good for."""

from __future__ import annotations

from leaderboard.models import Task
from leaderboard.releases.bundle import Record
from leaderboard.stats.intervals import COVERS_INSTANCES
from leaderboard.stats.ranking import RANK_RULE

_TABLES = {
    "systems": "one line a system that is spoken of here, with its ranks on the public "
    "board where it has any; `partial` says of a score without ranks how far it came",
    "scores": "the published scores with their intervals, seeds and signatures; "
    "`covers` says what an interval covers",
    "judgments": "every rating that was handed in; `counts` is false where it was left "
    "out, and `why_not` says why",
    "metrics": "automatic metrics, overall and for each instance, with signatures",
    "test_questions": "per worker and kind: how many test questions were answered, how "
    "many rightly, and what the detector said",
    "comparisons": "comparisons of two systems that are over: `state` says how they "
    "ended, `better` who is better, `estimate` how often A was preferred, `n_labels` "
    "after how many labels that was decided, `n_labels_in` how many had come in",
    "comparison_pairs": "their pairs, in the random order in which labels are read; "
    "`slot_of_a` says where A's output stood, `label` is 1 for A and 0 for B, `used` "
    "whether it lies before the decision",
    "comparison_votes": "every answer about a pair: `answered` is 1 for the text in "
    "slot A, `vote` 1 for the system A; `counted` says whether it counted when the "
    "comparison ended, `why_not` why it would not count today",
    "joint_evaluations": "evaluations of several systems side by side, one line a "
    "criterion: how many judged, their agreement, seed and signature",
    "joint_results": "their systems: magnitude with its interval, cluster, ranks that "
    "hold together, TrueSkill",
    "joint_pairs": "each of their systems against each other one: `p_above`, the share "
    "of resamples in which it is above; wins, ties and losses",
    "joint_judgments": "every rating behind them; `counts` and `why_not` as in "
    "`judgments`",
    "instances": "the task's instances in their order",
    "predictions": "the outputs of all systems",
}


def card(task: Task, manifest: Record) -> str:
    """Write the README of a release."""
    counts = manifest["counts"]
    lines = [
        f"# {task.title}: human evaluation data",
        "",
        *(
            [
                "**Some of this is simulated or demonstration data, not ratings by people.**",
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
        "## Intervals and ranks",
        "",
        f"A score's 95 % interval covers {COVERS_INSTANCES}. {RANK_RULE}",
        "",
        *_several(manifest),
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
        "`manage.py rebuild FOLDER` computes every score, rank, comparison, joint "
        "evaluation, metric and detector posterior from this folder alone, and stops at "
        "the first that differs.",
        "",
    ]
    return "\n".join(lines)


def _asked(task: Task) -> list[str]:
    human = task.human
    return [
        f"Design {human.design}, scale {human.scale}; "
        f"{task.sample_size:,} instances of each system, drawn once at random and the "
        f"same for every system; {human.ratings_per_instance} rating(s) each; "
        f"{human.reward_cents} US cents for each.",
        "",
        *(f"- {name}: {text}" for name, text in human.criteria.items()),
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


def _several(manifest: Record) -> list[str]:
    """Say what holds of comparisons and joint evaluations, where there are any."""
    counts = manifest["counts"]
    if not (counts["comparisons"] or counts["joint_evaluations"]):
        return []
    return [
        "## Several systems together",
        "",
        "A comparison was decided once, from the votes that counted at that moment, and "
        "these were kept; bans and appeals of later days do not rewrite it. A joint "
        "evaluation is computed again whenever the ratings that count change, and what "
        "is here is its last state. Neither moves the ranks of the board. Systems "
        "without a score are here because they were compared.",
        "",
    ]


def _missing(task: Task, manifest: Record) -> list[str]:
    lines = [
        "test questions and the answers to them: they are still in use",
        "private and withdrawn systems, and whatever was asked about them together with "
        "others; systems without a score, unless they were compared; teams that are "
        "anonymous today",
        "comparisons and joint evaluations that are not over, and what they cost",
    ]
    if manifest["sample_seed"] is None:
        lines.append(
            "which instances were judged, and the seed and order of their draw: with "
            "them, test questions still in use could be recognised. Judged instances "
            "are numbered in their order instead (`judged-00001`)"
        )
    if not manifest["texts"]:
        lines.append(
            "inputs, references and predictions: the licence does not say "
            "that they may be handed on"
        )
    elif task.hidden_references:
        lines.append("references, which this task keeps hidden")
    return lines

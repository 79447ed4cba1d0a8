from collections.abc import Iterator

from crowd.hits.models import Assignment
from leaderboard.boards.selectors.certainty import covers_of
from leaderboard.evaluation.result_columns import columns_of, tables
from leaderboard.evaluation.selectors.board_ratings import rank_rule
from leaderboard.evaluation.selectors.system_ratings import (
    campaigns_of,
    launched_evaluations,
    ratings_per_output,
)
from leaderboard.evaluation.selectors.worker_figures import read_in, work_done
from leaderboard.releases.bundle import Record
from leaderboard.releases.gathering.results import ALL
from leaderboard.releases.selectors.judges import judged_by, sentences
from leaderboard.stats.intervals import COVERS_INSTANCES
from leaderboard.submissions.selectors import public
from leaderboard.tasks.models import Task

_TABLES = {
    "systems": "one line per system in this release, with its ranks on the public board if "
    "it has any; `partial` is the number of instances behind a score from too "
    "few, and `ranks_partial` is whether staff decided to rank it anyway",
    "scores": "the published scores with their intervals, seeds and signatures; `covers` is "
    "what an interval covers, `provisional` is whether ratings were still being "
    "checked, and `reason` is why it replaced an earlier published score",
    "judgments": "every rating; `counts` is false if it was excluded, and `why_not` has the "
    "reason; `weight` is how much it counts in adjusted scores",
    "anchors": "ratings of outputs of a system in another system's `campaign`: they link "
    "the crowds in adjusted scores, and count in no other number",
    "metrics": "automatic metrics, overall and for each instance, with signatures",
    "test_questions": "per worker and kind of test question: how many were answered, how many "
    "correctly, and the detector's result",
    "comparisons": "finished comparisons of two systems: `state` says how they ended, `better` "
    "which system is better, `estimate` how often A was preferred, `n_labels` "
    "after how many labels that was decided, `n_labels_in` how many had been "
    "collected; `low` and `high` are the stopping rule's, which takes labels for "
    "independent, `answers_low` and `answers_high` those of the share of single answers "
    "(`answers_share`), and `answers_covers` says what these cover",
    "comparison_pairs": "their pairs, in the random order in which labels are read; `slot_of_a` "
    "says where A's output was shown, `label` is 1 for A and 0 for B, `used` "
    "whether it came before the decision",
    "comparison_votes": "every answer about a pair: `answered` is 1 for the output in slot A, "
    "`vote` 1 for the system A; `counted` is true if it counted when the comparison "
    "ended, and `why_not` gives the reason if it does not count today",
    "joint_evaluations": "joint evaluations of several systems, one line per criterion: number of "
    "ratings and workers, agreement, seed and signature; `provisional` says whether it was "
    "still open which ratings count",
    "joint_results": "their systems: magnitude with its interval, cluster, simultaneous ranks, "
    "TrueSkill",
    "joint_pairs": "each pair of their systems: `p_above`, the share of resamples in which the "
    "first scores higher; wins, ties and losses",
    "joint_judgments": "every rating behind them; `counts`, `why_not` and `weight` as in "
    "`judgments`",
    "judge_help": "means with the help of licensed judges beside people's alone (`plain_`), "
    "where the task shows them; `rebuild` takes them as given",
    "instances": "the task's instances, in order",
    "predictions": "the outputs of all systems",
    "published": "published numbers about these judgments; `figure` is Genie's figure that "
    "each is compared with, and `tolerance` the largest allowed difference",
    "judges": "judges (programs, not people): `kind` says whether a script or a language "
    "model, `definition` has its whole prompt and settings (its `url` is empty if "
    "undisclosed), `signature` and `sha256` name all of it, prices are in cents "
    "for a million tokens",
    "judge_runs": "their finished runs: what they were asked, which fields of an instance were "
    "sent where, `models` as the endpoint named them, what it cost in cents; counts are of "
    "systems in this release, cost is of all that was asked",
    "judge_calls": "each question about outputs of this release: `values` by criterion (of two "
    "outputs, how much `submission`, which was shown first, is preferred to "
    "`other`), the program's `reasons`, `attempts` until it was answered; with a "
    "`probe`, the output had been changed for an audit, and the answer counts "
    "nowhere",
    "judge_answers": "the answers as they came, by the hash of their `request`",
    "judge_scores": "their scores on the metric board; `whole` is whether the release has all "
    "answers behind them",
    "judge_licences": "license decisions about a judge on a criterion, with each reason; `standing` "
    "marks the current decision",
}
_AS_GIVEN = (
    " Each worker's `p_noisy` and each judgment's `weight` are not recomputed, "
    "because they depend on test questions in use and on systems that are not public. "
    "Exclusions are recomputed from `p_noisy`, and scores from the weights."
)
_MODELS_WORDS = (
    " Texts by language models may be subject to the terms of these models' providers."
)


def card(task: Task, manifest: Record, *, parquet: bool = False) -> str:
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
        *([f"**{manifest['imported']}**", ""] if manifest["imported"] else []),
        f"Made {manifest['made_at']} by Genie {manifest['code_version']}, format "
        f"`{manifest['format']}`.",
        "",
        "## Files",
        "",
        "Each table is available as JSONL (complete) and CSV (without nested "
        "values). In the CSV, values that a spreadsheet would run as a formula "
        "start with a quote."
        + (
            " The same tables are there as Parquet, with nested values as JSON."
            if parquet
            else ""
        ),
        "",
        *(f"- `{name}`, {n:,} rows: {_TABLES[name]}" for name, n in counts.items()),
        "- `manifest.json`: settings, seeds and versions; `SHA256SUMS`: checksums",
        "",
        *_columns(manifest),
        "## Human evaluation",
        "",
        *_design(task),
        "",
        *_control(manifest),
        "## Intervals and ranks",
        "",
        f"A score's 95% interval covers {covers_of(task)}. The interval of the plain "
        f"mean, shown next to it, covers {COVERS_INSTANCES}. {rank_rule(task)}",
        "",
        *_systems_together(manifest),
        *_judges(task, manifest),
        "## Workers",
        "",
        "Workers have pseudonyms made with a key that was not kept: they are "
        "consistent within this release and different in any other. Identical "
        "ratings in two releases could still be matched; do not try to identify "
        "anyone.",
        "",
        "## What is not included",
        "",
        *(f"- {line}" for line in _missing_parts(task, manifest)),
        "",
        "## License and citation",
        "",
        f"The task's data: {task.licence or 'no license is stated'}."
        + (_MODELS_WORDS if manifest["counts"].get("judges") else ""),
        *(["", "```", task.citation.strip(), "```"] if task.citation.strip() else []),
        "",
        "## Reproducing the numbers",
        "",
        "`genie rebuild FOLDER` recomputes every score, rank, comparison, "
        "joint evaluation, metric, judge's score and detector posterior from this folder "
        "alone, and stops at the first difference."
        + (_AS_GIVEN if ALL in manifest["detectors"] else ""),
        "",
    ]
    return "\n".join(lines)


def _columns(manifest: Record) -> Iterator[str]:
    for name in tables():
        if manifest["counts"].get(name):
            yield from (f"Columns of `{name}`:", "")
            for column in columns_of("release", name):
                yield f"- `{column.name}` ({column.kind}): {column.description}"
            yield ""


def _design(task: Task) -> list[str]:
    human = task.asked
    if task.imported:
        return [
            f"Design {human.design}, scale {human.scale}; ratings were imported.",
            "",
            *(f"- {name}: {text}" for name, text in human.criteria.items()),
        ]
    shown = task.submissions.filter(public(), published_at__isnull=False)
    pks = shown.values_list("pk", flat=True)
    # in batches: each comes with its task and its file
    asked = [c for one in launched_evaluations(pks) for c in campaigns_of(one)]
    ratings = ratings_per_output(asked, human.ratings_per_instance)
    return [
        f"Design {human.design}, scale {human.scale}; {task.sample_size:,} "
        f"instances, drawn once at random and the same for every system; "
        f"{ratings} rating(s) per output; a reward of {human.reward_cents} "
        "US cents per assignment.",
        "",
        *(f"- {name}: {text}" for name, text in human.criteria.items()),
        *_languages(task, [campaign.pk for campaign in asked]),
    ]


def _languages(task: Task, campaigns: list[int]) -> list[str]:
    handed_in = Assignment.objects.filter(
        hit__campaign__in=campaigns, submitted_at__isnull=False
    )
    languages, counts = read_in(work_done(handed_in), task.human.language)
    if len(languages) < 2:
        return []
    of_each = ", ".join(f"{language} {n:,}" for language, n in counts.items())
    told = f"assignments by language: {of_each}" if counts else "one of them by few"
    return ["", f"Workers were asked in {', '.join(languages)} ({told})."]


def _control(manifest: Record) -> list[str]:
    fits = manifest["detectors"]
    if manifest["imported"]:
        return []
    head = ["## Quality control", ""]
    if not fits:
        return [*head, "No test questions have been answered in this task.", ""]
    return (
        head
        + [
            f"- {kind.lower()}: {fit['n_asked']:,} answers, "
            f"{fit['n_wrong']:,} incorrect; {fit['n_noisy']:,} of "
            f"{fit['n_workers']:,} workers found unreliable by {fit['detector']} at "
            f"{fit['threshold']}."
            for kind, fit in fits.items()
        ]
        + [""]
    )


def _systems_together(manifest: Record) -> list[str]:
    counts = manifest["counts"]
    if not (counts["comparisons"] or counts["joint_evaluations"]):
        return []
    return [
        "## Comparisons and joint evaluations",
        "",
        "A comparison was decided once, from the votes that counted at that "
        "time, and these were recorded; later bans and appeals do not change "
        "it. A joint evaluation is recomputed whenever the ratings that count "
        "change; this is its latest state. Neither affects the ranks of the "
        "board. Systems without a score are included because they were compared.",
        "",
    ]


def _judges(task: Task, manifest: Record) -> list[str]:
    if not manifest["counts"].get("judges"):
        return []
    return [
        "## Judges",
        "",
        " ".join(f"{sentence}." for sentence in sentences(judged_by(task))),
        "",
        "`judges` has each prompt in full; a request is it with the instructions, "
        "texts and questions of its instance. Scores are recomputed from the stored "
        "answers. For invalid answers, the release has the last one to each question. "
        "A license depends on the ratings of its day. Its state is recomputed from "
        "its reasons, but the reasons are not recomputed.",
        "",
    ]


def _missing_parts(task: Task, manifest: Record) -> list[str]:
    lines = [
        "test questions and the answers to them, because they are still in use",
        "private and withdrawn systems, and comparisons and joint evaluations "
        "that include them; systems without a score, unless they were compared; "
        "teams that are still anonymous",
        "unfinished comparisons and joint evaluations, and their costs",
    ]
    if manifest["sample_seed"] is None:
        lines.append(
            "which instances were rated, and the seed and order of the sample: "
            "they would reveal test questions that are still in use. Rated "
            "instances are numbered in order instead (`judged-00001`)"
        )
        if manifest["counts"].get("judges"):
            lines.append("what judges were asked and answered, for the same reason")
    if not manifest["texts"]:
        lines.append(
            "inputs, references and predictions, and what judges wrote about them, "
            "because the license does not state that they may be redistributed"
        )
    elif task.hidden_references:
        lines.append("references, because this task keeps them hidden")
    return lines

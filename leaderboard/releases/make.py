"""Make a release of one task: a folder that anybody can check and compute again."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from genie.lib.errors import GenieError
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.evaluation.selectors.board_ratings import board_scores
from leaderboard.evaluation.selectors.coverage import whole_share
from leaderboard.evaluation.selectors.sample_disclosure import sample_is_public
from leaderboard.evaluation.services.refit import estimates_seed
from leaderboard.releases import FORMAT, bundle
from leaderboard.releases.bundle import Record
from leaderboard.releases.card import card
from leaderboard.releases.gathering import comparisons, joint, public_log, results
from leaderboard.releases.gathering.judgments import (
    JUDGMENTS,
    check_settled,
    judgments,
    scored_again,
    task_ids,
)
from leaderboard.releases.licence import may_be_copied
from leaderboard.releases.masked_instances import numbered
from leaderboard.releases.parquet import write_parquet
from leaderboard.releases.pseudonyms import Pseudonyms
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.outputs import outputs_are_open
from leaderboard.tasks.models import Task

# Parts of a task's configuration that say nothing about how its numbers came about.
_INTERNAL = frozenset({"budget", "quota"})
# The tables, in the order in which a release names them.
_ORDER = (
    *("systems", "scores", "judgments", "metrics", "test_questions"),
    *("comparisons", "comparison_pairs", "comparison_votes"),
    *("joint_evaluations", "joint_results", "joint_pairs", "joint_judgments"),
    *("instances", "predictions"),
)
# How many steps are done, of how many; may raise to give up.
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Made:
    """What a release holds."""

    folder: Path
    counts: dict[str, int]
    texts: bool


def make(
    task: Task,
    folder: Path,
    *,
    texts: bool | None = None,
    key: bytes | None = None,
    parquet: bool = False,
    tell: Tell = lambda done, of: None,
) -> Made:
    """Write the release into an empty or new folder, row by row.

    Parameters
    ----------
    task : Task
    folder : Path
    texts : bool, optional
        Whether inputs, references and predictions are in it; by default as the task's
        licence allows. Hidden references never are.
    key : bytes, optional
        Makes the workers' pseudonyms; by default a new one that is forgotten.
    parquet : bool, optional
        Whether each table is written as Parquet, too.
    tell : callable, optional
        Called with each system that is done, in each of the long tables.
    """
    _prepare(folder)
    texts = may_be_copied(task.licence) if texts is None else texts
    shows_sample = sample_is_public(task)
    # one key for the whole release: a worker has the same name in all its tables
    names = Pseudonyms(key)
    check_settled(task)
    scores_then = _scores_now(task)
    tables = _Tables(task, folder, names, tell, texts=texts)
    if not shows_sample:
        tables.number_instances()
    fits = tables.write_test_questions()
    tables.write_systems_together()
    tables.write_systems()
    tables.write_texts(shows_sample=shows_sample)
    if _scores_now(task) != scores_then:
        raise scored_again()
    counts = {name: tables.counts[name] for name in _ORDER if name in tables.counts}
    manifest = _manifest(task, fits, counts, texts=texts, shows_sample=shows_sample)
    bundle.write_manifest(folder, manifest)
    text = card(task, manifest, parquet=parquet)
    (folder / bundle.CARD).write_text(text, "utf-8")
    if parquet:
        write_parquet(folder, tables.columns.items())
    public_log.write(folder, task)
    bundle.write_checksums(folder)
    public_log.made(folder, task)
    return Made(folder, counts, texts)


class _Tables:
    """The tables of one release while they are written."""

    def __init__(
        self, task: Task, folder: Path, names: Pseudonyms, tell: Tell, *, texts: bool
    ) -> None:
        self.task, self.folder, self.names = task, folder, names
        self.texts, self.tell = texts, tell
        self.ranked = [row.pk for row in results.ranked(task)]
        self.compared = comparisons.ended(task)
        self.joint = joint.scored(task)
        # systems that are spoken of and have no score of their own
        self.others: list[Submission] = []
        self.counts: dict[str, int] = {}
        self.columns: dict[str, tuple[str, ...]] = {}
        self._masks = False
        self._number_of: dict[str, str] = {}
        self._done = 0

    def number_instances(self) -> None:
        """Give judged instances numbers, by which they are called instead.

        Everything about them is read twice, as no number is known before all are.
        """
        self._masks = True
        about = chain(
            self._judgments(),
            comparisons.pairs(self.compared),
            joint.judgments(self.task, self.joint, self.names),
        )
        judged = {row["instance"] for row in about}
        positions = {name: index for index, name in task_ids(self.task).items()}
        self._number_of = numbered(judged, positions)

    def write_test_questions(self) -> Record:
        questions, fits = results.detector_fits(self.task, self.names)
        self._write("test_questions", results.TEST_QUESTIONS, questions)
        return fits

    def write_systems_together(self) -> None:
        """Write what was asked about several systems together."""
        task, compared, judged = self.task, self.compared, self.joint
        named = {pk for one in compared for pk in (one.a_id, one.b_id)}
        rows = comparisons.comparisons(task, compared)
        self._write("comparisons", comparisons.COMPARISONS, rows)
        pairs = self._named(comparisons.pairs(compared))
        self._write("comparison_pairs", comparisons.PAIRS, pairs)
        votes = comparisons.votes(compared, self.names)
        self._write("comparison_votes", comparisons.VOTES, votes)
        self._write("joint_evaluations", joint.EVALUATIONS, joint.evaluations(judged))
        self._write("joint_results", joint.RESULTS, joint.results(judged))
        self._write("joint_pairs", joint.PAIRS, joint.pairs(judged))

        def noted() -> Iterator[Record]:
            for row in self._named(joint.judgments(task, judged, self.names)):
                named.add(row["submission"])
                yield row

        self._write("joint_judgments", joint.JUDGMENTS, noted())
        submissions = Submission.objects.filter(pk__in=named - set(self.ranked))
        self.others = list(submissions.select_related("team").order_by("pk"))

    def write_systems(self) -> None:
        """Write the board: its systems, their scores, and what these rest on."""
        task = self.task
        self._write("systems", results.SYSTEMS, results.systems(task, self.others))
        self._write("scores", results.SCORES, results.scores(task, self.ranked))
        judged = self._counted(self._named(self._judgments()))
        self._write("judgments", JUDGMENTS, judged)
        computed = self._counted(results.metrics(self.ranked))
        self._write("metrics", results.METRICS, computed)

    def write_texts(self, *, shows_sample: bool) -> None:
        rows = results.instances(self.task, texts=self.texts, shows_sample=shows_sample)
        self._write("instances", results.INSTANCES, rows)
        if self.texts:
            # Test questions are made of outputs: until people have judged a system by
            # itself, nobody can look up what it said.
            open_ones = [s.pk for s in self.others if outputs_are_open(s)]
            texts = self._counted(results.predictions([*self.ranked, *open_ones]))
            self._write("predictions", results.PREDICTIONS, texts)

    def _write(
        self, name: str, columns: tuple[str, ...], rows: Iterable[Record]
    ) -> None:
        self.columns[name] = columns
        self.counts[name] = bundle.write_table(self.folder, name, columns, rows)

    def _judgments(self) -> Iterator[Record]:
        return judgments(self.task, self.ranked, self.names)

    def _named(self, rows: Iterable[Record]) -> Iterator[Record]:
        """Call instances by what they are called in this release."""
        if not self._masks:
            yield from rows
            return
        for row in rows:
            if row["instance"] not in self._number_of:
                raise scored_again()  # rated since the instances were numbered
            yield {**row, "instance": self._number_of[row["instance"]]}

    def _counted(self, rows: Iterable[Record]) -> Iterator[Record]:
        """Tell of each system that is done; long tables have theirs one after another."""
        of = len(self.ranked) * (3 if self.texts else 2)
        for _, own in groupby(rows, itemgetter("submission")):
            yield from own
            self._done += 1
            self.tell(min(self._done, of), of)


def _scores_now(task: Task) -> list[int]:
    """Name the scores of the board, which are never written over."""
    return list(board_scores(task).values_list("pk", flat=True))


def pack(folders: Sequence[Path], archive: Path) -> None:
    """Pack the folders of releases into one archive."""
    # the lowest level: several times as fast, for archives hardly larger
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for folder in folders:
            for path in sorted(folder.iterdir()):
                packed.write(path, f"{folder.name}/{path.name}")


def _prepare(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise GenieError(
            f"{folder} already exists; name a new or empty folder.",
            code="folder-taken",
        )
    folder.mkdir(parents=True, exist_ok=True)


def _manifest(
    task: Task, fits: Record, counts: dict[str, int], *, texts: bool, shows_sample: bool
) -> Record:
    return {
        "format": FORMAT,
        "task": task.slug,
        "title": task.title,
        "licence": task.licence,
        "homepage": task.homepage,
        "citation": task.citation.strip(),
        "release_sha256": task.release_sha256,
        "release_files": task.release_files,
        "demo": task.demo,
        "source_language": task.source_language,
        "target_language": task.target_language,
        "source_field": task.source_field,
        "hidden_references": task.hidden_references,
        "texts": texts,
        "ranked_by": main_criterion(task),
        "whole_share": whole_share(),
        "estimate": task.human.estimate,
        "ranks": task.human.ranks,
        "estimates_seed": estimates_seed(task),
        "sample_seed": str(task.sample_seed) if shows_sample else None,
        "config": {
            name: part for name, part in task.config.items() if name not in _INTERNAL
        },
        "detectors": fits,
        "code_version": settings.VERSION,
        "made_at": f"{timezone.now():%Y-%m-%dT%H:%M:%SZ}",
        "counts": counts,
    }

"""The tables of a release, written in sequence, the long ones system by system."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from genie.lib.queue.pieces import Later
from leaderboard.evaluation.result_columns import columns_of
from leaderboard.releases import bundle
from leaderboard.releases.bundle import Notes, Record
from leaderboard.releases.gathering import comparisons, joint, judges, results
from leaderboard.releases.gathering.judgments import (
    ANCHORS,
    JUDGMENTS,
    anchors,
    judgments,
    scored_again,
    task_ids,
)
from leaderboard.releases.masked_instances import number_instances
from leaderboard.releases.pseudonyms import Pseudonyms
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import outputs_are_open
from leaderboard.tasks.models import Task

# The tables in a release's order.
_ORDER = (
    *("systems", "scores", "judgments", "anchors", "metrics", "test_questions"),
    *("comparisons", "comparison_pairs", "comparison_votes"),
    *("joint_evaluations", "joint_results", "joint_pairs", "joint_judgments"),
    *("instances", "predictions", "published"),
    *("judges", "judge_runs", "judge_calls", "judge_answers"),
    *("judge_scores", "judge_licences", "judge_help"),
)
# Reports the steps done, of how many; may raise to stop.
Tell = Callable[[int, int], None]


class Tables:
    def __init__(
        self,
        task: Task,
        folder: Path,
        names: Pseudonyms,
        tell: Tell,
        notes: Notes,
        *,
        texts: bool,
    ) -> None:
        self.task, self.folder, self.names = task, folder, names
        self.texts, self._tell, self._notes = texts, tell, notes
        self.ranked = notes.once(
            "ranked", lambda: [r.pk for r in results.ranked_rows(task)]
        )
        self.compared = comparisons.ended_comparisons(task)
        self.joint = joint.scored_evaluations(task)
        self._counts: dict[str, int] = notes.kept.setdefault("counts", {})
        self.columns: dict[str, Sequence[str]] = notes.kept.setdefault("columns", {})
        # by long table, the number of systems done, and the position to continue from
        self._reached: dict[str, Any] = notes.kept.setdefault("reached", {})
        self._n_done = {name: reached[0] for name, reached in self._reached.items()}
        self._masks = False
        self._number_of: dict[str, str] = {}

    def number_instances(self) -> None:
        """Replace names of rated instances by numbers; reads their data twice."""
        self._number_of = self._notes.once("number_of", self._numbers)
        self._masks = True

    def _numbers(self) -> dict[str, str]:
        judged = set(self._reached.get("number_of", (0, []))[1])
        for own in self._by_system(
            "number_of", self.ranked, self._judgments, lambda: sorted(judged)
        ):
            judged.update(row["instance"] for row in own)
        self._end("number_of", len(self.ranked))
        others = chain(
            comparisons.pairs(self.compared),
            anchors(self.task, self.ranked, self.names),
            joint.judgments(self.task, self.joint, self.names),
        )
        judged.update(row["instance"] for row in others)
        positions = {name: index for index, name in task_ids(self.task).items()}
        return number_instances(judged, positions)

    def write_test_questions(self) -> Record:
        questions, fits = results.detector_fits(self.task, self.names)
        self._write("test_questions", results.TEST_QUESTIONS, questions)
        return fits

    def write_systems_together(self) -> None:
        pks = self._notes.once("others", self._write_systems_together)
        submissions = Submission.objects.filter(pk__in=pks)
        # Systems that tables mention without having a score.
        self.others = list(submissions.select_related("team").order_by("pk"))

    def _write_systems_together(self) -> list[int]:
        task, compared, judged = self.task, self.compared, self.joint
        named = {pk for one in compared for pk in (one.a_id, one.b_id)}
        rows = comparisons.comparisons(task, compared)
        self._write("comparisons", comparisons.COMPARISONS, rows)
        pairs = self._with_pseudonyms(comparisons.pairs(compared))
        self._write("comparison_pairs", comparisons.PAIRS, pairs)
        votes = comparisons.votes(compared, self.names)
        self._write("comparison_votes", comparisons.VOTES, votes)
        self._write("joint_evaluations", joint.EVALUATIONS, joint.evaluations(judged))
        self._write("joint_results", joint.result_columns(), joint.results(judged))
        self._write("joint_pairs", joint.PAIRS, joint.pairs(judged))

        def pass_rows() -> Iterator[Record]:
            for row in self._with_pseudonyms(joint.judgments(task, judged, self.names)):
                named.add(row["submission"])
                yield row

        self._write("joint_judgments", joint.JUDGMENTS, pass_rows())
        return sorted(named - set(self.ranked))

    def write_systems(self) -> None:
        self._notes.once("board", self._write_board)
        self._write_long(
            "judgments",
            JUDGMENTS,
            self.ranked,
            lambda pks: self._with_pseudonyms(self._judgments(pks)),
        )
        self._write_long("metrics", results.METRICS, self.ranked, results.metrics)

    def _write_board(self) -> None:
        task = self.task
        self._write("systems", results.SYSTEMS, results.systems(task, self.others))
        columns = ("submission", *(column.name for column in columns_of("release")))
        self._write("scores", columns, results.scores(task, self.ranked))
        if linking := list(
            self._with_pseudonyms(anchors(task, self.ranked, self.names))
        ):
            self._write("anchors", ANCHORS, linking)
        if task.published_figures.exists():
            self._write("published", results.PUBLISHED, results.published_rows(task))

    def write_texts(self, *, shows_sample: bool) -> None:
        def write() -> None:
            rows = results.instances(
                self.task, texts=self.texts, shows_sample=shows_sample
            )
            self._write("instances", results.INSTANCES, rows)

        self._notes.once("instances", write)
        if self.texts:
            self._write_long(
                "predictions", results.PREDICTIONS, self._open, results.predictions
            )

    @property
    def _open(self) -> list[int]:
        # Test questions are made of outputs: until people have rated a system alone,
        # its outputs must not be public.
        others = self._notes.once(
            "open", lambda: [s.pk for s in self.others if outputs_are_open(s)]
        )
        return [*self.ranked, *others]

    def write_judges(self, *, shows_sample: bool) -> None:
        self._notes.once("judged", lambda: self._write_judges(shows_sample))

    def _write_judges(self, shows_sample: bool) -> None:
        runs = judges.finished_runs(self.task, self._open)
        if not runs:
            return
        judged = judges.Judged(runs, self._open, answers=shows_sample, texts=self.texts)
        for name, columns, rows in judged.tables():
            self._write(name, columns, rows)

    def _write(self, name: str, columns: Sequence[str], rows: Iterable[Record]) -> None:
        self.columns[name] = columns
        self._counts[name] = bundle.write_table(self.folder, name, columns, rows)

    def _write_long(
        self,
        name: str,
        columns: tuple[str, ...],
        pks: Sequence[int],
        rows_of: Callable[[Sequence[int]], Iterator[Record]],
    ) -> None:
        if name in self._counts:
            return
        self.columns[name] = columns
        place = self._reached.get(name, (0, None))[1]
        with bundle.Table(self.folder, name, columns, place) as table:
            for own in self._by_system(name, pks, rows_of, table.place):
                table.add(own)
            if not table.n:
                table.add(())
        self._counts[name] = table.n
        self._end(name, len(pks))
        self._notes.save()

    def _end(self, name: str, n: int) -> None:
        self._n_done[name] = n
        self._reached[name] = (n, None)

    def _by_system(
        self,
        name: str,
        pks: Sequence[int],
        rows_of: Callable[[Sequence[int]], Iterator[Record]],
        place: Callable[[], Any],
    ) -> Iterator[Iterator[Record]]:
        begun = self._n_done.get(name, 0)
        number_of = {pk: n for n, pk in enumerate(pks, start=1)}
        for pk, own in groupby(rows_of(pks[begun:]), itemgetter("submission")):
            yield own
            self._n_done[name] = number_of[pk]
            try:
                self.tell_all()
            except Later:
                self._note(name, place())
                raise
            if self._notes.due:
                self._note(name, place())

    def _note(self, name: str, place: Any) -> None:
        self._reached[name] = (self._n_done[name], place)
        self._notes.save()

    def tell_all(self) -> None:
        of = len(self.ranked) * (2 + self.texts + self._masks)
        self._tell(min(sum(self._n_done.values()), of), of)

    @property
    def counts(self) -> dict[str, int]:
        return {name: self._counts[name] for name in _ORDER if name in self._counts}

    def _judgments(self, pks: Sequence[int]) -> Iterator[Record]:
        return judgments(self.task, pks, self.names)

    def _with_pseudonyms(self, rows: Iterable[Record]) -> Iterator[Record]:
        if not self._masks:
            yield from rows
            return
        for row in rows:
            if row["instance"] not in self._number_of:
                raise scored_again()  # rated since the instances were numbered
            yield {**row, "instance": self._number_of[row["instance"]]}

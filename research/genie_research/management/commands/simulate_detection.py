"""Repeat Genie's study of detectors of noisy workers, and ours beside them."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from genie_research.detection.detection_study import Progress, simulate_detection
from genie_research.detection.question_counts import QUESTION_COUNTS, question_counts
from genie_research.detection.study_table import study_table
from genie_research.files import write_json
from genie_research.management import StudyCommand
from quality.counts import Ints, check_counts
from quality.detection.stats.detectors import DETECTORS


class Command(StudyCommand):
    help = (
        "Simulate annotation rounds as in appendix B.2 of the Genie paper, and print "
        "the precision and recall of each noisy-worker detector beside the published "
        "ones."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--rounds",
            type=int,
            nargs="+",
            default=[25, 500],
            help="rounds per table; a shorter table is the beginning of a longer one",
        )
        parser.add_argument(
            "--counts",
            nargs="+",
            default=[QUESTION_COUNTS[0]],
            help="numbers of questions that workers answered: all, a file with one "
            f"number per line, or {', '.join(QUESTION_COUNTS)}",
        )
        parser.add_argument(
            "--detectors", nargs="+", default=list(DETECTORS), choices=list(DETECTORS)
        )
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--threshold-rate", type=float, default=0.9)
        parser.add_argument("--threshold-posterior", type=float, default=0.99)
        parser.add_argument("--json", type=Path, help="file for all results")

    def handle(self, *args: Any, **options: Any) -> None:
        rounds = sorted(set(options["rounds"]))
        figures = []
        everything = options["counts"] == ["all"]
        chosen = QUESTION_COUNTS if everything else options["counts"]
        for name, counts in map(_counts, chosen):
            longest = simulate_detection(
                counts,
                n_rounds=rounds[-1],
                seed=options["seed"],
                detectors=options["detectors"],
                threshold_rate=options["threshold_rate"],
                threshold_posterior=options["threshold_posterior"],
                progress=self._progress(name) if options["verbosity"] else None,
            )
            studies = [longest.first(n_rounds) for n_rounds in rounds]
            for study in studies:
                self.stdout.write(study_table(study, name) + "\n")
                figures.append({"counts": name} | study.to_dict())
        if options["json"]:
            write_json(options["json"], {"studies": figures})
            self.stderr.write(f"Wrote {options['json']}.")

    def _progress(self, name: str) -> Progress:
        def tell(done: int, of: int) -> None:
            if done == of or done % max(1, of // 10) == 0:
                self.stderr.write(f"{name}: round {done} of {of}")

        return tell


def _counts(name: str) -> tuple[str, Ints]:
    if name in QUESTION_COUNTS:
        return name, question_counts(name)
    path = Path(name)
    if not path.is_file():
        known = ", ".join(QUESTION_COUNTS)
        raise CommandError(f"{name} is neither a file nor one of: all, {known}.")
    try:
        numbers = [float(line) for line in path.read_text("utf-8").split()]
        return path.stem, check_counts([0] * len(numbers), numbers)[1]
    except ValueError as error:
        raise CommandError(
            f"{name} must have one whole number per line: {error}"
        ) from error

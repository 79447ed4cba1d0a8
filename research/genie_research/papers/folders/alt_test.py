"""The data sets of the alternative annotator test."""

from pathlib import Path

from genie_research.papers.folder import Folder, file_like, judgments_in
from genie_research.papers.table import Workbench
from leaderboard.papers.figure_sets.judges import Judges
from leaderboard.papers.figures import Computed, under

# The extra cost of a person, as the authors set it for each data set.
_EPSILON = {
    "cebab_aspects": 0.1,
    "cebab_stars": 0.1,
    "framing": 0.15,
    "mtbench": 0.2,
    "summeval": 0.2,
    "wax": 0.1,
}


class AltTest(Folder):
    slug = "alt-test"
    title = "Six language models in place of people: winning rates and advantages"
    paper = "Calderon, Reichart and Dror (2025), The Alternative Annotator Test, ACL, tables"
    folder = "alt-test"

    def figures(self, folder: Path, bench: Workbench) -> Computed:
        found: Computed = {}
        for name, epsilon in _EPSILON.items():
            files = [
                file_like(folder / name, f"{who}_annotations.json")
                for who in ("human", "llm")
            ]
            if all(files):
                judgments = judgments_in(
                    folder, [f"{name}/{file}" for file in files], "alt-test", {}
                )
                found |= under(name, Judges.of(judgments, {"epsilon": epsilon}))
        return found

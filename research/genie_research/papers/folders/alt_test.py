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
# Whether ids name systems, and the first of several criteria.
_CHOICES = {
    "cebab_aspects": {"system": ":texts", "ranks": "food"},
    "cebab_stars": {"system": ":texts"},
    "framing": {"system": ":texts", "ranks": "re1"},
    "summeval": {"ranks": "coherence"},
    "wax": {"system": ":texts"},
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
                paths = [f"{name}/{file}" for file in files]
                choices = {"labels": "yes"} | _CHOICES.get(name, {})
                judgments = judgments_in(folder, paths, "alt-test", choices)
                found |= under(name, Judges.compute(judgments, {"epsilon": epsilon}))
        return found

"""The E2E NLG Challenge: naturalness of 21 systems, five outputs on a page."""

from pathlib import Path

from genie_research.papers.folder import Folder, file_like, judgments_in
from genie_research.papers.table import Workbench
from leaderboard.papers.figure_sets.pages import Pages
from leaderboard.papers.figures import Computed, under

_CRITERIA = ("naturalness", "quality")


class E2E(Folder):
    slug = "e2e-nlg"
    title = "Ratings of 21 systems, five on a page: pairs, strengths, TrueSkill, ranks"
    paper = "Dušek, Novikova and Rieser (2020), The E2E NLG Challenge, CSL 59, tables of naturalness"
    folder = "e2e-nlg"

    def figures(self, folder: Path, bench: Workbench) -> Computed:
        found: Computed = {}
        for criterion in _CRITERIA:
            if name := file_like(folder, f"{criterion}.csv"):
                judgments = judgments_in(folder, [name], "rankme-pages", {})
                seed = bench.seed_for(self.slug, criterion)
                found |= under(criterion, Pages.compute(judgments, {"seed": seed}))
        return found

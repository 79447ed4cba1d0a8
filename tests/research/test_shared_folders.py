"""The folders of published judgments beside the repository: every figure, both ways."""

import math

import pytest

from genie_research.papers.folder import judgments_in
from genie_research.papers.table import Workbench, all_tables
from leaderboard.imports.readers.judgments import Judgments
from leaderboard.imports.services.bring_in import bring_in
from leaderboard.papers.figure_sets.direct_assessment import DirectAssessment
from leaderboard.papers.figure_sets.domains import Domains
from leaderboard.papers.figure_sets.judges import Judges
from leaderboard.papers.figure_sets.pages import Pages
from leaderboard.papers.figures import Verdict
from leaderboard.papers.task_figures.computed import by_criterion, judgments_for
from tests.factories import make_user
from tests.shared import SHARED, needs_shared

DATA = SHARED / "data"
FOLDERS = {
    "wmt22-da": 962,
    "wmt22-files": 1399,
    "e2e-nlg": 183,
    "alt-test": 348,
    "esa": 372,
    "wmt24-esa": 296,
}


# what rests on WMT24's joint test is not computed
JOINED = {"wmt24-esa": {"rank_range", "cluster"}}


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("slug", FOLDERS)
def test_every_number_of_a_folder_comes_out(slug):
    cells = list(all_tables()[slug]().cells(Workbench(DATA)))
    assert len(cells) == FOLDERS[slug]
    assert {
        cell.column for cell in cells if cell.verdict is Verdict.NO_DATA
    } == JOINED.get(slug, set())
    expected = {Verdict.HOLDS, Verdict.NO_DATA}
    assert [cell for cell in cells if cell.verdict not in expected] == []


IMPORTS = {
    "wmt22-da": (["ratings-lv-en.csv.gz"], "wmt-da", {}, DirectAssessment),
    "e2e-nlg": (["naturalness.csv.gz"], "rankme-pages", {}, Pages),
    "alt-test": (
        [f"mtbench/{who}_annotations.json.gz" for who in ("human", "llm")],
        "alt-test",
        {"labels": "yes"},
        Judges,
    ),
    "wmt24-esa": (
        ["esa_generalMT2024_wave2.csv.gz", "annotators.csv", "documents.tsv"],
        "appraise",
        {"pair": "eng-hin"},
        Domains,
    ),
}


@needs_shared
@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("folder", IMPORTS)
def test_an_imported_task_gives_the_same_figures_as_its_files(folder):
    names, layout, choices, figures = IMPORTS[folder]
    read: Judgments = judgments_in(DATA / folder, names, layout, choices)
    row = bring_in(read, slug="there", by=make_user("ada", is_superuser=True))
    # readers' further columns are not kept: kinds of rows are called by their roles
    read.extra = None
    of_files = by_criterion(figures, read, {"seed": 1})
    of_task = by_criterion(figures, judgments_for(row.task), {"seed": 1})
    assert set(of_files) == set(of_task)
    assert len(of_files) > 20
    for id, value in of_files.items():
        if isinstance(value, float):
            assert math.isclose(of_task[id], value, rel_tol=1e-9, abs_tol=1e-12), id
        else:
            assert of_task[id] == value, id

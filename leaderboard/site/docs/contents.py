"""The four shelves of pages and their order."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.urls import reverse

from leaderboard.site.docs.markdown import Rendered, Section, render, terms_in

FOLDER = Path(settings.BASE_DIR) / "genie/assets/docs"
# Pages that are not docs/SLUG.md.
_ELSEWHERE = {"example-extension": "example-extension/README.md"}


class Shelf(NamedTuple):
    slug: str
    title: str
    wants: str
    pages: tuple[str, ...]
    # addresses of pages without a file, with their titles
    also: tuple[tuple[str, str], ...] = ()


SHELVES = (
    Shelf(
        "start",
        "Start",
        "Three tutorials, each from a file to a result.",
        ("tutorial-evaluate", "tutorial-submit", "tutorial-api"),
    ),
    Shelf(
        "guides",
        "Guides by job",
        "Each covers one job, in the order of the job.",
        (
            # read and submit
            "reading-a-board", "for-submitters", "for-workers", "for-auditors",
            # make a task, choose a design, price and pilot
            "own-task", "adding-a-task", "designs", "comparing-systems", "wmt", "pricing",
            # run
            "for-staff", "manage-workers", "pay-workers", "test-questions",
            "crowd-platforms", "crowd-panels", "requester-api", "judges",
            # publish, import, analyze
            "releases", "importing", "for-researchers", "genie-stats", "reproducing",
            # operate
            "install", "operating", "scaling", "backup",
            # change
            "architecture", "extending", "translating",
        ),
    ),
    Shelf(
        "reference",
        "Reference",
        "Formats, settings, commands, columns and the API.",
        (
            "glossary", "formats", "import-formats", "task-toml", "hit-templates", "metrics",
            "settings", "commands", "permissions", "api", "client", "judge-definitions",
            "published-figures", "every-eval-ever-people", "where", "example-extension",
        ),
        (
            ("api-docs", "API reference"),
            ("leaderboard:docs-tasks", "Tasks that come with Genie"),
        ),
    ),
    Shelf(
        "methods",
        "Methods",
        "How each number is computed: model, assumptions, formula, limits and source.",
        (
            "statistics", "statistics-systems", "statistics-means", "statistics-clusters",
            "statistics-z-scores", "statistics-two-systems", "statistics-ranks",
            "statistics-rank-sums", "statistics-magnitudes", "statistics-trueskill",
            "statistics-bradley-terry", "statistics-preferred-share",
            "statistics-comparisons", "statistics-planning", "statistics-agreement",
            "statistics-workers", "statistics-tests", "statistics-programs",
            "statistics-crowds", "statistics-anchors", "statistics-metrics",
            "statistics-judges", "statistics-judged-mean", "statistics-alt-test",
        ),
    ),
)  # fmt: skip


# Words that readers search for and pages do not use, or not often enough
SEARCHED = {
    "tutorial-evaluate": "human evaluation study survey first steps colleagues",
    "tutorial-submit": "upload first submission twice again",
    "tutorial-api": "python script upload submit json leaderboard results poll example",
    "reading-a-board": (
        "understand explain meaning colors bar error range best winner wins tied "
        "equal trust real people human simulated fake compare boards disagree "
        "difference column percent points leaderboard why change leader cite citation "
        "quote paper reference old version past date history numbers come from sure "
        "certain"
    ),
    "for-submitters": (
        "team name anonymous hide private visible account sign up login password "
        "members wrong file mistake cancel delete status progress waiting queue limit "
        "week how long cost free price declined rejected result card twice again "
        "several times"
    ),
    "for-workers": (
        "earn money paid salary phone mobile keyboard shortcuts privacy data rejected "
        "appeal test undo deadline time limit message bank account language "
        "invitation join payment failed begin working first steps"
    ),
    "for-auditors": (
        "tamper proof trust verify manipulate cheat rewrite audit hash blockchain "
        "honest site history"
    ),
    "own-task": (
        "create start new task dataset upload outputs csv colleagues friends link "
        "question several questions criteria add systems version edit change delete "
        "rename move export import draft studio browser chat conversation markdown "
        "code human evaluation study survey chatbot"
    ),
    "adding-a-task": "create benchmark dataset folder new task translate language",
    "designs": (
        "likert scale slider binary ranking rank best worst annotation protocol "
        "question type criteria pairwise rating single output reference magnitude "
        "direct assessment source text shown show input"
    ),
    "comparing-systems": (
        "a b test head to versus winner winning better difference pairs significant "
        "stop early cost of comparison"
    ),
    "wmt": (
        "machine translation shared task errors spans documents segments direct "
        "assessment esa mqm"
    ),
    "pricing": (
        "budget plan cost price money afford wage salary fair pay per hour how many "
        "ratings items raters sample size precision pilot try test run rates "
        "workers missing estimate expensive cheap slow speed days"
    ),
    "for-staff": (
        "administrator admin organizer approve decline reject submission start launch "
        "pause resume stop campaign budget money progress monitor provisional final "
        "anchor add systems running slow faster more raters evaluate"
    ),
    "manage-workers": (
        "invite invitation recruit ban block exclude readmit unban unreliable bad "
        "cheating spam bots chatgpt qualification grant give revoke screening test "
        "message contact appeal dispute"
    ),
    "pay-workers": (
        "bonus payout paypal bank wise transfer money currency underpaid fair minimum"
    ),
    "test-questions": (
        "attention checks gold control questions honeypot trap catch quality"
    ),
    "crowd-platforms": (
        "mechanical turk mturk amazon recruit raters workers crowdsourcing where from"
    ),
    "crowd-panels": (
        "prolific cloudresearch sona students class recruit participants completion "
        "code fees"
    ),
    "requester-api": "boto3 psiturk mechanical turk requester post hits program",
    "judges": (
        "llm gpt chatgpt claude language model as a judge automatic evaluation "
        "replace people ai endpoint openai cost"
    ),
    "releases": (
        "publish data download dataset all ratings raw reproduce recompute verify "
        "export archive share pseudonym anonymize paper report"
    ),
    "importing": (
        "upload existing ratings annotations judgments spreadsheet csv excel json "
        "google sheets label studio qualtrics survey mturk appraise undo delete scale"
    ),
    "for-researchers": (
        "export csv latex embed website picture badge feed weights upload metric "
        "scores evaluate my beat correlation"
    ),
    "genie-stats": (
        "analyze own ratings file without site command line significance agreement "
        "other leaderboard helm check audit ranks"
    ),
    "reproducing": "replicate paper tables published numbers results compare",
    "install": (
        "setup set up docker container server first admin superuser account start "
        "requirements python systemd"
    ),
    "operating": (
        "production https nginx proxy secure security monitor health alerts e-mail "
        "mail failed jobs stuck queue error login two-factor passkey rate limits disk "
        "full down not running restart"
    ),
    "scaling": (
        "cluster several servers many machines big large performance s3 bucket sqs "
        "redis postgresql load"
    ),
    "backup": (
        "restore recover save migrate move server lost disaster upgrade update new "
        "version rollback key"
    ),
    "architecture": "code structure packages modules design developer contribute",
    "extending": (
        "plugin extension add own scale design metric reader platform detector hook"
    ),
    "translating": (
        "language localization i18n german french arabic interface translation"
    ),
    "glossary": "terms definitions meaning",
    "formats": (
        "predictions file json jsonl csv tsv excel xlsx format ids missing duplicate "
        "invalid error shifted misaligned warning upload too large size limit"
    ),
    "import-formats": "columns roles mapping patterns wide long kinds of rows",
    "task-toml": "configuration options keys settings of a task show hide reference",
    "hit-templates": (
        "layout html page instructions consent translate error spans several items "
        "per source text"
    ),
    "metrics": (
        "bleu chrf comet rouge meteor ter bertscore bleurt metricx automatic metric "
        "version signature"
    ),
    "settings": (
        "environment variables configuration options defaults secrets files keep "
        "retention how long data kept limits"
    ),
    "commands": "list of commands cli help manage.py",
    "permissions": (
        "roles groups rights access who can see staff superuser private submissions"
    ),
    "api": (
        "rest json http openapi schema token authentication pagination filter sort "
        "webhook errors rate limit 429 poll idempotency notify server callback "
        "results leaderboard"
    ),
    "client": (
        "python library cli command line pip install genie-client notebook upload "
        "submit"
    ),
    "where": "code function of a page",
    "example-extension": "sample plugin package",
    "statistics": "methods formulas confidence intervals computed calculated",
    "statistics-systems": (
        "mixed effects model random confidence interval adjusted score rater bias"
    ),
    "statistics-means": "average error bars standard",
    "statistics-z-scores": "normalize standardize strict lenient raters bias",
    "statistics-two-systems": "p-value significance significant difference test",
    "statistics-ranks": "multiple comparisons correction holm clusters significance",
    "statistics-rank-sums": "wmt clusters wilcoxon mann-whitney",
    "statistics-trueskill": "elo arena pairwise preferences ranking strength",
    "statistics-bradley-terry": "elo arena pairwise preferences ranking strength",
    "statistics-preferred-share": "win rate preference percentage",
    "statistics-comparisons": "sequential test early stopping anytime valid peeking",
    "statistics-planning": "power analysis sample size how many",
    "statistics-agreement": (
        "inter-annotator inter-rater reliability kappa alpha icc disagreement disagree"
    ),
    "statistics-workers": (
        "spammers careless detection dawid skene mace click same answer"
    ),
    "statistics-programs": "bots chatgpt llm detection collusion copy",
    "statistics-crowds": "compare platforms sites populations",
    "statistics-anchors": "drift linking crowds over time",
    "statistics-metrics": (
        "correlation pearson spearman kendall meta-evaluation pairwise accuracy"
    ),
    "statistics-judges": "llm judge bias audit reliability valid license",
    "statistics-judged-mean": "prediction-powered inference save labels",
}


def slugs() -> list[str]:
    return [slug for shelf in SHELVES for slug in shelf.pages]


def shelf_of(slug: str) -> Shelf:
    return next(shelf for shelf in SHELVES if slug in shelf.pages)


def file_of(slug: str) -> Path:
    return FOLDER / _ELSEWHERE.get(slug, f"{slug}.md")


def slug_of(target: str) -> str | None:
    """Return the page behind a link to a Markdown file; None if there is none.

    Examples
    --------
    >>> slug_of("formats.md"), slug_of("../client/README.md"), slug_of("deploy/")
    ('formats', 'client', None)
    """
    path = Path(target)
    if path.suffix != ".md":
        return None
    slug = path.parent.name if path.stem == "README" else path.stem
    return slug if slug in slugs() else None


def neighbours(slug: str) -> tuple[str | None, str | None]:
    order = [None, *slugs(), None]
    at = order.index(slug)
    return order[at - 1], order[at + 1]


# Pages read from their files: cached per process until they change.
GLOSSARY = "glossary"


def page(slug: str) -> Rendered:
    return _page(slug, _change_time(slug))


def terms() -> list[Section]:
    return terms_in(file_of(GLOSSARY).read_text("utf-8"))


def file(name: str) -> bytes | None:
    """Read an image or example file that pages link to; None if there is none."""
    if name not in _files():
        return None
    return (FOLDER / name).read_bytes()


def change_times() -> tuple[int, ...]:
    return tuple(_change_time(slug) for slug in slugs())


@lru_cache(maxsize=128)
def _page(slug: str, _changed: int) -> Rendered:
    return render(file_of(slug).read_text("utf-8"), link=_link)


def _change_time(slug: str) -> int:
    return file_of(slug).stat().st_mtime_ns


def _link(target: str) -> str:
    # the client's own page is in another folder of the source
    path, hash_, anchor = target.removeprefix("../docs/").partition("#")
    slug = slug_of(path)
    if slug is not None:
        return reverse("leaderboard:docs-page", args=[slug]) + hash_ + anchor
    if path in _files():
        return reverse("leaderboard:docs-file", args=[path])
    return target


@lru_cache(maxsize=1)
def _files() -> frozenset[str]:
    return frozenset(
        path.relative_to(FOLDER).as_posix()
        for pattern in ("pictures/*", "deploy/*", "*.ipynb", "*.schema.json")
        for path in FOLDER.glob(pattern)
    )

"""What pages cost a reader: where the first row stands, bytes, requests, and how soon.

A real browser opens each page with nothing kept, of a demo made for it or of a running
site, on three screens:
the top of the table's first row and the height of the page in pixels; how far it is wider
than the screen; presses of Tab until the table's first link has the focus; requests and
kB received; and the largest contentful paint, the median of three visits. With
`--against`, the same pages of another site follow in the same run, and how much longer
ours take than theirs.

    python -m benchmarks.bench_pages
    python -m benchmarks.bench_pages --site URL --against OTHER_URL PATH ...
"""

import argparse
import shutil
import statistics
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from benchmarks import world
from benchmarks.bench_hit import NAMES
from benchmarks.bench_worker_site import free_port, serve

SCREENS = ((1440, 900), (768, 1024), (390, 844))
PAGES = (
    "/",
    "/tasks/",
    "/tasks/demo-translation/",
    "/tasks/demo-translation/methods/",
    "/tasks/demo-translation/metrics/",
    "/submissions/1/",
    "/api/docs/",
)
VISITS = 3
MOST_TABS = 40
SEES_PAINTS = """
window.paint = null;
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) window.paint = entry.startTime;
}).observe({type: "largest-contentful-paint", buffered: true});
"""
SHAPE = """() => {
  const row = document.querySelector("main table tbody tr td");
  const page = document.documentElement;
  return [
    row ? Math.round(row.getBoundingClientRect().top + scrollY) : null,
    page.scrollHeight,
    page.scrollWidth - innerWidth,
    window.paint,
  ];
}"""
IN_TABLE = "!!document.activeElement.closest('main table tbody')"


@dataclass
class Page:
    """What one page cost on one screen."""

    row: int | None
    height: int
    too_wide: int
    tabs: int | None
    requests: int
    kilobytes: float
    paint: float

    def cells(self) -> list[str]:
        """Give the figures as words, what is not there as a dash."""
        whole = (self.row, self.height, self.too_wide, self.tabs, self.requests)
        return [
            *("–" if figure is None else f"{figure:,}" for figure in whole),
            f"{self.kilobytes:.0f}",
            f"{self.paint:.0f}",
        ]


def stops(page: Any) -> int | None:
    """Count presses of Tab until something in the first table has the focus."""
    if page.query_selector("main table tbody a") is None:
        return None
    for n in range(1, MOST_TABS + 1):
        page.keyboard.press("Tab")
        if page.evaluate(IN_TABLE):
            return n
    return None


def visit(browser: Any, url: str, screen: tuple[int, int]) -> tuple[Any, ...]:
    """Open a page with nothing kept; return its shape, stops, requests and bytes."""
    viewport = {"width": screen[0], "height": screen[1]}
    context = browser.new_context(viewport=viewport)
    page, received = context.new_page(), []
    page.add_init_script(SEES_PAINTS)
    page.on("requestfinished", lambda request: received.append(request))
    answer = page.goto(url, wait_until="networkidle")
    if not answer.ok:
        # an error page would be measured as if it were the page
        raise SystemExit(f"{url} answered {answer.status}.")
    shape = page.evaluate(SHAPE)
    sizes = [request.sizes() for request in received]
    n_bytes = sum(s["responseBodySize"] + s["responseHeadersSize"] for s in sizes)
    tabs = stops(page)
    context.close()
    return *shape, tabs, len(sizes), n_bytes / 1000


def cost(browser: Any, url: str, screen: tuple[int, int]) -> Page:
    visits = [visit(browser, url, screen) for _ in range(VISITS)]
    row, height, too_wide, _, tabs, requests, kilobytes = visits[-1]
    paint = statistics.median(v[3] or 0.0 for v in visits)
    return Page(row, height, too_wide, tabs, requests, kilobytes, paint)


def demo(stack: ExitStack) -> str:
    """Make a demo of its own, serve it, and give its address."""
    stack.callback(shutil.rmtree, world.set_up(), ignore_errors=True)
    from django.core.management import call_command

    call_command("demo", no_serve=True)
    port = free_port()
    site = serve(port)
    stack.callback(site.wait)
    stack.callback(site.terminate)
    return f"http://127.0.0.1:{port}"


def compare(browser: Any, sites: list[str], paths: list[str]) -> None:
    """Print a row for each page, screen and site, and how much sooner one paints."""
    print(
        "| page | screen | first row | height | too wide | tabs | requests | kB | ms |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    paints: dict[str, list[float]] = {site: [] for site in sites}
    for address in paths:
        for screen in SCREENS:
            for site in sites:
                page = cost(browser, site.rstrip("/") + address, screen)
                paints[site].append(page.paint)
                name = address if site == sites[0] else f"{address} (against)"
                print(
                    f"| {' | '.join([name, str(screen[0]), *page.cells()])} |",
                    flush=True,
                )
    for other in sites[1:]:
        pairs = zip(paints[sites[0]], paints[other], strict=True)
        ratio = statistics.median(ours / theirs for ours, theirs in pairs if theirs)
        print(f"largest contentful paint: {ratio:.2f} of the other site's (median)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", metavar="PATH", default=PAGES)
    parser.add_argument("--site", metavar="URL", help="a running site")
    parser.add_argument("--against", metavar="URL", help="another, to compare with")
    asked = parser.parse_args()
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise SystemExit(f"No browser found (looked for {', '.join(NAMES)}).")
    with ExitStack() as stack:
        site = asked.site or demo(stack)
        from playwright.sync_api import sync_playwright

        play = stack.enter_context(sync_playwright())
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        stack.callback(browser.close)
        compare(browser, [site, *filter(None, [asked.against])], asked.paths)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

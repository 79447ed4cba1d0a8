"""The pictures in docs/pictures, taken of a demo made for them: `make pictures`.

A real browser opens each page as whoever the tutorial speaks to, light, 1440 pixels wide,
and keeps what stands above the fold as a PNG of few colours: pages have few, and small
files are quick to read.

    python -m benchmarks.pictures
    python -m benchmarks.pictures board submission
"""

import argparse
import base64
import shutil
import struct
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.bench_hit import NAMES
from benchmarks.bench_pages import demo

FOLDER = Path(__file__).resolve().parent.parent / "docs/pictures"
SIZE = {"width": 1440, "height": 860}
MOST_BYTES = 80_000
ANSWERS = """\
question,ada,bob,cleo
What is salt?,A mineral.,Salt is salt.,It is white.
Why is the sky blue?,Because of the sea.,Air scatters blue light.,It is.
What do bees make?,Honey.,Honey and wax.,Bees fly.
Why does ice float?,It is less dense than water.,It is cold.,Ice is light.
"""
# The picture's pixels in few colours: how many, the colours, and one number for each pixel.
FEW_COLOURS = """async data => {
  const image = await createImageBitmap(await (await fetch(data)).blob());
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const pixels = context.getImageData(0, 0, image.width, image.height).data;
  for (let bits = 5; ; bits--) {
    const step = 256 >> bits, known = new Map(), sums = [];
    const indices = new Uint8Array(pixels.length / 4);
    for (let i = 0; i < indices.length; i++) {
      const rgb = pixels.subarray(4 * i, 4 * i + 3);
      const key = rgb.reduce((sum, value) => sum * 256 + Math.floor(value / step), 0);
      if (!known.has(key)) { known.set(key, known.size); sums.push([0, 0, 0, 0]); }
      const n = known.get(key);
      if (n > 255) break;
      indices[i] = n;
      sums[n][3]++;
      rgb.forEach((value, channel) => { sums[n][channel] += value; });
    }
    if (known.size > 256) continue;
    const colours = sums.map(s => s.slice(0, 3).map(sum => Math.round(sum / s[3])));
    let text = "";
    for (let i = 0; i < indices.length; i += 8192)
      text += String.fromCharCode(...indices.subarray(i, i + 8192));
    return [colours, btoa(text)];
  }
}"""


def of_board(page: Any) -> None:
    page.goto("/tasks/demo-translation/")


def of_form(page: Any) -> None:
    page.goto("/tasks/demo-translation/submit/")


def of_submission(page: Any) -> None:
    page.goto("/submissions/1/")


def of_files(page: Any) -> None:
    """Read a file in the studio, whose second page says what was recognised."""
    page.goto("/studio/new/")
    file = {"name": "answers.csv", "mimeType": "text/csv", "buffer": ANSWERS.encode()}
    page.set_input_files("main input[type=file]", file)
    page.fill("[name=title]", "School answers")
    on(page)


def of_questions(page: Any) -> None:
    of_files(page)
    on(page)
    page.fill("[name=question_1]", "The answer is correct.")
    page.click("main button[name=again]")


def of_people(page: Any) -> None:
    of_questions(page)
    on(page)


def on(page: Any) -> None:
    page.click("main button.main >> nth=0")
    page.wait_for_load_state("networkidle")


class Picture(NamedTuple):
    """Whose page it shows, which address that begins at, and how to get there."""

    who: str | None
    begins: str
    open: Callable[[Any], None]


PICTURES = {
    "board": Picture(None, "/tasks/demo-translation/", of_board),
    "submit": Picture("sam", "/tasks/demo-translation/submit/", of_form),
    "submission": Picture("sam", "/submissions/1/", of_submission),
    "studio-files": Picture("admin", "/studio/new/", of_files),
    "studio-questions": Picture("admin", "/studio/new/", of_questions),
    "studio-people": Picture("admin", "/studio/new/", of_people),
}


def take(browser: Any, site: str, name: str, cookies: list[dict[str, str]]) -> None:
    """Take one picture and write it."""
    picture = PICTURES[name]
    context = browser.new_context(viewport=SIZE, color_scheme="light", base_url=site)
    context.add_cookies(cookies)
    page = context.new_page()
    picture.open(page)
    page.wait_for_load_state("networkidle")
    shot = "data:image/png;base64," + base64.b64encode(page.screenshot()).decode()
    blank = browser.new_page()
    colours, indices = blank.evaluate(FEW_COLOURS, shot)
    blank.close()
    context.close()
    content = png(colours, base64.b64decode(indices))
    if len(content) > MOST_BYTES:
        raise SystemExit(f"{name}.png has {len(content):,} bytes, over {MOST_BYTES:,}.")
    (FOLDER / f"{name}.png").write_bytes(content)
    print(f"docs/pictures/{name}.png: {len(content):,} bytes", flush=True)


def session(username: str | None, site: str) -> list[dict[str, str]]:
    """Sign somebody in; give the cookie that says so, for visitors none."""
    if username is None:
        return []
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client

    client = Client()
    client.force_login(get_user_model().objects.get(username=username))
    name = settings.SESSION_COOKIE_NAME
    return [{"name": name, "value": client.cookies[name].value, "url": site}]


def png(colours: list[list[int]], indices: bytes) -> bytes:
    """Write a picture of at most 256 colours, one byte a pixel."""
    width, height = SIZE.values()
    rows = (indices[at : at + width] for at in range(0, len(indices), width))
    parts = {
        b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0),
        b"PLTE": bytes(value for colour in colours for value in colour),
        b"IDAT": zlib.compress(b"".join(b"\0" + row for row in rows), 9),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data))
        + kind
        + data
        + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts.items()
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(PICTURES))
    asked = parser.parse_args()
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise SystemExit(f"No browser found (looked for {', '.join(NAMES)}).")
    with ExitStack() as stack:
        site = demo(stack)
        # before Playwright's loop, in which Django refuses its database
        cookies = {name: session(PICTURES[name].who, site) for name in asked.names}
        from playwright.sync_api import sync_playwright

        play = stack.enter_context(sync_playwright())
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        stack.callback(browser.close)
        for name in asked.names:
            take(browser, site, name, cookies[name])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

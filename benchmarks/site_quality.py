r"""Checks published pages with axe-core and Lighthouse: `python -m benchmarks.site_quality`.

    npm install axe-core lighthouse@12
    python -m benchmarks.site_quality DOCS --axe node_modules/axe-core/axe.min.js \
        --lighthouse node_modules/.bin/lighthouse

DOCS is a repository of documentation in the platform's Git format; without it, the pages are those of the sample. Both
programs come from npm and are no part of the project. Pages are taken evenly from the sitemap.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path

import httpx
from tests.cli.built_site import publish_documentation
from tests.cli.shell import Shell, signed_in
from tests.needs import require
from tests.running_service import RunningService, running_service
from tests.service.browser import Browser

WIDTHS, SCHEMES = (1280, 390), ("light", "dark")
RUN = "axe.run().then(found => { window.found = found.violations.map(one => [one.id, one.nodes.length]); })"


def addresses(service: RunningService, shell: Shell, docs: Path | None) -> list[str]:
    """Publish a site. Returns the URLs of its pages."""
    name = publish_documentation(service, shell, docs) if docs else "Tallowick Docs"
    shown = shell.json("site", "show", name)
    own = f"{service.base_url}/docs/{shown['basename'] or shown['id']}/"
    sitemap = httpx.get(f"{own}sitemap.xml").text
    urls = re.findall("<loc>([^<]*)</loc>", sitemap)
    return [own + url.removeprefix(urls[0]) if not url.startswith(own) else url for url in urls]


def violations(urls: list[str], axe: str, folder: Path) -> Counter[str]:
    """Return the number of views (a page with a width and a theme) that have each violation."""
    counts: Counter[str] = Counter()
    with closing(Browser(folder)) as browser:
        for url in urls:
            for width in WIDTHS:
                for scheme in SCHEMES:
                    browser.open(url, width, scheme=scheme)
                    browser.value(f"{axe};0")
                    browser.value(f"{RUN};0")
                    browser.wait("window.found")
                    counts.update(name for name, _ in browser.value("window.found"))
    return counts


def scores(url: str, lighthouse: Path) -> str:
    """Return the scores of a page in Lighthouse's categories, out of 100."""
    command = [lighthouse.absolute(), url, "--quiet", "--output=json", "--chrome-flags=--headless=new --no-sandbox"]
    environment = os.environ | {"CHROME_PATH": str(require("chromium"))}
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    classes = json.loads(ran.stdout)["categories"]
    return ", ".join(f"{name} {round(category['score'] * 100)}" for name, category in classes.items())


def main() -> None:
    """Print the results of both programs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("docs", nargs="?", type=Path)
    parser.add_argument("--pages", type=int, default=50, help="number of pages for axe")
    parser.add_argument("--axe", type=Path)
    parser.add_argument("--lighthouse", type=Path)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        running_service(Path(name), sample=True) as service,
        httpx.Client(timeout=60) as http,
    ):
        folder = Path(name)
        urls = addresses(service, signed_in(folder / "home", service), options.docs)
        sizes = {url: len(http.get(url).content) for url in urls}
        by_size = sorted(urls, key=lambda url: sizes[url])
        if options.axe:
            sample = urls[:: max(1, len(urls) // options.pages)][: options.pages]
            views = len(sample) * len(WIDTHS) * len(SCHEMES)
            counts = violations(sample, options.axe.read_text("utf-8"), folder / "browser")
            print(f"axe: {len(sample)} pages, {views} views: {dict(counts) or 'no violation'}", flush=True)
        if options.lighthouse:
            for title, url in (("usual", by_size[len(by_size) // 2]), ("largest", by_size[-1])):
                print(
                    f"Lighthouse, {title} page of {sizes[url]:,} bytes: {scores(url, options.lighthouse)}", flush=True
                )


if __name__ == "__main__":
    main()

"""Times the checks of a site of 20 spaces and 5,000 pages, compared with reading the same pages from the store.

Usage: python -m benchmarks.site_checks [--rounds N]. Fills a store in a directory of its own, without a service; then,
in turn: reads every page, checks the site with nothing known of the texts, and checks it as the next run of the program
does, which finds in the store what is known. Then one page changes, and the site is checked again: only that page is
read. Medians in milliseconds of the clock and of the processor, and their ratios to reading.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, time
from typing import Any

from presscheck.api.change_requests import ListChangeRequests
from presscheck.api.content import ListPages
from presscheck.api.operation import Operation
from presscheck.api.site_settings import GetAdaptiveSchema, ListRedirects
from presscheck.api.site_structure import GetSiteStructure
from presscheck.api.sites import GetSite, ListSites
from presscheck.api.spaces import GetSpace
from presscheck.client.request_priority import RequestContext
from presscheck.documents.sites.checks import check_site
from presscheck.engine.engine import Engine
from presscheck.engine.publish.site_content import FACTS, SiteReader
from presscheck.engine.shared_calls import live_page
from presscheck.errors import NotFound
from presscheck.store.cache import Cache
from presscheck.store.outbox import Outbox

SPACES, PAGES, REQUESTS = 20, 250, 10
PLAIN, COLD = "every page read from the store", "checked, nothing known of the texts"
NEXT, AGAIN = "checked by the next run of the program", "checked again, one page changed"
WORDS = "Say where the keyring is, and what to do [without one](page-{number}.md). "


BLOCKS = (
    '{% hint style="info" %}\nIt stays on this machine.\n{% endhint %}',
    '<figure><img src="keyring.png" alt="A keyring"><figcaption></figcaption></figure>',
    "![A keyring](keyring.png) and `presscheck login`",
)
"""Blocks that the checks examine more closely; every second page has one of them."""


def text(space: int, page: int, version: int) -> str:
    """Return the text of a page, about three kilobytes."""
    paragraphs = [WORDS.format(number=(page + step) % PAGES) * 5 for step in range(8)]
    paragraphs += [BLOCKS[page // 2 % len(BLOCKS)]] if page % 2 else []
    return f"# Page {page} of {space}\n\n" + "\n\n".join(paragraphs) + f"\n\n```sh\nversion {version}\n```\n"


class Answers:
    """A client that answers from memory and counts the pages that are read; one page can change."""

    def __init__(self) -> None:
        self.versions: dict[tuple[int, int], int] = {}
        self.bodies: dict[tuple[str, str], bytes] = {}
        self.pages_read = 0

    @property
    def version(self) -> str:
        """The version of the content."""
        return str(sorted(self.versions.items()))

    def tree(self, space: int) -> list[dict[str, Any]]:
        """Return the pages of a space."""
        return [self.page(space, page) for page in range(PAGES)]

    def page(self, space: int, page: int) -> dict[str, Any]:
        """Return a page without its text."""
        version = self.versions.get((space, page), 0)
        names = {"id": f"p{page}", "title": f"Page {page}", "slug": f"page-{page}", "path": f"page-{page}"}
        return {**names, "type": "document", "description": "About it", "documentId": f"d{space}-{page}-{version}"}

    def space(self, space: int) -> dict[str, Any]:
        """Return a space, whose revision changes with its pages."""
        revision = sum(version for (changed, _), version in self.versions.items() if changed == space)
        names = {"object": "space", "id": f"s{space}", "title": f"Space {space}", "revision": f"r{space}-{revision}"}
        return {**names, "changeRequestsOpen": REQUESTS}

    def body(self, call: Operation[Any]) -> Mapping[str, Any]:
        """Return the response to an operation as data."""
        given = call.given()
        site = {"id": "w1", "title": "Docs", "published": False, "siteSpaces": SPACES}
        if isinstance(call, GetSite):
            return site
        if isinstance(call, GetSiteStructure):
            items = [
                {"object": "site-space", "id": f"i{n}", "path": f"s{n}", "space": self.space(n), "default": n == 0}
                for n in range(SPACES)
            ]
            return {"type": "siteSpaces", "structure": items}
        if isinstance(call, ListSites):
            return {"items": [site]}
        if isinstance(call, ListRedirects):
            return {"items": []}
        if isinstance(call, GetAdaptiveSchema):
            raise NotFound("no schema", request=str(call), status=404)
        space = int(str(given.get("space_id", "s0"))[1:])
        if isinstance(call, GetSpace):
            return self.space(space)
        if isinstance(call, ListChangeRequests):
            return {"items": [{"id": f"c{n}", "number": n, "outdated": n % 2 == 0} for n in range(REQUESTS)]}
        if isinstance(call, ListPages):
            return {"pages": self.tree(space)}
        if "page_id" in given:
            page = int(str(given["page_id"])[1:])
            version = self.versions.get((space, page), 0)
            return {**self.page(space, page), "markdown": text(space, page, version)}
        return {"items": []}

    async def fetch(self, call: Operation[Any], context: RequestContext | None = None) -> bytes:
        """Return the response as bytes. It is cached for each version, so that its creation is not measured."""
        key = (call.key(), self.version)
        if key not in self.bodies:
            self.bodies[key] = json.dumps(self.body(call)).encode()
        if "page_id" in call.given():
            self.pages_read += 1
        return self.bodies[key]

    async def download(self, call: Operation[Any], url: str, limit: int | None = None) -> bytes:
        """There are no files."""
        raise NotImplementedError

    async def visit(self, call: Operation[Any], url: str) -> int:
        """There are no published pages."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """There is no connection."""


def read_pages(engine: Engine) -> None:
    """Read every page from the store."""
    for space in range(SPACES):
        for page in range(PAGES):
            known = engine.known(live_page(f"s{space}", f"p{page}"))
            assert known and known.value.markdown


async def check(reader: SiteReader) -> None:
    content = await reader.read("o1", "w1")
    findings = await asyncio.to_thread(check_site, content)
    assert sum(len(space.facts) for space in content.spaces) == SPACES * PAGES
    assert {finding.severity for finding in findings} <= {"info"}, findings[:3]


def forget(cache: Cache) -> None:
    """Remove all facts about texts from the store."""
    for space in range(SPACES):
        cache.keep(f"{FACTS} s{space}", json.dumps({"pages": {}}).encode(), time())


async def timed(engine: Engine, work: Callable[[], Awaitable[None] | None]) -> tuple[float, float]:
    """Return the elapsed time and the processor time of all threads, in milliseconds."""
    while not engine.is_index_settled:  # noqa: ASYNC110  # it ends in its own time
        await asyncio.sleep(0.1)
    started, used = perf_counter(), process_time()
    waiting = work()
    if waiting is not None:
        await waiting
    return (perf_counter() - started) * 1000, (process_time() - used) * 1000


async def compare(home: Path, rounds: int) -> None:
    """Print the medians."""
    answers = Answers()
    engine = Engine(lambda: answers, Cache(home / "cache.sqlite"), Outbox(home / "outbox.sqlite"))
    await engine.start()
    for space in range(SPACES):
        for page in range(PAGES):
            call = live_page(f"s{space}", f"p{page}")
            await engine.keep(call, await answers.fetch(call))
    while await engine.in_store(lambda cache: cache.search.waiting()):  # noqa: ASYNC110  # each pass does work
        await asyncio.sleep(0.1)
    await check(SiteReader(engine))
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in (PLAIN, COLD, NEXT, AGAIN)}
    for number in range(rounds):
        times[PLAIN].append(await timed(engine, lambda: read_pages(engine)))
        for name in (COLD, NEXT):
            if name == COLD:
                await engine.in_store(forget)
            reader = SiteReader(engine)
            answers.pages_read = 0
            times[name].append(await timed(engine, lambda reader=reader: check(reader)))
            assert answers.pages_read <= 1, "the pages are in the store"
        answers.versions[number % SPACES, number] = number + 1
        answers.pages_read = 0
        times[AGAIN].append(await timed(engine, lambda reader=reader: check(reader)))
        assert answers.pages_read == 1, "only the changed page is read again"
        answers.versions.clear()
    await engine.close()
    plain = [median(column) for column in zip(*times[PLAIN], strict=True)]
    for name, measured in times.items():
        clock, processor = (median(column) for column in zip(*measured, strict=True))
        ratios = f"{clock / plain[0]:8.2f} {processor / plain[1]:8.2f}"
        print(f"{name:48}{clock:8.0f} ms {processor:8.0f} ms of the processor {ratios}")


def main() -> None:
    """Run the comparison in a temporary directory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds: int = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(compare(Path(directory), rounds))


if __name__ == "__main__":
    main()

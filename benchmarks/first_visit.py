"""Times first and repeated visits of published pages: `python -m benchmarks.first_visit [DOCS]`.

DOCS is a repository of documentation in the platform's Git format; without it, the pages are those of the sample. The
service runs in a process of its own. Every round gives the spaces of the site a new revision, as a merge does, and
visits each page on one connection:

- undrawn: at once, while the service has drawn nothing of the new revision;
- first: the first visit after another such change, once the service has been idle for `IDLE` seconds;
- comment: the first visit after a commit that the site does not show, at once;
- warm: the same again.
"""

from __future__ import annotations

import argparse
import http.client
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from sqlalchemy import select
from tests.cli.built_site import publish_documentation
from tests.cli.shell import signed_in
from tests.running_service import running_service

from presscheck.service.content.revisions import add_revision
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import hash_token, moment_text, new_id, system_clock
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.organizations import TokenRow, UserRow
from presscheck.service.models.sites import SiteSpaceRow
from presscheck.service.models.spaces import SpaceRow

IDLE = 4.0
"""Seconds with little processor time after which the service has no pages left to render."""


def prepare(home: Path, docs: Path | None) -> str:
    """Publish a site in a new data directory. Returns the id of the site."""
    with running_service(home, sample=True) as service:
        shell = signed_in(home / "home", service)
        name = publish_documentation(service, shell, docs) if docs else "Tallowick Docs"
        return str(shell.json("site", "show", name)["id"])


@contextmanager
def serving(home: Path) -> Iterator[tuple[str, int]]:
    """Run the service in another process; yields its address and its process id."""
    command = [sys.executable, "-m", "presscheck", "serve", "--port", "0", "--data", str(home)]
    database = f"sqlite:///{home / 'service.sqlite'}"
    with subprocess.Popen([*command, "--database", database], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()


def page_paths(address: str, site: str) -> list[str]:
    """Return the paths of the pages of a site from its sitemap."""
    home = httpx.get(f"{address}/docs/{site}/", follow_redirects=True).url
    urls = re.findall("<loc>([^<]*)</loc>", httpx.get(f"{home}sitemap.xml").text)
    return [urlsplit(url).path for url in urls]


def publish_again(home: Path, site: str) -> None:
    """Give each space of a site a new revision with the same pages."""
    with closing(Database(f"sqlite:///{home / 'service.sqlite'}")) as database, database.writing.begin() as session:
        inside = select(SiteSpaceRow.space_id).where(SiteSpaceRow.site_id == site)
        for space in session.scalars(select(SpaceRow).where(SpaceRow.id.in_(inside))):
            live = session.get_one(RevisionRow, space.revision_id)
            now = moment_text(system_clock())
            space.revision_id = add_revision(
                session,
                space.id,
                live.tree,
                created_at=now,
                created_by=None,
                files=live.files,
                reusable_contents=live.reusable_contents,
                variables=live.variables,
            )


def commit(home: Path) -> None:
    """Commit a change that no site shows: a new token."""
    with closing(Database(f"sqlite:///{home / 'service.sqlite'}")) as database, database.writing.begin() as session:
        user, now = session.scalars(select(UserRow.id)).first(), moment_text(system_clock())
        assert user
        session.add(TokenRow(sha256=hash_token(new_id()), user_id=user, created_at=now))


def wait_until_idle(process: int) -> None:
    """Wait until the service has hardly used the processor for `IDLE` seconds."""
    clock = (~process << 3) | 2  # Linux: the processor time of another process, all threads
    previous = -1.0
    while (now := time.clock_gettime(clock)) - previous > IDLE / 40:
        previous = now
        time.sleep(IDLE)


def visits(address: str, paths: list[str]) -> list[float]:
    """Visit each page. Returns the times in milliseconds."""
    place = urlsplit(address)
    times: list[float] = []
    with closing(http.client.HTTPConnection(place.hostname or "", place.port)) as connection:
        connection.connect()
        for path in paths:
            start = time.perf_counter()
            connection.request("GET", path, headers={"accept-encoding": "gzip"})
            response = connection.getresponse()
            response.read()
            times.append((time.perf_counter() - start) * 1e3)
            if response.status != 200:
                raise SystemExit(f"{path}: {response.status}")
    return times


def main() -> None:
    """Measure the visits and print the medians."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("docs", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    times_by_kind: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        site = prepare(home, options.docs)
        with serving(home) as (address, process):
            paths = page_paths(address, site)
            visits(address, paths)
            for _ in range(options.rounds):
                publish_again(home, site)
                times_by_kind.setdefault("undrawn", []).extend(visits(address, paths))
                publish_again(home, site)
                wait_until_idle(process)
                times_by_kind.setdefault("first", []).extend(visits(address, paths))
                commit(home)
                times_by_kind.setdefault("comment", []).extend(visits(address, paths))
                times_by_kind.setdefault("warm", []).extend(visits(address, paths))
    warm = statistics.median(times_by_kind["warm"])
    print(f"{len(paths)} pages, {options.rounds} rounds, load {os.getloadavg()[0]:.1f}")
    for kind, times in times_by_kind.items():
        median, late = statistics.median(times), sorted(times)[len(times) * 95 // 100]
        print(f"{kind:8} {median:6.2f} ms, p95 {late:7.2f} ms; {median / warm:5.2f} × warm")


if __name__ == "__main__":
    main()

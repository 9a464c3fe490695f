"""Redirects without a service: reading tables, planning imports, problems by line, and following paths."""

import asyncio
from types import SimpleNamespace
from typing import Any

from tests.engine.live_engine import until

from presscheck.api.content import RevisionPage
from presscheck.api.operation import Operation
from presscheck.api.site_settings import Redirect, RedirectTarget
from presscheck.api.site_structure import SiteSection, SiteSpace, SiteStructure
from presscheck.api.sites import Site, SiteUrls
from presscheck.api.spaces import Space
from presscheck.engine.connection import Status
from presscheck.engine.publish.redirects import (
    MAX_ROWS,
    RedirectMap,
    plan_import,
    read_table,
    send_changes,
    write_table,
)
from presscheck.engine.publish.site_structure import SitePaths
from presscheck.engine.writes.pending_writes import PendingWrite

PATH = {"organization_id": "o", "site_id": "s"}
SITE = Site(id="s", urls=SiteUrls(published="https://docs.example/docs/"))
SPACE = Space(id="guides", title="Guides")
PAGES = (RevisionPage(id="p1", title="Start", path="start"), RevisionPage(id="p2", title="Über", path="über"))
PATHS = SitePaths(
    SITE,
    SiteStructure(type="siteSpaces", structure=(SiteSpace(id="i1", path="guides", space=SPACE),)),
    {"guides": PAGES},
)


def page(source: str, page_id: str) -> Redirect:
    return Redirect(
        id=source, source=source, destination=RedirectTarget(kind="site-page", site_space_id="i1", page_id=page_id)
    )


def outside(source: str, url: str) -> Redirect:
    return Redirect(id=source, source=source, destination=RedirectTarget(kind="external", url=url))


def planned(table: str, *present: Redirect) -> list[tuple[int, str, str | None]]:
    rows, problems = read_table(table.encode())
    assert not problems
    plan = plan_import(PATH, rows, RedirectMap(present, PATHS))
    assert not plan.problems, plan.problems
    return [
        (change.line, type(change.call).__name__, change.call.destination.page_id or change.call.destination.url)  # type: ignore[attr-defined]
        for change in plan.changes
    ]


def problems_of(table: bytes) -> list[str]:
    rows, problems = read_table(table)
    found = problems or plan_import(PATH, rows, RedirectMap((page("/kept", "p1"),), PATHS)).problems
    return [str(problem) for problem in found]


def test_tables_from_spreadsheets_are_read() -> None:
    wanted = [(2, "CreateRedirect", "p1"), (3, "CreateRedirect", "p2")]
    assert (
        planned("\ufeffSource;Destination;Note\n/a;/guides/start;x\n/b;https://docs.example/docs/guides/über;\n")
        == wanted
    )
    rows, _ = read_table("old\tnew\r\n/a\t/guides/start\r\n".encode("utf-16"))
    assert [(row.line, row.source) for row in rows] == [(2, "/a")]
    assert planned('"/a","https://example.org/""x"",y"\n') == [(1, "CreateRedirect", 'https://example.org/"x",y')]


def test_existing_redirects_are_not_sent_again_and_importing_an_export_changes_nothing() -> None:
    present = (page("/a", "p1"), page("/gone", "p9"), outside("/c", "https://example.org/"))
    assert planned("/a,/guides/start\n/c,/guides/start\n", *present) == [(2, "UpdateRedirect", "p1")]
    known = RedirectMap(present, PATHS)
    rows, problems = read_table(write_table(known).encode())
    assert not problems
    assert plan_import(PATH, rows, known).changes == ()
    assert "page:i1/p9" in write_table(RedirectMap(present, PATHS))


def test_problems_name_their_lines() -> None:
    assert problems_of(b"/a,/b\n\n/b,/kept\n/kept,/a\n") == [
        "line 1: redirect loop: /a \u2192 /b \u2192 /kept \u2192 /a",
        "line 3: redirect loop: /b \u2192 /kept \u2192 /a \u2192 /b",
        "line 4: redirect loop: /kept \u2192 /a \u2192 /b \u2192 /kept",
    ]
    assert problems_of(b"/a,/guides/start\n/a/,/guides/start\n") == ["line 2: /a/ is a source at line 1 already"]
    assert problems_of(b"source,destination\n/a\n") == ["line 2: a source and a destination are needed"]
    assert problems_of(b"/a,/guides/start\n\xff,/b\n") == ["line 2: not UTF-8: save the table as \u201cCSV UTF-8\u201d"]
    assert problems_of(b"/a,page:i1/nope\n") == ["line 1: page:i1/nope: nothing in the site has this id"]
    many = "".join(f"/{number},/guides/start\n" for number in range(MAX_ROWS + 1)).encode()
    assert problems_of(many) == [f"line {MAX_ROWS + 1:,}: more than {MAX_ROWS:,} redirects: split the table"]


def test_a_path_is_followed_to_its_end() -> None:
    inside = "https://docs.example/docs"
    known = RedirectMap(
        (
            page("/a", "p1"),
            outside("/b", f"{inside}/a"),
            outside("/x", f"{inside}/y"),
            outside("/y", f"{inside}/x"),
            page("/gone", "p9"),
            outside("/away", "https://example.org/"),
        ),
        PATHS,
    )
    ends = {path: known.trail(path).end for path in ("/guides/%C3%BCber", "/b", "/x", "/gone", "/away", "/no")}
    assert list(ends.values()) == ["page", "page", "loop", "nothing", "address", "nothing"]
    assert known.trail("/b").steps == ("/b", "/a", "/guides/start")
    assert known.problem(known.by_source["/b"]) == "chain of 2"


def test_paths_with_the_names_of_default_parts_lead_to_their_pages() -> None:
    item = SiteSpace(id="i1", path="guides", space=SPACE, default=True)
    section = SiteSection(id="s1", title="Learn", path="learn", default=True, site_spaces=(item,))
    paths = SitePaths(SITE, SiteStructure(type="sections", structure=(section,)), {"guides": PAGES})
    for path in ("/start", "/learn/start", "/learn/guides/start", "/guides/start"):
        place = paths.at(path)
        assert place and place.path == "/start"
    assert paths.at("/other/start") is None
    assert [problem for table in ("/a,/learn\n", "/a,/learn/nothing\n") for problem in problems_in(table, paths)] == [
        "line 1: /learn/nothing: no page of the site has this path"
    ]


def problems_in(table: str, paths: SitePaths) -> list[str]:
    rows, _ = read_table(table.encode())
    return [str(problem) for problem in plan_import(PATH, rows, RedirectMap((), paths)).problems]


async def test_import_ends_when_the_connection_is_lost() -> None:
    """Changes that are not sent stay in the outbox."""
    outcomes: list[asyncio.Future[Any]] = []

    def write(call: Operation[Any]) -> PendingWrite[Any]:
        outcomes.append(asyncio.get_running_loop().create_future())
        return PendingWrite(len(outcomes), call, outcomes[-1])

    engine: Any = SimpleNamespace(status=Status(), write=write, waiting=tuple)
    rows, _ = read_table(b"/a,https://example.org/\n/b,https://example.org/\n/c,https://example.org/\n")
    changes = plan_import(PATH, rows, RedirectMap((), PATHS)).changes
    importing = asyncio.ensure_future(send_changes(engine, changes, lambda _: None))
    await until(lambda: len(outcomes) == 3)
    outcomes[0].set_result(None)
    engine.status = Status(online=False)
    receipt = await asyncio.wait_for(importing, 10)
    assert receipt.summary == "1 sent, 2 pending in the outbox"

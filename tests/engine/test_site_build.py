"""Parts of a static copy of a site: file names, URLs in pages, the search index and redirects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.engine.live_engine import running_engine
from tests.running_service import RunningService
from tests.table import each_case

from presscheck.api.organizations import ListOrganizations
from presscheck.api.sites import ListSites
from presscheck.client.responses import Reply
from presscheck.engine.site_build.build_folder import MARKER, BuildFolder
from presscheck.engine.site_build.redirect_files import StaticRedirect, redirect_files, redirect_page
from presscheck.engine.site_build.references import (
    Reference,
    SiteUrls,
    replace_in_html,
    replace_in_styles,
    replace_in_text,
    without_service_parts,
)
from presscheck.engine.site_build.safe_names import SafeNames, is_safe
from presscheck.engine.site_build.search_index import MAX_PART, IndexedPage, index_files
from presscheck.engine.site_build.site_build import build_site
from presscheck.engine.site_build.site_copy import SiteReader
from presscheck.errors import ChangedSince, InvalidArgument


@pytest.mark.attack("path traversal")
@each_case(
    "name",
    [
        "..",
        ".",
        "",
        ".htaccess",
        "CON",
        "nul.txt",
        "com1",
        "a:b",
        "a\\b",
        "a?",
        "end.",
        "end ",
        "x" * 201,
        "ü" * 101,
        "a\nb",
        "\udc80",
    ],
)
def test_name_that_some_systems_cannot_store_is_replaced(name: str) -> None:
    names = SafeNames()
    folder, file = names.folder(f"guide/{name}"), names.file(f"guide/{name}/picture.png")
    assert not is_safe(name) and is_safe(folder.removeprefix("guide/"))
    assert file == f"{folder}/picture.png"
    assert names.folder(f"guide/{name}") == folder
    assert SafeNames().folder(f"guide/{name}") == folder, "the same in each build"


def test_names_that_differ_in_case_alone_are_different_files() -> None:
    names = SafeNames()
    paths = ["Guide", "guide", "GUIDE", "straße", "strasse"]
    folders = [names.folder(path) for path in paths]
    assert folders[0] == "Guide"
    assert len({folder.casefold() for folder in folders}) == len(paths)
    assert names.file("guide.md") == "guide.md" and names.file("Guide.md") != "Guide.md"
    assert names.file("Guide") not in folders, "a file is not where a folder is"


def test_urls_in_attributes_are_replaced_and_text_stays() -> None:
    html = (
        '<p title="/docs/x/a">/docs/x/a <a href="/docs/x/a?b=1&amp;c=2#d">A &lt;a href=&quot;/docs/x/a&quot;></a>'
        '<img src="/docs/x/~files/i.png" srcset="/docs/x/1.png 1x, /docs/x/2.png 2x" alt="/docs/x/a">'
        '<meta property="og:url" content="http://h/docs/x/a"><a href="#here">'
        '<link rel="alternate" hreflang="de" href="http://h/docs/x/de/a">'
    )
    seen: list[Reference] = []

    def replaced(reference: Reference) -> str | None:
        seen.append(reference)
        return None if reference.is_about_page else f"new?{len(seen)}&x"

    assert replace_in_html(html, replaced) == (
        '<p title="/docs/x/a">/docs/x/a <a href="new?1&amp;x">A &lt;a href=&quot;/docs/x/a&quot;></a>'
        '<img src="new?2&amp;x" srcset="new?3&amp;x 1x, new?4&amp;x 2x" alt="/docs/x/a">'
        '<a href="#here">'
    )
    assert [reference.url for reference in seen[:2]] == ["/docs/x/a?b=1&c=2#d", "/docs/x/~files/i.png"]
    assert replace_in_styles("a{b:url(/x.woff2)} c{d:url('y.png')}", str.upper) == (
        'a{b:url("/X.WOFF2")} c{d:url("Y.PNG")}'
    )


def test_urls_in_text_are_recognized_up_to_their_ends() -> None:
    text = "[a](http://h/docs/x/a#b) <http://h/docs/x/>, http://h/docs/x/c. `http://h/docs/x/d` http://h/docs/xy/"
    assert replace_in_text(text, "http://h/docs/x/", lambda url: url.replace("http://h/docs/x/", "/")) == (
        "[a](/a#b) </>, /c. `/d` http://h/docs/xy/"
    )


def test_only_urls_of_the_service_have_a_path() -> None:
    urls = SiteUrls("http://h:1", "/docs/x/")
    assert urls.path_of("http://h:1/docs/x/a%20b?c#d") == ("/docs/x/a b", "?c#d")
    assert urls.path_of("/docs/x/") == ("/docs/x/", "")
    assert [urls.path_of(url) for url in ("//h/x", "http://h:12/x", "x", "https://h:1/x")] == [None] * 4


def test_forms_and_scripts_that_need_the_service_are_left_out() -> None:
    html = (
        '<script src="/assets/site-1.js" defer></script><script src="/scripts/a" defer></script>'
        '<form class="f" method="post" action="/docs/x/~feedback"><p>Helpful?</p></form><form method="get"></form>'
    )
    menu = (
        '<li hidden><button data-copies="http://h/docs/x/~gitbook/mcp" data-is-text>Copy</button></li>\n'
        '<li class="url">http://h/docs/x/~gitbook/mcp</li>\n<li><a href="/docs/x/a.pdf">PDF</a></li>\n'
    )
    stays = '<li><a href="/docs/x/~files/1/a.pdf">A</a></li><li><a href="https://e/a.pdf">A</a></li>'
    urls = SiteUrls("http://h", "/docs/x/")
    assert without_service_parts(html + menu + stays, urls, lambda url: url.startswith("/assets/")) == (
        '<script src="/assets/site-1.js" defer></script><form method="get"></form>' + stays
    )


@pytest.mark.attack("scripts in content")
def test_hostile_redirects_stay_one_redirect_in_each_format() -> None:
    source, target = 'a "b";} $x\n/evil /y 200', 'https://e.example/"><script>$y'
    files = redirect_files([StaticRedirect(source, target)], "/")
    assert len(files["_redirects"].splitlines()) == 1
    assert json.loads(files["vercel.json"])["redirects"][0]["destination"] == target
    assert '    "/a \\"b\\";} $x/evil /y 200" "https://e.example/%22><script>%24y";' in files["redirects.nginx.conf"]
    assert "<script" not in redirect_page(target)


def test_large_indexes_are_divided_by_section() -> None:
    def page(section: str, words: int) -> IndexedPage:
        return IndexedPage("Title", "a/", "", section, (), "", f"## Head\n\n{'word ' * words}\n")

    small = index_files([page("A", 10), page("B", 10)])
    assert [*small] == ["pages.json", "texts-0.json"]
    assert json.loads(small["texts-0.json"])[1][1][1] == ["Head", "head", ("word " * 10).strip()]
    large = index_files([page("A", 15_000) for _ in range(20)] + [page("B", 10), page("C", 15_000)])
    assert all(len(text.encode()) <= MAX_PART for text in large.values())
    parts = [json.loads(text) for name, text in large.items() if name.startswith("texts")]
    assert [len(part) for part in parts] == [13, 7, 1, 1]
    assert json.loads(large["pages.json"])["texts"] == [f"texts-{number}.json" for number in range(4)]


def test_a_folder_belongs_to_one_site(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    first = BuildFolder(folder, "first", may_replace=False)
    with first.temporary() as temporary:
        (temporary / "built").mkdir()
        (temporary / "built" / "a.html").write_text("a")
        assert first.install(temporary / "built") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert json.loads((folder / MARKER).read_text()) == {"site": "first", "complete": True, "files": ["a.html"]}
    with pytest.raises(InvalidArgument, match="a build of another site"):
        BuildFolder(folder, "second", may_replace=True)
    with pytest.raises(InvalidArgument, match="Pass --replace"):
        BuildFolder(folder, "first", may_replace=False)
    (folder / MARKER).write_text("{")
    with pytest.raises(InvalidArgument, match="is not empty"):
        BuildFolder(folder, "first", may_replace=True)


async def test_copy_contains_linked_pages_and_loaded_files(tmp_path: Path) -> None:
    pages = {
        "/docs/x/": '<a href="/docs/x/a?b#c"></a><a href="/docs/other/"></a><img src="/files/i.png">',
        "/docs/x/a": '<link rel="stylesheet" href="/assets/s.css"><a href="/docs/x/gone"></a>',
        "/assets/s.css": "a { src: url(fonts/f.woff2) }",
        "/assets/fonts/f.woff2": "font",
        "/files/i.png": "picture",
    }
    asked: list[str] = []

    async def read(url: str) -> Reply:
        path = url.removeprefix("http://h").replace("?q=", "search")
        asked.append(path)
        if path == "/docs/x/moved":
            return Reply(307, {"location": "/docs/x/a"}, b"")
        kind = "text/css" if path.endswith(".css") else "text/html" if path.startswith("/docs") else "image/png"
        return Reply(200 if path in pages else 404, {"content-type": kind}, pages.get(path, "").encode())

    reader = SiteReader(SiteUrls("http://h", "/docs/x/"), read, tmp_path, lambda done, known: None)
    copy = await reader.copy(["moved", "gone"])
    assert {*copy.files} == {*pages, "/docs/x/moved", "/docs/x/~404"}, "and not /docs/other/"
    assert copy.files["/docs/x/moved"].target == "http://h/docs/x/a"
    assert len(asked) == len({*asked}), "each is read once"


@pytest.mark.service(sample=True)
async def test_a_site_that_changes_during_the_build_is_not_written(service: RunningService, tmp_path: Path) -> None:
    async with running_engine(service, tmp_path / "home") as engine:
        owner = (await engine.read(ListOrganizations())).items[0]
        site = next(one for one in (await engine.read(ListSites(organization_id=owner.id))).items if one.published)
        read, indexes = engine.read_page, 0

        async def changing(call: object, url: str) -> Reply:
            nonlocal indexes
            reply = await read(call, url)
            indexes += url.endswith("/index.json")
            return Reply(reply.status, reply.headers, reply.body + b" ") if indexes == 2 else reply

        folder = BuildFolder(tmp_path / "out", site.id, may_replace=False)
        engine.read_page = changing
        with pytest.raises(ChangedSince, match="Run it again"):
            await build_site(engine, site, owner.id, folder, None, lambda done, known: None)
        assert not (tmp_path / "out").exists()
        engine.read_page = read
        assert (await build_site(engine, site, owner.id, folder, None, lambda done, known: None)).pages > 30

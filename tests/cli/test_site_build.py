"""`presscheck site build` against the real service: files equal the served pages, and other files are kept."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from fcntl import LOCK_EX, flock
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from tests.cli.built_site import (
    BASE,
    BuiltSite,
    ServedSite,
    assert_equal,
    contents,
    lost_fragments,
    publish_documentation,
    raw_texts,
)
from tests.cli.shell import Shell, signed_in
from tests.generated_docs.documentation import Documentation
from tests.running_service import RunningService
from tests.service.browser import Browser
from tests.service.markup import markup_mistakes

SITE = "Tallowick Docs"
MARKER = ".presscheck-site.json"
QUERIES = ("events", "how do i retrun", '"pick-up and"', "zzzz", "")
"""A word, a question with a typo, a phrase, a query without results, and an empty query."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, shared_service: Callable[..., RunningService]) -> str:
    """A published site of five pages, for tests that do not depend on the pages: it builds in a quarter of the time."""
    shell = signed_in(tmp_path_factory.mktemp("home"), shared_service(sample=True))
    site = shell.ok("site", "create", "--title", "Small").strip()
    shell.ok("site", "add", site, "--space-id", "handbook")
    shell.ok("site", "publish", site, "--yes")
    return site


def build(shell: Shell, *words: str) -> tuple[int, str, str]:
    ran = shell.run("site", "build", *words)
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return ran.exit_code, ran.stdout, ran.stderr


def address(service: RunningService, shell: Shell, site: str = SITE) -> str:
    """Return the URL of a site at the service, even if the site has its own host."""
    shown = shell.json("site", "show", site)
    return f"{service.base_url}/docs/{shown['basename'] or shown['id']}/"


@contextmanager
def served(service: RunningService, shell: Shell, site: str = SITE) -> Iterator[ServedSite]:
    with closing(ServedSite(address(service, shell, site))) as one:
        yield one


@contextmanager
def hosted(folder: Path) -> Iterator[str]:
    """Serve a folder with a plain web server. Yields its URL."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


class QuietHandler(SimpleHTTPRequestHandler):
    """A handler without a log."""

    def log_message(self, *_: object) -> None:
        """Print no log."""


@pytest.mark.slow
def test_machine_readable_files_equal_the_served_ones(service: RunningService, shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    numbers = json.loads(build(shell, SITE, str(folder), "--base-url", BASE, "--json")[1])
    files = contents(folder)
    assert numbers["files"] == len(files) - 1, "the marker is no file of the site"
    with served(service, shell) as site:
        assert numbers["pages"] > 30
        for name in ("llms.txt", "index.json", "sitemap.xml", "llms-full.txt", "going-live.md"):
            text, page = files[name].decode(), site.get(site.url + name).text
            assert site.url not in text and BASE in text
            page = re.sub(r'"mcp": "[^"]*", |> Search [^\n]* MCP: [^\n]*\n', "", page)
            is_equal = re.sub(r"https?://[^\s\"<>)]*", "", text) == re.sub(r"https?://[^\s\"<>)]*", "", page)
            assert is_equal, name
    assert f"<loc>{BASE}going-live/</loc>" in files["sitemap.xml"].decode()
    assert f"Sitemap: {BASE}sitemap.xml" in files["robots.txt"].decode()
    assert f'<link rel="canonical" href="{BASE}going-live/">' in files["going-live/index.html"].decode()
    assert 'href="/manual/"' in files["404.html"].decode(), "it is shown for any path"
    assert b"/mcp" not in files["llms.txt"] + files["index.json"], "agents have no endpoint there"
    assert b"127.0.0.1" not in b"".join(body for name, body in files.items() if name.endswith((".html", ".md")))


@pytest.mark.slow
@pytest.mark.documentation("handbook")
def test_build_of_documentation_equals_the_served_pages_and_has_all_anchors(
    documentation: Documentation, service: RunningService, shell: Shell, tmp_path: Path
) -> None:
    """Pages show no raw tags and are valid HTML."""
    site = publish_documentation(service, shell, documentation.directory, documentation.name)
    code, _, err = build(shell, site, str(tmp_path / "out"), "--base-url", BASE)
    assert code == 0, err
    built = BuiltSite(tmp_path / "out")
    with served(service, shell, site) as one:
        assert assert_equal(built, one) > 5
    assert not raw_texts(built)
    assert not [*lost_fragments(built)]
    assert not [(path, mistakes) for path, html in built.pages.items() if (mistakes := markup_mistakes(html))]


@pytest.mark.slow
def test_builds_are_reproducible_and_a_rebuild_changes_nothing(shell: Shell, small: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert build(shell, small, str(first))[0] == build(shell, small, str(second))[0] == 0
    files = contents(first)
    assert files == contents(second)
    code, out, _ = build(shell, small, str(first), "--replace", "--json")
    assert (code, json.loads(out)["changed"]) == (0, 0)
    assert contents(first) == files
    assert [path.name for path in tmp_path.iterdir() if "build" in path.name] == [], "nothing is left beside"
    assert "sitemap.xml" not in files and b"Sitemap" not in files["robots.txt"], (
        "without a base URL there is no address"
    )
    assert not [name for name, body in files.items() if b'rel="canonical"' in body or b"og:url" in body]
    assert not [name for name, body in files.items() if name.endswith((".html", ".md")) and b"127.0.0.1" in body]


def test_actions_that_need_the_service_are_left_out(shell: Shell, service: RunningService, tmp_path: Path) -> None:
    repository = tmp_path / "docs"
    repository.mkdir()
    (repository / "README.md").write_text("# Home\n\nText.\n")
    site = publish_documentation(service, shell, repository, "Actions")
    looks = shell.json("site", "customization", "show", site)
    looks |= {"pdf": {"enabled": True}, "feedback": {"enabled": True}}
    looks["pageActions"] = {"externalAI": False, "markdown": True, "mcp": True}
    shell.ok("site", "customization", "set", site, "--settings", json.dumps(looks), "--yes")
    page = httpx.get(address(service, shell, site)).text
    assert all(words in page for words in (".pdf", "/mcp", 'method="post"', "View as Markdown"))
    assert build(shell, site, str(tmp_path / "out"))[0] == 0
    files = contents(tmp_path / "out")
    built = files["index.html"].decode()
    assert not [words for words in (".pdf", "/mcp", 'method="post"') if words in built]
    assert '<a href="readme.md">' in built
    assert not [name for name, body in files.items() if b"127.0.0.1" in body]


def test_other_files_are_neither_deleted_nor_replaced(shell: Shell, small: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "CNAME").write_text("docs.example.org")
    code, _, err = build(shell, small, str(folder), "--replace")
    assert (code, "is not empty, and not an earlier build" in err) == (2, True)
    assert contents(folder) == {"CNAME": b"docs.example.org"}
    (folder / "CNAME").unlink()
    assert build(shell, small, str(folder))[0] == 0
    code, _, err = build(shell, small, str(folder))
    assert (code, "Pass --replace" in err) == (2, True)
    (folder / "CNAME").write_text("docs.example.org")
    gone = folder / "gone" / "index.html"
    gone.parent.mkdir()
    gone.write_text("from an earlier build")
    (folder / "gone" / "mine.txt").write_text("mine")
    marker = json.loads((folder / MARKER).read_text())
    outside = tmp_path / "outside.txt"
    outside.write_text("outside")
    marker["files"] += ["gone/index.html", "../outside.txt", str(outside)]
    (folder / MARKER).write_text(json.dumps(marker))
    assert build(shell, small, str(folder), "--replace")[0] == 0
    assert (gone.exists(), (folder / "gone" / "mine.txt").read_text()) == (False, "mine")
    assert ((folder / "CNAME").read_text(), outside.read_text()) == ("docs.example.org", "outside")


@pytest.mark.slow
def test_a_file_in_the_way_stops_the_build_before_anything_changes(shell: Shell, small: str, tmp_path: Path) -> None:
    elsewhere, folder, linked = tmp_path / "elsewhere", tmp_path / "built", tmp_path / "linked"
    elsewhere.mkdir()
    assert build(shell, small, str(folder))[0] == 0
    shutil.copytree(folder, linked)
    marker = json.loads((folder / MARKER).read_text())
    marker["files"] = [name for name in marker["files"] if not name.startswith("words/")]
    (folder / MARKER).write_text(json.dumps(marker))
    (linked / "who" / "index.html").unlink()
    (linked / "who").rmdir()
    (linked / "who").symlink_to(elsewhere)
    for kind in (folder, linked):
        before = contents(kind)
        code, _, err = build(shell, small, str(kind), "--replace")
        assert (code, "is in the way" in err) == (2, True), (kind, code, err)
        assert contents(kind) == before, kind
    assert not [*elsewhere.iterdir()]


@pytest.mark.slow
def test_a_killed_build_is_completed_by_the_next(shell: Shell, small: str, tmp_path: Path) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "out"
    assert build(shell, small, str(whole), "--base-url", BASE)[0] == 0
    assert build(shell, small, str(folder))[0] == 0
    old, new = contents(folder), contents(whole)
    command = [sys.executable, "-c", KILLED, "site", "build", small, str(folder), "--replace", "--base-url", BASE]
    ran = subprocess.run(command, env=shell.environment, capture_output=True, timeout=60)
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    files = contents(folder)
    assert all(body in (old.get(name), new.get(name)) for name, body in files.items() if name != MARKER)
    assert 0 < sum(files[name] != old.get(name) for name in files if name != MARKER) <= MOVED
    assert build(shell, small, str(folder), "--base-url", BASE)[0] == 0
    assert contents(folder) == new
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "home") == ["out", "whole"]


MOVED = 3
"""Number of files that are in place when the build is killed."""


KILLED = f"""
import os, shutil, signal
from presscheck.__main__ import main
left, move = [{MOVED}], shutil.move
def killed(*paths):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    return move(*paths)
shutil.move = killed
main()
"""


def test_concurrent_build_of_the_same_folder_is_an_error(shell: Shell, small: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    beside = tmp_path / ".out.presscheck-build"
    beside.mkdir()
    lock = os.open(beside, os.O_RDONLY)
    flock(lock, LOCK_EX)
    code, _, err = build(shell, small, str(folder))
    assert (code, "another build is writing" in err) == (2, True)
    os.close(lock)
    assert build(shell, small, str(folder))[0] == 0


def test_sites_that_are_not_public_are_rejected(shell: Shell, tmp_path: Path) -> None:
    site = shell.ok("site", "create", "--title", "Limited").strip()
    shell.ok("site", "add", site, "--space-id", "handbook")
    code, _, err = build(shell, site, str(tmp_path / "out"))
    assert (code, "Run `presscheck site publish` first" in err) == (6, True)
    shell.ok("site", "publish", site, "--yes")
    for visibility, words in (("visitor-auth", "has limited access (visitor-auth)"), ("share-link", "--share-link")):
        shell.ok("site", "edit", site, "--visibility", visibility)
        code, _, err = build(shell, site, str(tmp_path / "out"))
        assert (code, words in err) == (6, True)
        assert not (tmp_path / "out").exists()
    url = shell.json("site", "show", site)["urls"]["published"]
    assert build(shell, site, str(tmp_path / "out"), "--share-link")[0] == 0
    files = contents(tmp_path / "out")
    assert b"<article" in files["index.html"]
    key = url.rstrip("/").rpartition("/")[2].encode()
    assert len(key) > 8 and not [name for name, body in files.items() if key in body], "the key is in no file"


def test_hidden_pages_and_redirects_are_part_of_a_build(shell: Shell, tmp_path: Path, service: RunningService) -> None:
    repository = tmp_path / "docs"
    repository.mkdir()
    for name, text in {
        ".gitbook.yaml": "redirects:\n  old/page: other.md\n  older.html: other.md#part\n",
        "README.md": "# Home\n\n[Other](other.md#part) and [none](none.md).\n",
        "other.md": "# Other\n\n## Part\n\nText.\n",
        "secret.md": "---\nhidden: true\n---\n\n# Secret\n\nNobody links here.\n",
        "SUMMARY.md": "* [Home](README.md)\n* [Other](other.md)\n* [Secret](secret.md)\n",
    }.items():
        (repository / name).write_text(text)
    site = publish_documentation(service, shell, repository)
    shell.ok("site", "redirects", "add", site, "/away", "https://elsewhere.example/x")
    assert build(shell, site, str(tmp_path / "out"), "--base-url", BASE)[0] == 0
    files = {name: body.decode() for name, body in contents(tmp_path / "out").items()}
    assert "Nobody links here." in files["secret/index.html"]
    assert not [name for name in ("llms.txt", "index.json", "~search/texts-0.json") if "Secret" in files[name]]
    lines = files["_redirects"].splitlines()
    assert "/manual/old/page /manual/other/ 302" in lines
    assert "/manual/older.html /manual/other/#part 302" in lines
    assert "/manual/away https://elsewhere.example/x 302" in lines
    vercel = json.loads(files["vercel.json"])["redirects"]
    assert {"source": "/manual/away", "destination": "https://elsewhere.example/x", "permanent": False} in vercel
    assert '    "/manual/old/page" "/manual/other/";\n' in files["redirects.nginx.conf"]
    assert 'content="0; url=../../other/"' in files["old/page/index.html"]
    assert 'content="0; url=https://elsewhere.example/x"' in files["away/index.html"]
    assert 'href="other/#part"' in files["index.html"]


@pytest.mark.slow
@pytest.mark.needs("chromium")
def test_search_in_a_build_works_without_the_service(service: RunningService, shell: Shell, tmp_path: Path) -> None:
    assert build(shell, SITE, str(tmp_path / "host" / "docs"))[0] == 0
    browser = Browser(tmp_path)
    try:
        with hosted(tmp_path / "host") as url:
            browser.open(f"{url}docs/")
            for query in QUERIES:
                found = f"findPages({json.dumps(query)})"
                browser.value(f"void (self.links = null, {found}.then(({{links}}) => self.links = links))")
                browser.wait("self.links")
                titles = browser.value("self.links.map((link) => [link.where, link.title])")
                page = httpx.get(address(service, shell), params={"q": query}).text
                served = re.findall(r'<li>(?:<p class="where">(.*?)</p>)?<h2><a [^>]*>(.*?)</a></h2>', page)
                assert titles == [[unescape(re.sub("<[^>]*>", "", text)) for text in hit] for hit in served][:8]
            browser.value("document.querySelector('.search input').focus()")
            browser.type("evenst")
            browser.wait("document.querySelector('.found a')")
            first = browser.value("document.querySelector('.found a').href")
            assert first == f"{url}docs/connect/webhooks/"
            browser.open(f"{url}docs/~search/?q=%3Cb%3Eevents%3C%2Fb%3E")
            browser.wait("document.querySelector('.results ol h2 a')")
            assert browser.value("document.querySelector('.results mark').textContent").lower() == "events"
            assert browser.value("document.querySelector('.results [role=status]').textContent").endswith(
                "for “<b>events</b>”"
            )
            browser.value("document.querySelector('[href=\"?theme=dark\"]').click()")
            browser.open(f"{url}docs/")
            assert browser.value("document.documentElement.dataset.theme") == "dark"
    finally:
        browser.close()


def test_unknown_site_and_invalid_base_url_are_errors(shell: Shell, tmp_path: Path) -> None:
    code, _, err = build(shell, "Nothing", str(tmp_path / "out"))
    assert (code, "Nothing not found" in err) == (2, True)
    code, _, err = build(shell, SITE, str(tmp_path / "out"), "--base-url", "docs.example.org")
    assert (code, "must be a web address" in err) == (2, True)

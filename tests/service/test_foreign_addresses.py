"""Content with addresses of files and servers: the service opens none of them, although it may send requests."""

from __future__ import annotations

import base64
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import httpx
import jwt
import pytest
from tests.bait import DRAWING as DRAWING_OF_BAIT
from tests.bait import SECRET, Bait
from tests.running_service import LOOPBACK, RunningService, running_service
from tests.service.factories import World, rewrite
from tests.service.jobs import imported
from tests.service.pdf import read, space_pdf
from tests.service.web_pages import changed, published
from tests.web_server import web_server

from presscheck.api.content import GetChangeRequestPageByPath
from presscheck.api.content_changes import InsertFiles, NewFile
from presscheck.api.imports import FilesSource, WebsiteSource
from presscheck.errors import Refused
from presscheck.service import nodes_conversion
from presscheck.service.bounded_process import ProcessFailed, run_bounded
from presscheck.service.db.signing import claims_of
from presscheck.service.integrations.outbound_http import Outgoing, OutgoingRefused
from presscheck.service.pdf import markup, typesetter
from presscheck.service.pdf.typesetter import TypesettingFailed, typeset

pytestmark = pytest.mark.attack("forbidden outgoing addresses")

DRAWING = (
    '<?xml version="1.0"?><?xml-stylesheet href="{0}"?><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
    '<style>@import url("{0}");</style><script href="{0}"/><use href="{0}#a"/>'
    '<text style="font-family:url({0})">x</text>%s</svg>'
)
IMAGE = '<image href="{0}" width="9" height="9"/>'
PAGE = """\
![a]({0}) <img src="{0}"> <picture><source srcset="{0}"><img src="{0}"></picture> [a]({0}) ![b][b]

[b]: <{0}>

{{% include "{0}" %}}

{{% embed url="{0}" %}}

{{% file src="{0}" %}}

{{% content-ref url="{0}" %}}
[a]({0})
{{% endcontent-ref %}}

{{% openapi src="{0}" path="/a" method="get" %}}
[a]({0})
{{% endopenapi %}}

{{% openapi-operation spec="{0}" path="/a" method="get" %}}
[a]({0})
{{% endopenapi-operation %}}

<iframe src="{0}"></iframe> <object data="{0}"></object> <link rel="stylesheet" href="{0}"> <script src="{0}"></script>

<table data-view="cards"><tr><td>a</td><td data-card-cover><a href="{0}">a</a></td></tr></table>
"""
SITE = """\
<!DOCTYPE html SYSTEM "{0}"><html><head><base href="{0}"><link rel="stylesheet" href="{0}"><script src="{0}"></script>
<meta http-equiv="refresh" content="0; url={0}"></head><body><h1>Lamps</h1><p>Oil. <a href="{0}">a</a></p>
<img src="{0}" srcset="{0} 2x"><iframe src="{0}"></iframe><object data="{0}"></object><video src="{0}"></video></body>
</html>
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that may send requests to this machine, so that only its libraries prevent them."""
    with running_service(tmp_path_factory.mktemp("open"), outside=LOOPBACK) as running:
        yield running


async def test_pages_and_images_open_no_foreign_address(world: World, bait: Bait) -> None:
    files, texts = list[NewFile](), list[str]()
    for number, address in enumerate(bait.addresses):
        drawing = base64.b64encode((DRAWING % IMAGE).format(address).encode()).decode()
        files.append(NewFile(name=f"{number}.svg", content_type="image/svg+xml", base64=drawing))
        texts.append(f"{PAGE.format(address)}\n![c]({number}.svg)\n")
    site, _ = await published(world)
    await changed(world, InsertFiles(files=tuple(files)), rewrite("start", "# Start\n\n" + "\n".join(texts)))
    token = {"authorization": f"Bearer {world.tokens['read']}"}
    async with httpx.AsyncClient(timeout=60) as http:
        shown = [(await http.get(site)).text]
        for kind in ("markdown", "document"):
            page = f"{world.base_url}/v1/spaces/{world.space}/content/path/start"
            shown.append((await http.get(page, params={"format": kind}, headers=token)).text)
    shown += [page.extract_text() for page in (await read(await space_pdf(world))).pages]
    assert all(text and SECRET not in text for text in shown)
    assert all(str(bait.file) in text for text in shown[1:3])


@pytest.mark.slow
def test_typesetting_opens_no_foreign_address(bait: Bait, tmp_path: Path) -> None:
    codes = '#image("{}")', '#read("{}")', '#include "{}"'
    for address, code in zip(bait.addresses, codes, strict=True):
        (tmp_path / "drawing").write_text((DRAWING % "").format(address), "utf-8")
        assert typeset('#image("drawing")', tmp_path)
        with pytest.raises(TypesettingFailed):
            typeset(code.format(address), tmp_path)
    root = bait.file.parent / "images"
    root.mkdir()
    for code in (f'#read("../{bait.file.name}")', f'#image("../{bait.file.name}")'):
        with pytest.raises(TypesettingFailed, match="escape the project root"):
            typeset(code, root)


def test_kernel_denies_connections_to_the_typesetter(tmp_path: Path) -> None:
    """The markup of this test imports a package, which would be downloaded; texts of users never become markup."""
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        proxy.settimeout(0)
        environment = {"https_proxy": f"http://127.0.0.1:{proxy.getsockname()[1]}"}
        with pytest.raises(ProcessFailed, match="not permitted" if sys.platform == "linux" else "failed"):
            run_bounded(
                typesetter.__name__,
                str(tmp_path),
                stdin=b'#import "@preview/cetz:0.3.0"',
                seconds=30,
                environment=environment,
            )
        with pytest.raises(BlockingIOError):
            proxy.accept()


@pytest.mark.parametrize(
    ("module", "function", "stdin"),
    [(markup, "PdfSource", b'{"source": {}}'), (nodes_conversion, "keyless_nodes", b"1\na")],
)
def test_kernel_denies_connections_to_processes_that_read_pages(
    module: ModuleType, function: str, stdin: bytes, bait: Bait, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = httpx.URL(bait.url)
    (tmp_path / "unchecked.py").write_text(f"""
import socket, sys
import {module.__name__} as program

def connect(*arguments, **options):
    try:
        socket.create_connection(("{url.host}", {url.port}))
    except OSError:
        sys.exit("refused")
    sys.exit("reached")

program.{function} = connect
program.main()
""")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ProcessFailed, match="refused" if sys.platform == "linux" else "reached"):
        run_bounded("unchecked", stdin=stdin, seconds=30)


async def test_import_of_a_website_opens_no_foreign_address(world: World, bait: Bait) -> None:
    for address in bait.addresses[:2]:  # on a website, a path is an address of the website itself
        pages = {"/lamps": SITE.format(address), "/robots.txt": f"User-agent: *\nSitemap: {address}\n"}
        with web_server(pages) as server:
            run = await imported(world, WebsiteSource(url=f"{server.url}/lamps"))
            assert (run.status, server.asked) == ("completed", ["/robots.txt", "/lamps"])
        at = {"space_id": world.space, "change_request_id": run.target["changeRequest"]}
        page = await world.admin.send(GetChangeRequestPageByPath(**at, page_path="lamps"))
        assert page.markdown and "Oil." in page.markdown and SECRET not in page.markdown
    with web_server({"/": f"-> {bait.file.as_uri()}"}) as server:
        run = await imported(world, WebsiteSource(url=server.url))
    assert (run.status, run.reason) == ("failed", f"{bait.file.as_uri()}: not an http or https URL")
    for address in bait.addresses[1:]:
        for source in (WebsiteSource(url=address), FilesSource(files=(address,))):
            with pytest.raises(Refused, match="is not a URL"):
                await imported(world, source)


def test_addresses_in_headers_of_a_visitor_token_are_ignored(bait: Bait) -> None:
    key, now = "k" * 32, 1_800_000_000.0
    for address in bait.addresses:
        headers = {"jku": address, "x5u": address, "kid": address, "jwk": {"kty": "oct", "k": "a"}}
        token = jwt.encode({"plan": "pro"}, key, "HS256", headers)
        assert claims_of(token, key, now) == {"plan": "pro"}
        assert claims_of(jwt.encode({"plan": "pro"}, DRAWING_OF_BAIT, "HS256", headers), key, now) is None


def test_redirects_to_foreign_addresses_are_refused(bait: Bait) -> None:
    port = httpx.URL(bait.url).port
    outgoing = Outgoing(["127.0.0.1/32"])
    for address in (bait.file.as_uri(), f"file:{bait.file}", f"http://0.0.0.0:{port}/secret.svg"):
        with web_server({"/": f"-> {address}"}) as server, pytest.raises(OutgoingRefused):
            outgoing.get(server.url)
    outgoing.close()
    outgoing = Outgoing()
    for address in (*bait.addresses, f"http://localhost:{port}/secret.svg"):
        with pytest.raises(OutgoingRefused):
            outgoing.get(address)
    outgoing.close()
    outgoing = Outgoing(hosts=["LocalHost"])
    with web_server({"/": "a page", "/away": f"-> {bait.addresses[0]}"}) as server:
        allowed = server.url.replace("127.0.0.1", "localhost")
        assert outgoing.get(allowed).body == b"a page"
        for address in (server.url, f"{allowed}/away", *bait.addresses):
            with pytest.raises(OutgoingRefused):
                outgoing.get(address)
    outgoing.close()

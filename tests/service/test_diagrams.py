"""Diagrams of published pages, drawn in a real browser by the script of the npm package mermaid."""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from tests.needs import give_up, require
from tests.running_service import running_service
from tests.service.browser import Browser
from tests.service.factories import World, plant_world, rewrite
from tests.service.web_pages import changed, published

from presscheck.service.web.assets import DiagramScript

PACKAGE = "mermaid@11.17.2"
DIAGRAMS = """# Guide

```mermaid
flowchart LR
  A["A <b>long</b> name <img src=x onerror=alert(1)>"] -->|asks & waits| B{Is it lit?}
  click A "javascript:alert(1)"
```

{% code title="Calls" %}
```mermaid
sequenceDiagram
  Lamp->>Switch: on?
```
{% endcode %}

```mermaid
this is no diagram
```
"""
DRAWN = "document.querySelectorAll('figure.drawn').length"
SHOWN = (
    "[...document.querySelectorAll('figure.drawn img')].filter(one => one.checkVisibility()).map(one => one.className)"
)
VIOLATIONS = (
    "(() => { const observer = new ReportingObserver(() => {}, {buffered: true, types: ['csp-violation']});"
    " observer.observe(); return observer.takeRecords().map(report => report.body.effectiveDirective)"
    ".filter(rule => rule.startsWith('style')); })()"
)
"""The style rules that the page has violated; hostile diagrams also violate the rules for scripts."""


@pytest.fixture(scope="session")
def mermaid(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The script of the package; without npm or its registry the test is skipped."""
    folder = tmp_path_factory.mktemp("npm")
    command = [str(require("npm")), "pack", PACKAGE]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    if ran.returncode:
        give_up(f"npm cannot read {PACKAGE}: {ran.stderr[-200:]}")
    with tarfile.open(next(folder.glob("*.tgz"))) as package:
        script = package.extractfile("package/dist/mermaid.min.js")
        assert script
        return script.read()


@asynccontextmanager
async def drawing(folder: Path, script: bytes) -> AsyncIterator[World]:
    """Run a service that draws diagrams, and add a world to it."""
    with running_service(folder, diagrams=DiagramScript(script)) as running:
        planted = plant_world(running.database_url, running.base_url)
        yield planted
        for client in planted.clients.values():
            await client.aclose()


@pytest.fixture
async def drawing_world(mermaid: bytes, tmp_path: Path) -> AsyncIterator[World]:
    async with drawing(tmp_path, mermaid) as planted:
        yield planted


@pytest.mark.slow
@pytest.mark.needs("chromium")
async def test_diagrams_are_drawn_as_pictures_for_both_themes(drawing_world: World, chromium: Browser) -> None:
    address, _ = await published(drawing_world)
    await changed(drawing_world, rewrite("guide", DIAGRAMS))
    for scheme in ("light", "dark"):
        chromium.open(f"{address}guide", scheme=scheme)
        chromium.wait(f"{DRAWN} === 2 && !document.querySelector('.drawing')")
        assert chromium.value(SHOWN) == [f"if-{scheme} zooms"] * 2
        assert chromium.value(VIOLATIONS) == []
    alt = chromium.value("document.querySelector('figure.drawn img').alt")
    assert alt.startswith("flowchart LR\n") and "asks & waits" in alt, "the source is the alternative text"
    svg = chromium.value("decodeURIComponent(document.querySelector('figure.drawn img').src)")
    assert svg.startswith("data:image/svg+xml,<svg") and "asks" in svg
    assert not [part for part in ("<script", "<foreignObject", "onerror=alert", "javascript:") if part in svg]
    assert chromium.value("document.querySelector('figure.drawn img').naturalWidth") > 300
    assert (
        chromium.value("[...document.querySelectorAll('figure.drawn figcaption')].map(one => one.innerText)")[1]
        == "Calls"
    )
    wrong = "document.querySelector('figure.diagram:not(.drawn)')"
    assert "Source of a diagram" in chromium.value(f"{wrong}.innerText")
    assert chromium.value(f"{wrong}.querySelector('pre').checkVisibility()"), "a mistake leaves the source"
    assert chromium.value("document.adoptedStyleSheets.length") == 0
    chromium.value("document.querySelector('figure.drawn img.if-dark').click()")
    assert chromium.value("document.querySelector('dialog.zoom').open")
    assert chromium.value("document.querySelector('dialog.zoom img').getBoundingClientRect().width") > 900


async def test_only_pages_with_diagrams_load_the_script(tmp_path: Path) -> None:
    script = b'globalThis["mermaid"] = {};' + b" " * 1000
    path = DiagramScript(script).path
    async with drawing(tmp_path, script) as world, httpx.AsyncClient() as client:
        address, _ = await published(world)
        await changed(world, rewrite("guide", DIAGRAMS))
        guide, start = [await client.get(address + name) for name in ("guide", "")]
        assert f'<script src="{path}" defer></script>' in guide.text
        assert f"{world.base_url}{path}" in guide.headers["content-security-policy"]
        assert "mermaid" not in start.text + start.headers["content-security-policy"]
        url = world.base_url + path
        file = await client.get(url, headers={"accept-encoding": "gzip"})
        assert file.headers["content-encoding"] == "gzip" and file.text.startswith("globalThis")
        assert file.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert (await client.get(url, headers={"if-none-match": file.headers["etag"]})).status_code == 304
        assert (await client.get(url.replace("mermaid-", "mermaid-0"))).status_code == 404


async def test_without_mermaid_pages_show_the_source_and_load_nothing(world: World) -> None:
    address, _ = await published(world)
    await changed(world, rewrite("guide", DIAGRAMS))
    async with httpx.AsyncClient() as client:
        guide = await client.get(f"{address}guide")
    assert guide.text.count("<script src=") == 1 and '<span class="name">Source of a diagram</span>' in guide.text

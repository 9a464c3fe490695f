"""Published sites in a real browser: layout in light and dark, on a desktop and a phone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.service.browser import browse
from tests.service.factories import World, insert, rewrite

from presscheck.api.change_requests import MergeChangeRequest
from presscheck.api.sites import CreateSite, PublishSite

TEXT = """# Guide

A paragraph with **strong** words.

{% hint style="warning" %}
Mind the step.
{% endhint %}

{% tabs %}
{% tab title="One" %}
First tab.
{% endtab %}
{% tab title="Two" %}
Second tab.

## Within

More.
{% endtab %}
{% endtabs %}

| a | b |
|---|---|
| 1 | a-very-long-word-that-could-push-a-narrow-page-wider-than-the-screen-of-a-phone-is-in-the-hand |

```sh
lamp --on --bright --a-long-line-of-code-that-is-wider-than-any-phone --and-still-goes-on --until-here
```
"""

pytestmark = pytest.mark.needs("chromium")


async def site(world: World) -> str:
    change = await world.draft()
    await world.edit(change, rewrite("guide", TEXT), insert("Wide", "Text."))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=change.id))
    at = {"organization_id": world.organization}
    made = await world.admin.send(CreateSite(**at, title="Lamps", spaces=(world.space,)))
    live = await world.admin.send(PublishSite(**at, site_id=made.id))
    return str(live.urls.published)


@pytest.mark.slow
@pytest.mark.parametrize(("anchor", "open_tab"), [("", "One"), ("#two", "Two"), ("#within", "Two")])
async def test_a_link_into_a_closed_tab_opens_the_tab(world: World, tmp_path: Path, anchor: str, open_tab: str) -> None:
    shown = browse(tmp_path, f"{await site(world)}guide{anchor}", "--dump-dom")
    assert re.findall(r'<details name="tabs-1" open=""><summary>(\w+)</summary>', shown) == [open_tab]
    assert '<a href="#within">Within</a> <small>Two</small>' in shown, "the outline names the tab"


@pytest.mark.slow
async def test_a_page_renders_in_a_browser_and_fits_a_phone(world: World, tmp_path: Path) -> None:
    address = await site(world)
    shown = browse(tmp_path, f"{address}guide", "--dump-dom", "--window-size=500,900")
    assert "Mind the step." in shown and "Second tab." in shown
    assert not re.search(r"<script", shown), "pages must not need scripts"
    picture = tmp_path / "phone.png"
    browse(tmp_path, f"{address}guide", f"--screenshot={picture}", "--window-size=500,900", "--hide-scrollbars")
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 10_000

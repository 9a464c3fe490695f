"""Published sites in a real browser: layout in light and dark, on a desktop and a phone."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from tests.service.browser import Browser
from tests.service.factories import World, insert, rewrite

from presscheck.api.change_requests import MergeChangeRequest
from presscheck.api.content_changes import UpdatePage
from presscheck.api.site_structure import AddSection
from presscheck.api.sites import CreateSite, PublishSite
from presscheck.api.spaces import CreateSpace
from presscheck.service.web import assets

TEXT = """# Guide

## First

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
async def test_a_link_into_a_closed_tab_opens_the_tab(world: World, chromium: Browser) -> None:
    address = await site(world)
    for anchor, open_tab in (("", "One"), ("#two", "Two"), ("#within", "Two")):
        chromium.renew()
        chromium.open(f"{address}guide{anchor}")
        chromium.wait("document.querySelector('details[name=tabs-1][open]')")
        opened = chromium.value("[...document.querySelectorAll('details[name=tabs-1][open] > summary')]"
                                ".map(one => one.textContent).join()")  # fmt: skip
        assert opened == open_tab, anchor
        shown = chromium.value("document.documentElement.outerHTML")
        assert '<a href="#within">Within</a> <small>Two</small>' in shown, "the outline names the tab"


@pytest.mark.slow
async def test_a_page_renders_in_a_browser_and_fits_a_phone(world: World, chromium: Browser) -> None:
    chromium.open(f"{await site(world)}guide", 490, 900)
    shown = chromium.value("document.documentElement.outerHTML")
    assert "Mind the step." in shown and "Second tab." in shown
    assert chromium.value("document.documentElement.scrollWidth") == 490
    assert len(chromium.picture()) > 10_000


@pytest.fixture
def browser(chromium_without_scripts: Browser) -> Browser:
    return chromium_without_scripts


@pytest.fixture
def scripted(chromium: Browser) -> Browser:
    return chromium


async def long_site(world: World) -> str:
    """A site whose first space has fifty pages and whose second section makes a row of sections."""
    change = await world.draft()
    await world.edit(change, *(insert(f"Page {number}", "## One\n\nText.\n") for number in range(48)))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=change.id))
    at = {"organization_id": world.organization}
    made = await world.admin.send(CreateSite(**at, title="Lamps", spaces=(world.space,)))
    other = await world.admin.send(CreateSpace(**at, title="Other"))
    await world.admin.send(AddSection(**at, site_id=made.id, space_id=world.space, title="Guides"))
    await world.admin.send(AddSection(**at, site_id=made.id, space_id=other.id, title="Other"))
    live = await world.admin.send(PublishSite(**at, site_id=made.id))
    return str(live.urls.published)


TOP = "document.querySelector('{}').getBoundingClientRect().top"
IS_OPEN = "document.querySelector('{}').matches(':popover-open')"


@pytest.mark.slow
async def test_the_current_page_is_in_view_in_a_sidebar_that_scrolls_alone(world: World, browser: Browser) -> None:
    browser.open(f"{await long_site(world)}page-47", 1280, 600)
    assert 0 < browser.value(TOP.format(".pages [aria-current]")) < 570
    assert browser.value("scrollY") == 0 and browser.value("document.querySelector('.side').scrollTop") > 500
    assert browser.value("getComputedStyle(document.querySelector('.opens-pages')).display") == "none"


@pytest.mark.slow
async def test_a_phone_has_a_drawer_an_outline_and_the_title_near_the_top(world: World, browser: Browser) -> None:
    browser.open(f"{await long_site(world)}page-47", 390, 844)
    assert browser.value("document.documentElement.scrollWidth") == 390
    assert browser.value(TOP.format("h1")) < 110
    for opener, panel in ((".opens-pages", ".side"), (".opens-outline", ".outline")):
        hidden = f"getComputedStyle(document.querySelector('{panel}')).display"
        assert browser.value(hidden) == "none"
        browser.click(opener)
        assert browser.value(IS_OPEN.format(panel)), "a click must open it"
        browser.press("Escape", 27)
        assert browser.value(hidden) == "none", "escape must close it"
    browser.click(".opens-pages")
    assert 0 < browser.value(TOP.format(".pages [aria-current]")) < 844
    browser.click(".side a[href$='page-46']")
    assert browser.value("location.pathname").endswith("page-46")


@pytest.mark.slow
async def test_the_search_of_a_phone_is_a_button_until_it_is_used(world: World, browser: Browser) -> None:
    address = await site(world)
    browser.open(f"{address}guide", 390, 844)
    width = "document.querySelector('.search').offsetWidth"
    title = "document.querySelector('.home').checkVisibility()"
    assert browser.value(width) < 50 and browser.value(title)
    browser.click(".search input")
    assert browser.value(width) > 200 and not browser.value(title)
    browser.open(f"{address}?q=strong", 390, 844)
    assert browser.value(width) > 150, "the query stays visible"


@pytest.mark.slow
async def test_header_and_pages_share_their_edge_and_lines_are_easy_to_read(world: World, browser: Browser) -> None:
    change = await world.draft()
    await world.edit(change, rewrite("guide", TEXT + "\n" + "word " * 300))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=change.id))
    address = await long_site(world)
    edges = (
        "[...document.querySelectorAll('.home, .sections a:first-child, .pages a:first-child')].slice(0, 3)"
        ".map(link => { const words = document.createRange(); words.selectNodeContents(link);"
        " return Math.round(words.getBoundingClientRect().left); })"
    )
    line = (
        "Math.max(...[...document.querySelectorAll('article > p')]"
        ".map(it => it.innerText.length / (it.offsetHeight / parseFloat(getComputedStyle(it).lineHeight))))"
    )
    for width in (1280, 1920, 2560):
        browser.open(f"{address}guide", width, 900)
        assert len(set(browser.value(edges))) == 1
        assert 60 < browser.value(line) <= 85


@pytest.mark.slow
async def test_the_outline_follows_the_reader_and_headings_stay_below_the_header(
    world: World, browser: Browser
) -> None:
    text = "# Guide\n\n" + "\n\n".join(f"## Part {number}\n\n" + "Text.\n\n" * 30 for number in range(9))
    change = await world.draft()
    await world.edit(change, rewrite("guide", text))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=change.id))
    browser.open(f"{await long_site(world)}guide#part-6", 1280, 600)
    header = browser.value("document.querySelector('.top').getBoundingClientRect().bottom")
    assert header <= browser.value(TOP.format("#part-6")) < header + 40
    current = "[...document.querySelectorAll('.outline a:target-current')].map(link => link.textContent)"
    assert browser.value(current) == ["Part 6"]


@pytest.mark.slow
async def test_every_link_can_be_reached_and_seen_by_keyboard(world: World, browser: Browser) -> None:
    browser.open(f"{await site(world)}guide", 1280, 900)
    seen: list[str] = []
    for _ in range(60):
        browser.press("Tab", 9)
        focused = browser.value(
            "(() => { const it = document.activeElement, box = it.getBoundingClientRect();"
            " return it === document.body ? null : [it.outerHTML.slice(0, 90), box.width * box.height,"
            " getComputedStyle(it).opacity, it.innerText || it.ariaLabel || it.placeholder || '']; })()"
        )
        if focused is None:
            break
        html, area, opacity, words = focused
        if "button type" not in html and "pre tabindex" not in html:
            assert area > 0 and opacity == "1" and words.strip(), html
        seen.append(html)
    assert 'class="skip"' in seen[0] and any('class="anchor"' in html for html in seen)


@pytest.mark.slow
async def test_search_shows_results_while_the_reader_types(world: World, scripted: Browser) -> None:
    scripted.open(f"{await site(world)}guide")
    scripted.press("/", 191)
    assert scripted.value("document.activeElement.name") == "q"
    for letter in "strong":
        scripted.type(letter)
    scripted.wait("document.querySelector('.found a')")
    assert "Guide" in scripted.value("document.querySelector('.found a').innerText")
    scripted.press("ArrowDown", 40)
    assert scripted.value("document.activeElement.closest('.found') !== null")
    scripted.press("Escape", 27)
    assert not scripted.value("document.querySelector('.found').matches(':popover-open')")


@pytest.mark.slow
async def test_tabs_of_one_title_open_together_and_pictures_and_code_have_their_buttons(
    world: World, scripted: Browser
) -> None:
    address = await site(world)
    change = await world.draft()
    picture = "![A map](https://example.org/map.png)\n\n"
    await world.edit(change, rewrite("guide", picture + TEXT + TEXT.replace("# Guide\n", "")))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=change.id))
    scripted.open(f"{address}guide")
    opened = "[...document.querySelectorAll('.tabs > [open] > summary')].map(tab => tab.textContent)"
    assert scripted.value(opened) == ["One", "One"]
    scripted.click(".tabs > details:not([open]) > summary")
    assert scripted.value(opened) == ["Two", "Two"]
    scripted.open(f"{address}guide")
    assert scripted.value(opened) == ["Two", "Two"], "as on the page before"
    assert scripted.value("document.querySelectorAll('figure.code .copy').length") == 2
    scripted.value("document.querySelector('article img').click()")
    assert scripted.value("document.querySelector('dialog.zoom').open")
    scripted.press("Escape", 27)
    assert scripted.value("document.querySelector('dialog.zoom')") is None


@pytest.mark.slow
async def test_the_theme_changes_at_once_and_stays(world: World, scripted: Browser) -> None:
    address = await site(world)
    scripted.open(f"{address}guide?q=strong")
    scripted.click(".opens-themes")
    scripted.click("#Site-themes a[href$='theme=dark']")
    scripted.wait("document.documentElement.dataset.theme === 'dark'")
    assert scripted.value("location.search") == "?q=strong"
    scripted.open(f"{address}guide#~content")
    assert scripted.value("document.documentElement.dataset.theme") == "dark"
    assert scripted.value("location.hash") == "#Site-content", "links of earlier versions still lead there"


VIDEO = "https://www.youtube.com/watch?v=aqz-KE-bpKQ"
PLAYER = "https://www.youtube-nocookie.com/embed/aqz-KE-bpKQ"


async def with_embeds(world: World) -> str:
    """The URL of a page with a video and a link to a site without a player."""
    address = await site(world)
    text = f'{{% embed url="{VIDEO}" %}}\nA bunny\n{{% endembed %}}\n\n{{% embed url="https://example.org/film" %}}\n'
    change = await world.draft()
    await world.edit(change, rewrite("guide", text))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=change.id))
    return f"{address}guide"


@pytest.mark.slow
async def test_a_player_is_loaded_when_the_reader_asks_for_it(world: World, scripted: Browser) -> None:
    scripted.open(await with_embeds(world))
    requests = "performance.getEntriesByType('resource').filter(one => one.name.includes('youtube')).length"
    assert scripted.value("document.querySelectorAll('.embed button').length") == 1
    assert scripted.value("document.querySelector('iframe')") is None and scripted.value(requests) == 0
    scripted.click(".embed button")
    scripted.wait("document.querySelector('iframe')")
    assert scripted.value("document.querySelector('iframe').src") == PLAYER
    assert scripted.value("document.activeElement.title") == "A bunny"
    assert scripted.value("document.querySelector('iframe').sandbox.contains('allow-top-navigation')") is False
    assert scripted.value(VIOLATIONS) == []
    scripted.value("document.querySelector('iframe').src = 'https://example.org/'")
    scripted.wait(f"{VIOLATIONS}.length")
    assert scripted.value(VIOLATIONS) == ["frame-src"], "other sites have no frames"


@pytest.mark.slow
async def test_without_the_script_a_player_is_a_link(world: World, browser: Browser) -> None:
    browser.open(await with_embeds(world))
    assert browser.value("document.querySelector('.embed a').href") == VIDEO
    assert browser.value("document.querySelectorAll('.embed button, iframe').length") == 0


VIOLATIONS = (
    "(() => { const seen = new ReportingObserver(() => {}, {buffered: true, types: ['csp-violation']});"
    " seen.observe(); return seen.takeRecords().map(report => report.body.effectiveDirective) })()"
)


@pytest.mark.slow
async def test_structured_data_is_data_for_the_content_security_policy(world: World, scripted: Browser) -> None:
    address = await site(world)
    change = await world.draft()
    await world.edit(change, UpdatePage(page="guide", title="</script><script>document.title='run'</script>"))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=change.id))
    scripted.open(f"{address}guide")
    assert scripted.value(VIOLATIONS) == []
    assert (
        scripted.value("JSON.parse(document.querySelector('[type=\"application/ld+json\"]').text)['@graph'].length")
        == 2
    )
    assert scripted.value("document.title").startswith("</script>")
    scripted.value(
        "document.head.append(Object.assign(document.createElement('script'), {text: 'document.title = 1'}))"
    )
    assert scripted.value(VIOLATIONS) == ["script-src-elem"], "the observer sees what the policy stops"


def test_the_script_is_small() -> None:
    assert len(gzip.compress(Path(assets.__file__).with_name("site.js").read_bytes())) < 20_000

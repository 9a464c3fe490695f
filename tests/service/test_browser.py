"""Published sites in a real browser: layout in light and dark, on a desktop and a phone."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from tests.service.browser import Browser
from tests.service.factories import World, insert, rewrite

from presscheck.api.change_requests import MergeChangeRequest
from presscheck.api.content_changes import UpdatePage
from presscheck.api.site_settings import GetCustomization, UpdateCustomization
from presscheck.api.site_structure import AddSection
from presscheck.api.sites import CreateSite, PublishSite
from presscheck.api.spaces import CreateSpace, DuplicateSpace
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


async def site(world: World, **looks: Any) -> str:
    change = await world.draft()
    await world.edit(change, rewrite("guide", TEXT), insert("Wide", "Text."))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=change.id))
    at = {"organization_id": world.organization}
    made = await world.admin.send(CreateSite(**at, title="Lamps", spaces=(world.space,)))
    if looks:
        settings = await world.admin.send(GetCustomization(**at, site_id=made.id))
        await world.admin.send(UpdateCustomization(**at, site_id=made.id, settings=settings | looks))
    live = await world.admin.send(PublishSite(**at, site_id=made.id))
    return str(live.urls.published)


async def long_site(world: World) -> str:
    """Publish a site with two sections, the first with about fifty pages. Returns its URL."""
    parts = "".join(f"\n\n## Part {number}\n\n" + "Text.\n\n" * 30 for number in range(9))
    texts = rewrite("guide", TEXT + "\n" + "word " * 300), rewrite("reference", f"# Reference{parts}")
    change = await world.draft()
    await world.edit(change, *texts)
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
EDGES = (
    "[...document.querySelectorAll('.home, .sections a:first-child, .pages a:first-child')].slice(0, 3)"
    ".map(link => { const words = document.createRange(); words.selectNodeContents(link);"
    " return Math.round(words.getBoundingClientRect().left); })"
)
LINE = (
    "Math.max(...[...document.querySelectorAll('article > p')]"
    ".map(it => it.innerText.length / (it.offsetHeight / parseFloat(getComputedStyle(it).lineHeight))))"
)


@pytest.mark.slow
async def test_pages_without_scripts_on_a_desktop_and_a_phone(world: World, chromium_without_scripts: Browser) -> None:
    browser, address = chromium_without_scripts, await long_site(world)
    browser.open(f"{address}page-47", 1280, 600)
    assert 0 < browser.value(TOP.format(".pages [aria-current]")) < 570, "the current page is in view"
    assert browser.value("scrollY") == 0 and browser.value("document.querySelector('.side').scrollTop") > 500
    assert browser.value("getComputedStyle(document.querySelector('.opens-pages')).display") == "none"
    for width in (1280, 2560):
        browser.open(f"{address}guide", width, 900)
        assert len(set(browser.value(EDGES))) == 1, "header and pages share their edge"
        assert 60 < browser.value(LINE) <= 85, "lines are easy to read"
    browser.open(f"{address}reference#part-6", 1280, 600)
    header = browser.value("document.querySelector('.top').getBoundingClientRect().bottom")
    assert header <= browser.value(TOP.format("#part-6")) < header + 40, "headings stay below the header"
    current = "[...document.querySelectorAll('.outline a:target-current')].map(link => link.textContent)"
    assert browser.value(current) == ["Part 6"], "the outline follows the reader"

    browser.open(f"{address}guide", 390, 844)
    assert browser.value("document.documentElement.scrollWidth") == 390
    assert browser.value(TOP.format("h1")) < 110
    for opener, panel in ((".opens-pages", ".side"), (".opens-outline", ".outline")):
        hidden = f"getComputedStyle(document.querySelector('{panel}')).display"
        assert browser.value(hidden) == "none"
        browser.click(opener)
        assert browser.value(IS_OPEN.format(panel)), "a click must open it"
        browser.press("Escape", 27)
        assert browser.value(hidden) == "none", "escape must close it"
    width = "document.querySelector('.search').offsetWidth"
    title = "document.querySelector('.home').checkVisibility()"
    assert browser.value(width) < 50 and browser.value(title), "the search is a button until it is used"
    browser.click(".search input")
    assert browser.value(width) > 200 and not browser.value(title)


@pytest.mark.slow
async def test_the_current_section_is_in_view_on_a_phone(world: World, chromium_without_scripts: Browser) -> None:
    at = {"organization_id": world.organization}
    made = await world.admin.send(CreateSite(**at, title="Lamps", spaces=(world.space,)))
    for number in range(6):
        copy = await world.admin.send(DuplicateSpace(space_id=world.space))
        title = f"Section {number}"
        await world.admin.send(AddSection(**at, site_id=made.id, space_id=copy.id, title=title))
    address = (await world.admin.send(PublishSite(**at, site_id=made.id))).urls.published
    chromium_without_scripts.open(f"{address}section-5/guide", 360, 740)
    current = "document.querySelector('.sections > [aria-current]')"
    assert chromium_without_scripts.value(f"{current}.innerText") == "Section 5"
    edges = chromium_without_scripts.value(f"{current}.getBoundingClientRect().toJSON()")
    assert 0 <= edges["left"] < edges["right"] <= 360
    assert chromium_without_scripts.value("scrollY") == 0


@pytest.mark.slow
async def test_links_are_reachable_and_visible_by_keyboard(world: World, chromium_without_scripts: Browser) -> None:
    browser = chromium_without_scripts
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


SEEN = "document.querySelector('{}').checkVisibility({{visibilityProperty: true}})"


CONTRASTS = """(() => {
  const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const luminance = (...colors) => {
    for (const color of colors) { pen.fillStyle = color; pen.fillRect(0, 0, 1, 1); }
    const linear = [...pen.getImageData(0, 0, 1, 1).data].map((channel) => channel / 255)
      .map((channel) => channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const ground = getComputedStyle(document.body).backgroundColor;
  return [...document.querySelectorAll("mark")].map((mark) => {
    const {color, backgroundColor} = getComputedStyle(mark);
    const [one, other] = [luminance(ground, backgroundColor), luminance(color)];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  });
})()"""


@pytest.mark.slow
async def test_marked_words_have_enough_contrast_in_both_themes(world: World, chromium: Browser) -> None:
    address = await site(world)
    colors = ("red", "orange", "yellow", "green", "blue", "purple")
    styles = [f"{name}:{color}" for name in ("color", "background-color") for color in colors]
    change = await world.draft()
    text = " ".join(f'<mark style="{style};">marked</mark>' for style in styles)
    await world.edit(change, rewrite("guide", f"{text}\n"))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=change.id))
    for scheme in ("light", "dark"):
        chromium.open(f"{address}guide", scheme=scheme)
        contrasts = dict(zip(styles, chromium.value(CONTRASTS), strict=True))
        assert not {style: contrast for style, contrast in contrasts.items() if contrast < 4.5}, scheme


@pytest.mark.slow
async def test_blocks_are_aligned(world: World, chromium: Browser) -> None:
    address = await site(world)
    formula = "$$\n\\int_0^1 x^2 dx = \\frac{1}{3}\n$$\n\nA word[^1].\n\n[^1]: The note.\n\n"
    update = '{% update date="2026-01-02" %}\n## New\n\nText.\n{% endupdate %}\n'
    change = await world.draft()
    await world.edit(change, rewrite("guide", formula + update), rewrite("start", "### One\n\n### Two\n"))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=change.id))
    chromium.open(f"{address}guide")
    formula = "document.querySelector('math[display=block]')"
    assert chromium.value(f"{formula}.scrollHeight - {formula}.clientHeight") == 0
    assert chromium.value(f"getComputedStyle({formula}).overflowY") == "hidden", "a formula does not scroll upward"
    middle = "(box => (box.top + box.bottom) / 2)(document.querySelector('{}').getBoundingClientRect())"
    for one, other in ((".footnote sup", ".footnote p"), (".update time", ".update h2")):
        assert abs(chromium.value(middle.format(one)) - chromium.value(middle.format(other))) < 6, one
    assert chromium.value(f"{TOP.format('.update h2')} - {TOP.format('.update')}") > 8
    chromium.open(f"{address}start")
    left = "document.querySelector('{}').getBoundingClientRect().left"
    lefts = {chromium.value(left.format(part)) for part in (".outline p", ".outline a")}
    assert len(lefts) == 1, "headings below no other are not indented"


END_OF_CODE = (
    "[...document.querySelectorAll('figure.code')].map(figure => { const code = document.createRange();"
    " figure.querySelector('pre').scrollLeft = 9999; code.selectNodeContents(figure.querySelector('code'));"
    " const line = code.getClientRects()[0], button = figure.querySelector('.copy')?.getBoundingClientRect();"
    " return button && line.right <= button.left; })"
)


@pytest.mark.slow
async def test_copy_button_covers_no_code_and_needs_a_clipboard(world: World, chromium: Browser) -> None:
    address = await site(world)
    wrapped = '{% code overflow="wrap" %}\n```\n' + "word " * 50 + "\n```\n{% endcode %}\n"
    change = await world.draft()
    await world.edit(change, rewrite("guide", TEXT + wrapped))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=change.id))
    for width in (360, 1280):
        chromium.open(f"{address}guide", width)
        assert chromium.value(END_OF_CODE) == [True, True]
    chromium.start_pages_with("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    chromium.open(f"{address}guide")
    assert chromium.value(END_OF_CODE) == [None, None], "without a clipboard, the button would do nothing"


@pytest.mark.slow
async def test_printed_page_shows_all_content(world: World, chromium: Browser) -> None:
    address = await site(world)
    columns = "|".join(f"column{number}withalongname" for number in range(9))
    wide = f"|{columns}|\n|{'---|' * 9}\n|{columns}|\n\n"
    unfolds = "<details>\n\n<summary>More</summary>\n\n#### Inside\n\n</details>\n\n"
    change = await world.draft()
    await world.edit(change, rewrite("guide", TEXT + wide + unfolds))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=change.id))
    chromium.open(f"{address}guide", 720, 1000)  # about the width of A4 with its margins
    hidden = (SEEN.format("#within"), SEEN.format("#inside"))
    assert [chromium.value(text) for text in hidden] == [False, False]
    chromium.show_printed()
    assert [chromium.value(text) for text in hidden] == [True, True], "paper cannot be opened"
    assert not chromium.value(SEEN.format(".copy")) and not chromium.value(SEEN.format(".top"))
    assert chromium.value("document.documentElement.scrollWidth") <= 720
    cut = "[...document.querySelectorAll('.table, pre')].filter(it => it.scrollWidth > it.clientWidth).length"
    assert chromium.value(cut) == 0, "paper cannot be scrolled"


VIDEO = "https://www.youtube.com/watch?v=aqz-KE-bpKQ"
PLAYER = "https://www.youtube-nocookie.com/embed/aqz-KE-bpKQ"
VIOLATIONS = (
    "(() => { const seen = new ReportingObserver(() => {}, {buffered: true, types: ['csp-violation']});"
    " seen.observe(); return seen.takeRecords().map(report => report.body.effectiveDirective) })()"
)
OPENED = "[...document.querySelectorAll('.tabs > [open] > summary')].map(tab => tab.textContent)"


@pytest.mark.slow
async def test_script_of_pages(world: World, chromium: Browser) -> None:
    """Results while the reader types, tabs that open together, enlarged pictures, and the choice of a theme."""
    address = await site(world)
    change = await world.draft()
    picture = "![A map](https://example.org/map.png)\n\n"
    await world.edit(change, rewrite("guide", picture + TEXT + TEXT.replace("# Guide\n", "")))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=change.id))
    chromium.open(f"{address}guide#within")
    chromium.wait("document.querySelector('#within').closest('details').open")  # a link opens its tab
    chromium.open(f"{address}start")
    chromium.open(f"{address}guide")
    chromium.press("/", 191)
    assert chromium.value("document.activeElement.name") == "q"
    for letter in "strong":
        chromium.type(letter)
    chromium.wait("document.querySelector('.found a')")
    assert "Guide" in chromium.value("document.querySelector('.found a').innerText")
    spoken = chromium.value("document.querySelector('.search output').textContent")
    assert spoken == "1 result for “strong”", "screen readers do not see the list"
    chromium.press("ArrowDown", 40)
    assert chromium.value("document.activeElement.closest('.found') !== null")
    chromium.press("Escape", 27)
    assert not chromium.value(IS_OPEN.format(".found"))
    assert chromium.value("document.activeElement.name") == "q", "the reader goes on in the field"
    chromium.press("Escape", 27)  # empties the field
    chromium.type("strong")
    chromium.press("Escape", 27)
    chromium.type("stron")
    chromium.wait(IS_OPEN.format(".found"))
    chromium.press("Tab", 9)
    assert chromium.value("document.activeElement.getBoundingClientRect().left") > 0, "the button is seen"
    for _ in range(2):
        chromium.press("Tab", 9)
    assert chromium.value("document.activeElement.closest('.search')") is None
    assert not chromium.value(IS_OPEN.format(".found")), "the list does not cover what the reader goes on to"

    assert chromium.value(OPENED) == ["One", "One"]
    chromium.click(".tabs > details:not([open]) > summary")
    assert chromium.value(OPENED) == ["Two", "Two"]
    chromium.open(f"{address}guide")
    assert chromium.value(OPENED) == ["Two", "Two"], "as on the page before"
    assert chromium.value("document.querySelectorAll('figure.code .copy').length") == 2
    chromium.value("document.querySelector('article img').focus()")
    chromium.type_key("Enter", 13)
    assert chromium.value("document.querySelector('dialog.zoom').open")
    chromium.press("Escape", 27)
    assert chromium.value("document.querySelector('dialog.zoom')") is None
    assert chromium.value("document.activeElement.alt") == "A map"
    chromium.click("article img")
    assert chromium.value("document.querySelector('dialog.zoom').open")
    chromium.press("Escape", 27)

    chromium.click(".opens-themes")
    chromium.click("#Site-themes a[href$='theme=dark']")
    chromium.wait("document.documentElement.dataset.theme === 'dark'")
    chromium.open(f"{address}start#~content")
    assert chromium.value("document.documentElement.dataset.theme") == "dark", "it stays"
    assert chromium.value("location.hash") == "#Site-content", "links of earlier versions still lead there"


@pytest.mark.slow
async def test_thanks_for_feedback_get_focus(world: World, chromium: Browser) -> None:
    chromium.open(f"{await site(world, feedback={'enabled': True})}guide")
    chromium.click(".feedback button")
    chromium.wait("document.activeElement.matches('.thanks')")  # the focused button is hidden
    assert chromium.value("document.activeElement.innerText") == "Thank you for your feedback."


@pytest.mark.slow
async def test_embeds_of_a_page_obey_its_content_security_policy(world: World, chromium: Browser) -> None:
    """A player is loaded only after a click and only from known sites; structured data cannot run scripts."""
    address = await site(world)
    title = "</script><script>document.title='run'</script>"
    text = f'{{% embed url="{VIDEO}" %}}\nA bunny\n{{% endembed %}}\n\n{{% embed url="https://example.org/film" %}}\n'
    change = await world.draft()
    await world.edit(change, rewrite("guide", text), UpdatePage(page="guide", title=title))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=change.id))
    chromium.open(f"{address}guide")
    data = "JSON.parse(document.querySelector('[type=\"application/ld+json\"]').text)['@graph'].length"
    assert chromium.value(data) == 2 and chromium.value("document.title").startswith("</script>")
    requests = "performance.getEntriesByType('resource').filter(one => one.name.includes('youtube')).length"
    assert chromium.value("document.querySelectorAll('.embed button').length") == 1
    assert chromium.value("document.querySelector('iframe')") is None and chromium.value(requests) == 0
    chromium.click(".embed button")
    chromium.wait("document.querySelector('iframe')")
    assert chromium.value("document.querySelector('iframe').src") == PLAYER
    assert chromium.value("document.activeElement.title") == "A bunny"
    assert chromium.value("document.querySelector('iframe').sandbox.contains('allow-top-navigation')") is False
    assert chromium.value(VIOLATIONS) == []
    chromium.value("document.querySelector('iframe').src = 'https://example.org/'")
    chromium.wait(f"{VIOLATIONS}.length")
    assert chromium.value(VIOLATIONS) == ["frame-src"], "other sites have no frames"
    script = "Object.assign(document.createElement('script'), {text: 'document.title = 1'})"
    chromium.value(f"document.head.append({script})")
    assert chromium.value(VIOLATIONS) == ["frame-src", "script-src-elem"]


def test_script_is_small() -> None:
    assert len(gzip.compress(Path(assets.__file__).with_name("site.js").read_bytes())) < 20_000

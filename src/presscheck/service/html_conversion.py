"""Converts a page of HTML to Markdown: `python -m presscheck.service.html_conversion URL`, the HTML on standard input.

The HTML is untrusted. A tree of its elements takes a hundred times its bytes, and some elements make the
converter quadratic: so the process has limits (see `bounded_process`). After its libraries are loaded, it can open no
files and no connections, and start no other process.
Standard output gets a JSON object: the fields of a `ConvertedPage`, or `error` with the reason if there is none.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urljoin, urlsplit

from presscheck.service.bounded_process import LimitExceeded, ProcessFailed, limit_resources, run_bounded
from presscheck.service.integrations.script_process import restrict

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

MOST_BYTES = 4 * 1024 * 1024
"""The largest page of HTML."""
MOST_SECONDS = 10
"""Seconds of processor time of a conversion; as long again to wait for the processor."""
MOST_MEMORY = 512 * 1024 * 1024
"""Bytes of memory of a conversion."""
LONGEST_MARKDOWN = 4 * 1024 * 1024
"""Most characters of the Markdown: cells that span a thousand columns make it much longer than the HTML."""
LONGEST_TITLE = 1000
LONGEST_URL = 2000
"""Longer URLs are not followed."""
MOST_LINKS = 2000
"""Links of a page that are followed."""

_SAMPLE = '<main role="main"><h1>A</h1><p><a href="//ä/">b</a> <img src="c"><pre><code class="d">e</code></pre></main>'
_NO_CONTENT = ("nav", "header", "footer", "aside", "script", "style", "noscript", "template", "form", "button", "svg")


class NotConverted(Exception):
    """A page that cannot be converted; the message has the reason."""


@dataclass(frozen=True)
class ConvertedPage:
    """A page: its title, its main content in Markdown, and the URLs that it links to, without fragments."""

    title: str
    markdown: str
    links: list[str]


def convert_html(html: bytes, url: str) -> ConvertedPage:
    """Convert HTML to Markdown, in a process of its own.

    Args:
        html: the page.
        url: its address, which its links are relative to.

    Raises:
        NotConverted: it is larger than is allowed, exceeds a limit, or its elements are nested too deep.
    """
    if len(html) > MOST_BYTES:
        raise NotConverted(f"the page has more than {MOST_BYTES // 1024 // 1024} MB of HTML")
    try:
        answer = json.loads(run_bounded(__name__, url, stdin=html, seconds=2 * MOST_SECONDS))
    except LimitExceeded:
        raise NotConverted(f"its conversion takes more than {MOST_SECONDS} seconds") from None
    except ProcessFailed as error:
        raise NotConverted(f"could not be converted: {error}") from None
    if "error" in answer:
        raise NotConverted(answer["error"])
    return ConvertedPage(**answer)


def decode_html(html: bytes) -> str:
    """Decode a page; its encoding may be one whose module Python reads from a file."""
    from bs4 import UnicodeDammit  # 50 ms, only in the process that converts HTML

    return UnicodeDammit(html, is_html=True).unicode_markup or ""


def read_page(html: str, url: str) -> ConvertedPage:
    """Convert HTML in this process: the main content, without the header, footer and navigation of the site."""
    page = parse_html(html)
    hrefs = (_absolute(url, str(link["href"])) for link in page.find_all("a", href=True))
    links = dict.fromkeys(urldefrag(href).url for href in hrefs if href and len(href) <= LONGEST_URL)
    named = page.find("h1") or page.find("title")
    title = " ".join(named.get_text(" ").split()) if named else ""
    content = page.find("main") or page.find("article") or page.select_one("[role=main]") or page.body or page
    for element in content.find_all([*_NO_CONTENT, "h1"]):
        element.decompose()
    for element in content.find_all(href=True):
        element["href"] = _absolute(url, str(element["href"])) or element["href"]
    for element in content.find_all(src=True):
        element["src"] = _absolute(url, str(element["src"])) or element["src"]
    return ConvertedPage(title[:LONGEST_TITLE], _markdown(content), list(links)[:MOST_LINKS])


def _absolute(url: str, href: str) -> str | None:
    """Return the URL of a link; None if it is malformed."""
    try:
        absolute = urljoin(url, href)
        urlsplit(absolute)
    except ValueError:  # for example, an unclosed bracket
        return None
    return absolute


def parse_html(html: str) -> BeautifulSoup:
    """Parse HTML; the start of a tag that never ends is text, because the parser would look for the end of each."""
    from bs4 import BeautifulSoup  # 50 ms, only in the process that converts HTML

    end = html.rfind(">") + 1
    return BeautifulSoup(html[:end] + html[end:].replace("<", "&lt;"), "html.parser")


def _markdown(content: Tag) -> str:
    """Convert elements; text that looks like one of our tags is escaped."""
    from markdownify import MarkdownConverter  # 15 ms, only in the process that converts HTML

    # a link is never `<URL>`: links to imported pages get other targets, and keep their words
    converter = MarkdownConverter(heading_style="ATX", bullets="-", autolinks=False, code_language_callback=_language)
    text = str(converter.convert_soup(content)).replace("{%", "{\\%")
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _language(element: Tag) -> str:
    code = element.find("code") or element
    given: Any = code.get("class") or ()
    names = given if isinstance(given, str) else " ".join(given)
    named = re.search(r"\b(?:language|lang|highlight-source)-([\w+#-]+)", names)
    return named[1] if named else ""


def main() -> None:
    """Convert one page."""
    limit_resources(MOST_MEMORY, MOST_SECONDS)
    answer: dict[str, Any]
    try:
        html = decode_html(sys.stdin.buffer.read())
        read_page(_SAMPLE, sys.argv[1])  # the libraries load what they need while they can
        # from here on the kernel refuses files and connections, whatever a library tries
        restrict(MOST_MEMORY, MOST_SECONDS, 2 * MOST_SECONDS)
        page = read_page(html, sys.argv[1])
        answer = asdict(page) if len(page.markdown) <= LONGEST_MARKDOWN else {"error": "its Markdown is too long"}
    except RecursionError:
        answer = {"error": "the elements of the page are nested too deep"}
    except MemoryError:
        answer = {"error": f"its conversion takes more than {MOST_MEMORY // 1024 // 1024} MB of memory"}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()

"""HTML pages as Markdown: `python -m presscheck.service.html_conversion URL` converts HTML from standard input.

The HTML is untrusted. Its parse tree takes a hundred times as much memory, and the converter needs quadratic time for
some elements, so the process has limits (see `bounded_process`). After loading its libraries, it cannot open files or
connections, or start other processes. It writes a JSON object to standard output: the fields of a `ConvertedPage`, or
`error` with the reason of a failure.
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
"""Maximum size of an HTML page."""
MOST_SECONDS = 10
"""Maximum processor time of a conversion, in seconds; it may take twice as long by the clock."""
MOST_MEMORY = 512 * 1024 * 1024
"""Maximum memory of a conversion, in bytes."""
LONGEST_MARKDOWN = 4 * 1024 * 1024
"""Maximum number of characters of the result, which can be much longer than the HTML if cells span many columns."""
LONGEST_TITLE = 1000
LONGEST_URL = 2000
"""Maximum number of characters of a URL that is followed."""
MOST_LINKS = 2000
"""Maximum number of links of a page that are followed."""

_SAMPLE = '<main role="main"><h1>A</h1><p><a href="//ä/">b</a> <img src="c"><pre><code class="d">e</code></pre></main>'
_NO_CONTENT = ("nav", "header", "footer", "aside", "script", "style", "noscript", "template", "form", "button", "svg")


class NotConverted(Exception):
    """The page cannot be converted; the message is the reason."""


@dataclass(frozen=True)
class ConvertedPage:
    """A page: its title, its main content as Markdown, and the URLs that it links to, without fragments."""

    title: str
    markdown: str
    links: list[str]


def convert_html(html: bytes, url: str) -> ConvertedPage:
    """Convert HTML to Markdown in a separate process.

    Args:
        html: the page.
        url: the URL of the page, for relative links.

    Raises:
        NotConverted: the page is too large, exceeds a limit, or is nested too deep.
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
    """Decode an HTML page. Python may load a module for the encoding, so files must still be accessible."""
    from bs4 import UnicodeDammit  # takes 50 ms to import, so only in the process that converts HTML

    return UnicodeDammit(html, is_html=True).unicode_markup or ""


def read_page(html: str, url: str) -> ConvertedPage:
    """Convert the main content of HTML in this process, without the header, footer and navigation of the site."""
    page = parse_html(html)
    hrefs = (_absolute(url, str(link["href"])) for link in page.find_all("a", href=True))
    links = dict.fromkeys(urldefrag(href).url for href in hrefs if href and len(href) <= LONGEST_URL)
    title_tag = page.find("h1") or page.find("title")
    title = " ".join(title_tag.get_text(" ").split()) if title_tag else ""
    content = page.find("main") or page.find("article") or page.select_one("[role=main]") or page.body or page
    for element in content.find_all([*_NO_CONTENT, "h1"]):
        element.decompose()
    for element in content.find_all(href=True):
        element["href"] = _absolute(url, str(element["href"])) or element["href"]
    for element in content.find_all(src=True):
        element["src"] = _absolute(url, str(element["src"])) or element["src"]
    return ConvertedPage(title[:LONGEST_TITLE], _markdown(content), list(links)[:MOST_LINKS])


def _absolute(url: str, href: str) -> str | None:
    """Return the URL of a link, or None if it is malformed."""
    try:
        absolute = urljoin(url, href)
        urlsplit(absolute)
    except ValueError:  # for example, an unclosed bracket
        return None
    return absolute


def parse_html(html: str) -> BeautifulSoup:
    """Parse HTML. Unfinished tags at the end become text, because the parser would need quadratic time for them."""
    from bs4 import BeautifulSoup  # takes 50 ms to import, so only in the process that converts HTML

    end = html.rfind(">") + 1
    return BeautifulSoup(html[:end] + html[end:].replace("<", "&lt;"), "html.parser")


def _markdown(content: Tag) -> str:
    """Convert elements to Markdown; text that looks like a tag of the page format is escaped."""
    from markdownify import MarkdownConverter  # takes 15 ms to import, so only in the process that converts HTML

    # no `<URL>` links: links to imported pages get other targets, but keep their text
    converter = MarkdownConverter(heading_style="ATX", bullets="-", autolinks=False, code_language_callback=_language)
    text = str(converter.convert_soup(content)).replace("{%", "{\\%")
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _language(element: Tag) -> str:
    code = element.find("code") or element
    classes: Any = code.get("class") or ()
    names = classes if isinstance(classes, str) else " ".join(classes)
    match = re.search(r"\b(?:language|lang|highlight-source)-([\w+#-]+)", names)
    return match[1] if match else ""


def main() -> None:
    """Convert the page on standard input, and write the result to standard output."""
    limit_resources(MOST_MEMORY, MOST_SECONDS)
    answer: dict[str, Any]
    try:
        html = decode_html(sys.stdin.buffer.read())
        read_page(_SAMPLE, sys.argv[1])  # makes the libraries load their modules while files can be opened
        # from here on, the kernel refuses files and connections
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

"""Markdown as PDF: its content; texts of authors are never executed as code."""

from __future__ import annotations

import io
import os
import random
from functools import cache
from pathlib import Path

import pypdf
import pytest
import typst
from rich._emoji_codes import EMOJI
from tests.documents.page_samples import BEFORE
from tests.generated_docs.documentation import Documentation
from tests.hostile_strings import HOSTILE
from tests.service.pdf import undrawn

from presscheck.documents.markdown.emoji import _ICONS, _github_names, emoji_by_name
from presscheck.service.pdf.typesetter import FONTS
from presscheck.service.pdf.typst_document import render_typst, template
from presscheck.service.pdf.typst_inlines import Resolve, Target, typst_string, web_target

EACH = int(os.environ.get("PRESSCHECK_EACH_PAGE", "12"))
"""One of this many pages of documentation is typeset; 1 takes minutes."""
CODE = (
    '#read("/etc/passwd")',
    '#eval("panic()")',
    "#panic()",
    "#let x = 1",
    "#{ panic() }",
    '#import "@preview/x:1.0.0": *',
    "]",
    "[",
    "}",
    ")",
    ");",
    '"',
    '"]',
    '");#panic();("',
    "\\",
    '\\"',
    "\\u{22}",
    "$x$",
    "$",
    "@reference",
    "<label>",
    "*",
    "_",
    "`",
    "= Heading",
    "// comment",
    "/* comment",
    "*/",
    "~~~",
    "```typ\n#panic()\n```",
    "```{=typst}\n#panic()\n```",
)
EVERYWHERE = """\
{0} **{0}** [{0}](https://example.org/{0}) ![{0}]({0}) ~~{0}~~

# {0}

* {0}

| {0} | b |
| --- | --- |
| {0} | `{0}` |

{{% hint style="{0}" %}}
{0}
{{% endhint %}}

{{% code title="{0}" %}}
```{0}
{0}
```
{{% endcode %}}

{{% embed url="{0}" %}}

{{% file src="{0}" %}}
{0}
{{% endfile %}}

{{% unknown {0} %}}

<details><summary>{0}</summary>

> {0}
</details>

<table><tr><td>{0}</td></tr></table>
<figure><img src="{0}" alt="{0}"><figcaption>{0}</figcaption></figure>

[{0}][0] and a note[^1]

[0]: <{0}> "{0}"
[^1]: {0}
"""


@cache
def fonts(*, of_machine: bool = True) -> typst.Fonts:
    return typst.Fonts(include_system_fonts=of_machine, font_paths=[FONTS])


def compiled(markup: str, root: Path, *, of_machine: bool = True) -> bytes:
    source = (
        f"{template()}\n#show: manual.with(title: {typst_string('T')}, cover: false);\n"
        f"#set page(header: none, footer: none);\n{markup}"
    )
    made = typst.Compiler(source.encode(), root=root, font_paths=fonts(of_machine=of_machine)).compile()
    assert isinstance(made, bytes)
    return made


def shown(markdown: str, root: Path, resolve: Resolve = web_target) -> str:
    """Return the text of the PDF, with single spaces."""
    pages = pypdf.PdfReader(io.BytesIO(compiled(render_typst(markdown, resolve, name="p"), root))).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("Some **strong** and *soft* `code` ~~gone~~ words.", "Some strong and soft code gone words."),
        ("## A heading", "A heading"),
        ("* one\n  * two\n* three", "• one – two • three"),
        ("3. three\n4. four", "3. three 4. four"),
        ("* [x] done\n* [ ] open", "done open"),
        ("| A | B |\n| - | - |\n| c | d |", "A B c d"),
        ("    indented code", "indented code"),
        ('{% hint style="danger" %}\nHot.\n{% endhint %}', "DANGER Hot."),
        ("> [!WARNING]\n> Hot.", "WARNING Hot."),
        ("> said", "said"),
        (
            '{% tabs %}\n{% tab title="One" %}\nFirst.\n{% endtab %}\n{% tab title="Two" %}\nSecond.\n{% endtab %}\n'
            "{% endtabs %}",
            "One First. Two Second.",
        ),
        (
            '{% stepper %}\n{% step icon="check" %}\nFill.\n{% endstep %}\n{% step %}\nLight.\n{% endstep %}\n'
            "{% endstepper %}",
            "1 ✓ Fill. 2 Light.",
        ),
        ("<details>\n<summary>Why?</summary>\n\nSo.\n</details>", "Why? So."),
        (
            "{% columns %}\n{% column %}\nLeft.\n{% endcolumn %}\n{% column %}\nRight.\n{% endcolumn %}\n"
            "{% endcolumns %}",
            "Left. Right.",
        ),
        ('{% code title="a.py" lineNumbers="true" %}\n```py\nx = 1\n```\n{% endcode %}', "a.py 1 x = 1"),
        ('{% embed url="https://example.org/v" %}', "EMBED https://example.org/v"),
        ('{% file src="a/b.pdf" %}\nThe paper\n{% endfile %}', "FILE The paper b.pdf"),
        ("Note.[^1]\n\n[^1]: The note.", "Note.1 1The note."),
        ("<table><tr><th>H</th></tr><tr><td>one<br>two</td></tr></table>", "H one two"),
        ("<ul><li>one</li><li>two</li></ul>", "• one • two"),
        ("<ol><li><p>one</p></li><li><p>two</p></li></ol>", "1. one 2. two"),
        ("<h3>Old</h3><p>words</p><pre>a  b</pre>", "Old words a b"),
        ("a\n\n---\n\nb", "a b"),
    ],
)
def test_every_block_is_rendered(markdown: str, words: str, tmp_path: Path) -> None:
    # the reader may take spaced letters for words
    assert shown(markdown, tmp_path).replace(" ", "") == words.replace(" ", "")


@pytest.mark.slow
def test_all_emoji_and_icons_are_drawn_without_system_fonts(tmp_path: Path) -> None:
    signs = [*_ICONS.values(), *{emoji_by_name(name) for name in (*EMOJI, *_github_names())}]
    assert len(signs) > 2500
    markup = render_typst(" ".join(signs), web_target)
    assert undrawn(pypdf.PdfReader(io.BytesIO(compiled(markup, tmp_path, of_machine=False)))) == 0


def test_links_are_resolved(tmp_path: Path) -> None:
    (tmp_path / "picture").write_bytes(b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
    known = {
        "guide.md": Target(label="page", title="The guide"),
        "guide.md#part": Target(label="page#part", title="The guide"),
        "guide.md#on-windows": Target(label="page#on-windows", title="The guide"),
        "sky.svg": Target(picture="picture", title="sky.svg"),
        "note.md": Target(text="A [note](guide.md)."),
    }

    def resolve(address: str) -> Target:
        return known.get(address) or web_target(address)

    text = (
        "[g](guide.md) [part](guide.md#part) [tab](guide.md#on-windows) [none](none.md)"
        " [js](javascript:alert) ![Sky](sky.svg)\n\n![](sky.svg)\n\n"
        '{% content-ref url="guide.md" %}\n[guide.md](guide.md)\n{% endcontent-ref %}\n\n{% include "note.md" %}\n\n'
        '<table data-view="cards"><tr><td>Card</td><td data-hidden><a href="guide.md">x</a></td></tr></table>\n'
    )
    other = render_typst(
        '## Part\n\nWords.\n\n{% tabs %}\n{% tab title="On Windows" %}\nRun.\n{% endtab %}\n{% endtabs %}',
        resolve,
        name="page",
    )
    markup = render_typst(text, resolve, name="p") + f'#page-title(1, "page", [Guide], "", true);\n{other}'
    pages = pypdf.PdfReader(io.BytesIO(compiled(markup, tmp_path))).pages
    assert "".join(pages[0].extract_text().split()) == "gparttabnone[js](javascript:alert)PAGETheguideAnote.Card"
    links = [annotation.get_object() for annotation in pages[0]["/Annots"]]
    assert len(links) == 6 and not any("javascript" in link.get("/A", {}).get("/URI", "") for link in links)
    assert len({str(link["/Dest"]) for link in links[:3]}) == 3, "the page, its heading and its tab"


@pytest.mark.attack("scripts in content")
@pytest.mark.parametrize("text", CODE)
def test_typst_syntax_is_escaped(text: str, tmp_path: Path) -> None:
    assert "".join(shown(f"a\n\n~~~~\n{text}\n~~~~", tmp_path).split()) == "".join(f"a{text}".split())
    compiled(render_typst(EVERYWHERE.format(text), web_target, name="p"), tmp_path)
    inline = text.replace("\n", " ")
    written = "".join(f"\\{letter}" if not letter.isalnum() and letter != " " else letter for letter in inline)
    assert "".join(shown(f"a {written}", tmp_path).split()) == "".join(f"a{inline}".split())


@pytest.mark.slow
@pytest.mark.attack("Unicode and escape sequences")
def test_hostile_strings_are_rendered(tmp_path: Path) -> None:
    strings = sorted(HOSTILE)
    compiled(
        "".join(render_typst(EVERYWHERE.format(one), web_target, name=f"p{n}") for n, one in enumerate(strings[::120])),
        tmp_path,
    )
    compiled("".join(render_typst(f"{one}\n\n`{one}`\n\n    {one}\n", web_target) for one in strings[::4]), tmp_path)


@pytest.mark.slow
@pytest.mark.attack("scripts in content")
def test_random_text_runs_no_code(tmp_path: Path) -> None:
    chance = random.Random(7)
    pieces = (
        *CODE,
        *BEFORE.splitlines(),
        "> ",
        "* ",
        "{% hint %}",
        "{% endhint %}",
        "<b>",
        "</table>",
        "<td>",
        "[^1]",
        " ",
    )
    for _ in range(12):
        text = "".join(chance.choice(pieces) + chance.choice(("", "\n", " ", "\n\n")) for _ in range(60))
        compiled(render_typst(text, web_target, name="p"), tmp_path)


@pytest.mark.attack("deep and huge JSON and YAML")
@pytest.mark.parametrize("opens", ["> ", "* ", "1. ", "<div>\n\n", "{% hint %}\n", "<b>", "**a ", "[", "{% tab %}\n> "])
def test_deep_nesting_is_rendered(opens: str, tmp_path: Path) -> None:
    close = {"<div>\n\n": "\n\n</div>", "{% hint %}\n": "\n{% endhint %}", "{% tab %}\n> ": "\n{% endtab %}"}
    for times in (9, 60, 600):
        assert "deep" in shown(opens * times + "deep" + close.get(opens, "") * times, tmp_path)


@pytest.mark.documentation
def test_pages_of_documentation_are_typeset(documentation: Documentation, tmp_path: Path) -> None:
    texts = [page.text for page in documentation.pages[::EACH]]
    markup = "\n".join(render_typst(text, web_target, name=f"p{number}") for number, text in enumerate(texts))
    assert compiled(markup, tmp_path).startswith(b"%PDF")


def test_indented_code_in_html_is_code() -> None:
    markdown = '<div class="informalexample">\n\n    $ netsim list\n      ncs   running\n\n</div>\n'
    assert '"$ netsim list\\n  ncs   running");' in render_typst(markdown, web_target)

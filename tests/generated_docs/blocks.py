"""Generated blocks of pages: ordinary ones, every block of the platform, unusual scripts, and markup with mistakes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.generated_docs.links import Targets
from tests.generated_docs.pieces import Chance, Piece
from tests.generated_docs.prose import Prose

DEEPEST = 4
"""Blocks within blocks."""
SCRIPTS = {
    "Chinese": "每个令牌只属于一个工作区。令牌的权限与创建它的成员相同,并在九十天后过期。",
    "Japanese": "トークンは一度だけ表示されます。「設定」を開いて、新しいトークンを作成してください。",
    "Korean": "토큰은 한 번만 표시됩니다. 설정을 열고 새 토큰을 만드세요.",
    "Arabic": "يظهر الرمز مرة واحدة فقط. افتح الإعدادات (v2.1) ثم أنشئ رمزًا جديدًا.",
    "Hebrew": "האסימון מוצג פעם אחת בלבד, ולכן שמרו אותו ב-vault מיד.",
    "Thai": "โทเค็นจะแสดงเพียงครั้งเดียวเท่านั้น",
    "Hindi": "टोकन केवल एक बार दिखाया जाता है।",
    "emoji": "👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈 🇩🇪 1️⃣ ❤️ 🧑🏿‍🚀 ☺︎",
    "combining marks": "e\u0301tude n\u0303 a\u030a\u0323 Z\u0351\u036b\u0343\u036aa\u0306\u0300lgo o\u0302\u0323",
    "full width": "Ｆｕｌｌ　ｗｉｄｔｈ ｱｲｳ ①②③ ﬁ",
    "invisible": "zero\u200bwidth soft\u00adhyphen no\u00a0break word\u2060joiner",
    "directions": "a \u202eoverride\u202c b \u2067isolate\u2069 c",
    "controls": "bell\x07 escape\x1b[31m form\x0cfeed vertical\x0btab \x9b2J",
    "mathematics": "∀x ∈ ℝ: ⌈x⌉ = −⌊−x⌋ 𝔸𝕓𝖈",
}
LANGUAGES = ("python", "js", "sh", "", "yaml", "c++", "json5 title=x", "text")
STYLES = ("info", "warning", "danger", "success")


class Blocks:
    """Writes blocks of every kind; `note` numbers the footnotes of one page."""

    def __init__(self, chance: Chance, prose: Prose, targets: Targets) -> None:
        self.chance = chance
        self.prose = prose
        self.targets = targets
        self.note = 0
        self.depth = 0

    def ordinary(self) -> Piece:
        """A block as pages mostly have them."""
        return self._made(self.chance.choice(USUAL), ORDINARY)

    def any(self) -> Piece:
        """A block of any kind that does no harm to its neighbours."""
        names = (*ORDINARY, *PLATFORM, *UNUSUAL)
        return self._made(self.chance.choice(names), ORDINARY | PLATFORM | UNUSUAL)

    def named(self, name: str) -> Piece:
        """A block of this kind."""
        return self._made(name, ORDINARY | PLATFORM | UNUSUAL | MISTAKES | SWALLOWING)

    def inner(self, least: int = 1, most: int = 3) -> tuple[Piece, ...]:
        """What another block holds; plain paragraphs where blocks are deep already."""
        self.depth += 1
        made = tuple(
            self.named("paragraph") if self.depth > DEEPEST else self.any()
            for _ in range(self.chance.between(least, most))
        )
        self.depth -= 1
        return made

    def _made(self, name: str, kinds: dict[str, Callable[[Blocks], Piece]]) -> Piece:
        return replace(kinds[name](self), name=name)

    # inline content

    def line(self) -> str:
        """A sentence with something inline in it."""
        return f"{self.prose.sentence()} {filled(self, self.chance.choice(INLINES))} {self.prose.sentence()}"

    def cell(self) -> str:
        """What a cell of a Markdown table holds."""
        choice = self.chance.below(8)
        if choice == 0:
            return ""
        if choice == 1:
            return f"`a\\|b`{self.prose.marker()}"
        if choice == 2:
            return f"{self.prose.words()} \\| {self.prose.words()}"
        if choice == 3:
            return f"[{self.prose.words()}]({self.targets.page()})"
        if choice == 4:
            return f"<p>{self.prose.words()}</p><ul><li>{self.prose.words()}</li><li>b</li></ul>"
        if choice == 5:
            return f"{self.prose.words()}<br>**{self.prose.words()}**"
        if choice == 6:
            return self.chance.choice(tuple(SCRIPTS.values())[:7])
        return self.prose.words()


Make = Callable[[Blocks], Piece]


def _leaf(write: Callable[[Blocks], str]) -> Make:
    return lambda blocks: Piece("", write(blocks))


def _of_choice(*texts: str) -> Make:
    """One of several forms; `{w}` are words, `{p}` a page, `{i}` an image, `{f}` a file, `{m}` a missing page."""

    def make(blocks: Blocks) -> Piece:
        return Piece("", filled(blocks, blocks.chance.choice(texts)))

    return make


def _forms(name: str, *texts: str) -> dict[str, Make]:
    """A kind of block for each form, numbered where there are several."""
    if len(texts) == 1:
        return {name: _of_choice(*texts)}
    return {f"{name} {number}": _of_choice(text) for number, text in enumerate(texts, 1)}


def filled(blocks: Blocks, text: str) -> str:
    """The text with words and addresses in it."""
    writers = {
        "{w}": blocks.prose.words,
        "{s}": blocks.prose.sentence,
        "{p}": blocks.targets.page,
        "{i}": blocks.targets.picture,
        "{f}": blocks.targets.file,
        "{m}": blocks.targets.missing,
        "{u}": lambda: "https://example.org/watch?v=1&t=2",
    }
    for mark, write in writers.items():
        while mark in text:
            text = text.replace(mark, write().strip(), 1)
    return text


def _paragraph(blocks: Blocks) -> str:
    return blocks.prose.paragraph(2, 4)


def _rich(blocks: Blocks) -> str:
    text = blocks.line()
    return f"{text}\n{blocks.line()}" if blocks.chance.share(0.3) else text


def _heading(blocks: Blocks) -> str:
    marks = "#" * blocks.chance.between(2, 4)
    ends = ("", "", f' <a href="#part" id="part-{blocks.chance.below(99)}"></a>', " ##")
    return f"{marks} {blocks.prose.words().capitalize()}{blocks.chance.choice(ends)}"


def _items(blocks: Blocks) -> str:
    mark = blocks.chance.choice("*-+")
    return "\n".join(f"{mark} {blocks.prose.words()}" for _ in range(blocks.chance.between(2, 6)))


def _numbered(blocks: Blocks) -> str:
    start, sign = blocks.chance.choice((1, 1, 1, 7)), blocks.chance.choice("..)")
    return "\n".join(f"{start + at}{sign} {blocks.prose.sentence()}" for at in range(blocks.chance.between(2, 5)))


def _tasks(blocks: Blocks) -> str:
    return "\n".join(f"- [{blocks.chance.choice('x ')}] {blocks.prose.words()}" for _ in range(3))


def _table(blocks: Blocks) -> str:
    rows = [f"| {blocks.prose.words()} | {blocks.prose.words()} |" for _ in range(blocks.chance.between(1, 5))]
    return "\n".join(("| Setting | Meaning |", "| --- | --- |", *rows))


def _rich_table(blocks: Blocks) -> str:
    width = blocks.chance.between(1, 6)
    rule = "|".join(blocks.chance.choice(("---", ":--", ":-:", "--:", "-")) for _ in range(width))
    head = "|".join(blocks.cell() for _ in range(width))
    rows = ["|".join(blocks.cell() for _ in range(width)) for _ in range(blocks.chance.between(0, 5))]
    if blocks.chance.share(0.2):
        rows.append("| short")
    return "\n".join(f"|{row}|" if not row.startswith("| short") else row for row in (head, rule, *rows))


def _wide_table(blocks: Blocks) -> str:
    names = [f"c{number}" for number in range(30)]
    rows = [[str(blocks.chance.below(10_000)) for _ in names] for _ in range(3)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (names, ["---:"] * 30, *rows))


def _code_lines(blocks: Blocks, count: int = 5) -> str:
    lines = [
        f"retry_limit = {blocks.chance.below(99)}  # {blocks.prose.words()}",
        "for valve in pumps.open(valves, limit=10):",
        '    print(f"{valve.name}: {valve.pressure:.2f} bar")',
        "",
        "\treturn [link](target.md) {% hint %} <details> $$x$$ `tick`",
        "curl --request POST 'https://example.org/v1/pumps' | jq '.items[] | .id'",
        "x" * 300,
    ]
    return "\n".join(blocks.chance.choice(lines) for _ in range(blocks.chance.between(1, count)))


def _code(blocks: Blocks) -> str:
    fence = blocks.chance.choice(("```", "```", "````", "~~~"))
    return f"{fence}{blocks.chance.choice(LANGUAGES)}\n{_code_lines(blocks)}\n{fence}"


def _quote(blocks: Blocks) -> Piece:
    return Piece("", "", blocks.inner(1, 2), indent="> ")


def _lazy_quote(blocks: Blocks) -> str:
    return f"> {blocks.prose.sentence()}\n{blocks.prose.sentence()}\n> > {blocks.prose.sentence()}"


def _deep_quote(blocks: Blocks) -> str:
    return "\n".join(f"{'> ' * depth}{blocks.prose.words()}" for depth in range(1, 15))


def _item_with_blocks(blocks: Blocks) -> Piece:
    mark, indent = blocks.chance.choice((("* ", "  "), ("1. ", "   "), ("-   ", "    "), ("- [ ] ", "  ")))
    return Piece("", f"{mark}{blocks.prose.sentence()}", blocks.inner(), indent=indent, gap="\n\n")


def _deep_list(blocks: Blocks) -> str:
    depth = blocks.chance.between(3, 12)
    return "\n".join(f"{'  ' * level}* {blocks.prose.words()}" for level in range(depth))


def _code_in_list(blocks: Blocks) -> str:
    code = _code(blocks).replace("\n", "\n   ")
    return f"1. {blocks.prose.sentence()}\n\n   {code}\n2. {blocks.prose.sentence()}\n   {code}"


def _image(blocks: Blocks) -> str:
    return filled(blocks, blocks.chance.choice(("![The harbour]({i})", '![]({i} "A title")', "![{w}](<{i}>)")))


def _tag(name: str, attributes: str = "") -> Make:
    """A tag around blocks; `attributes` are of the form `a=x,y b=z`, a value or none of each is taken."""

    def make(blocks: Blocks) -> Piece:
        text = f"{{% {name}{_attributes(blocks, attributes)} %}}"
        return Piece("", text, blocks.inner(), f"{{% end{name} %}}")

    return make


def _condition(blocks: Blocks) -> Piece:
    return Piece("", "{% if visitor.claims.unsigned.beta %}", blocks.inner(), "{% endif %}")


def _attributes(blocks: Blocks, given: str) -> str:
    written = ""
    for part in given.split():
        name, _, values = part.partition("=")
        if name.endswith("!") or blocks.chance.share(0.5):
            written += f' {name.rstrip("!")}="{blocks.chance.choice(values.split(",")).replace("_", " ")}"'
    return written


def _hint(blocks: Blocks) -> Piece:
    style = blocks.chance.choice(STYLES)
    icon = blocks.chance.choice(("", "", ' icon="bolt"'))
    return Piece("", f'{{% hint style="{style}"{icon} %}}', blocks.inner(), "{% endhint %}")


def _alert(blocks: Blocks) -> str:
    return f"> [!{blocks.chance.choice(('NOTE', 'TIP', 'IMPORTANT', 'WARNING', 'CAUTION'))}]\n> {blocks.line()}"


def _group(outer: str, inner: str, outer_values: str = "", inner_values: str = "") -> Make:
    """A tag that holds tags of one other kind."""

    def make(blocks: Blocks) -> Piece:
        parts = tuple(
            replace(_tag(inner, inner_values)(blocks), name=inner) for _ in range(blocks.chance.between(1, 3))
        )
        return Piece("", f"{{% {outer}{_attributes(blocks, outer_values)} %}}", parts, f"{{% end{outer} %}}")

    return make


def _details(blocks: Blocks) -> Piece:
    opened = blocks.chance.choice(("<details>", "<details open>", "<details>\n"))
    summary = blocks.chance.choice(("{w}", "<strong>{w}</strong>", "{w} <code>x</code>"))
    return Piece(
        "", f"{opened}\n<summary>{filled(blocks, summary)}</summary>", blocks.inner(), "</details>", gap="\n\n"
    )


def _code_tag(blocks: Blocks) -> str:
    values = "title=a.py,src/main.rs lineNumbers=true,false overflow=wrap,scroll expandable=true collapsedLineCount=3"
    code = f"```{blocks.chance.choice(LANGUAGES)}\n{_code_lines(blocks)}\n```"
    return f"{{% code{_attributes(blocks, values)} %}}\n{code}\n{{% endcode %}}"


def _marked_code(blocks: Blocks) -> str:
    code = f"let a = 1 &lt; 2\n<strong>a += 1 // {blocks.prose.words()}\n</strong>b &amp;&amp; c\n"
    return f'<pre class="language-js" data-title="a.js" data-line-numbers><code class="lang-js">{code}</code></pre>'


def _cards(blocks: Blocks) -> str:
    head = (
        '<tr><th></th><th data-type="rating" data-max="5"></th><th data-hidden data-card-target '
        'data-type="content-ref"></th><th data-hidden data-card-cover data-type="files"></th></tr>'
    )
    row = (
        '<tr><td><strong>{w}</strong><br>{w}</td><td>3</td><td><a href="{p}">page</a></td>'
        '<td><a href="{i}">i</a></td></tr>'
    )
    rows = "".join(filled(blocks, row) for _ in range(blocks.chance.between(1, 4)))
    size = blocks.chance.choice(("", ' data-card-size="large"'))
    return f'<table{size} data-view="cards"><thead>{head}</thead><tbody>{rows}</tbody></table>'


def _grid(blocks: Blocks) -> str:
    head = (
        '<tr><th width="120">Name</th><th valign="top">Text</th><th data-type="checkbox">Is</th>'
        '<th data-type="number" align="right">N</th><th data-type="files">F</th>'
        '<th data-type="users" data-multiple>U</th>'
        '<th data-type="select" data-options="[{&quot;value&quot;:&quot;b&quot;,&quot;label&quot;:&quot;Big&quot;}]">'
        "S</th><th data-hidden>H</th></tr>"
    )
    row = (
        '<tr><td>{w}</td><td><p>{w}</p><ul><li>{w}</li><li><em>b</em></li></ul><p><img src="{i}" alt=""></p></td>'
        '<td>true</td><td>1.5</td><td><a href="{f}">f</a></td><td><a href="/~/users/u1">u1</a></td>'
        '<td><span data-option="b">Big</span></td><td>hidden</td></tr>'
    )
    rows = "".join(filled(blocks, row) for _ in range(blocks.chance.between(1, 3)))
    return f'<table data-full-width="true"><thead>{head}</thead><tbody>{rows}</tbody></table>'


def _include(blocks: Blocks) -> str:
    snippet = blocks.targets.snippet()
    return f'{{% include "{snippet}" %}}' if snippet else blocks.prose.paragraph()


def _footnote(blocks: Blocks) -> str:
    blocks.note += 1
    words = blocks.prose.sentence
    return f"{words()}[^{blocks.note}] {words()}\n\n[^{blocks.note}]: {words()}\n\n    {words()}"


def _annotation(blocks: Blocks) -> str:
    blocks.note += 1
    label = f"a{blocks.note}"
    return f"A [{blocks.prose.words()}](#user-content-fn-{label})[^{label}] here.\n\n[^{label}]: {blocks.line()}"


def _script(blocks: Blocks) -> str:
    name = blocks.chance.choice(tuple(SCRIPTS))
    return f"{SCRIPTS[name]} {blocks.prose.sentence()} **{SCRIPTS[name]}**"


def _reference(blocks: Blocks) -> str:
    target = blocks.targets
    blocks.note += 1
    return (
        f"See [{blocks.prose.words()}][r{blocks.note}] and [r{blocks.note}].\n\n"
        f'[r{blocks.note}]: {target.page()} "Its title"'
    )


def _link_list(blocks: Blocks) -> str:
    return "\n".join(f"* [{blocks.prose.words()}]({blocks.targets.any()})" for _ in range(4))


def _deep_details(blocks: Blocks) -> str:
    depth = 6
    opens = "\n\n".join(f"<details>\n\n<summary>{blocks.prose.words()}</summary>" for _ in range(depth))
    return f"{opens}\n\n{blocks.prose.sentence()}\n\n" + "\n\n".join(["</details>"] * depth)


def _nested(blocks: Blocks) -> Piece:
    """A list in a hint in a tab in an expandable."""
    items = Piece("list", _deep_list(blocks))
    hint = Piece("hint", '{% hint style="info" %}', (items,), "{% endhint %}")
    tab = Piece("tab", '{% tab title="One" %}', (hint,), "{% endtab %}")
    tabs = Piece("tabs", "{% tabs %}", (tab,), "{% endtabs %}")
    return Piece("", f"<details>\n\n<summary>{blocks.prose.words()}</summary>", (tabs,), "</details>", gap="\n\n")


INLINES = (
    "**{w}**",
    "_{w}_ and *{w}*",
    "***{w}***",
    "~~{w}~~",
    "`{w}` and `` a`b ``",
    "<kbd>Ctrl</kbd> <sub>{w}</sub> <sup>2</sup>",
    '<mark style="color:red;background-color:blue;">{w}</mark>',
    "<strong>{w}</strong> <em>b</em> <code>c</code> <u>d</u> <del>e</del>",
    ":smile: :rocket: :not-an-emoji: :+1:",
    '<i class="fa-github">:github:</i> {w}',
    '<code class="expression">space.vars.version</code>',
    "$$a_1 * b_2 * c$$ and $$\\frac{1}{2}$$",
    'In <img src="{i}" alt="{w}" data-size="line"> a line',
    '<picture><source srcset="{i}" media="(prefers-color-scheme: dark)"><img src="{i}" alt="x"></picture>',
    '<a href="{p}" class="button primary" data-icon="bolt">{w}</a>',
    '[page]({p} "mention")',
    "[{w}]({p})",
    "[**{w}** `code`]({p} 'Its title')",
    "[![{w}]({i})]({p})",
    "[{w}](<{p}>)",
    "[{w}]({m})",
    '<a href="{p}">{w}</a>',
    "<https://example.org/auto> and <support@example.org>",
    "&amp; &lt;b&gt; &copy; &#169; &nbsp; {w}",
    "\\*no\\* \\_no\\_ \\[no\\](no) \\`no\\` {w}",
    "first  \n{w}\\\nlast",
    "a<br>b<br/>{w}",
    "snake_case_word 2*3*4 a__b__c {w}",
    "<!-- a comment --> {w}",
    "<span>{w}</span> <unknown-tag>b</unknown-tag>",
)
"""What stands within a line, as for `_of_choice`."""

ORDINARY: dict[str, Make] = {
    "paragraph": _leaf(_paragraph),
    "rich paragraph": _leaf(_rich),
    "heading": _leaf(_heading),
    "list": _leaf(_items),
    "numbered list": _leaf(_numbered),
    "task list": _leaf(_tasks),
    "table": _leaf(_table),
    "code": _leaf(_code),
    "image": _leaf(_image),
    "links": _leaf(_link_list),
}
USUAL = ("paragraph",) * 8 + ("rich paragraph",) * 2 + ("heading",) * 3 + tuple(ORDINARY)

PLATFORM: dict[str, Make] = {
    **{f"inline {text}": _of_choice(f"{{s}} {text} {{w}}") for text in INLINES},
    **_forms("smaller heading", "### {w}"),
    **_forms("smallest heading", "#### {w}"),
    "hint": _hint,
    "alert": _leaf(_alert),
    "tabs": _group("tabs", "tab", "fullWidth=true", 'title!=macOS,A_\\"quoted\\"_title,日本語 icon=apple'),
    "stepper": _group("stepper", "step", "", "icon=bolt"),
    "columns": _group("columns", "column", "fullWidth=true,false", "width=33%,41.66% valign=top,middle,bottom"),
    "updates": _group("updates", "update", "format=full,numeric,short", "date!=2026-01-02 tags=new,api"),
    "details": _details,
    "nested": _nested,
    "deep details": _leaf(_deep_details),
    "quote": _quote,
    "deep quote": _leaf(_deep_quote),
    "item with blocks": _item_with_blocks,
    "deep list": _leaf(_deep_list),
    "code in a list": _leaf(_code_in_list),
    "code with a title": _leaf(_code_tag),
    "code with marked lines": _leaf(_marked_code),
    **_forms(
        "prompt", '{% prompt description="Ask" icon="bolt" openInAIProviders="true" %}\n```\n{s}\n```\n{% endprompt %}'
    ),
    "condition": _condition,
    "cards": _leaf(_cards),
    "grid": _leaf(_grid),
    "rich table": _leaf(_rich_table),
    "wide table": _leaf(_wide_table),
    **_forms("embed", '{% embed url="{u}" %}', '{% embed url="{u}" fullWidth="true" %}\n{w}\n{% endembed %}'),
    **_forms("file", '{% file src="{f}" %}', '{% file src="{f}" %}\n{w}\n{% endfile %}'),
    **_forms(
        "content-ref",
        '{% content-ref url="{p}" %}\n[{w}](#part)\n{% endcontent-ref %}',
        '{% content-ref url="{u}" %}\n{u}\n{% endcontent-ref %}',
    ),
    "include": _leaf(_include),
    **_forms("math", "$$\nx_1 = \\frac{1}{2} * y_2\n$$", "$$x_1 * y_2$$"),
    **_forms(
        "figure",
        '<figure><img src="{i}" alt=""><figcaption></figcaption></figure>',
        '<figure><img src="{i}" alt="Sky" width="375"><figcaption><p>{w} <em>{w}</em></p></figcaption></figure>',
        '<div align="left" data-with-frame="true"><figure><picture><source srcset="{i}" '
        'media="(prefers-color-scheme: dark)"><img src="{i}" alt=""></picture><figcaption></figcaption></figure></div>',
        '<div><figure><img src="{i}" alt="" width="50%"><figcaption></figcaption></figure> <figure><img src="{i}" '
        'alt=""><figcaption><p>{w}</p></figcaption></figure></div>',
    ),
    **_forms("drawing", '<img alt="" class="gitbook-drawing" src="{i}">'),
    **_forms(
        "openapi",
        '{% openapi src="{f}" path="/pets/{id}" method="get" expanded="true" %}\n[pets](https://example.org/pets)\n'
        "{% endopenapi %}",
    ),
    **_forms(
        "swagger",
        '{% swagger src="{f}" path="/pets" method="post" %}\n[pets](https://example.org/pets)\n{% endswagger %}',
    ),
    **_forms(
        "openapi-operation",
        '{% openapi-operation spec="pets" path="/pets" method="post" %}\n[pets](https://example.org/pets)\n'
        "{% endopenapi-operation %}",
    ),
    **_forms("openapi-webhook", '{% openapi-webhook spec="pets" name="born" method="post" %}'),
    **_forms("openapi-schemas", '{% openapi-schemas spec="pets" schemas="Pet,Error" grouped="true" %}'),
    **_forms("integration", '{% @mermaid/diagram content="graph TD" flowId="a1" count="3" %}'),
    "footnote": _leaf(_footnote),
    "annotation": _leaf(_annotation),
    **_forms(
        "aligned",
        '<p align="center">{s}</p>',
        '<h2 align="right">{w}</h2>',
        '<p align="right">{w} <strong>b</strong></p>',
    ),
    **_forms("rule", "---", "***", "_ _ _"),
    "reference links": _leaf(_reference),
}
UNUSUAL: dict[str, Make] = {
    "script": _leaf(_script),
    **_forms("long word", "a" * 400, "https://example.org/" + "path/" * 60, "界" * 300),
    **_forms("setext heading", "{w}\n===", "{w}\n---"),
    **_forms("indented code", "    {w}\n\n        deeper\n    end"),
    "lazy quote": _leaf(_lazy_quote),
    **_forms("trailing blanks", "{s}   \n{s}\t\n{s}", "* {w}  \n* {w}\t"),
    **_forms("comment", "<!-- one line -->", "<!--\n\n## not a heading\n\n[not a link](absent.md)\n-->"),
    **_forms(
        "tight tag",
        '{%hint style="info"%}\n{s}\n{%endhint%}',
        "{% hint style='warning' %}\n{s}\n{% endhint %}",
        "{% hint style=danger %}\n{s}\n{% endhint %}",
        '{% hint style="info" %} {s} {% endhint %}',
        '{% hint\n  style="info"\n%}\n{s}\n{% endhint %}',
        '{% hint style="loud" unknown="x" %}\n{s}\n{% endhint %}',
    ),
    **_forms(
        "details on one line",
        "<details><summary>{w}</summary>{s}</details>",
        "<details><summary>{w}</summary>\n{s}\n</details>",
        "<DETAILS>\n\n{s}\n\n</DETAILS>",
    ),
    **_forms(
        "raw HTML",
        "<div>\n\n{s}\n\n</div>",
        "<ul><li>{w}</li><li>{w}<ul><li>{w}</li></ul></li></ul>",
        "<ol><li><p>{w}</p></li></ol>",
        "<dl><dt>{w}</dt><dd>{w}</dd></dl>",
        "<blockquote>{w}</blockquote>",
        "<h3>{w}</h3>\n<p>{w}</p>",
        "<center>{w}</center>",
        "<hr>",
    ),
    **_forms(
        "odd list",
        "* {w}\n   * {w}\n     * {w}\n * {w}",
        "*\n* {w}\n*",
        "1) {w}\n3) {w}\n2) {w}",
        "- {w}\n\n\n- {w}\n\n  {s}",
        "* {w}\n\n      code in an item\n* {w}",
        "*\t{w}\n\t* {w}\n\t\t* {w}",
        "- - - {w}",
        "123456789. {w}\n1234567890. {w}",
    ),
    **_forms(
        "odd table",
        "{w} | {w}\n--- | ---\n{w} | {w}",
        "| {w} |\n|---|",
        "| a | b |\n|---|---|\n| {w} |\n| {w} | {w} | surplus |",
        "|   |   |\n|---|---|\n|   |   |",
        "<table><tr><td>{w}<td>{w}<tr><td colspan=2>{w}</table>",
        "<table>\n<tbody>\n<tr>\n<td>\n\n**{w}**\n\n</td>\n</tr>\n</tbody>\n</table>",
    ),
    **_forms(
        "empty blocks",
        '{% hint style="info" %}\n{% endhint %}',
        "{% tabs %}\n{% endtabs %}",
        "<details>\n\n<summary></summary>\n\n</details>",
        "```\n```",
        "> ",
        "##",
        "[](){w}",
        "![]()",
    ),
    **_forms(
        "unknown tag",
        '{% sparkle a="b" %}\n{s}\n{% endsparkle %}',
        "{% sparkle %}",
        "{% raw %}\n{{ {w} }}\n{% endraw %}",
    ),
}
MISTAKES: dict[str, Make] = {
    **_forms(
        "unclosed tag",
        '{% hint style="info" %}\n{s}',
        '{% tabs %}\n{% tab title="x" %}\n{s}\n{% endtab %}',
        '{% hint style="info"\n{s}',
        "{% %}\n{s}",
    ),
    **_forms("stray end", "{% endhint %}\n{s}", "</details>\n\n{s}", "{s} {% endtabs %}", "</div></div>\n{s}"),
    **_forms(
        "crossed tags",
        '{% hint style="info" %}\n{% tabs %}\n{s}\n{% endhint %}\n{% endtabs %}',
        '<details>\n<summary>{w}</summary>\n{% hint style="info" %}\n{s}\n</details>\n{% endhint %}',
    ),
    **_forms(
        "unclosed details", "<details>\n<summary>{w}</summary>\n\n{s}", "<details>\n\n<summary>{w}\n\n{s}\n\n</details>"
    ),
    **_forms("unclosed marks", "**{w}", "{w} `code", "[{w}](", "![{w}", "{w}](x)", "_{w}**", "~~{w}", "$$ {w}"),
    **_forms("end in a quote", '> {% hint style="info" %}\n> {s}\n\n{% endhint %}', "* <details>\n\n{s}\n</details>"),
    **_forms("braces", "{w} {{ a }} {% b", "{%", "{% % } {w}", "{# {w} #}", "}} {w} %}"),
}
SWALLOWING: dict[str, Make] = {
    **_forms("unclosed fence", "```python\n{s}\n\n{s}", "~~~\n{s}", "* a\n\n  ```\n  {w}"),
    **_forms(
        "unclosed raw HTML",
        "<pre>\n{w}\n",
        "<table><tr><td>{w}",
        "<div>\n{w}",
        '<figure><img src="{i}">',
        "<!-- a comment",
    ),
}
"""What an unclosed one of these does to the blocks behind it is its right: they stand at the end of a page only."""

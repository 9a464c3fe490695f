"""Markdown samples of all blocks, inlines and marks, in normal form: reading and writing them changes nothing."""

BLOCKS = {
    "paragraph": "One line and more.",
    "paragraph in the middle": '<p align="center">In the <strong>middle</strong></p>',
    "heading-1": "## First",
    "heading-2": "### Second",
    "heading-3": '#### Third <a href="#the-third" id="the-third"></a>',
    "heading-1 of the page": "# Title",
    "heading-3 far below": "###### Sixth",
    "heading-1 at the right": '<h2 align="right">Late</h2>',
    "list-unordered": "- one\n- two\n  - inner\n- three",
    "list-ordered": "3. three\n\n4. four\n\n   Second paragraph.",
    "list-tasks": "- [x] done\n- [ ] open",
    "divider": "---",
    "blockquote": "> Said.\n>\n> > Before.",
    "hint": '{% hint style="warning" icon="bolt" %}\nMind.\n\n- a\n- b\n{% endhint %}',
    "hint as a quotation": "> [!NOTE]\n> Mind.",
    "code": "```python\nprint(1)\n\nprint(`2`)\n```",
    "code with a title": '{% code title="a.py" overflow="wrap" lineNumbers="true" %}\n```python\nx\n```\n{% endcode %}',
    "code with marked lines": '<pre class="language-js" data-title="a.js"><code>let a = 1 &lt; 2\n'
    "<strong>a += 1\n</strong>b\n</code></pre>",
    "math": "$$\nx = \\frac{1}{2}\n$$",
    "images": "![Sky](sky.png)",
    "images with a caption": '<figure><img src="sky.png" alt="Sky" width="375"><figcaption><p>The <em>sky</em>'
    "</p></figcaption></figure>",
    "images in a frame": '<div align="left" data-with-frame="true"><figure><picture>'
    '<source srcset="dark.png" media="(prefers-color-scheme: dark)"><img src="a.png" alt=""></picture>'
    '<figcaption></figcaption></figure><figure><img src="b.png" alt="" width="50%"><figcaption></figcaption>'
    "</figure></div>",
    "file": '{% file src=".gitbook/assets/a.pdf" %}',
    "drawing": '<img alt="" class="gitbook-drawing" src=".gitbook/assets/a.svg">',
    "embed": '{% embed url="https://example.org/v?x=1&y=2" fullWidth="true" %}\nIts words.\n{% endembed %}',
    "content-ref": '{% content-ref url="guides/start.md" %}\n[start.md](guides/start.md)\n{% endcontent-ref %}',
    "reusable-content": '{% include "../.gitbook/includes/note.md" %}',
    "expandable": "<details open>\n\n<summary>More <strong>of it</strong></summary>\n\nWithin.\n\n- a\n\n</details>",
    "tabs": '{% tabs fullWidth="true" %}\n{% tab title="One" %}\nFirst.\n{% endtab %}\n\n'
    '{% tab title="T\\"wo" icon="rocket" %}\n'
    "```\nx\n```\n{% endtab %}\n{% endtabs %}",
    "stepper": '{% stepper %}\n{% step %}\n### Begin\n\nDo.\n{% endstep %}\n\n{% step icon="bolt" %}\nEnd.\n'
    "{% endstep %}\n{% endstepper %}",
    "columns": '{% columns %}\n{% column width="33%" valign="middle" %}\nLeft.\n{% endcolumn %}\n\n{% column %}\n'
    "| a |\n| --- |\n| b |\n{% endcolumn %}\n{% endcolumns %}",
    "table": "| a | <strong>b</strong> | c\\|d |\n| --- | :---: | ---: |\n| 1 | `x` | <br> |\n|  |  |  |",
    "table of HTML": '<table data-header-hidden data-full-width="true"><thead><tr><th width="120">Name</th>'
    '<th valign="top">Text</th><th data-hidden data-type="content-ref">To</th><th data-type="number">N</th>'
    '<th data-type="checkbox">Is</th><th data-type="rating" data-max="5">R</th><th data-type="files">F</th>'
    '<th data-type="users" data-multiple>U</th></tr></thead><tbody><tr><td>a</td><td><p>b</p><p><em>c</em></p></td>'
    '<td><a href="start.md">start.md</a></td><td>1.5</td><td>true</td><td>3</td>'
    '<td><a href="a.pdf">a.pdf</a></td><td><a href="/~/users/u1">u1</a></td></tr></tbody></table>',
    "table of choices": '<table><thead><tr><th data-type="select" data-multiple data-options="[{&quot;color&quot;: '
    '&quot;blue&quot;, &quot;label&quot;: &quot;Big&quot;, &quot;value&quot;: &quot;b&quot;}]"></th></tr></thead>'
    '<tbody><tr><td><span data-option="b">Big</span></td></tr></tbody></table>',
    "table of cards": '<table data-card-size="large" data-view="cards"><thead><tr><th>Name</th>'
    '<th data-hidden data-card-target data-type="content-ref">To</th><th data-hidden data-card-cover '
    'data-type="image">Cover</th></tr></thead><tbody><tr><td>a</td><td><a href="start.md">start.md</a></td>'
    '<td><a href="sky.png">sky.png</a></td></tr></tbody></table>',
    "swagger": '{% openapi src="api.yaml" path="/pets/{id}" method="get" expanded="true" %}',
    "openapi-operation": '{% openapi-operation spec="pets" path="/pets" method="post" %}',
    "openapi-webhook": '{% openapi-webhook spec="pets" name="born" method="post" %}',
    "openapi-schemas": '{% openapi-schemas spec="pets" schemas="Pet,Error" grouped="false" %}',
    "integration": '{% @mermaid/diagram content="graph TD" flowId="a1" count="3" %}',
    "if": "{% if visitor.claims.beta %}\nFor some.\n{% endif %}",
    "prompt": '{% prompt description="Ask" openInAIProviders="true" %}\n```\nWhy?\n```\n{% endprompt %}',
    "updates": '{% updates format="full" %}\n{% update date="2026-01-02" tags="new,api" %}\n### One\n\nIs new.\n'
    "{% endupdate %}\n{% endupdates %}",
}
"""Samples by the type of their first block and the feature that they show."""
INLINES = {
    "link": '[guide](guide.md#top "Its title") and [**bold** words](<https://example.org/a_(b)>)',
    "link around an image": "[![Sky](sky.png)](sky.md) in a line",
    "annotation": "A [word](#user-content-fn-1)[^1] and another.[^2]\n\n[^1]: It _means_.\n\n    Much.\n\n[^2]: Too.",
    "mention": 'By [start.md](start.md "mention") it begins.',
    "emoji": "So :smile: it is.",
    "icon": 'An <i class="fa-github">:github:</i> here.',
    "expression": 'It is <code class="expression">space.vars.version</code> now.',
    "inline-math": "Where $$a_1 * b_2$$ is.",
    "inline-image": 'In <img src="a.png" alt="A" data-size="line"> a line.',
    "inline-image in the dark": 'In <picture><source srcset="d.png" media="(prefers-color-scheme: dark)">'
    '<img src="a.png" alt=""></picture> a line.',
    "button": '<a href="start.md" class="button primary" data-icon="bolt">Begin</a> here.',
}
"""Samples by the type of their first inline other than text and the feature that they show."""
MARKS = {
    "bold": "a **b** c",
    "italic": "a _b_ c",
    "bold before a word": "<strong>a!</strong>b",
    "code": "a `b` and `` `c` ``",
    "strikethrough": "a ~~b~~ c",
    "keyboard": "<kbd>a</kbd> b",
    "superscript": "a<sup>2</sup>",
    "subscript": "a<sub>2</sub>",
    "color": '<mark style="color:red;background-color:blue;">a</mark> b',
}
"""Samples by their first mark and the feature that they show."""
WORDS = (
    "1\\. no list",
    "\\# no heading",
    "\\- no list",
    "\\> no quotation",
    "a\\*b\\* \\[c\\](d)",
    "line\\\nbreak",
    "&amp;lt; &lt;b>",
    "\\`x\\`",
    "50_000 snake_case",
    "\\:smile:",
    "{\\% hint %}",
    "\\~\\~x\\~\\~ \\$\\$y\\$\\$",
    "\\---",
    "\\| a |",
)
"""Plain texts that look like markup."""

"""A page with the blocks that have controls, a page with every block, and the API description that both show."""

from __future__ import annotations

import asyncio
import json
from functools import partial

from tests.documents.node_samples import BLOCKS, INLINES, MARKS
from tests.running_service import RunningService
from tests.service_users import main_moves, somebody

from presscheck.api.openapi import GetLatestOpenAPISpecContent, PutOpenAPISpec, SpecSource
from presscheck.errors import RequestError

SPACE, TITLE = "runbook", "On call"
NAMES = ["team", "city", "phone", "shift", "lead", "backup", "pager", "region", "floor", "desk", "mail", "room"]
WIDE = "\n".join(
    f"| {' | '.join(row)} |"
    for row in (NAMES, ["---"] * len(NAMES), *([f"{name} of {who}" for name in NAMES] for who in ("north", "south")))
)
TEXT = f"""{{% tabs %}}
{{% tab title="macOS" %}}
Install with the package manager.
{{% endtab %}}
{{% tab title="Linux" %}}
Install from the archive.
{{% endtab %}}
{{% endtabs %}}

<details>

<summary>What if nobody answers</summary>

Call the second number.

</details>

{WIDE}

{{% code title="page.sh" lineNumbers="true" %}}
```sh
curl --request POST https://example.org/pages --header "Accept: application/json" --data '{{"team": "north", "to": 1}}'
echo done
```
{{% endcode %}}

{{% hint style="warning" %}}
Water is H<sub>2</sub>O, and $$x_1 \\le \\frac{{1}}{{2}}$$ :smile: <i class="fa-star">:star:</i>
{{% endhint %}}

{{% content-ref url="after.md" %}}
[after.md](after.md)
{{% endcontent-ref %}}

See [the rules of old](gone.md) or <a href="after.md" class="button primary">Begin</a>

{{% columns %}}
{{% column %}}
On the left.
{{% endcolumn %}}
{{% column %}}
On the right.
{{% endcolumn %}}
{{% endcolumns %}}

{{% if visitor.claims.beta %}}
Only for some.
{{% endif %}}

{{% @mermaid/diagram content="graph TD" %}}

{{% openapi-operation spec="pager" path="/pages" method="post" %}}

{{% embed url="https://example.org/film" %}}

<p align="center">In the middle</p>
"""
EVERY_BLOCK = "\n\n".join((TEXT, *BLOCKS.values(), *INLINES.values(), *MARKS.values()))
"""`TEXT` and a sample of each block, inline and mark; `tests/documents/test_drawn_blocks.py` keeps these complete."""
API = {
    "openapi": "3.1.0",
    "info": {"title": "Pager", "version": "1"},
    "paths": {
        "/pages": {
            "post": {
                "summary": "Page a team",
                "parameters": [{"name": "team", "in": "query", "required": True, "schema": {"type": "string"}}],
                "responses": {"202": {"description": "It rings"}},
            }
        }
    },
}


async def write_blocks(service: RunningService, text: str = TEXT) -> None:
    """Write the API description and the page, and wait until the service has processed the API description."""
    spec = {"organization_id": "tallowick", "spec_slug": "pager"}
    async with somebody(service, "robin") as (robin,):
        await robin.send(PutOpenAPISpec(**spec, source=SpecSource(text=json.dumps(API))))
        await main_moves(robin, SPACE, TITLE, text)

        async def processed() -> None:
            while True:
                try:
                    await robin.send(GetLatestOpenAPISpecContent(**spec))
                except RequestError:  # not processed yet
                    await asyncio.sleep(0.05)
                else:
                    return

        await asyncio.wait_for(processed(), 60)


write_every_block = partial(write_blocks, text=EVERY_BLOCK)
"""Write the page with every block."""

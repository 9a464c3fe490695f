"""The blocks of integrations on a page, as the integrations render them.

A rendering is a cached read, so it is available offline. A block that cannot be rendered shows its properties.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from presscheck.errors import PresscheckError
from presscheck.tui.screens.admin.integration.component_rows import component_rows, initial_values

if TYPE_CHECKING:
    from presscheck.text.styled_text import Line
    from presscheck.tui.ui.screen import BaseScreen

MOST_BLOCKS = 20
"""Maximum number of blocks that are rendered on a page."""
_sign = re.compile(r"\{%-?[ \t]*@").search


class IntegrationBlocks:
    """The rendered blocks of the pages shown so far.

    Args:
        screen: runs the reads.
        on_change: called when a block was rendered.
    """

    def __init__(self, screen: BaseScreen, on_change: Callable[[], None]) -> None:
        self._screen, self._on_change = screen, on_change
        self._rendered: dict[tuple[str, str], tuple[Mapping[str, Any], dict[str, Any]]] = {}
        """The root element and the state of each block, by the id of its space and its tag as written."""

    def load(self, space: str, markdown: str) -> None:
        """Render the blocks of a page that are not rendered yet, in the background; `space` is the id of its space."""
        if _sign(markdown):
            self._screen.run(partial(self._render_all, space, markdown), group="blocks", exclusive=True)

    def lines(self, space: str, tag: str, columns: int) -> list[Line] | None:
        """Return the lines of the rendered block that a tag stands for; None if the block is not rendered.

        `space` is the id of the space of the page, `tag` is the tag as written.
        """
        rendered = self._rendered.get((space, tag))
        return [row.line for row in component_rows(*rendered, columns)] if rendered else None

    async def _render_all(self, space: str, markdown: str) -> None:
        blocks = await asyncio.to_thread(_blocks_of, markdown)
        unread = [(tag, data) for tag, data in blocks.items() if (space, tag) not in self._rendered]
        await asyncio.gather(*(self._render(space, tag, data) for tag, data in unread[:MOST_BLOCKS]))

    async def _render(self, space: str, tag: str, data: dict[str, Any]) -> None:
        # 20 ms of imports, only for a page with such a block
        from presscheck.api.integrations import LONGEST_RENDER_REQUEST, RenderIntegrationWithGet
        from presscheck.documents.lz_string import compressed

        context = {"type": "document", "theme": "dark", "spaceId": space, "editable": False}
        request = compressed(json.dumps({"componentId": data["block"], "props": data["props"], "context": context}))
        if len(request) > LONGEST_RENDER_REQUEST:
            return
        try:
            call = RenderIntegrationWithGet(integration_name=data["integration"], request=request)
            output = await self._screen.engine.read(call)
        except (PresscheckError, ValueError):  # not installed, offline, or not a name: the page shows the properties
            return
        if output.element is not None:
            values = {**initial_values(output.element), **(output.state or {})}
            self._rendered[space, tag] = output.element, values
            self._on_change()


def _blocks_of(markdown: str) -> dict[str, dict[str, Any]]:
    """Return the blocks of integrations in a text: by tag as written, the data of the node for the block."""
    # 30 ms of imports, only for a page with such a block
    from presscheck.documents.markdown.parser import parse
    from presscheck.documents.nodes.from_tags import TagBlock, integration_node

    tags = [token for token in parse(markdown, {}) if token.type == "tag" and token.meta["name"].startswith("@")]
    nodes = {token.content: integration_node(TagBlock(token, [], is_paired=False)) for token in tags}
    return {tag: node["data"] for tag, node in nodes.items() if node}

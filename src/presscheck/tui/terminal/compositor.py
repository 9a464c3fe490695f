"""A compositor that renders only the lines that are drawn anew.

Textual renders every visible line of every widget for each update, and leaves out those that did not change only then:
a moved cursor costs as much as a new picture.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual._compositor import Compositor
from textual.geometry import Region
from textual.strip import Strip


class LineCompositor(Compositor):
    """Renders of each widget only the lines of an update."""

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        if crop is None:
            yield from super()._get_renders(crop)
            return
        lines = Region(0, crop.y, self.size.width, crop.height)
        for widget, (region, clip) in self.visible_widgets.items():
            shown = region.intersection(clip).intersection(lines)
            if shown and shown.overlaps(crop):
                yield region, shown, widget.render_lines(shown.translate((-region.x, -region.y)))

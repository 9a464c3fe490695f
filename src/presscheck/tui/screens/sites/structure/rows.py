"""Drawing of a site's structure: items as tree nodes, and the details of an item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from presscheck.api.site_structure import SiteSection, SiteSectionGroup, SiteSpace, StructureItem
from presscheck.documents.sites.content import key_of
from presscheck.engine.publish.shown_addresses import shown_address
from presscheck.engine.publish.site_structure import children_of, kind_of, title_of
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, width
from presscheck.tui.widgets.tree import Node

if TYPE_CHECKING:
    from presscheck.api.sites import Site
    from presscheck.tui.screens.sites.structure.model import SiteTree

WIDEST_PATH = 20
"""Maximum width in cells of a path in the tree; the details show the whole address."""
GAP = "  "
_STYLES = {"site-section": "strong", "site-section-group": "heading"}


def nodes(items: Sequence[StructureItem], path_columns: int = 0) -> list[Node]:
    """Return items as nodes of a tree.

    Args:
        items: the items.
        path_columns: the width in cells of the column of paths; 0 to draw paths without a column.
    """
    return [
        Node(
            key_of(item),
            (Span(title_of(item), _STYLES.get(item.object, "")),),
            _note(item, path_columns),
            expandable=bool(children_of(item)),
        )
        for item in items
    ]


def path_columns(model: SiteTree, columns: int) -> int:
    """Return the width in cells of the column of paths; 0 if a tree of `columns` cells is too narrow for it."""
    paths = max((width((Span(_path(item)),)) for item in model.items.values()), default=0)
    states = max((width(_states(item)) for item in model.items.values()), default=0)
    taken = min(WIDEST_PATH, paths)
    return taken if states + taken + len(GAP) + 2 <= columns // 2 else 0


def summary(model: SiteTree) -> Line:
    """Return the numbers of groups, sections and spaces."""
    items = model.in_order
    groups = sum(isinstance(item, SiteSectionGroup) for item in items)
    parts = [
        *([count(groups, "group")] if groups else ()),
        *([count(len(model.sections), "section")] if model.sections else ()),
        count(len(model.site_spaces), "space"),
    ]
    return (Span(" · ".join(parts)),)


def detail_lines(item: StructureItem | None, site: Site) -> list[Line]:
    """Return the details of an item: kind, address, states, condition and description."""
    if item is None:
        return []
    icon = sanitize(getattr(item, "icon", None) or "")
    heading = (
        Span(f" {title_of(item)}", "title"),
        Span(f"  {kind_of(item)}{f' · icon {icon}' if icon else ''}", "quiet"),
    )
    lines: list[Line] = [heading]
    if isinstance(item, SiteSpace | SiteSection):
        address = shown_address(site, item.urls.published)
        lines.append(
            (Span(f" {sanitize(address)}", "link"),) if address else (Span(" no address: it is not live", "quiet"),)
        )
        if item.condition:
            lines.append((Span(" Only visitors with ", "quiet"), Span(sanitize(item.condition), "waiting")))
    words = [sentence for is_so, sentence in _sentences(item) if is_so]
    if words:
        lines.append((Span(f" {' '.join(words)}", "quiet"),))
    return lines


def _sentences(item: StructureItem) -> list[tuple[bool, str]]:
    is_default = bool(getattr(item, "default", None))
    description = sanitize(getattr(item, "description", None) or "")
    whole = "section" if isinstance(item, SiteSpace) and item.section else "site"
    return [
        (is_default, f"Visitors who open the {whole} come here; its path is not in its address."),
        (bool(getattr(item, "draft", None)), "A draft: visitors do not see it."),
        (bool(getattr(item, "hidden", None)), "Hidden: only who has its address finds it."),
        (bool(description), description),
    ]


def _note(item: StructureItem, path_columns: int) -> Line:
    """Return the states of an item, and its path."""
    path = cut((Span(_path(item), "quiet"),), WIDEST_PATH)
    return (*_states(item), Span(GAP), *(pad(path, path_columns) if path_columns else path), Span(" "))


def _states(item: StructureItem) -> Line:
    states = [
        *([Span("default", "accent")] if getattr(item, "default", None) else ()),
        *([Span("draft", "waiting")] if getattr(item, "draft", None) else ()),
        *([Span("hidden", "waiting")] if getattr(item, "hidden", None) else ()),
        *([Span("condition", "waiting")] if getattr(item, "condition", None) else ()),
    ]
    return tuple(span for state in states for span in (Span(" · ", "quiet"), state))[1:]


def _path(item: StructureItem) -> str:
    return f"/{sanitize(item.path)}" if isinstance(item, SiteSpace | SiteSection) else ""

"""Renders a page of documentation as HTML and as the source of a PDF."""

from __future__ import annotations

from typing import Any

from presscheck.documents.visitors.conditional_text import visible_text
from presscheck.service.pdf.typst_document import render_typst
from presscheck.service.pdf.typst_inlines import web_target
from presscheck.service.web.html.page import Included, ResolvedLink, render_page_html


class OpenWorld:
    """A site on which all links resolve and all conditions are true."""

    def leads(self, target: str, source: str) -> ResolvedLink | None:
        return ResolvedLink(f"https://example.org/{source}/{target}")

    def included(self, target: str, source: str) -> Included | None:
        return None

    def component(self, integration: str, block: str, props: dict[str, Any]) -> None:
        return None

    def specification(self, name: str, source: str, *, is_file: bool) -> None:
        return None

    def model_url(self, reader: Any, name: str) -> None:
        return None

    def holds(self, condition: str) -> bool:
        return True

    def variable(self, name: str) -> str | None:
        return None


def html(markdown: str) -> str:
    return render_page_html(markdown, "home.md", OpenWorld()).html


def pdf_source(markdown: str) -> str:
    return render_typst(visible_text(markdown, lambda _: True), web_target, name="p")

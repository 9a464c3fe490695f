"""The content of a space as a repository in the platform's Git format, for exports."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from presscheck.documents.git_format.config import CONFIG_FILE, RepositoryConfig, normalize_path
from presscheck.documents.git_format.files import INCLUDES
from presscheck.documents.git_format.repository import ASSETS, Cover, Repository, Snippet, SourcePage
from presscheck.documents.markdown.anchors import encode_fragment
from presscheck.documents.markdown.links import Destination, written_targets
from presscheck.documents.pages.tree import Page
from presscheck.service.content.revision_content import RevisionContent
from presscheck.service.content.revisions import FORMER_PATHS, document_texts
from presscheck.service.content.serializers import link_targets
from presscheck.service.http.operations import Context

DETAILS = (
    "description",
    "icon",
    "emoji",
    "hidden",
    "noIndex",
    "noRobotsIndex",
    "condition",
    "variables",
    "layout",
    "computed",
)
_UNUSUAL = re.compile(r"[\0-\x1f\x7f\\/]")
_REUSABLE = re.compile(r"/~/reusable/([^/?#]+)")


class Exported:
    """The content of a revision with a source path for each page, file and snippet.

    Pages that were imported keep the paths of their files. New ones get the path of their page, and new files are
    placed in the folder of assets.

    Args:
        context: the transaction.
        revision: the revision.

    Attributes:
        sources: the source paths by kind (page, file or snippet) and id.
    """

    def __init__(self, context: Context, revision: RevisionContent) -> None:
        self._context, self._revision = context, revision
        self._targets = link_targets(context, revision)
        self._taken = {CONFIG_FILE, RepositoryConfig().summary}
        self.sources: dict[tuple[str, str], str] = {}
        written = self._targets.sources
        for place in revision.pages.values():
            if place.page["type"] not in ("group", "link", "computed"):
                key = ("page", place.page["id"])
                self._assign(key, written.get(key, ""), f"page-{place.page['id']}.md")
        for file in revision.files:
            name = _UNUSUAL.sub("-", file["name"]).lstrip(".") or "file"
            source = file["git"]["path"] if file.get("git") else ASSETS + name
            self._assign(("file", file["id"]), source, f"{ASSETS}{file['id']}")
        for snippet in revision.reusable_contents:
            title = _UNUSUAL.sub("-", snippet.get("title") or "").strip(". ") or "snippet"
            source = snippet["git"]["path"] if snippet.get("git") else f"{INCLUDES}{title}.md"
            self._assign(("snippet", snippet["id"]), source, f"{INCLUDES}{snippet['id']}.md")

    def repository(self) -> Repository:
        """Return the pages and snippets with their texts; files are in `files`."""
        documents = [place.page.get("documentId") for place in self._revision.pages.values()]
        documents += [snippet.get("document") for snippet in self._revision.reusable_contents]
        texts = document_texts(self._context.session, filter(None, documents))
        redirects: dict[str, Destination] = {}
        for place in self._revision.pages.values():
            for former, anchor in (place.page.get(FORMER_PATHS) or {}).items():
                source = self.sources.get(("page", place.page["id"]), "")
                redirects[former] = Destination("page", source, anchor)
        return Repository(
            title="",
            pages=tuple(self._page(page, texts) for page in self._revision.tree),
            snippets=tuple(self._snippet(snippet, texts) for snippet in self._revision.reusable_contents),
            redirects=redirects,
        )

    def files(self) -> dict[str, dict[str, Any]]:
        """Return the stored files by source path."""
        return {self.sources["file", file["id"]]: file for file in self._revision.files}

    def _assign(self, key: tuple[str, str], source: str, fallback: str) -> None:
        """Give a source path to an item: a safe one that no other item has."""
        if not _is_safe(source) or source in self._taken:
            source = fallback
        self._taken.add(source)
        self.sources[key] = source

    def _page(self, page: Page, texts: Mapping[str, str]) -> SourcePage:
        kind = page["type"] if page["type"] in ("group", "link", "computed") else "document"
        source = self.sources.get(("page", page["id"]), "")
        text = texts.get(page.get("documentId") or "", "")
        return SourcePage(
            kind,
            page["title"],
            page.get("slug") or "",
            source=source,
            body=self._linked(text, source),
            target=self._target(page) if kind == "link" else "",
            link_title=page.get("linkTitle") or None,
            details={name: page[name] for name in DETAILS if page.get(name) is not None},
            cover=self._cover(page.get("cover") or {}),
            pages=tuple(self._page(child, texts) for child in page.get("pages") or ()),
        )

    def _snippet(self, snippet: Mapping[str, Any], texts: Mapping[str, str]) -> Snippet:
        source = self.sources["snippet", snippet["id"]]
        body = self._linked(texts.get(snippet.get("document") or "", ""), source)
        return Snippet(source, "", snippet.get("title") or "", body)

    def _linked(self, text: str, source: str) -> str:
        """Lead links to files and snippets that have no place in a repository yet to their new paths."""
        parts: list[str] = []
        end = 0
        for target in written_targets(text):
            named = _REUSABLE.fullmatch(target.target)
            place = self._targets.places.resolve(target.target, source)
            key = ("snippet", named[1]) if named else (place.kind, place.id)
            path = self.sources.get(key)
            if key[0] in ("file", "snippet") and path and path != self._targets.sources.get(key):
                parts += (text[end : target.start], quote(posixpath.relpath(path, posixpath.dirname(source) or ".")))
                end = target.end
        return "".join((*parts, text[end:]))

    def _target(self, page: Page) -> str:
        target = page.get("target") or {}
        kind, identity = target.get("kind"), target.get("page") or target.get("file") or ""
        source = self.sources.get(("file" if kind == "file" else "page", identity))
        if source:
            return f"{source}#{encode_fragment(target['anchor'])}" if target.get("anchor") else source
        return target.get("url") or page.get("href") or self._context.app(f"/spaces/{self._revision.space_id}")

    def _cover(self, cover: Mapping[str, Any]) -> Cover | None:
        light, dark = (self._picture(cover.get(name) or {}) for name in ("ref", "refDark"))
        return Cover(light, dark or None, cover.get("yPos") or 0, cover.get("height")) if light else None

    def _picture(self, ref: Mapping[str, Any]) -> str:
        return self.sources.get(("file", ref.get("file") or "")) or ref.get("url") or ""


def _is_safe(source: str) -> bool:
    """Return whether a path may be written to a repository: relative, and nothing that Git or the service reads."""
    folders = source.removeprefix(".gitbook/").split("/")
    return (
        bool(source)
        and normalize_path(source) == source
        and not re.search(r"[\0-\x1f\x7f]", source)
        and not any(name.startswith(".") for name in folders)
    )

"""Reads a documentation repository in the platform's Git format into pages, files and problems.

Nothing outside the directory is read, and a bad page does not stop the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from presscheck.documents.git_format.config import CONFIG_FILE, RepositoryConfig, read_config
from presscheck.documents.git_format.files import INCLUDES, RepositoryFiles, decode_text
from presscheck.documents.git_format.models import Cover, Problem, Repository, Snippet, SourceFile, SourcePage
from presscheck.documents.git_format.page import PageText, read_page
from presscheck.documents.git_format.page_tree import PageTreeBuilder
from presscheck.documents.markdown.links import Destination, LinkResolver, find_links

__all__ = ["Cover", "Problem", "Repository", "Snippet", "SourceFile", "SourcePage", "read_repository"]

ASSETS = ".gitbook/assets/"


def read_repository(path: Path) -> Repository:
    """Reads a repository.

    Pages that its table of contents does not list come last and hidden, so that links to them keep working.

    Raises:
        OSError: the directory does not exist.
    """
    directory = path.resolve(strict=True)
    settings, problems = _settings(directory)
    files = RepositoryFiles(directory / settings.root)
    texts: dict[str, PageText] = {}
    snippets: dict[str, PageText] = {}
    for source in files.texts():
        if source != settings.summary:
            text = files.text(source)
            is_snippet = source.startswith(INCLUDES)
            page = read_page(source, text.text, oid=text.oid, has_title=not is_snippet)
            (snippets if is_snippet else texts)[source] = page
            problems += (*text.problems, *page.problems)
    tree = PageTreeBuilder(files, settings, texts)
    pages = tree.pages()
    used = tree.files_linked | {source for source in files if source.startswith(ASSETS)}
    places = _places(files, settings)
    problems += (*files.problems, *tree.problems, *_follow(texts | snippets, places, used))
    problems += _redirects(settings, places)
    return Repository(
        title=tree.title or directory.name,
        pages=pages,
        files=tuple(files.file(source) for source in sorted(used)),
        snippets=tuple(_snippet(source, page) for source, page in snippets.items()),
        redirects=settings.redirects,
        problems=tuple(sorted(problems)),
    )


def _settings(directory: Path) -> tuple[RepositoryConfig, list[Problem]]:
    location = directory / CONFIG_FILE
    if location.is_symlink() or not location.is_file():
        return RepositoryConfig(), []
    text = decode_text(CONFIG_FILE, location.read_bytes())
    settings, problems = read_config(text.text)
    root = directory / settings.root
    if not root.is_dir() or root.resolve() != root:
        problems.append(Problem(CONFIG_FILE, 1, f"root: {settings.root} is not a directory of the repository"))
        settings = RepositoryConfig(redirects=settings.redirects)
    return settings, [*text.problems, *problems]


def _snippet(source: str, page: PageText) -> Snippet:
    return Snippet(source, page.oid, page.title or source.rpartition("/")[2].removesuffix(".md"), page.body)


def _places(files: RepositoryFiles, settings: RepositoryConfig) -> LinkResolver:
    texts = {source: source for source in files.texts() if source != settings.summary}
    return LinkResolver(
        {source: source for source in texts if not source.startswith(INCLUDES)},
        {source: source for source in files if source not in texts and source != settings.summary},
        {source: source for source in texts if source.startswith(INCLUDES)},
        settings.redirects,
    )


def _follow(texts: Mapping[str, PageText], places: LinkResolver, used: set[str]) -> Iterator[Problem]:
    """Yields broken links, and adds linked files to `used`."""

    def leads(target: str, source: str) -> bool:
        if target.startswith("/~/"):
            return True  # names something by its id, such as a user, of which a repository knows nothing
        found: Destination = places.resolve(target, source)
        if found.kind == "file":
            used.add(found.id)
        return found.kind != "broken"

    for source, page in texts.items():
        for link in find_links(page.body):
            if not leads(link.target, source):
                what = "snippet not found" if link.kind == "include" else "target not found"
                yield Problem(source, link.line + page.body_line - 1, f"{link.target}: {what}")
        pictures = (page.cover.picture, page.cover.picture_dark) if page.cover else ()
        for picture in pictures:
            if picture and not leads(quote(picture, safe="/:"), ""):
                yield Problem(source, 1, f"{picture}: cover not found")


def _redirects(settings: RepositoryConfig, places: LinkResolver) -> Iterator[Problem]:
    for former, present in settings.redirects.items():
        if places.resolve("/" + present, "").kind == "broken":
            yield Problem(
                CONFIG_FILE, 1, f"the target of the redirect {former} was not found: {present}", "information"
            )

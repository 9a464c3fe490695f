"""Writes pages and reusable content in the platform's Git format, the inverse of `git_format.repository`.

Reading the written texts gives the same pages, except for details that the format cannot express:

- a slug that differs from the name of the page's file
- pages at the top level after a group, which are written before the groups
- a link to a page that precedes the page itself
- subpages of a link
- marks such as backticks in a title
"""

from __future__ import annotations

import posixpath
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Literal
from urllib.parse import quote, unquote

import yaml

from presscheck.documents.git_format.config import CONFIG_FILE, RepositoryConfig, normalize_path, read_config
from presscheck.documents.git_format.files import INCLUDES, decode_text, git_oid
from presscheck.documents.git_format.models import Cover, Repository, Snippet, SourcePage
from presscheck.documents.git_format.repository import Item, path_slug, plain_heading, read_page, read_summary
from presscheck.documents.markdown.anchors import encode_fragment
from presscheck.documents.markdown.links import Destination
from presscheck.documents.pages.tree import flatten

_MARKUP = re.compile(r"([\\`*_\[\]<>]|&(?=#?\w+;))")
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
"""The YAML dumper in C, which takes a tenth of the time, or the one in Python if PyYAML was built without it."""
_LIST_START = re.compile(r"(\d*)([.)#+=-])")
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
WIDTH = 78
"""Maximum number of characters in the lines of a folded text, as the platform writes it."""
Style = Literal["folded", "plain", "'", '"']
_DETAILS = ("description", "icon", "emoji", "hidden", "noIndex", "noRobotsIndex")
_RENAMED = {"condition": "if", "variables": "vars"}


def repository_texts(
    repository: Repository, config: RepositoryConfig | None = None, former: Mapping[str, bytes] | None = None
) -> dict[str, bytes]:
    """Return the texts of a repository by path from its root: configuration, table of contents, pages and snippets.

    Args:
        repository: the content. Each page with a body has a source path. Its files, such as images, are not returned.
        config: the location of the content in the repository, by default the root.
        former: the current files of the repository, by path; a file with the same meaning as its new text is returned
            unchanged.
    """
    config = config or RepositoryConfig()
    root = f"{config.root}/" if config.root else ""
    listed, unlisted = _divided(repository.pages)
    texts = {
        CONFIG_FILE: write_config(config, repository.redirects),
        root + config.summary: write_summary(listed, config.summary),
        **{root + page.source: write_page(page) for page in flatten(listed) if page.kind == "document" and page.source},
        **{root + page.source: write_page(page) for page in unlisted},
        **{root + snippet.source: write_snippet(snippet) for snippet in repository.snippets},
    }
    hidden = {root + page.source for page in unlisted}
    return {
        path: former[path]
        if former and path in former and _has_same_meaning(path, text, former[path], config, is_hidden=path in hidden)
        else text.encode()
        for path, text in texts.items()
    }


def _has_same_meaning(path: str, new: str, former: bytes, config: RepositoryConfig, *, is_hidden: bool) -> bool:
    """Return whether a file has the same meaning as a new text for it, so that the file can stay as it is.

    Args:
        path: the path of the file in the repository.
        new: the new text.
        former: the content of the file.
        config: the location of the content.
        is_hidden: whether the table of contents does not list the page, which hides it without front matter.
    """
    root = f"{config.root}/" if config.root else ""
    source, old = path.removeprefix(root), decode_text(path, former).text
    if path == CONFIG_FILE:
        return _config_values(old) == _config_values(new)
    if source == config.summary:
        return entries(read_summary(old).items, source) == entries(read_summary(new).items, source)
    has_title = not source.startswith(INCLUDES)
    before, after = (read_page(source, text, has_title=has_title) for text in (old, new))
    details = before.details | {"hidden": True} if is_hidden else before.details
    same = (before.body, details, before.cover) == (after.body, after.details, after.cover)
    # without a title of its own, a page has the title in the table of contents
    return same and before.title in (None, after.title)


def is_text_path(path: str) -> bool:
    """Return whether a file at this source path would be read as a page or a snippet."""
    folders = path.split("/")[:-1]
    is_skipped = "node_modules" in folders or any(name.startswith(".") for name in folders)
    return path.casefold().endswith(".md") and (path.startswith(INCLUDES) or not is_skipped)


def write_config(config: RepositoryConfig, redirects: Mapping[str, Destination]) -> str:
    """Write the configuration; `redirects` are destinations by former page path."""
    targets = {
        former: f"{quote(place.id)}#{encode_fragment(place.anchor)}" if place.anchor else place.id
        for former, place in redirects.items()
    }
    parts: list[dict[str, Any]] = [
        {"root": f"./{config.root}/" if config.root else "./"},
        {"structure": {"readme": config.readme, "summary": config.summary}},
        *([{"redirects": targets}] if targets else []),
    ]
    return "\n".join(map(_yaml, parts))


def write_table_of_contents(repository: Repository, summary: str) -> str:
    """Write the table of contents of a repository; `summary` is its path."""
    return write_summary(_divided(repository.pages)[0], summary)


def write_summary(pages: Sequence[SourcePage], summary: str) -> str:
    """Write the table of contents; `summary` is its path."""
    lines = ["# Table of contents", ""]
    for page in pages:
        if page.kind == "group":
            anchor = f' <a href="#{page.slug}" id="{page.slug}"></a>' if page.slug != path_slug(page.title) else ""
            lines += ["", f"## {_escaped(page.title)}{anchor}", ""]
            lines += _items(page.pages, summary)
        else:
            lines += _items((page,), summary)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def write_page(page: SourcePage) -> str:
    """Write the file of a page.

    A text can be written in several forms. If one of them has the object id of the page, that form is the file that
    the page was imported from; otherwise the page gets the form that the platform writes.
    """
    return _original(page.oid, _page_forms(page))


def _original(oid: str, forms: Iterator[str]) -> str:
    """Return the form that has an object id, or else the first form. The first form is also tried with CRLF."""
    first = next(forms)
    if not oid:
        return first
    for form in chain((first,), forms):
        if git_oid(form.encode()) == oid:
            return form
    crlf = first.replace("\n", "\r\n")
    return crlf if git_oid(crlf.encode()) == oid else first


def _page_forms(page: SourcePage) -> Iterator[str]:
    headings = list(_heading_forms(page.title))
    after_front, after_heading = ("\n", ""), ("\n", "", "\n\n") if page.body else ("", "\n", "\n\n", "\n\n\n")
    for front in _front_forms(page):
        for gap in after_front if front else ("",):
            for heading in headings:
                for space in after_heading:
                    yield _joined(front, gap, heading, space, page.body)
            for space in ("", "\n"):
                yield _joined(front, "", "", space, page.body)
    yield f"# {_title(page.title)}"


def _joined(front: str, gap: str, heading: str, space: str, body: str) -> str:
    return f"{front}{gap if front else ''}{heading}{space}{body}"


def _heading_forms(title: str) -> Iterator[str]:
    for text in dict.fromkeys((_title(title), title, _escaped(title), re.sub(r"([()])", r"\\\1", title))):
        yield f"# {text}\n"
        yield f"#  {text}\n"


def write_snippet(snippet: Snippet) -> str:
    """Write the file of a snippet."""
    stem = snippet.source.rpartition("/")[2].removesuffix(".md")
    front = _fenced({"title": snippet.title} if snippet.title != stem else {})
    needs_front = snippet.title != stem or snippet.body.startswith("---")
    return _original(snippet.oid, iter((f"{front}{snippet.body}" if needs_front else snippet.body, snippet.body)))


def _divided(pages: Sequence[SourcePage]) -> tuple[list[SourcePage], list[SourcePage]]:
    """Divide pages into the listed pages, with groups last, and the hidden pages at the end, which are not listed."""
    listed = list(pages)
    unlisted: list[SourcePage] = []
    while listed and listed[-1].source and listed[-1].details.get("hidden") and not listed[-1].pages:
        unlisted.insert(0, listed.pop())
    if [page.source for page in unlisted] != sorted(page.source for page in unlisted):
        listed, unlisted = list(pages), []
    return [
        *(page for page in listed if page.kind != "group"),
        *(page for page in listed if page.kind == "group"),
    ], unlisted


def _items(pages: Iterable[SourcePage], summary: str, depth: int = 0) -> Iterator[str]:
    for page in pages:
        indent = "  " * depth
        yield f"{indent}* {_entry(page, summary)}".replace("\n", f"\n{indent}  ")
        yield from _items(page.pages, summary, depth + 1)


def _entry(page: SourcePage, summary: str) -> str:
    if page.kind == "computed":
        return f"```yaml\n{_yaml(page.details['computed'])}```"
    target = page.target if page.kind == "link" else page.source
    if not target:
        title = _escaped(page.title) or "Untitled"
        start = _LIST_START.match(title)
        return f"{start[1]}\\{title[start.end(1) :]}" if start else title
    if _URL.match(target):
        address = re.sub(r"[\s<>]", lambda sign: quote(sign[0]), target)
        address = f"<{address}>" if re.search(r"[()&\\]", address) else address
    else:
        path, mark, fragment = target.partition("#") if page.kind == "link" else (target, "", "")
        address = quote(posixpath.relpath(path, posixpath.dirname(summary) or ".")) + mark + fragment
    caption = f' "{_caption(page.link_title)}"' if page.link_title else ""
    return f"[{_escaped(page.title)}]({address}{caption})"


def _escaped(title: str) -> str:
    return _MARKUP.sub(r"\\\1", " ".join(title.split()))


def _caption(title: str) -> str:
    return re.sub(r'([\\"&])', r"\\\1", " ".join(title.split()))


def _title(title: str) -> str:
    """Return the heading that is read back as the title, with as few escapes as possible."""
    candidates = (title, _escaped(title), f"{title} #")
    return next((heading for heading in candidates if plain_heading(heading) == title), " ".join(title.split()))


def _front_forms(page: SourcePage) -> Iterator[str]:
    """Yield possible texts of the front matter, the platform's form first. A text is empty if it has no values."""
    front = _front_matter(page.details, page.cover, page.source)
    # a page that the table of contents does not list is hidden without front matter
    variants = [front]
    if page.oid and "hidden" in front:
        variants.append({name: value for name, value in front.items() if name != "hidden"})
    styles: tuple[Style, ...] = ("folded", "plain", "'", '"') if page.oid and "description" in front else ("folded",)
    return (_fenced(variant, style) if variant else "" for variant in variants for style in styles)


def _front_matter(details: Mapping[str, Any], cover: Cover | None, source: str) -> dict[str, Any]:
    front: dict[str, Any] = {name: details[name] for name in _DETAILS if details.get(name) not in (None, "")}
    front |= {key: details[name] for name, key in _RENAMED.items() if details.get(name)}
    if cover:
        light = _from_page(cover.picture, source)
        front["cover"] = (
            {"light": light, "dark": _from_page(cover.picture_dark, source)} if cover.picture_dark else light
        )
        front["coverY"] = _plain_number(cover.y_pos)
        front |= {"coverHeight": _plain_number(cover.height)} if cover.height is not None else {}
    if details.get("layout"):
        front["layout"] = _layout(details["layout"])
    return front


def _layout(layout: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: value for name, value in layout.items() if value is not None}
    written: dict[str, Any] = {}
    width, size, mask = (values.pop(name, None) for name in ("width", "coverSize", "coverMask"))
    if width not in (None, "default"):
        written["width"] = width
    written |= {part: {"visible": is_visible} for part, is_visible in values.items()}
    cover = {"size": size if size != "hero" else None, "mask": mask if mask != "none" else None}
    cover = {name: value for name, value in cover.items() if value is not None}
    return written | ({"cover": written.get("cover", {}) | cover} if cover else {})


def _from_page(picture: str, source: str) -> str:
    return picture if "://" in picture else quote(posixpath.relpath(picture, posixpath.dirname(source) or "."))


def _plain_number(number: float) -> float:
    return int(number) if float(number).is_integer() else number


def _fenced(front: Mapping[str, Any], style: Style = "folded") -> str:
    lines = (
        _description(value, style) if name == "description" else _yaml({name: value}) for name, value in front.items()
    )
    return f"---\n{''.join(lines)}---\n"


def _description(text: str, style: Style) -> str:
    """Write a description. The platform folds texts that are longer than `WIDTH` characters."""
    if style == "folded" and len(text) > WIDTH and " ".join(text.split()) == text:
        return f"description: >-\n{textwrap.indent(_folded(text), '  ')}\n"
    quoted = style if style in ("'", '"') else None
    written = _dumped({"description": text}, default_style=quoted)
    return written.replace("'description'", "description").replace('"description"', "description")


def _folded(text: str) -> str:
    return "\n".join(textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False))


def _yaml(values: Mapping[str, Any]) -> str:
    return _dumped(values, sort_keys=False)


def _dumped(values: Mapping[str, Any], **options: Any) -> str:
    """Return values as YAML, as PyYAML writes them."""
    options |= {"allow_unicode": True, "width": 1_000_000}
    written: str = yaml.dump(dict(values), Dumper=_DUMPER, **options)
    # libyaml escapes more characters; without escapes, it writes the same
    return yaml.safe_dump(dict(values), **options) if "\\" in written else written


def _config_values(text: str) -> tuple[str, str, str, dict[str, str]]:
    config = read_config(text)[0]
    redirects = {redirect.former: unquote(redirect.target) for redirect in config.redirects}
    return config.root, config.readme, config.summary, redirects


def entries(items: Iterable[Item], summary: str) -> list[tuple[Any, ...]]:
    """Return the entries of a table of contents in comparable form: equal results stand for the same pages.

    Args:
        items: the entries.
        summary: the path of the table of contents.
    """
    folder = posixpath.dirname(summary)
    return [
        (
            item.link_title or item.title,
            (item.slug or path_slug(item.title)) if item.is_group else None,
            item.computed,
            item.target
            if not item.target or _URL.match(item.target)
            else normalize_path(f"{folder}/{unquote(item.target)}"),
            entries(item.items, summary),
        )
        for item in items
    ]

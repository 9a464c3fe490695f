"""Generated repositories of documentation in the platform's Git format, with what a reader of them should find."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from tests.generated_docs.blocks import MISTAKES, ORDINARY, PLATFORM, SCRIPTS, SWALLOWING, UNUSUAL, Blocks
from tests.generated_docs.links import MISSING, Targets
from tests.generated_docs.pieces import Chance, Piece, page_text
from tests.generated_docs.prose import TOPICS, Prose

INCLUDES = ".gitbook/includes/"
ASSETS = ".gitbook/assets/"
EVERYTHING = (*ORDINARY, *PLATFORM, *UNUSUAL, *MISTAKES, *SWALLOWING)
"""The kinds of blocks that each stand somewhere in a varied repository."""


class Row(NamedTuple):
    """A row of the table of contents: a group at depth -1, a page, or a link."""

    depth: int
    title: str
    target: str


@dataclass(frozen=True)
class GeneratedPage:
    """A page as pieces, and how its file is written."""

    path: str
    title: str
    pieces: tuple[Piece, ...]
    front: str = ""
    heading: str = ""
    ending: str = "\n"
    newline: str = "\n"
    has_mark: bool = False
    """Whether a byte order mark stands before all."""

    @property
    def body(self) -> str:
        """What is behind the title, with plain line ends."""
        return page_text(self.pieces).lstrip("\n") + self.ending

    @property
    def text(self) -> str:
        """The whole file, with plain line ends."""
        return f"{self.front}{self.heading}{page_text(self.pieces)}{self.ending}"

    @property
    def content(self) -> bytes:
        """The bytes of the file."""
        mark = "\ufeff" if self.has_mark else ""
        return (mark + self.text.replace("\n", self.newline)).encode()


@dataclass(frozen=True)
class GeneratedRepository:
    """Files by path; `table` is the tree that the table of contents describes."""

    name: str
    title: str
    pages: tuple[GeneratedPage, ...]
    table: tuple[Row, ...]
    snippets: tuple[GeneratedPage, ...] = ()
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    redirects: dict[str, str] = field(default_factory=dict[str, str])
    unlisted: frozenset[str] = frozenset()

    def write(self, directory: Path) -> Path:
        """Write the repository into a directory, which it returns."""
        for path, content in self.contents():
            location = directory / path
            location.parent.mkdir(parents=True, exist_ok=True)
            location.write_bytes(content)
        return directory

    def contents(self) -> Iterator[tuple[str, bytes]]:
        """Every file with its bytes."""
        yield from ((page.path, page.content) for page in (*self.pages, *self.snippets))
        yield from self.files.items()

    def broken(self) -> set[tuple[str, int, str]]:
        """Path, line and target of each link that leads nowhere."""
        return {
            (page.path, number, match[0])
            for page in (*self.pages, *self.snippets)
            for number, line in enumerate(page.text.split("\n"), 1)
            for match in MISSING.finditer(line)
        }


def handbook(seed: int | str, pages: int = 60) -> GeneratedRepository:
    """A repository of ordinary prose: plain names, usual blocks, hints, tabs and pictures here and there."""
    chance = Chance(f"handbook {seed}")
    prose = Prose(chance)
    layout = _Layout(chance, pages, [f"{topic.lower()}" for topic in TOPICS])
    files = _pictures(chance, 24)
    usual = (
        *ORDINARY,
        *("paragraph",) * 12,
        *("heading", "links") * 3,
        "hint",
        "tabs",
        "code with a title",
        "figure 2",
    )

    def written(path: str) -> GeneratedPage:
        blocks = Blocks(chance, prose, Targets(chance, path, layout.paths, tuple(files)))
        blocks.depth = 4  # what a hint holds are paragraphs
        title = layout.titles.setdefault(path, prose.title())
        names = ["paragraph", *(chance.choice(usual) for _ in range(chance.between(6, 16))), "paragraph"]
        pieces = tuple(blocks.named(name) for name in names)
        front = f"---\ndescription: {prose.sentence()}\n---\n\n" if chance.share(0.3) else ""
        return GeneratedPage(path, title, pieces, front, f"# {title}\n\n")

    made = tuple(written(path) for path in layout.paths)
    summary, table = layout.summary(plain=True)
    files = {
        **files,
        "SUMMARY.md": summary.encode(),
        ".gitbook.yaml": b"root: ./\n\nstructure:\n  readme: README.md\n  summary: SUMMARY.md\n",
    }
    return GeneratedRepository(f"handbook-{seed}", "The harbour handbook", made, table, files=files)


def varied(seed: int | str, pages: int = 60) -> GeneratedRepository:
    """A repository with every block, unusual names of files, every form of front matter, and mistakes in its markup."""
    chance = Chance(f"varied {seed}")
    prose = Prose(chance, marked=True)
    layout = _Layout(chance, pages, UNUSUAL_NAMES)
    files = _pictures(chance, 20) | {
        f"{ASSETS}terms of use.pdf": b"%PDF-1.4\n",
        f"{ASSETS}pets.yaml": b"openapi: 3.1.0\n",
    }
    snippets = tuple(_snippet(number, chance, prose, layout, files) for number in range(4))
    kinds = [*(chance.choice(EVERYTHING) for _ in range(pages * 4)), *chance.shuffled(EVERYTHING)]
    made = tuple(_varied_page(path, chance, prose, layout, files, snippets, kinds) for path in layout.paths)
    for page in made:
        layout.titles[page.path] = page.title
    summary, table = layout.summary(plain=False)
    redirects = {"old/start": layout.paths[1], "old/ü": "README.md"}
    settings = "root: ./\nredirects:\n" + "".join(
        f"  {quote(former)}: {path!r}\n" for former, path in redirects.items()
    )
    files |= {"SUMMARY.md": summary.encode(), ".gitbook.yaml": settings.encode()}
    return GeneratedRepository(
        f"varied-{seed}", "Pumps & valves", made, table, snippets, files, redirects, frozenset(layout.unlisted)
    )


def tree(seed: int | str, pages: int = 1_000) -> GeneratedRepository:
    """A repository of very many short pages, and one of 400 kB."""
    chance = Chance(f"tree {seed}")
    prose = Prose(chance)
    layout = _Layout(chance, pages, [f"{topic.lower()}-{number}" for number in range(40) for topic in TOPICS])
    made: list[GeneratedPage] = []
    for path in layout.paths:
        blocks = Blocks(chance, prose, Targets(chance, path, layout.paths))
        title = layout.titles.setdefault(path, prose.title())
        pieces = tuple(blocks.named(chance.choice(("paragraph", "links", "table"))) for _ in range(3))
        made.append(GeneratedPage(path, title, pieces, heading=f"# {title}\n\n"))
    made[-1] = replace(made[-1], pieces=long_page(seed))
    summary, table = layout.summary(plain=True)
    return GeneratedRepository(f"tree-{seed}", "All pumps", tuple(made), table, files={"SUMMARY.md": summary.encode()})


def long_page(seed: int | str, size: int = 400_000) -> tuple[Piece, ...]:
    """Ordinary blocks of 400 kB together."""
    chance = Chance(f"long {seed}")
    blocks = Blocks(chance, Prose(chance), Targets(chance, "long.md"))
    pieces: list[Piece] = []
    while size > 0:
        pieces.append(blocks.ordinary())
        size -= len(pieces[-1].markdown) + 2
    return tuple(pieces)


UNUSUAL_NAMES = (
    "getting started|größe|日本語のページ|50%|a+b|c#|dots.and.more|UPPER|under_score|tilde~|comma,name|semi;colon|"
    "it's|at@sign|équipe|Ελλάδα|(brackets)|amp&ersand|plain|plain-2|x=y|100%25"
).replace("c#|", "").split("|")  # fmt: skip


class _Layout:
    """Where the pages of a repository are, what they are called, and its table of contents."""

    def __init__(self, chance: Chance, count: int, names: list[str]) -> None:
        self.chance = chance
        self.paths: list[str] = ["README.md"]
        self.titles: dict[str, str] = {}
        self.unlisted: list[str] = []
        self._below: dict[str, list[str]] = {"": []}
        folders = [""]
        for number in range(1, count):
            folder = chance.choice(folders[-12:])
            name = names[number % len(names)] if number < len(names) else f"{names[number % len(names)]}-{number}"
            inside = folder.rpartition("/")[0] if folder else ""
            path = f"{inside}/{name}" if inside else name
            if chance.share(0.25) and folder.count("/") < 4:
                path = f"{path}/README.md"
                folders.append(path)
                self._below[path] = []
            else:
                path = f"{path}.md"
            self.paths.append(path)
            self._below[folder].append(path)

    def summary(self, *, plain: bool) -> tuple[str, tuple[Row, ...]]:
        """The text of the table of contents, and its rows."""
        lines = ["# Table of contents", "", f"* [{_escaped(self._title('README.md'))}](README.md)"]
        rows = [Row(0, self._title("README.md"), "README.md")]
        tops = self._below[""]
        if not plain:
            self.unlisted = [path for path in tops if not path.endswith("/README.md")][:2]
        for at, path in enumerate(path for path in tops if path not in self.unlisted):
            if at % 8 == 2:
                name = f"Part {at // 8 + 1}: {self.chance.choice(TOPICS)}"
                anchor = self.chance.choice(("", f' <a href="#part" id="part-{at}"></a>'))
                lines += ["", f"{self.chance.choice(('##', '##', '###'))} {name}{'' if plain else anchor}", ""]
                rows.append(Row(-1, name, ""))
            self._item(path, 0, lines, rows, plain)
        if not plain:
            for written, row in _extra_rows(self.paths):
                lines.append(written)
                rows.append(row)
        return "\n".join(lines) + "\n", tuple(rows)

    def _item(self, path: str, depth: int, lines: list[str], rows: list[Row], plain: bool) -> None:
        title = self._title(path)
        target = path if plain else self.chance.choice((quote(path), f"<{path}>" if "%" not in path else quote(path)))
        caption = ""
        if not plain and self.chance.share(0.2):
            caption, title = f' "{self._title(path)} (short)"', f"{title} (short)"
        lines.append(f"{'  ' * depth}* [{_escaped(self._title(path))}]({target}{caption})")
        rows.append(Row(depth, title, path))
        for below in self._below.get(path, ()):
            self._item(below, depth + 1, lines, rows, plain)

    def _title(self, path: str) -> str:
        return self.titles[path]


def _extra_rows(paths: list[str]) -> Iterator[tuple[str, Row]]:
    yield "* [On the web](https://example.org/)", Row(0, "On the web", "https://example.org/")
    yield "* [First again](README.md)", Row(0, "First again", "README.md")
    yield "* [A part](README.md#part)", Row(0, "A part", "README.md#part")
    terms = f"{ASSETS}terms of use.pdf"
    yield f"* [Terms]({quote(terms)})", Row(0, "Terms", terms)
    yield "* [Not written yet](not-written-yet.md)", Row(0, "Not written yet", "")
    yield "* No link at all", Row(0, "No link at all", "")


def _escaped(title: str) -> str:
    return re.sub(r"([\\`*_\[\]<])", r"\\\1", title)


def _pictures(chance: Chance, count: int) -> dict[str, bytes]:
    names = ("plan", "harbour view", "größe (2)", "screen_1", "50% done")
    forms: tuple[tuple[str, Callable[[int, int], bytes]], ...] = (
        ("png", png),
        ("png", png),
        ("jpg", jpeg),
        ("gif", gif),
        ("svg", svg),
    )
    files: dict[str, bytes] = {}
    for number in range(count):
        ending, write = forms[number % len(forms)]
        name = f"{names[chance.below(len(names))]} {number}.{ending}"
        files[ASSETS + name] = write(chance.between(1, 3000), chance.between(1, 2000))
    return files


def png(width: int, height: int) -> bytes:
    """An image of one colour that every reader of PNG can open."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes((width + 7) // 8 + 1) * height, 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def jpeg(width: int, height: int) -> bytes:
    """The headers of a JPEG; it has no image data."""
    return (
        b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0"
        + b"\xff\xc0\0\x11\x08"
        + struct.pack(">HH", height, width)
        + b"\3\1\x22\0\2\x11\1\3\x11\1\xff\xd9"
    )


def gif(width: int, height: int) -> bytes:
    """A GIF with nothing on it."""
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0\x3b"


def svg(width: int, height: int) -> bytes:
    """A drawing with nothing on it."""
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"/>'.encode()


def _snippet(number: int, chance: Chance, prose: Prose, layout: _Layout, files: dict[str, bytes]) -> GeneratedPage:
    path = f"{INCLUDES}{('note', 'a long note', 'größe', 'warning')[number]}.md"
    blocks = Blocks(chance, prose, Targets(chance, path, layout.paths, tuple(files)))
    title = f"Snippet {number}"
    return GeneratedPage(path, title, blocks.inner(), f"---\ntitle: {title}\n---\n\n")


def _varied_page(
    path: str,
    chance: Chance,
    prose: Prose,
    layout: _Layout,
    files: dict[str, bytes],
    snippets: tuple[GeneratedPage, ...],
    kinds: list[str],
) -> GeneratedPage:
    targets = Targets(chance, path, layout.paths, tuple(files), [snippet.path for snippet in snippets])
    blocks = Blocks(chance, prose, targets)
    names = [kinds.pop() for _ in range(min(len(kinds), chance.between(3, 5)))]
    # what swallows the rest of a page stands at its end, and at most once
    swallowing = [name for name in names if name in SWALLOWING]
    kinds[-10:-10] = swallowing[1:]
    harmless = [name for name in names if name not in SWALLOWING]
    names = ["paragraph", *harmless[:2], "paragraph", "table", *harmless[2:], "paragraph", "links", *swallowing[:1]]
    pieces = tuple(blocks.named(name) for name in names)
    title, heading, has_heading = _heading(chance, prose)
    front = _front_matter(chance, title if not has_heading else "", targets)
    return GeneratedPage(
        path,
        title,
        pieces,
        front,
        heading,
        ending=chance.choice(("\n", "\n", "\n", "", "\n\n\n", "  \n")),
        newline=chance.choice(("\n", "\n", "\n", "\r\n")),
        has_mark=chance.share(0.1),
    )


def _heading(chance: Chance, prose: Prose) -> tuple[str, str, bool]:
    """A title, how it is written, and whether it is written in the text at all."""
    words = Prose(chance).title()
    forms = (
        (words, f"# {words}\n\n"),
        (words, f"# {words}\n"),
        (words, f"#   {words}   #\n\n"),
        (words, f"{words}\n{'=' * 9}\n\n"),
        (words, f"# **{words}**\n\n"),
        (words, f'# {words} <a href="#top" id="top"></a>\n\n'),
        (f"{words}_1 [beta]", f"# {words}\\_1 \\[beta]\n\n"),
        (f"{words} {SCRIPTS['Japanese'][:6]}", f"# {words} {SCRIPTS['Japanese'][:6]}\n\n"),
        (f"{words} {SCRIPTS['Arabic'][:10]}", f"# {words} {SCRIPTS['Arabic'][:10]}\n\n"),
        (f"{words} {SCRIPTS['emoji'][:9]}", f"# {words} {SCRIPTS['emoji'][:9]}\n\n"),
        (words, ""),
    )
    title, heading = chance.choice(forms)
    return title, heading, bool(heading)


def _front_matter(chance: Chance, title: str, targets: Targets) -> str:
    """Front matter in one of its forms; it says the title where the text does not."""
    forms = (
        "",
        "description: One line about the page.\n",
        "description: >-\n  Folded over\n  two lines\n",
        'description: "With \\"quotes\\": and a colon"\nicon: lightbulb\n',
        "hidden: true\n",
        "noIndex: true\nnoRobotsIndex: true\n",
        f"cover: {targets.picture()}\ncoverY: -12.5\n",
        f"cover:\n  light: {targets.picture()}\n  dark: {targets.picture()}\ncoverHeight: 240\n",
        "layout:\n  width: wide\n  title:\n    visible: true\n  description: false\n  outline:\n    visible: false\n",
        "if: visitor.claims.unsigned.beta\nvars:\n  version: '2.1'\n  count: 3\n",
        "tags:\n  - tag: api\nemoji: '1f680'\nunknown: [1, {a: b}]\n",
        "# only a comment\n",
    )
    text = chance.choice(forms)
    if title:
        text += f"title: {title}\n"
    if not text:
        return chance.choice(("", "", "---\n---\n\n")) if not title else ""
    start, end = chance.choice(
        (("---\n", "---\n\n"), ("---\n", "---\n"), ("---\n", "...\n\n"), ("---  \n", "---  \n\n"))
    )
    return start + text + end

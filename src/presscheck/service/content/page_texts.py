"""The Markdown of pages in a requested form: with conditions evaluated, reusable content inserted, or ids in links.

Conditions and variables are evaluated in the Markdown source, so they work everywhere in a page, even in table cells.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from presscheck.api.content import ReusableContent
from presscheck.documents.markdown.anchors import encode_fragment
from presscheck.documents.markdown.code_ranges import without_code
from presscheck.documents.markdown.links import Destination, written_targets
from presscheck.documents.visitors.condition_tags import Holds, visible_words
from presscheck.documents.visitors.conditional_text import visible_text
from presscheck.service.content.revision_content import RevisionContent
from presscheck.service.content.revisions import document_texts
from presscheck.service.content.serializers import LinkTargets
from presscheck.service.http.operations import ApiError, Context

MAX_INCLUDES = 5
"""Maximum nesting depth of included texts, as on published pages."""
LARGEST = 1_000_000
"""Maximum number of characters of all texts that a page includes."""
_INCLUDE = re.compile(
    r"^([ \t>]*)\{%-?[ \t]*include[ \t]+(?:\"([^\"\n]+)\"|'([^'\n]+)')[ \t]*-?%\}[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_REUSABLE = re.compile(r"/~/reusable/([^/?#]+)").search
_EXPRESSION = re.compile(r'<code class="expression">([\w. ]{1,200})</code>')
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|&~$!:]|^[-+=]|[.)](?=\s|$)")
"""Characters in the value of a variable that Markdown could interpret as markup."""


@dataclass(frozen=True)
class Reading:
    """The form in which a text is read.

    Attributes:
        holds: returns whether a condition is true for the reader; None leaves conditions and variables as written.
        is_dereferenced: whether include tags are replaced by the reusable content.
        is_stable: whether links contain ids, such as ``/spaces/s1/pages/p1``, instead of paths.
    """

    holds: Holds | None = None
    is_dereferenced: bool = False
    is_stable: bool = False


class PageTexts:
    """A reader of the texts of a revision.

    Args:
        context: the transaction.
        revision: the revision.
        targets: the possible link targets of the revision.
        reading: the form of the texts.

    Attributes:
        included: the ids of the documents that the texts included.
    """

    def __init__(self, context: Context, revision: RevisionContent, targets: LinkTargets, reading: Reading) -> None:
        self._context, self._revision, self._targets, self._reading = context, revision, targets, reading
        self._room = LARGEST
        self.included: set[str] = set()

    def read(self, text: str, source: str, variables: Mapping[str, Any] | None) -> str:
        """Return a text in the requested form.

        Args:
            text: the stored text.
            source: its source path.
            variables: the variables of its page.

        Raises:
            ApiError: 413, the included texts are too large in total.
        """
        text = self._shown(text, (source,), variables or {})
        return self._linked(text, source, self._stable) if self._reading.is_stable else text

    def _shown(self, text: str, sources: tuple[str, ...], variables: Mapping[str, Any]) -> str:
        holds = self._reading.holds
        if holds is not None:
            text = _with_values(visible_text(text, holds), lambda name: self._value(name, variables))
        if not self._reading.is_dereferenced or not _INCLUDE.search(text):
            return text
        parts: list[str] = []
        end = 0
        for match in _INCLUDE.finditer(without_code(text)):
            included = self._included(text[match.start() : match.end()], sources, variables)
            if included is not None:
                parts += (text[end : match.start()], _prefixed(included, match[1]))
                end = match.end()
        return "".join((*parts, text[end:]))

    def _included(self, tag: str, sources: tuple[str, ...], variables: Mapping[str, Any]) -> str | None:
        """Return the reusable content for an include tag, with links relative to the including text.

        Returns:
            The text; an empty string if it includes itself or is nested too deep; None if it does not exist.
        """
        match = _INCLUDE.fullmatch(tag)
        target = (match[2] or match[3]) if match else ""
        named = _REUSABLE(target)
        identity = named[1] if named else self._targets.places.resolve(target, sources[-1]).id
        stored = next((item for item in self._revision.reusable_contents if item["id"] == identity), None)
        snippet = ReusableContent.model_validate(stored) if stored else None
        if snippet is None or not snippet.document:
            return None
        source = snippet_source(snippet)
        if source in sources or len(sources) > MAX_INCLUDES:
            return ""
        self.included.add(snippet.document)
        text = document_texts(self._context.session, [snippet.document]).get(snippet.document, "")
        self._room -= len(text)
        if self._room < 0:
            raise ApiError(413, f"page: too large: more than {LARGEST:,} characters with what it includes")
        text = self._shown(text, (*sources, source), variables)
        return self._linked(text, source, lambda place: self._relative(place, sources[-1])).strip("\n")

    def _linked(self, text: str, source: str, new_target: Callable[[Destination], str | None]) -> str:
        """Replace the targets of the links in a text.

        `new_target` returns the new target for a destination, or None to keep the link. Links to anchors in the same
        page are kept. App URLs become stable links if these are requested.
        """
        parts: list[str] = []
        end = 0
        for target in written_targets(text):
            if target.target.startswith("#"):
                continue
            address = self._in_app(target.target) or new_target(self._targets.places.resolve(target.target, source))
            if address is not None:
                parts += (text[end : target.start], address)
                end = target.end
        return "".join((*parts, text[end:]))

    def _in_app(self, target: str) -> str | None:
        """Return the stable link for an app URL. Return None for other URLs, and if stable links are not requested."""
        app = f"{self._context.app('')}/"
        return f"/{target.removeprefix(app)}" if self._reading.is_stable and target.startswith(app) else None

    def _stable(self, place: Destination) -> str | None:
        space = f"/spaces/{self._revision.space_id}"
        if place.kind == "page":
            return f"{space}/pages/{place.id}" + (f"#{encode_fragment(place.anchor)}" if place.anchor else "")
        folder = {"file": "files", "snippet": "reusable-content"}.get(place.kind)
        return f"{space}/{folder}/{place.id}" if folder else None

    def _relative(self, place: Destination, source: str) -> str | None:
        path = self._targets.sources.get((place.kind, place.id))
        if not path:
            return None
        address = quote(posixpath.relpath(path, posixpath.dirname(source) or "."))
        return address + (f"#{encode_fragment(place.anchor)}" if place.anchor else "")

    def _value(self, name: str, variables: Mapping[str, Any]) -> str | None:
        """Return the value of a variable of the space or of the page, or None if it is not defined."""
        owner, _, key = name.partition(".vars.")
        owners: dict[str, Mapping[str, Any] | None] = {"space": self._revision.variables, "page": variables}
        value = (owners.get(owner) or {}).get(key)
        return None if value is None else visible_words(str(value), self._reading.holds or bool)


def snippet_source(snippet: ReusableContent) -> str:
    """Return the source path of reusable content, or a unique replacement if it has none."""
    return snippet.git.path if snippet.git else f"~/reusable/{snippet.id}"


def _with_values(text: str, value_of: Callable[[str], str | None]) -> str:
    """Replace expressions by the values of their variables. Expressions with unknown variables are kept."""
    if "expression" not in text:
        return text
    parts: list[str] = []
    end = 0
    for match in _EXPRESSION.finditer(without_code(text)):
        value = value_of(match[1].strip())
        if value is not None:
            words = _MARKUP.sub(lambda character: f"&#{ord(character[0])};", " ".join(value.split()))
            parts += (text[end : match.start()], words)
            end = match.end()
    return "".join((*parts, text[end:]))


def _prefixed(text: str, prefix: str) -> str:
    """Prefix each line of an included text with the indentation and quote marks of its tag."""
    return "\n".join(f"{prefix}{line}".rstrip() for line in text.split("\n"))

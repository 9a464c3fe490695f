"""Saved audiences of a site, which are named sets of claims stored on this machine, and the places that they see."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

from presscheck.api.content import ListPages, RevisionPage
from presscheck.api.site_structure import GetSiteStructure, SiteSection, SiteSpace, SiteStructure
from presscheck.documents.attribute_json import parse_json
from presscheck.documents.visitors.conditions import Path, Verdict, claim_paths, judge, problem_of
from presscheck.engine.protocols import Reader
from presscheck.engine.publish.site_structure import site_spaces
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.store.outbox import Outbox

LONGEST_NAME = 50
LONGEST_CLAIMS = 4000
"""Maximum number of characters of an audience's claims as JSON: the claims of a visitor must fit into a cookie."""
NO_CONDITION = Verdict(True)
LeftOut = Literal["draft", "hidden", ""]
"""Why the navigation of a site omits a place for everybody."""


class Audience(NamedTuple):
    """Visitors with the same claims.

    Attributes:
        name: the name, unique in the site.
        claims: the claims.
        problem: why the stored claims cannot be read, such as claims saved by a newer version; empty if they can.
    """

    name: str
    claims: dict[str, Any]
    problem: str = ""


EVERYONE = Audience("Everyone", {})
"""Visitors without claims, who see only what everybody sees."""


class Audiences:
    """The saved audiences of a site.

    Args:
        local: the store of the audiences.
        site_id: the id of the site.
    """

    def __init__(self, local: Outbox, site_id: str) -> None:
        self._local, self._prefix = local, f"audience {site_id} "

    def all(self) -> tuple[Audience, ...]:
        """Return all audiences, sorted by name."""
        stored = self._local.recall_all(self._prefix)
        return tuple(_audience(name, stored[name]) for name in sorted(stored, key=str.casefold))

    def save(self, name: str, claims: Mapping[str, Any], *, former: str = "") -> None:
        """Save an audience.

        Args:
            name: the name of the audience.
            claims: the claims.
            former: the name of the audience to replace; empty to add an audience.

        Raises:
            InvalidArgument: the name is invalid or belongs to another audience, or the claims are too long.
        """
        name = " ".join(name.split())
        if not 1 <= len(name) <= LONGEST_NAME:
            raise InvalidArgument("name", f"1 to {LONGEST_NAME} characters")
        text = json.dumps(claims, ensure_ascii=False)
        if len(text) > LONGEST_CLAIMS:
            raise InvalidArgument("claims", f"at most {LONGEST_CLAIMS:,} characters; these are {len(text):,}")
        key = self._prefix + name
        if name == former:
            self._local.remember(key, text)
            return
        gone = {self._prefix + former: None} if former else {}
        if not self._local.swap(key, None, {key: text, **gone}):
            raise InvalidArgument("name", f"there is an audience “{name}” already")

    def remove(self, name: str) -> None:
        """Remove an audience."""
        self._local.remember(self._prefix + name, None)


def read_claims(text: str) -> dict[str, Any]:
    """Parse claims from JSON.

    Raises:
        InvalidArgument: the text is not a JSON object.
    """
    try:
        claims = parse_json(text)
    except ValueError as error:
        raise InvalidArgument("claims", f"is not valid JSON: {error}") from None
    if not isinstance(claims, dict):
        raise InvalidArgument("claims", 'must be a JSON object, such as {"plan": "pro"}')
    return cast("dict[str, Any]", claims)


class Rule(NamedTuple):
    """A condition, and the title of the section, space or page that has it."""

    title: str
    condition: str


@dataclass(frozen=True)
class AdaptivePlace:
    """A section, space or page of a site.

    Attributes:
        kind: section, space or page.
        title: the title.
        depth: the number of places that contain it.
        condition: its own condition; empty if it has none.
        above: the conditions of the places that contain it, outermost first.
        space_id: the id of the space; empty for a section.
        page_id: the id of the page; empty for a section or space.
        key: a unique key in the site.
        left_out: why the navigation omits it for everybody; empty if it does not.
        is_text: False for a group of pages or a link, which have no text.
    """

    kind: Literal["section", "space", "page"]
    title: str
    depth: int
    condition: str
    above: tuple[Rule, ...]
    space_id: str = ""
    page_id: str = ""
    key: str = ""
    left_out: LeftOut = ""
    is_text: bool = True

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All conditions that a visitor must meet to see the place."""
        return (*self.above, Rule(self.title, self.condition)) if self.condition else self.above

    def seen_by(self, audience: Audience, known: Collection[Path] | None) -> Verdict:
        """Return whether the visitors of an audience see the place, with the condition that decides.

        Args:
            audience: the visitors.
            known: the claims of the schema; None if the schema is unknown.
        """
        if audience.problem:
            return Verdict(None, audience.problem)
        verdicts = [(rule, judge(rule.condition, audience.claims, known)) for rule in self.rules]
        for rule, verdict in verdicts:  # a single condition that is false hides the place, even if others are unknown
            if verdict.holds is False:
                return Verdict(False, f"{rule.title}: {rule.condition}")
        for rule, verdict in verdicts:
            if verdict.holds is None:
                return Verdict(None, f"{rule.title}: {verdict.reason}")
        return NO_CONDITION


class SeenSite(NamedTuple):
    """The places of a site that the visitors of an audience see.

    Attributes:
        places: the places in their navigation, in order, including doubtful ones.
        doubts: the reasons why the visibility of a place is uncertain, by its key.
        limited: the number of sections, spaces and pages that a condition hides from them.
        hidden: the number of hidden sections, spaces and pages that they can open by their addresses.
        drafts: the number of drafts and places in drafts.
    """

    places: tuple[AdaptivePlace, ...]
    doubts: Mapping[str, str]
    limited: int = 0
    hidden: int = 0
    drafts: int = 0


def seen_by(
    places: Iterable[AdaptivePlace], audience: Audience, known: Collection[Path] | None, *, is_on: bool
) -> SeenSite:
    """Determine which places of a site the visitors of an audience see.

    Args:
        places: the places of the site.
        audience: the visitors.
        known: the claims of the schema; None if the schema is unknown.
        is_on: whether the site has adaptive content; otherwise, conditions do not apply.
    """
    seen: list[AdaptivePlace] = []
    doubts: dict[str, str] = {}
    limited, left_out = 0, Counter[str]()
    for place in places:
        verdict = place.seen_by(audience, known) if is_on else NO_CONDITION
        if place.left_out == "draft":
            left_out["draft"] += 1
        elif verdict.holds is False:
            limited += 1
        elif place.left_out:
            left_out["hidden"] += 1
        else:
            seen.append(place)
            if verdict.holds is None:
                doubts[place.key] = verdict.reason
    return SeenSite(tuple(seen), doubts, limited, left_out["hidden"], left_out["draft"])


class Use(NamedTuple):
    """A condition, the places that have it, and its problem; the problem is empty for a valid condition."""

    condition: str
    places: tuple[AdaptivePlace, ...]
    problem: str


class AdaptiveSite(NamedTuple):
    """The places of a site, and the titles of spaces whose pages could not be read, with the reasons."""

    places: tuple[AdaptivePlace, ...]
    unread: tuple[tuple[str, str], ...] = ()


async def read_adaptive(engine: Reader, organization_id: str, site_id: str) -> AdaptiveSite:
    """Read the places of a site; spaces whose pages cannot be read are listed in `unread`.

    Raises:
        PresscheckError: the structure of the site cannot be read.
    """
    structure = await engine.read(GetSiteStructure(organization_id=organization_id, site_id=site_id))
    trees: dict[str, Sequence[RevisionPage]] = {}
    unread: list[tuple[str, str]] = []
    for item, _ in site_spaces(structure.structure):
        if item.space.id not in trees:
            try:
                trees[item.space.id] = (await engine.read(ListPages(space_id=item.space.id))).pages
            except PresscheckError as error:
                trees[item.space.id] = ()
                unread.append((item.title or item.space.title, error.message))
    return AdaptiveSite(tuple(places_of(structure, trees)), tuple(unread))


def places_of(structure: SiteStructure, trees: Mapping[str, Sequence[RevisionPage]]) -> Iterator[AdaptivePlace]:
    """Yield the sections, spaces and pages of a site in order."""
    last: SiteSection | None = None
    for item, section in site_spaces(structure.structure):
        above: tuple[Rule, ...] = ()
        depth = 0
        outside: LeftOut = ""
        if section:
            outside = _left_out(section, "")
            if section is not last:
                yield AdaptivePlace(
                    "section",
                    section.title,
                    0,
                    section.condition or "",
                    (),
                    key=f"section {section.id}",
                    left_out=outside,
                )
            above = (Rule(section.title, section.condition),) if section.condition else ()
            depth = 1
        last = section
        title, condition = item.title or item.space.title, item.condition or ""
        left_out = _left_out(item, outside)
        yield AdaptivePlace(
            "space", title, depth, condition, above, item.space.id, key=f"space {item.id}", left_out=left_out
        )
        above = (*above, Rule(title, condition)) if condition else above
        yield from _pages(trees.get(item.space.id, ()), item.space.id, item.id, above, depth + 1, left_out)


def _left_out(item: SiteSpace | SiteSection, outside: LeftOut) -> LeftOut:
    """Return why the navigation omits an item; empty if it does not. `outside` is the reason for its container."""
    if item.draft or outside == "draft":
        return "draft"
    return "hidden" if getattr(item, "hidden", None) else outside


def _pages(
    pages: Iterable[RevisionPage],
    space_id: str,
    item_id: str,
    above: tuple[Rule, ...],
    depth: int,
    outside: LeftOut,
) -> Iterator[AdaptivePlace]:
    for page in pages:
        condition, key = page.condition or "", f"page {item_id} {page.id}"
        left_out = outside or ("hidden" if page.hidden else "")
        is_text = page.type == "document"
        yield AdaptivePlace("page", page.title, depth, condition, above, space_id, page.id, key, left_out, is_text)
        inside = (*above, Rule(page.title, condition)) if condition else above
        yield from _pages(page.pages, space_id, item_id, inside, depth + 1, left_out)


def uses_of(places: Iterable[AdaptivePlace], known: Collection[Path] | None) -> tuple[Use, ...]:
    """Return every condition of a site with its places, in the order of the site.

    Args:
        places: the places of the site.
        known: the claims of the schema; None if the schema is unknown.
    """
    found: dict[str, list[AdaptivePlace]] = {}
    for place in places:
        if place.condition:
            found.setdefault(place.condition, []).append(place)
    return tuple(Use(condition, tuple(at), condition_problem(condition, known)) for condition, at in found.items())


def condition_problem(condition: str, known: Collection[Path] | None) -> str:
    """Return the problem of a condition: it cannot be parsed, or names a claim that the schema lacks. Empty if valid.

    Args:
        condition: the condition.
        known: the claims of the schema; None if the schema is unknown.
    """
    if problem := problem_of(condition):
        return problem
    missing = [".".join(path) for path in claim_paths(condition) if known is not None and path not in known]
    return f"the schema has no claim “{missing[0]}”" if missing else ""


def _audience(name: str, text: str) -> Audience:
    try:
        return Audience(name, read_claims(text))
    except InvalidArgument as error:
        return Audience(name, {}, f"its claims cannot be read: {error.reason}")

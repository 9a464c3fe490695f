"""Saved audiences: named sets of claims of a site, kept on this machine; and what a visitor with them sees."""

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
"""The most characters of the claims of an audience as JSON: those of a visitor have to fit into a cookie."""
NO_CONDITION = Verdict(True)
LeftOut = Literal["draft", "hidden", ""]
"""Why the navigation of a site leaves something out for everybody."""


class Audience(NamedTuple):
    """Visitors with the same claims.

    Attributes:
        name: its name in the site.
        claims: the claims.
        problem: why its claims cannot be read, such as those that a newer version saved; empty if they can.
    """

    name: str
    claims: dict[str, Any]
    problem: str = ""


EVERYONE = Audience("Everyone", {})
"""Visitors without claims: what they see, everybody sees."""


class Audiences:
    """The saved audiences of a site.

    Args:
        local: keeps them.
        site_id: the site.
    """

    def __init__(self, local: Outbox, site_id: str) -> None:
        self._local, self._prefix = local, f"audience {site_id} "

    def all(self) -> tuple[Audience, ...]:
        """All audiences by name."""
        stored = self._local.recall_all(self._prefix)
        return tuple(_audience(name, stored[name]) for name in sorted(stored, key=str.casefold))

    def save(self, name: str, claims: Mapping[str, Any], *, former: str = "") -> None:
        """Save an audience, in the place of a former one if one is named.

        Raises:
            InvalidArgument: the name is invalid or taken by another one, or the claims are too long.
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
    """The claims of a JSON text.

    Raises:
        InvalidArgument: it is no JSON object.
    """
    try:
        claims = parse_json(text)
    except ValueError as error:
        raise InvalidArgument("claims", f"is not valid JSON: {error}") from None
    if not isinstance(claims, dict):
        raise InvalidArgument("claims", 'must be a JSON object, such as {"plan": "pro"}')
    return cast("dict[str, Any]", claims)


class Rule(NamedTuple):
    """A condition, and the title of the section, space or page that it is set on."""

    title: str
    condition: str


@dataclass(frozen=True)
class AdaptivePlace:
    """A section, space or page of a site.

    Attributes:
        kind: what it is.
        title: its title.
        depth: how many places it is in.
        condition: its own condition; empty without one.
        above: the conditions of what it is in, outermost first.
        space_id: its space; empty for a section.
        page_id: the page; empty for a section or space.
        key: identifies it.
        left_out: why the navigation of the site leaves it out for everybody; empty if it does not.
        is_text: whether a page has a text, other than a group of pages or a link.
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
        """All conditions that a visitor has to meet to see it."""
        return (*self.above, Rule(self.title, self.condition)) if self.condition else self.above

    def seen_by(self, audience: Audience, known: Collection[Path] | None) -> Verdict:
        """Whether the visitors of an audience see it, and which condition decides.

        Args:
            audience: the visitors.
            known: the claims of the schema; None if the schema is not known.
        """
        if audience.problem:
            return Verdict(None, audience.problem)
        verdicts = [(rule, judge(rule.condition, audience.claims, known)) for rule in self.rules]
        for rule, verdict in verdicts:  # one that does not hold hides it, whatever the others are
            if verdict.holds is False:
                return Verdict(False, f"{rule.title}: {rule.condition}")
        for rule, verdict in verdicts:
            if verdict.holds is None:
                return Verdict(None, f"{rule.title}: {verdict.reason}")
        return NO_CONDITION


class SeenSite(NamedTuple):
    """What the visitors of an audience see of a site.

    Attributes:
        places: what its navigation has for them, in order.
        doubts: why it cannot be told whether they see a place, by its key.
        limited: the number of sections, spaces and pages that a condition keeps from them.
        hidden: the number of hidden sections, spaces and pages that they could open.
        drafts: the number of drafts, and of what is in them.
    """

    places: tuple[AdaptivePlace, ...]
    doubts: Mapping[str, str]
    limited: int = 0
    hidden: int = 0
    drafts: int = 0


def seen_by(
    places: Iterable[AdaptivePlace], audience: Audience, known: Collection[Path] | None, *, is_on: bool
) -> SeenSite:
    """What the visitors of an audience see of a site.

    Args:
        places: the places of the site.
        audience: the visitors.
        known: the claims of the schema; None if the schema is not known.
        is_on: whether the site has adaptive content; without it, conditions do not apply.
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
    """A condition, what it is set on, and what is wrong with it; empty if nothing is."""

    condition: str
    places: tuple[AdaptivePlace, ...]
    problem: str


class AdaptiveSite(NamedTuple):
    """The places of a site, and the spaces whose pages could not be read, with the reasons."""

    places: tuple[AdaptivePlace, ...]
    unread: tuple[tuple[str, str], ...] = ()


async def read_adaptive(engine: Reader, organization_id: str, site_id: str) -> AdaptiveSite:
    """The places of a site; pages that cannot be read are missing, and named.

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
    """The sections, spaces and pages of a site in order."""
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
    """Why the navigation leaves an item out; `outside` is why it leaves out what the item is in."""
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
    """Every condition of a site with what it is set on, in the order of the site.

    Args:
        places: the places of the site.
        known: the claims of the schema; None if the schema is not known.
    """
    found: dict[str, list[AdaptivePlace]] = {}
    for place in places:
        if place.condition:
            found.setdefault(place.condition, []).append(place)
    return tuple(Use(condition, tuple(at), condition_problem(condition, known)) for condition, at in found.items())


def condition_problem(condition: str, known: Collection[Path] | None) -> str:
    """What is wrong with a condition: it cannot be read, or names a claim that the schema lacks; empty if nothing is.

    Args:
        condition: the condition.
        known: the claims of the schema; None if the schema is not known.
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

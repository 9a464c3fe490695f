"""Plans a push: resolves the names in a file, finds its mistakes, and plans the calls.

The service replaces a customization as a whole, so settings that the file does not have are sent with their current
values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from presscheck.api.operation import Operation
from presscheck.api.site_customization import known_names
from presscheck.api.site_settings import (
    CreateRedirect,
    CreateShareLink,
    DeleteRedirect,
    DeleteShareLink,
    Redirect,
    UpdateAdaptiveSchema,
    UpdateCustomization,
    UpdateRedirect,
)
from presscheck.api.spaces import Space
from presscheck.engine.publish.redirects import LONGEST_URL, source_problem
from presscheck.engine.publish.site_structure import plain_path, wire_path
from presscheck.engine.site_config.comparison import READ_ONLY, compare, same_value
from presscheck.engine.site_config.document import (
    Entry,
    Part,
    Place,
    RedirectEntry,
    SiteConfig,
    Target,
    every_entry,
)
from presscheck.engine.site_config.site_state import SiteSecrets, SiteState, StateReader, paths_of
from presscheck.engine.site_config.steps import ItemId, Plan, Step
from presscheck.engine.site_config.structure_plan import StructurePlanner
from presscheck.engine.site_config.validation import Problem
from presscheck.errors import InvalidArgument
from presscheck.text.phrases import count

_COLOR = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_THEMED = frozenset(("light", "dark"))
LINKS = ("header", "links")
"""The path of the links whose target is null if they only group other links."""


def customization_problems(site: Mapping[str, Any], file: Mapping[str, Any]) -> list[Problem]:
    """Return the mistakes in a file's customization; values that the site already has are not checked."""
    return [*_problems(("customization",), site, file)]


def merged(site: Any, file: Any, *, prune: bool = False) -> Any:
    """Merge a JSON value of a file into the value of the site.

    Keys that the file does not have stay, unless `prune` is set; lists are replaced. Null values, which a file cannot
    express, stay where the file has no value.
    """
    if isinstance(file, dict) and isinstance(site, dict):
        theirs, ours = cast("dict[str, Any]", site), cast("dict[str, Any]", file)
        kept = {name: value for name, value in theirs.items() if name in ours or not prune or value is None}
        return {**kept, **{name: merged(theirs.get(name), value, prune=prune) for name, value in ours.items()}}
    if isinstance(file, list) and isinstance(site, list):
        present, wanted = cast("list[Any]", site), cast("list[Any]", file)
        return [_with_nulls(present[at] if at < len(present) else None, item) for at, item in enumerate(wanted)]
    return cast("Any", file)


def with_link_targets(customization: dict[str, Any]) -> dict[str, Any]:
    """Return a customization in which every link of the header has a target, which may be null."""
    first, second = LINKS
    header = customization.get(first)
    if not isinstance(header, dict) or not isinstance(cast("dict[str, Any]", header).get(second), list):
        return customization
    inner = cast("dict[str, Any]", header)
    links: list[Any] = [
        {"to": None, **cast("dict[str, Any]", link)} if isinstance(link, dict) else link for link in inner[second]
    ]
    return {**customization, first: {**inner, second: links}}


def _with_nulls(site: Any, file: Any) -> Any:
    if isinstance(site, dict) and isinstance(file, dict):
        theirs, ours = cast("dict[str, Any]", site), cast("dict[str, Any]", file)
        nulls = {name: None for name, value in theirs.items() if value is None and name not in ours}
        return {**nulls, **{name: _with_nulls(theirs.get(name), value) for name, value in ours.items()}}
    if isinstance(site, list) and isinstance(file, list):
        present, wanted = cast("list[Any]", site), cast("list[Any]", file)
        return [_with_nulls(present[at] if at < len(present) else None, item) for at, item in enumerate(wanted)]
    return file


def _problems(place: Place, site: Any, file: Any) -> Iterator[Problem]:
    if site is not None and same_value(site, file):
        return
    if isinstance(site, (dict, list, bool)) and not isinstance(file, type(cast("Any", site))):
        words = {dict: "a table with keys and values", list: "a list", bool: "true or false"}
        yield Problem(place, f"must be {words[type(cast('Any', site))]}")
        return
    if isinstance(file, dict):
        theirs = cast("dict[str, Any]", site) if isinstance(site, dict) else {}
        known = known_names().get(".".join(str(part) for part in place[1:]))
        for name, value in cast("dict[str, Any]", file).items():
            if known and name not in known and name not in theirs:
                yield Problem((*place, name), f"is not a known key; known: {', '.join(sorted({*known, *theirs}))}")
            else:
                yield from _problems((*place, name), theirs.get(name), value)
    elif isinstance(file, list):
        present = cast("list[Any]", site) if isinstance(site, list) else []
        for number, value in enumerate(cast("list[Any]", file)):
            yield from _problems((*place, number), present[number] if number < len(present) else None, value)
    elif isinstance(site, str) and not isinstance(file, str):
        yield Problem(place, "must be a text: put it in quotes")
    elif _is_color(place) and not (isinstance(file, str) and _COLOR.fullmatch(file)):
        yield Problem(place, "must be a color such as #9a4f1b")


def _is_color(place: Place) -> bool:
    """Return whether a place holds a color: the key light or dark below a key such as primaryColor."""
    return place[-1] in _THEMED and len(place) > 1 and str(place[-2]).lower().endswith("color")


async def prepare(
    config: SiteConfig, reader: StateReader, *, prune: bool = False
) -> tuple[SiteState, SiteConfig, Plan]:
    """Read a site and plan the push of a file to it; see `resolve` and `plan_push`.

    Returns:
        The state of the site, the resolved configuration of the file, and the plan.

    Raises:
        PresscheckError: the site cannot be read.
    """
    state = await reader.read()
    known = {one.space for one in every_entry(state.config.structure or ())}
    spaces = await reader.spaces() if _named_spaces(config) - known else ()
    resolved, problems = resolve(config, state, spaces)
    pages = {one.target.space_id for one in resolved.redirects or () if one.target.page and one.target.space_id}
    state = await reader.with_pages(state, pages)
    if problems:
        return state, resolved, Plan(problems=tuple(problems))
    return state, resolved, plan_push(resolved, state, prune=prune)


def _named_spaces(config: SiteConfig) -> set[str]:
    """Return the ids of the spaces in a document, with an empty id if a space is named only by its title."""
    entries = {one.space for one in every_entry(config.structure or ()) if one.kind == "space"}
    targets = [one.target for one in config.redirects or ()]
    return entries | {one.space_id for one in targets if one.space_id or one.space}


def resolve(config: SiteConfig, state: SiteState, spaces: Iterable[Space]) -> tuple[SiteConfig, list[Problem]]:
    """Add the id and the current title of each space to a document, and hide keys of share links.

    Args:
        config: the configuration in the file.
        state: the state of the site.
        spaces: the spaces of the organization; may be empty if all spaces are in the site.

    Returns:
        The resolved configuration, and a problem for each space that was not found.
    """
    known = {one.space: one.title for one in every_entry(state.config.structure or ()) if one.kind == "space"}
    resolver = _SpaceNames({**{space.id: space.title for space in spaces}, **known}, state.secrets)
    structure = None if config.structure is None else tuple(resolver.entry(one) for one in config.structure)
    redirects = None if config.redirects is None else tuple(resolver.redirect(one) for one in config.redirects)
    looks = state.secrets.hide(config.customization)
    return replace(config, structure=structure, redirects=redirects, customization=looks), resolver.problems


@dataclass
class _SpaceNames:
    """A resolver of spaces by id or unique title. It also hides the keys of share links, like `StateReader`."""

    titles: Mapping[str, str]
    secrets: SiteSecrets
    problems: list[Problem] = field(default_factory=list[Problem])

    def entry(self, entry: Entry) -> Entry:
        """Return an item of the structure in which all spaces have their ids and current titles."""
        entries = tuple(self.entry(one) for one in entry.entries)
        if entry.kind != "space":
            return replace(entry, entries=entries)
        space, title = self._found(entry.space, entry.title, entry.place, "space")
        return replace(entry, space=space, title=title)

    def redirect(self, redirect: RedirectEntry) -> RedirectEntry:
        """Return a redirect with the id and current title of its target space.

        If the target is a web address, hide the keys in the address instead.
        """
        target = redirect.target
        if not target.space and not target.space_id:
            return redirect._replace(target=target._replace(url=self.secrets.hide(target.url)))
        space, title = self._found(target.space_id, target.space, (*redirect.place, "to"), "space")
        return redirect._replace(target=target._replace(space_id=space, space=title))

    def _found(self, space: str, title: str, place: Place, key: str) -> tuple[str, str]:
        if space:
            if space not in self.titles:
                self.problems.append(Problem((*place, "id"), f"no space of the organization has the id {space}"))
            return space, self.titles.get(space, title)
        found = [one for one, its in self.titles.items() if its == title]
        if len(found) == 1:
            return found[0], title
        reason = f"{count(len(found), 'space')} of the organization have this title: add the id" if found else ""
        self.problems.append(Problem((*place, key), reason or f"no space of the organization has the title {title}"))
        return space, title


def plan_push(config: SiteConfig, state: SiteState, *, prune: bool = False) -> Plan:
    """Plan the calls that give a site the configuration of a file.

    Args:
        config: the configuration in the file, resolved.
        state: the state of the site, with all parts that the file has.
        prune: whether items and values that the file does not have are removed.
    """
    builder = _Planner(config, state, prune=prune)
    for part in config.parts:
        if part in state.unread:
            builder.problems.append(Problem((part,), f"cannot be read: {state.unread[part].message}"))
    if not builder.problems:
        builder.plan()
    differences = compare(state.config, config)
    manual = [one for one in differences if one.field.part == "structure" and one.field.name in READ_ONLY]
    kept = [one for one in differences if one.needs_prune and not prune and one not in manual]
    steps = () if builder.problems else tuple(builder.steps)
    return Plan(steps, tuple(differences), tuple(kept), tuple(manual), tuple(builder.problems))


@dataclass
class _Planner:
    """A planner of the parts one after another: redirects need the items of the structure."""

    config: SiteConfig
    state: SiteState
    prune: bool
    steps: list[Step] = field(default_factory=list[Step])
    problems: list[Problem] = field(default_factory=list[Problem])

    def __post_init__(self) -> None:
        self._sections: dict[str, str] = {}
        self._spaces: dict[str, str] = {}

    def plan(self) -> None:
        self._plan_schema()
        self._plan_structure()
        self._plan_redirects()
        self._plan_customization()
        self._plan_share_links()

    def _step(self, part: Part, text: str, operation: type[Operation[Any]], given: Mapping[str, Any]) -> None:
        self.steps.append(Step(part, text, operation, {**self.state.path, **given}))

    def _plan_schema(self) -> None:
        wanted = self.config.visitor_schema
        if wanted is None:
            return
        present = self.state.config.visitor_schema
        schema = merged(present, wanted, prune=self.prune)
        if schema != present:
            text = "replace the visitor schema" if present else "set the visitor schema"
            self._step("visitor_schema", text, UpdateAdaptiveSchema, {"json_schema": schema})

    def _plan_customization(self) -> None:
        wanted = self.config.customization
        if wanted is None:
            return
        site, secrets = self.state.config.customization or {}, self.state.secrets
        self.problems += customization_problems(site, wanted)
        if merged(site, wanted, prune=self.prune) == site:
            return
        fields = compare(SiteConfig(customization=site), SiteConfig(customization=wanted))
        changed = [one for one in fields if self.prune or not one.needs_prune]
        settings = with_link_targets(merged(self.state.customization, secrets.reveal(wanted), prune=self.prune))
        text = f"replace the customization: {count(len(changed), 'field')} changed"
        self._step("customization", text, UpdateCustomization, {"settings": settings})

    def _plan_structure(self) -> None:
        present, names = self.state.config.structure or (), dict[Place, str]()
        if self.config.structure is not None:
            planner = StructurePlanner(self.state.path, present, self.config.structure, prune=self.prune)
            planner.plan()
            self.steps += planner.steps
            self.problems += planner.problems
            names = planner.names
        staying = {*names.values()}
        is_pruned = self.prune and self.config.structure is not None
        for entry in every_entry(present):
            if not is_pruned or entry.key in staying:
                self._take(entry, entry.key)
        renamed = {names[entry.place] for entry in every_entry(self.config.structure or ()) if "path" in entry.texts}
        self._sections = {path: key for path, key in self._sections.items() if key not in renamed}
        for entry in every_entry(self.config.structure or ()):
            self._take(entry, names[entry.place])

    def _take(self, entry: Entry, name: str) -> None:
        """Register an item as a possible target of redirects: a section by its path, a space by its id."""
        if entry.kind == "space":
            self._spaces[entry.space] = name
        elif entry.kind == "section" and entry.texts.get("path"):
            self._sections[entry.texts["path"]] = name

    # -- redirects

    def _plan_redirects(self) -> None:
        if self.config.redirects is None:
            return
        wanted = {plain_path(one.source): one for one in self.config.redirects}
        if self.prune:
            for path, redirect in self.state.redirects.items():
                if path not in wanted:
                    text = f"delete the redirect {redirect.source}"
                    self._step("redirects", text, DeleteRedirect, {"site_redirect_id": redirect.id})
        present = {plain_path(one.source): one for one in self.state.config.redirects or ()}
        for path, entry in wanted.items():
            redirect = self.state.redirects.get(path)
            if redirect is None and (reason := source_problem(entry.source)):
                self.problems.append(Problem((*entry.place, "source"), reason))
            elif redirect is None or not self._leads_there(redirect, present[path].target, entry.target):
                self._plan_redirect(entry, redirect)

    def _leads_there(self, redirect: Redirect, present: Target, wanted: Target) -> bool:
        """Return whether a redirect will have the wanted target after the planned changes of the structure."""
        to = redirect.destination
        if wanted.gone or wanted.url:
            return wanted == present
        if wanted.section:
            return to.kind == "site-section" and f"site-section {to.site_section_id}" == self._sections.get(
                wanted.section
            )
        page = wanted.page_id or self._page(wanted)
        return f"site-space {to.site_space_id}" == self._spaces.get(wanted.space_id) and (to.page_id or "") == page

    def _page(self, target: Target) -> str:
        return paths_of(self.state.trees.get(target.space_id, ())).get(target.page, "") if target.page else ""

    def _plan_redirect(self, entry: RedirectEntry, redirect: Redirect | None) -> None:
        destination = self._destination(entry)
        if isinstance(destination, Problem):
            self.problems.append(destination)
            return
        source = wire_path(entry.source)
        if redirect is None:
            text = f"add the redirect {source} → {entry.target}"
            self._step("redirects", text, CreateRedirect, {"source": source, "destination": destination})
            return
        given = {"site_redirect_id": redirect.id, "source": redirect.source, "destination": destination}
        text = f"change the redirect {source} → {entry.target}"
        self._step("redirects", text, UpdateRedirect, given)

    def _destination(self, entry: RedirectEntry) -> dict[str, str] | Problem:
        """Return the destination of a redirect for the API, or the mistake in its target."""
        place, target = (*entry.place, "to"), entry.target
        if target.gone:
            return Problem((*place, "gone"), "is not in the site: choose a url, a section, a space or a page")
        if target.url:
            if not target.url.startswith(("https://", "http://")) or any(one.isspace() for one in target.url):
                return Problem((*place, "url"), "must be a web address such as https://example.org/page")
            if len(target.url) > LONGEST_URL:
                return Problem((*place, "url"), f"must have at most {LONGEST_URL:,} characters")
            return {"kind": "external", "url": self.state.secrets.reveal(target.url)}
        if target.section:
            name = self._sections.get(target.section)
            reason = f"no section of the site has the path {target.section}"
            return (
                {"kind": "site-section", "site_section_id": ItemId(name)}
                if name
                else Problem((*place, "section"), reason)
            )
        name = self._spaces.get(target.space_id)
        if name is None:
            return Problem((*place, "space"), f"the space {target.space or target.space_id} is not in the site")
        if not target.page and not target.page_id:
            return {"kind": "site-space", "site_space_id": ItemId(name)}
        page = target.page_id or self._page(target)
        if not page:
            return Problem((*place, "page"), f"no page of {target.space or target.space_id} has the path {target.page}")
        return {"kind": "site-page", "site_space_id": ItemId(name), "page_id": page}

    # -- share links

    def _plan_share_links(self) -> None:
        if self.config.share_links is None:
            return
        left = [link for link in self.state.share_links if link.name]
        for number, name in enumerate(self.config.share_links):
            present = next((link for link in left if link.name == name), None)
            if present:
                left.remove(present)
                continue
            try:
                CreateShareLink(**self.state.path, name=name)
            except InvalidArgument as error:
                self.problems.append(Problem(("share_links", number), error.reason))
                continue
            self._step("share_links", f"create the share link {name}", CreateShareLink, {"name": name})
        for link in left if self.prune else ():
            given = {"share_link_id": link.id}
            text = f"delete the share link {link.name}: its address stops working"
            self._step("share_links", text, DeleteShareLink, given)

"""The settings of a customization, derived from its API model: paths, groups, types, limits and choices.

A document is a customization as JSON without null values. A setting is a line of the form, such as a color with a value
for the light theme and a value for the dark theme. The leaves of a setting are its single values.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Annotated, Any, Literal, cast, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from presscheck.api.shell_command import members_of
from presscheck.api.site_customization import (
    ONLY_DOCUMENTED,
    ONLY_NEWEST,
    Announcement,
    ContentLink,
    Favicon,
    Reference,
    SiteCustomization,
    SocialAccount,
    ThemedAddress,
    ThemedCodeTheme,
    ThemedColor,
    Tint,
)
from presscheck.engine.forms.field_help import limits
from presscheck.engine.site_config.document import Place
from presscheck.errors import InvalidArgument
from presscheck.text.phrases import count

Document = Mapping[str, Any]
Kind = Literal["text", "flag", "choice", "font", "words", "values", "texts", "reference", "list"]
Group = Literal["Look", "Colors", "Header", "Footer", "Features", "Site"]
GROUPS: tuple[Group, ...] = ("Colors", "Look", "Header", "Footer", "Features", "Site")
"""The groups of settings, in display order."""
WHOLE: tuple[type[BaseModel], ...] = (
    ThemedColor,
    ThemedAddress,
    ThemedCodeTheme,
    Tint,
    Favicon,
    Announcement,
    ContentLink,
    SocialAccount,
)
"""Models whose fields together form one setting."""
_GROUP_OF: dict[str, Group] = {
    "styling": "Look",
    "themes": "Look",
    "header": "Header",
    "footer": "Footer",
    "socialAccounts": "Footer",
    "announcement": "Features",
    "ai": "Features",
    "feedback": "Features",
    "pdf": "Features",
    "git": "Features",
    "pageActions": "Features",
    "pagination": "Features",
    "externalLinks": "Features",
}
_LABELS = {
    "styling.theme": "Theme",
    "styling.tint": "Tint of the page",
    "styling.links": "Links in pages",
    "styling.depth": "Shadows",
    "styling.background": "Background",
    "styling.icons": "Icons",
    "styling.search": "Search field",
    "styling.monospaceFont": "Font of code",
    "styling.headingFont": "Font of headings",
    "styling.codeTheme.default": "Code in pages",
    "styling.codeTheme.openapi": "Code of OpenAPI",
    "styling.sidebar.background": "Sidebar background",
    "styling.sidebar.list": "Sidebar list",
    "themes.default": "First theme",
    "themes.toggeable": "Readers can switch",
    "header.preset": "Header style",
    "header.logo": "Logo",
    "header.primaryLink": "Logo leads to",
    "header.backgroundColor": "Background color",
    "header.linkColor": "Link color",
    "header.links": "Links",
    "footer.logo": "Footer logo",
    "footer.groups": "Groups of links",
    "internationalization.locale": "Language",
    "localizedTitle": "Title by language",
    "pdf.enabled": "PDF export",
    "feedback.enabled": "Page feedback",
    "ai.mode": "AI",
    "ai.greeting": "AI greeting",
    "ai.localizedGreeting": "AI greeting by language",
    "ai.suggestions": "AI suggested questions",
    "ai.instructions": "AI instructions",
    "advancedCustomization.enabled": "Custom looks of spaces",
    "git.showEditLink": "Link to edit in Git",
    "pageActions.externalAI": "Open in AI chats",
    "pageActions.markdown": "Page as Markdown",
    "pageActions.mcp": "Connect by MCP",
    "pageActions.items": "Page actions",
    "externalLinks.target": "External links open in",
    "pagination.enabled": "Next and previous page",
    "trademark.enabled": "Trademark of the service",
    "privacyPolicy.url": "Privacy policy",
    "socialPreview.url": "Picture in social media",
    "insights.trackingCookie": "Tracking cookie",
    "socialAccounts": "Social accounts",
}
"""The labels of settings whose API names are not clear enough."""
NOT_DRAWN = frozenset(
    (
        "ai.mode",
        "ai.greeting",
        "ai.localizedGreeting",
        "ai.suggestions",
        "ai.instructions",
        "pageActions.externalAI",
        "styling.icons",
        "styling.background",
        "styling.codeTheme.default",
        "styling.codeTheme.openapi",
        "trademark.enabled",
        "insights.trackingCookie",
    )
)
"""The settings that the local service stores, but that have no effect on its pages."""
_LEAF_LABELS = {
    "localizedMessage": "Message by language",
    "localizedTitle": "Title by language",
    "to": "Leads to",
    "enabled": "Shown",
    "icon": "Image",
    "footer": "In the footer",
    "header": "In the header",
}
CHOICE_WORDS = {"self": "this tab", "blank": "a new tab", "true": "yes", "false": "no"}
"""Words for choices whose values would not be understood."""
_COLOR_HELP, _ADDRESS_HELP = "such as #9a4f1b", "a web address such as https://example.org/logo.png"
REFERENCE_HELP = "a web address, the id of a space (enter lists them), or a reference as JSON"
_SPLIT = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ADDRESS = re.compile(r"\w[\w+.-]*:\S+|mailto:\S+")


@dataclass(frozen=True, eq=False)
class Leaf:
    """A single value of a setting.

    Attributes:
        path: the path in the document.
        label: a short label.
        kind: the form in which the user enters the value.
        info: the field of the API model.
        is_required: whether the value is required if the object that contains it exists.
        owner: the path of the innermost optional object that contains the value; empty if no optional object does.
    """

    path: Place
    label: str
    kind: Kind
    info: FieldInfo
    is_required: bool
    owner: Place = ()

    @property
    def choices(self) -> tuple[str, ...]:
        """The possible values; empty if the value is not an enumeration."""
        words = [one for member in members_of(self.info.annotation) for one in _literals(member)]
        return ("true", "false") if self.kind == "flag" else tuple(words)

    @property
    def is_color(self) -> bool:
        """Whether the value is a color."""
        return any("#" in str(getattr(rule, "pattern", "")) for rule in self.info.metadata)

    @property
    def help(self) -> str:
        """A note about the limits and the format of the value."""
        if self.is_color:
            return _COLOR_HELP
        if self.kind == "reference":
            return REFERENCE_HELP
        if self.kind == "words":
            return 'JSON by language, such as {"fr": "Bonjour"}'
        if self.kind == "texts":
            return 'JSON, such as ["How do I sign in?"]'
        if self.kind == "values":
            return f"separated by commas: {', '.join(self.choices)}"
        if self.kind in ("choice", "flag", "font"):
            return ""
        info = _effective(self.info)
        if _is_address(info):
            return _ADDRESS_HELP
        return "; ".join(limits(info, is_repeatable=False))

    def check(self, value: Any) -> None:
        """Validate a value against the API model.

        Raises:
            InvalidArgument: the value is invalid; the field of the error is the path of the value.
        """
        declared: Any = self.info.annotation
        for rule in self.info.metadata:
            declared = Annotated[declared, rule]
        try:
            TypeAdapter[Any](declared).validate_json(json.dumps(value), strict=True)
        except ValidationError as error:
            raise InvalidArgument(path_name(self.path), _reason(self, error)) from None


@dataclass(frozen=True)
class Setting:
    """A line of the form: a value, several values that belong together, or a list of objects.

    Attributes:
        path: the path in the document.
        label: a short label.
        group: the group.
        leaves: the values; for a list, the values of a new item with paths inside the item.
        model: the API model of the object or of the list's items; None for a single value.
        is_list: whether the setting is a list of objects.
        is_required: whether the setting is required.
    """

    path: Place
    label: str
    group: Group
    leaves: tuple[Leaf, ...]
    model: type[BaseModel] | None = None
    is_list: bool = False
    is_required: bool = True

    @property
    def name(self) -> str:
        """The path as text, such as `styling.primaryColor`."""
        return path_name(self.path)

    @property
    def is_color(self) -> bool:
        """Whether the setting is a color for both themes."""
        return self.model in (ThemedColor, Tint)


def path_name(path: Place) -> str:
    """Format a path as in messages of the service: `header.links.0.title`."""
    return ".".join(str(part) for part in path)


def settings_of(document: Document) -> tuple[Setting, ...]:
    """Return the settings of a document, in the order of the groups.

    The service exists in two releases with different settings. The release is derived from the document; settings of
    the other release are included only if the document has them.
    """
    is_newest = any(value_at(document, tuple(path.split("."))) is not None for path in ONLY_NEWEST)
    absent = (one.path for one in _settings_of_other_releases(is_newest) if value_at(document, one.path) is None)
    return _settings_without(is_newest, frozenset(absent))


@cache
def _settings_of_other_releases(is_newest: bool) -> tuple[Setting, ...]:
    missing = ONLY_DOCUMENTED if is_newest else ONLY_NEWEST
    return tuple(
        setting
        for setting in every_setting()
        if any(setting.name == path or setting.name.startswith(f"{path}.") for path in missing)
    )


@lru_cache(maxsize=64)
def _settings_without(is_newest: bool, absent: frozenset[Place]) -> tuple[Setting, ...]:
    """Return the settings of a release, without the settings at the paths in `absent`.

    The result is cached, because each row of the form needs it.
    """
    found: list[Setting] = []
    for setting in every_setting():
        if setting.path in absent:
            continue
        leaves = tuple(leaf for leaf in setting.leaves if is_newest or _plain_name(setting, leaf) not in ONLY_NEWEST)
        found.append(replace(setting, leaves=leaves))
    return tuple(sorted(found, key=lambda one: GROUPS.index(one.group)))


def _plain_name(setting: Setting, leaf: Leaf) -> str:
    path = (*setting.path, *leaf.path) if setting.is_list else leaf.path
    return path_name(tuple(part for part in path if not isinstance(part, int)))


@cache
def every_setting() -> tuple[Setting, ...]:
    """Return all settings of all releases, in the order of the API model."""
    return tuple(_settings((), SiteCustomization, is_required=True))


def leaves_of(model: type[BaseModel], path: Place = (), owner: Place = ()) -> Iterator[Leaf]:
    """Yield the values of an API model, without lists of objects."""
    for name, info in model.model_fields.items():
        place = (*path, _wire(name, info))
        inner, is_required = _model_of(info), info.is_required() and not _is_nullable(info)
        if inner is not None:
            for leaf in leaves_of(inner, place, owner if is_required else place):
                yield replace(leaf, label=leaf.label if inner is not Tint else leaf.label.capitalize())
        elif _item_of(info) is None:
            yield Leaf(place, _label(place, is_leaf=True), _kind(info), info, is_required, owner)


def item_model(setting: Setting, path: Place) -> type[BaseModel]:
    """Return the API model of an item of a list.

    Args:
        setting: the list.
        path: the path of the item: in the list, or in the links of one of its items.
    """
    if setting.model is None:
        raise ValueError(setting.name)
    depth = len(path) - len(setting.path)
    return setting.model if depth == 1 else ContentLink


def item_leaves(setting: Setting, path: Place, document: Document) -> tuple[Leaf, ...]:
    """Return the values of an item of a list, with their paths in the document.

    Localized values that only another release of the service has are left out.
    """
    allowed = {leaf.path[-1] for one in settings_of(document) if one.path == setting.path for leaf in one.leaves}
    return tuple(
        leaf
        for leaf in leaves_of(item_model(setting, path), path)
        if not str(leaf.path[-1]).startswith("localized") or leaf.path[-1] in allowed
    )


def children_name(setting: Setting) -> str:
    """Return the name of the list of links in each item of a list; empty if items have no links."""
    return "links" if setting.path in (("header", "links"), ("footer", "groups")) else ""


def value_at(value: Any, path: Place) -> Any:
    """Return the value at a path of a document, or None if it is missing."""
    for part in path:
        if isinstance(part, int):
            items = cast("list[Any]", value) if isinstance(value, list) else []
            value = items[part] if part < len(items) else None
        else:
            value = cast("dict[str, Any]", value).get(part) if isinstance(value, dict) else None
    return value


def with_value(document: Document, path: Place, value: Any) -> dict[str, Any]:
    """Return a copy of a document with a changed value; None removes the value."""
    changed = copy.deepcopy(dict(document))
    here: Any = changed
    for number, part in enumerate(path[:-1]):
        if isinstance(part, int):
            here = here[part]
        else:
            following: Any = [] if isinstance(path[number + 1], int) else {}
            if here.get(part) is None:
                here[part] = following
            here = here[part]
    last = path[-1]
    if value is not None and isinstance(last, int) and last == len(here):
        here.append(value)
    elif value is not None:
        here[last] = value
    elif isinstance(last, int):
        del here[last]
    else:
        here.pop(last, None)
    return changed


def problems_of(document: Document, base: Document) -> dict[str, str]:
    """Return the reasons why changed settings are invalid, by path.

    Lists, and settings that equal the base, are not checked.
    """
    found: dict[str, str] = {}
    for setting in settings_of(document):
        if setting.is_list or value_at(document, setting.path) == value_at(base, setting.path):
            continue
        for leaf in setting.leaves:
            value = value_at(document, leaf.path)
            if value is None:
                continue
            try:
                leaf.check(value)
            except InvalidArgument as error:
                found[setting.name] = error.reason
    return found


def _settings(path: Place, model: type[BaseModel], *, is_required: bool) -> Iterator[Setting]:
    for name, info in model.model_fields.items():
        place = (*path, _wire(name, info))
        inner, item = _model_of(info), _item_of(info)
        needed = is_required and info.is_required() and not _is_nullable(info)
        if item is not None:
            leaves = tuple(leaves_of(item))
            yield Setting(place, _label(place), _group(place, item), leaves, item, is_list=True)
        elif inner in WHOLE:
            leaves = tuple(leaves_of(inner, place, () if needed else place))
            yield Setting(place, _label(place), _group(place, inner), leaves, inner, is_required=needed)
        elif inner is not None:
            yield from _settings(place, inner, is_required=needed)
        else:
            leaf = Leaf(place, _label(place), _kind(info), info, needed, () if needed else place)
            yield Setting(place, _label(place), _group(place, None), (leaf,), is_required=needed)


def _group(path: Place, model: type[BaseModel] | None) -> Group:
    if path[0] == "styling" and model in (ThemedColor, Tint):
        return "Colors"
    return _GROUP_OF.get(str(path[0]), "Site")


def _label(path: Place, *, is_leaf: bool = False) -> str:
    name = path_name(path)
    last = str(path[-1])
    if is_leaf and last in _LEAF_LABELS:
        return _LEAF_LABELS[last]
    if not is_leaf and name in _LABELS:
        return _LABELS[name]
    if is_leaf and last in ("light", "dark"):
        return last.capitalize()
    words = _SPLIT.sub(" ", last).lower()
    return words.capitalize()


def _wire(name: str, info: FieldInfo) -> str:
    return info.alias or name


def _model_of(info: FieldInfo) -> type[BaseModel] | None:
    members = members_of(info.annotation)
    first = members[0]
    return first if isinstance(first, type) and issubclass(first, BaseModel) else None


def _item_of(info: FieldInfo) -> type[BaseModel] | None:
    """Return the API model of a list's items, or None if the field is not a list of objects."""
    first = members_of(info.annotation)[0]
    item = get_args(first)[0] if get_origin(first) is tuple else None
    return item if isinstance(item, type) and issubclass(item, BaseModel) else None


def _is_nullable(info: FieldInfo) -> bool:
    return type(None) in get_args(info.annotation)


def _kind(info: FieldInfo) -> Kind:
    members = members_of(info.annotation)
    first = members[0]
    if members == [bool]:
        return "flag"
    if get_origin(first) is Literal:
        return "font" if len(members) > 1 else "choice"
    if get_origin(first) is tuple:
        return "values" if _literals(first) else "texts"
    if get_origin(first) is dict:
        return "reference" if first == Reference else "words"
    return "text"


def _literals(annotation: Any) -> list[str]:
    if get_origin(annotation) is Literal:
        return [one for one in get_args(annotation) if isinstance(one, str)]
    if get_origin(annotation) is tuple:
        return _literals(get_args(annotation)[0])
    return []


def _effective(info: FieldInfo) -> FieldInfo:
    """Return a field whose limits are those of the inner type of an optional type, such as `Address | None`."""
    first = members_of(info.annotation)[0]
    return FieldInfo.from_annotation(first) if get_origin(first) is Annotated else info


def _is_address(info: FieldInfo) -> bool:
    return any("\\S" in str(getattr(rule, "pattern", "")) for rule in info.metadata)


def _reason(leaf: Leaf, error: ValidationError) -> str:
    first = error.errors()[0]
    context: dict[str, Any] = first.get("ctx") or {}
    if leaf.is_color:
        return "must be a color such as #9a4f1b"
    if first["type"] == "string_pattern_mismatch":
        return f"must be {_ADDRESS_HELP}"
    if first["type"] == "string_too_long":
        return f"must have at most {count(context['max_length'], 'character')}"
    if first["type"] == "string_too_short":
        return f"must have at least {count(context['min_length'], 'character')}"
    if leaf.choices:
        return f"must be one of {', '.join(leaf.choices)}"
    if leaf.kind == "texts":
        return "must be a list of texts in quotes"
    if leaf.kind == "words":
        return "must be texts by language"
    return first["msg"]


def reference_of(text: str) -> dict[str, Any]:
    """Convert a typed text to a reference.

    Raises:
        ValueError: the text is not a reference.
    """
    if text.startswith("{"):
        value: Any = json.loads(text)
        if not isinstance(value, dict) or "kind" not in value:
            raise ValueError(text)
        return cast("dict[str, Any]", value)
    if _ADDRESS.fullmatch(text):
        return {"kind": "url", "url": text}
    if " " in text or "/" in text or "." in text:
        raise ValueError(text)
    return {"kind": "space", "space": text}


def reference_text(value: Any) -> str:
    """Format a reference as the user types it."""
    given = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if given.get("kind") == "url" and set(given) == {"kind", "url"}:
        return str(given["url"])
    if given.get("kind") == "space" and set(given) == {"kind", "space"}:
        return str(given["space"])
    return json.dumps(value, ensure_ascii=False) if value else ""


def texts_shown(values: Sequence[Any]) -> str:
    """Join a list of texts with commas."""
    return ", ".join(map(str, values))

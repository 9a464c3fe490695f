"""Models of the customization of a site: fields, types, limits and enumerations.

`GetCustomization` and `UpdateCustomization` use unparsed values, since an update replaces the whole customization and
must preserve fields that these models lack. The models are used for forms, checks and the names of fields.
"""

# Annotations in this package are not postponed: pydantic would compile each of them, a third of the import time.
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field

from presscheck.api.operation import Model

Color = Annotated[str, Field(pattern=r"^#(?:[0-9a-fA-F]{3}){1,2}$", description="a color such as #3b82f6")]
Address = Annotated[
    str, Field(max_length=2048, pattern=r"^\w[\w+.-]*:\S+$", description="a URL such as https://example.org")
]
"""A URL."""
Font = Literal[
    "ABCFavorit",
    "Inter",
    "Roboto",
    "RobotoSlab",
    "OpenSans",
    "SourceSansPro",
    "Lato",
    "Ubuntu",
    "Raleway",
    "Merriweather",
    "Overpass",
    "NotoSans",
    "IBMPlexSerif",
    "Poppins",
    "FiraSans",
]
MonospaceFont = Literal[
    "FiraCode",
    "IBMPlexMono",
    "JetBrainsMono",
    "SourceCodePro",
    "RobotoMono",
    "SpaceMono",
    "DMMono",
    "Inconsolata",
]
CodeTheme = Literal[
    "default-light",
    "default-dark",
    "monochrome-light",
    "monochrome-dark",
    "andromeeda",
    "aurora-x",
    "ayu-dark",
    "catppuccin-frappe",
    "catppuccin-latte",
    "catppuccin-macchiato",
    "catppuccin-mocha",
    "dark-plus",
    "dracula",
    "dracula-soft",
    "everforest-dark",
    "everforest-light",
    "github-dark",
    "github-dark-default",
    "github-dark-dimmed",
    "github-dark-high-contrast",
    "github-light",
    "github-light-default",
    "github-light-high-contrast",
    "gruvbox-dark-hard",
    "gruvbox-dark-medium",
    "gruvbox-dark-soft",
    "gruvbox-light-hard",
    "gruvbox-light-medium",
    "gruvbox-light-soft",
    "houston",
    "kanagawa-dragon",
    "kanagawa-lotus",
    "kanagawa-wave",
    "laserwave",
    "light-plus",
    "material-theme",
    "material-theme-darker",
    "material-theme-lighter",
    "material-theme-ocean",
    "material-theme-palenight",
    "min-dark",
    "min-light",
    "monokai",
    "night-owl",
    "nord",
    "one-dark-pro",
    "one-light",
    "plastic",
    "poimandres",
    "red",
    "rose-pine",
    "rose-pine-dawn",
    "rose-pine-moon",
    "slack-dark",
    "slack-ochin",
    "snazzy-light",
    "solarized-dark",
    "solarized-light",
    "synthwave-84",
    "tokyo-night",
    "vesper",
    "vitesse-black",
    "vitesse-dark",
    "vitesse-light",
]
"""The color schemes of code blocks."""
Localized = dict[str, str]
"""Texts by language, such as ``{"fr": "Accueil"}``."""
Reference = dict[str, Any]
"""The target of a link: ``{"kind": "url", "url": "https://example.org/"}``, or the ids of other content."""


class ThemedColor(Model):
    """The colors for the light theme and for the dark theme."""

    light: Color
    dark: Color


class ThemedAddress(Model):
    """The URLs of an image for the light theme and for the dark theme."""

    light: Address
    dark: Address


class Tint(Model):
    """A color that is mixed into the neutral colors of the site."""

    color: ThemedColor


class ThemedCodeTheme(Model):
    """The color schemes of code for the light theme and the dark theme."""

    light: CodeTheme
    dark: CodeTheme


class CodeThemes(Model):
    """The color schemes of code in pages, and in blocks of an OpenAPI specification."""

    default: ThemedCodeTheme
    openapi: ThemedCodeTheme


class SidebarStyle(Model):
    """The style of the table of contents."""

    background: Literal["default", "filled"]
    list: Literal["default", "pill", "line"]


class Styling(Model):
    """Theme, colors, fonts and shapes."""

    theme: Literal["clean", "muted", "bold", "gradient"]
    primary_color: ThemedColor
    tint: Tint | None = None
    info_color: ThemedColor
    success_color: ThemedColor
    warning_color: ThemedColor
    danger_color: ThemedColor
    corners: Literal["straight", "rounded", "circular"]
    depth: Literal["subtle", "flat"]
    links: Literal["default", "accent"]
    font: Font | dict[str, Any]
    heading_font: Font | dict[str, Any] | None = None
    monospace_font: MonospaceFont | dict[str, Any]
    background: Literal["plain", "match"]
    icons: Literal["regular", "solid", "duotone", "light", "thin"]
    code_theme: CodeThemes
    sidebar: SidebarStyle
    search: Literal["prominent", "subtle"]


class Internationalization(Model):
    """The language of the site's own labels."""

    locale: Literal["en", "fr", "es", "zh", "ja", "de", "nl", "no", "pt-br", "ru"]


class Favicon(Model):
    """The icon of the site: an image or an emoji."""

    icon: ThemedAddress | None = None
    emoji: Annotated[str, Field(max_length=50)] | None = None


class ContentLink(Model):
    """A link."""

    title: str = Field(max_length=64)
    localized_title: Localized | None = None
    to: Reference


class HeaderItem(Model):
    """A link of the header, or a menu of links if it has no target."""

    title: str
    localized_title: Localized | None = None
    style: Literal["link", "button-primary", "button-secondary"] | None = None
    to: Reference | None
    links: tuple[ContentLink, ...]
    condition: str | None = Field(default=None, max_length=1024)


class Header(Model):
    """The header of every page."""

    preset: Literal["default", "bold", "contrast", "custom", "none"]
    logo: ThemedAddress | None = None
    primary_link: Reference | None = None
    background_color: ThemedColor | None = None
    link_color: ThemedColor | None = None
    links: tuple[HeaderItem, ...]


class FooterGroup(Model):
    """A group of footer links with a title."""

    title: str
    localized_title: Localized | None = None
    links: tuple[ContentLink, ...]


class Footer(Model):
    """The footer of every page."""

    logo: ThemedAddress | None = None
    groups: tuple[FooterGroup, ...]
    copyright: str | None = Field(default=None, max_length=300)


class Announcement(Model):
    """A message above every page."""

    enabled: bool
    message: str = Field(min_length=2, max_length=128)
    localized_message: Localized | None = None
    link: ContentLink | None = None
    style: Literal["info", "warning", "danger", "success"]


class Themes(Model):
    """The theme that readers see first, and whether they can switch."""

    default: Literal["light", "dark", "system"]
    toggeable: bool


class Switch(Model):
    """A setting that is on or off."""

    enabled: bool


class Assistance(Model):
    """The AI features for readers."""

    mode: Literal["none", "search", "assistant"]
    greeting: str | None = Field(default=None, max_length=256)
    localized_greeting: Localized | None = None
    suggestions: tuple[Annotated[str, Field(min_length=3, max_length=64)], ...] | None = None
    instructions: str | None = Field(default=None, max_length=10_000)


class GitLinks(Model):
    """Whether pages link to their source in the repository."""

    show_edit_link: bool


class PageActions(Model):
    """The actions of a page's menu: flags in the documented release, a list in the newest."""

    external_ai: bool = Field(alias="externalAI")
    markdown: bool
    mcp: bool
    items: tuple[Literal["assistant", "external-ai", "markdown", "mcp", "git", "pdf"], ...]


class ExternalLinks(Model):
    """Whether links to other sites open in a new tab."""

    target: Literal["self", "blank"]


class AddressOnly(Model):
    """An optional URL."""

    url: Address | None = None


class SocialAccountDisplay(Model):
    """Whether the footer and the header of a page show an account."""

    footer: bool
    header: bool


class SocialAccount(Model):
    """An account in a social network."""

    platform: Literal[
        "twitter",
        "instagram",
        "facebook",
        "linkedin",
        "github",
        "discord",
        "slack",
        "youtube",
        "tiktok",
        "reddit",
        "bluesky",
        "mastodon",
        "threads",
        "medium",
    ]
    handle: str = Field(min_length=1, max_length=128)
    display: SocialAccountDisplay


class Insights(Model):
    """The measurement of visits: whether it uses a cookie."""

    tracking_cookie: bool


class SiteCustomization(Model):
    """All settings of the customization of a site."""

    title: str | None = Field(default=None, min_length=2, max_length=128)
    localized_title: Localized | None = None
    styling: Styling
    internationalization: Internationalization
    favicon: Favicon
    header: Header
    footer: Footer
    announcement: Announcement | None = None
    themes: Themes
    pdf: Switch
    feedback: Switch
    ai: Assistance
    advanced_customization: Switch
    git: GitLinks
    page_actions: PageActions
    external_links: ExternalLinks
    pagination: Switch
    trademark: Switch
    privacy_policy: AddressOnly
    social_preview: AddressOnly
    social_accounts: tuple[SocialAccount, ...]
    insights: Insights


ONLY_DOCUMENTED = frozenset(
    ("pdf", "git", "pageActions.externalAI", "pageActions.markdown", "pageActions.mcp"),
)
"""The settings that only the documented release has, by path."""
ONLY_NEWEST = frozenset(
    (
        "localizedTitle",
        "styling.headingFont",
        "styling.codeTheme",
        "header.primaryLink",
        "header.links.localizedTitle",
        "header.links.links.localizedTitle",
        "footer.groups.localizedTitle",
        "footer.groups.links.localizedTitle",
        "announcement.localizedMessage",
        "announcement.link.localizedTitle",
        "ai.greeting",
        "ai.localizedGreeting",
        "ai.suggestions",
        "ai.instructions",
        "pageActions.items",
        "socialAccounts",
    )
)
"""The settings that only the newest release has, by path."""


@cache
def known_names() -> dict[str, tuple[str, ...]]:
    """Return the names of the fields of each object in a customization, by the path of the object.

    Objects in lists are left out.
    """
    names_by_path: dict[str, tuple[str, ...]] = {}
    queue: list[tuple[str, type[BaseModel]]] = [("", SiteCustomization)]
    while queue:
        path, model = queue.pop()
        names = {info.alias or name: info for name, info in model.model_fields.items()}
        names_by_path[path] = tuple(names)
        queue += [
            (f"{path}.{name}".lstrip("."), annotation)
            for name, info in names.items()
            for annotation in (info.annotation, *get_args(info.annotation))
            if isinstance(annotation, type) and issubclass(annotation, BaseModel)
        ]
    return names_by_path

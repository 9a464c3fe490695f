"""All themes load, every widget can be drawn with them, and their text has enough contrast."""

import importlib
import itertools
import pkgutil
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import textual.css.stylesheet
from rich.color import Color
from tests.private_names import parse_styles_anew
from tests.running_service import RunningService
from tests.terminal import Terminal
from tests.tui.app_driver import app_on, inbox_loaded, noon, pick, running, shown, until
from tests.tui.dialogs import asked
from tests.tui.endings import PROGRAM
from tests.tui.snapshot_setup import at_noon, rested
from textual.app import App
from textual.css.stylesheet import Stylesheet
from textual.widget import Widget
from textual.widgets import TextArea

import presscheck.tui
from presscheck.errors import ConfigurationError
from presscheck.store.drafts import DraftSlot
from presscheck.store.outbox import Outbox
from presscheck.text.styled_text import STYLES
from presscheck.tui.theme import IN_CHECKOUT, StyleTable, Theme, load, read
from presscheck.tui.widgets.composer import Composer

__all__ = ["at_noon"]

THEMES = load()
OF_OUR_OWN = [theme for theme in THEMES.values() if not theme.uses_terminal_colors]


def luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def mixed(color: str, ground: str, share: float) -> str:
    """Mix a color with the ground; `share` is the part of the color, from 0 to 1."""
    pairs = (tuple(int(each[at : at + 2], 16) for each in (color, ground)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(over * share + under * (1 - share)):02x}" for over, under in pairs)


def hexadecimal(color: Color | None) -> str:
    assert color
    return color.get_truecolor().hex


@pytest.mark.parametrize("theme", OF_OUR_OWN, ids=lambda theme: theme.name)
def test_each_style_has_contrast_on_each_background(theme: Theme) -> None:
    """Every pair of text color and background has a contrast of 4.5 to 1, as WCAG 2.1 AA requires for text."""
    low = dict[tuple[str, str], float]()
    for word, background in itertools.product(sorted(STYLES), ("", "raised", "code", "cursor", "cursor raised")):
        style = theme.style(f"{word} {background}".strip())
        ratio = contrast(hexadecimal(style.color), hexadecimal(style.bgcolor))
        low |= {(word, background): ratio} if ratio < 4.5 else {}
    assert not low


def rules() -> Iterator[dict[str, str]]:
    """Yield the declarations with theme colors of each rule, from style sheets in modules and in separate files."""
    files = [path for path in Path(presscheck.tui.__path__[0]).rglob("*") if path.suffix in (".py", ".tcss")]
    for path in files:
        for body in re.findall(r"\{+([^{}]*)\}+", path.read_text("utf-8")):
            pairs = (part.partition(":") for part in body.split(";"))
            yield {name.strip(): value.strip() for name, _, value in pairs if "$ink-" in value}


def color_of(theme: Theme, value: str) -> str:
    """Return the color of a declaration such as `$ink-accent 40%`, mixed with the ground."""
    found = re.fullmatch(r"(?:\w+ )?\$ink-(\w+)(?: (\d+)%)?", value)
    assert found, value
    return mixed(theme.colors[found[1]], theme.colors["ground"], int(found[2] or 100) / 100)


@pytest.mark.parametrize("theme", OF_OUR_OWN, ids=lambda theme: theme.name)
def test_each_rule_of_the_style_sheets_has_contrast(theme: Theme) -> None:
    """Text needs a contrast of 4.5 to 1, bars of scrollbars 3 to 1. Lines between panes are only decoration."""
    low, seen = list[str](), set[str]()
    for rule in rules():
        for color, background, least in (
            ("color", "background", 4.5),
            ("scrollbar-color", "scrollbar-background", 3),
            ("scrollbar-color-hover", "scrollbar-background-hover", 3),
            ("scrollbar-color-active", "scrollbar-background-active", 3),
        ):
            if color in rule or background in rule:
                text, ground = rule.get(color, "$ink-text"), rule.get(background, "$ink-ground")
                seen.add(f"{text} on {ground}")
                ratio = contrast(color_of(theme, text), color_of(theme, ground))
                low += [f"{text} on {ground}: {ratio:.2f}"] if ratio < least else []
    assert not low
    assert seen >= {"$ink-text on $ink-ground", "$ink-ground on $ink-accent", "$ink-quiet on $ink-raised"}


@pytest.mark.parametrize("theme", OF_OUR_OWN, ids=lambda theme: theme.name)
def test_every_style_word_has_a_style(theme: Theme) -> None:
    plain = theme.style("text")
    same = {word for word in STYLES if theme.style(word) == plain}
    assert same <= {"text", "cursor"}  # the cursor is visible by the bar at its left


def test_links_are_underlined_where_colors_are_not_shown() -> None:
    colored, plain = StyleTable(THEMES["ansi"]), StyleTable(THEMES["ansi"], has_color=False)
    assert not colored["link"].underline
    assert plain["strong link raised"].underline
    assert not plain["text"].underline


def test_all_themes_exist() -> None:
    assert {"ink", "paper"} <= set(THEMES)
    assert (THEMES["ink"].dark, THEMES["paper"].dark) == (True, False)


def subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for one in kind.__subclasses__():
        yield one
        yield from subclasses(one)


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_the_css_of_every_widget_finds_its_variables(theme: Theme) -> None:
    """A missing variable would end the app when the widget is shown."""
    for module in pkgutil.walk_packages(presscheck.tui.__path__, "presscheck.tui."):
        importlib.import_module(module.name)
    app = App[None]()
    app.register_theme(theme.as_textual())
    app.theme = theme.name
    sheet = Stylesheet(variables=app.get_css_variables())
    names = set[str]()
    for kind in subclasses(Widget):
        sheet.add_source(kind.DEFAULT_CSS, read_from=(kind.__name__, ""), is_default_css=True)
        names.add(kind.__name__)
    sheet.parse()
    assert names >= {"PageView", "FormDialog", "MarkdownArea", "Input", "Screen"}


@pytest.mark.slow
@pytest.mark.service(shared=True, clock=noon)
async def test_a_theme_chosen_from_the_list_looks_the_same_as_at_startup(
    service: RunningService, tmp_path: Path
) -> None:
    async def picture(theme: str) -> str:
        async with running(app_on(service, tmp_path / theme, theme=theme)) as pilot:
            await rested(pilot, until(pilot, shows="3 open comments"))
            await pilot.press("ctrl+t")
            await until(pilot, shows="in use · ")
            [row] = [line for line in shown(pilot.app).splitlines() if "in use" in line]
            assert theme in row
            if theme == "paper":  # the cursor starts on it
                await pilot.press("enter")
            else:
                await pick(pilot, "paper")
            await until(pilot, holds=lambda: not pilot.app.screen.is_modal and pilot.app.theme == "paper")
            pilot.app.notices.clear()
            await rested(pilot, pilot.pause())
            return re.sub(r"terminal-\d+", "", pilot.app.export_screenshot())

    assert await picture("paper") == await picture("ink")


@pytest.mark.slow
@pytest.mark.service(shared=True, clock=noon)
async def test_styles_are_parsed_once_for_a_theme(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are parsed again only if their rank changes because more widgets are shown."""
    parsed, parse = Counter[Any](), textual.css.stylesheet.parse

    def counted(scope: str, css: str, read_from: Any, *given: Any, **named: Any) -> Any:
        parsed[read_from, named["tie_breaker"]] += 1
        return parse(scope, css, read_from, *given, **named)

    monkeypatch.setattr("textual.css.stylesheet.parse", counted)
    parse_styles_anew(monkeypatch)
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
    assert parsed
    assert set(parsed.values()) == {1}


def test_an_error_names_the_missing_color_of_a_theme(tmp_path) -> None:
    text = (IN_CHECKOUT / "ink.toml").read_text().replace("accent", "akzent")
    (tmp_path / "odd.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=r"odd\.toml: colors\.accent is missing"):
        read(tmp_path / "odd.toml")


@pytest.mark.slow
def test_without_color_and_utf8_the_output_is_ascii_in_the_colors_of_the_terminal(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    terminal = Terminal([sys.executable, str(program), str(tmp_path)], env={"NO_COLOR": "1", "LC_ALL": "C"})
    try:
        terminal.wait("line 5")
        terminal.rest()
        assert terminal.text.isascii()
        numbers = {number for style in re.findall(rb"\x1b\[([\d;]*)m", terminal.raw) for number in style.split(b";")}
        assert numbers <= {b"", b"0", b"1", b"3", b"4", b"7", b"9", b"22", b"39", b"49"}, "styles without a color"
    finally:
        terminal.close()


@pytest.mark.service(shared=True, clock=noon)
async def test_animations_are_off_with_reduced_motion_or_low_bandwidth(service: RunningService, tmp_path: Path) -> None:
    settings: tuple[dict[str, Any], ...] = ({}, {"reduces_motion": True}, {"low_bandwidth": "on"})
    levels = [app_on(service, tmp_path / str(number), **each).animation_level for number, each in enumerate(settings)]
    assert levels == ["full", "none", "none"]


async def test_selected_text_has_contrast_and_is_reversed(outbox: Outbox) -> None:
    async with asked(Composer("Comment", DraftSlot(outbox, "comment", "abc"))) as pilot:
        area = pilot.app.screen.query_one(TextArea)
        await pilot.press("ctrl+end", "shift+left", "shift+left")
        assert "abc" in shown(pilot.app)
        assert area.selected_text == "bc"
        [selected] = [segment for segment in area.render_line(0) if segment.text == "c"]
        assert selected.style
        assert selected.style.reverse
        assert contrast(hexadecimal(selected.style.color), hexadecimal(selected.style.bgcolor)) >= 4.5

"""Settings of a customization: forms from its declaration, contrast, rows of links, and three-way merges."""

from typing import Any

import pytest
from tests.table import each_case

from presscheck.engine.site_customization.contrast import contrast, contrast_of, contrast_words, normalized, palette
from presscheck.engine.site_customization.rows import moved, rows_of
from presscheck.engine.site_customization.setting_forms import SettingsForm
from presscheck.engine.site_customization.settings import (
    GROUPS,
    Setting,
    item_leaves,
    problems_of,
    settings_of,
    value_at,
    with_value,
)
from presscheck.engine.site_customization.three_way import merge
from presscheck.errors import InvalidArgument
from presscheck.service.sites.customization import LOOKS

LINK = {"title": "Docs", "to": {"kind": "url", "url": "https://example.org/"}}


def setting(name: str, document: Any = LOOKS) -> Setting:
    return next(one for one in settings_of(document) if one.name == name)


def filled(name: str, **texts: str) -> dict[str, Any]:
    """Fill in the form of a setting. Returns the resulting customization."""
    form = SettingsForm(LOOKS, setting(name).leaves, {})
    prefix = name.replace(".", "__")
    typed = {f"{prefix}__{leaf}" if leaf else prefix: text for leaf, text in texts.items()}
    return form.result({**form.present, **typed}, form.present)


def test_settings_follow_the_release_of_the_document() -> None:
    names = {one.name for one in settings_of(LOOKS)}
    assert {"pdf.enabled", "pageActions.markdown", "styling.primaryColor", "header.links"} <= names
    assert not {"socialAccounts", "pageActions.items", "styling.codeTheme.default"} & names
    newer = {**LOOKS, "socialAccounts": []}
    names = {one.name for one in settings_of({name: value for name, value in newer.items() if name != "pdf"})}
    assert {"socialAccounts", "pageActions.items", "styling.headingFont"} <= names
    assert "pdf.enabled" not in names
    assert {one.group for one in settings_of(LOOKS)} == {*GROUPS}


@each_case(
    ("name", "texts", "field", "reason"),
    [
        ("styling.primaryColor", {"light": "red"}, "styling__primaryColor__light", "must be a color such as #9a4f1b"),
        ("styling.primaryColor", {"dark": ""}, "styling__primaryColor__dark", "is required"),
        ("header.logo", {"light": "https://example.org/a.png"}, "header__logo__dark", "is required"),
        ("announcement", {"enabled": "true", "style": "info", "message": "x"}, "announcement__message", "at least 2"),
        ("announcement", {"enabled": "true"}, "announcement__message", "is required"),
        ("title", {"": "x" * 129}, "title", "at most 128 characters"),
        ("privacyPolicy.url", {"": "no address"}, "privacyPolicy__url", "a web address such as"),
    ],
)
def test_invalid_value_is_an_error_of_its_field(name: str, texts: dict[str, str], field: str, reason: str) -> None:
    with pytest.raises(InvalidArgument) as told:
        filled(name, **texts)
    assert told.value.field == field
    assert reason in told.value.reason


def test_each_invalid_color_is_an_error() -> None:
    with pytest.raises(InvalidArgument) as told:
        filled("styling.primaryColor", light="blue", dark="#12")
    reasons = {error.field.rpartition("_")[2]: error.reason for error in (told.value, *told.value.others)}
    assert reasons == dict.fromkeys(("light", "dark"), "must be a color such as #9a4f1b")


def test_form_returns_the_changed_document() -> None:
    assert filled("styling.primaryColor", light="#abc")["styling"]["primaryColor"] == {
        "light": "#abc",
        "dark": "#e0a458",
    }
    made = filled("announcement", enabled="true", style="info", message="Hello")
    assert made["announcement"] == {"enabled": True, "message": "Hello", "style": "info"}
    assert filled("title") == LOOKS
    assert "title" not in LOOKS, "the document that a form begins with is not changed"
    with_link = with_value(LOOKS, ("header", "links"), [{**LINK, "links": []}])
    leaves = item_leaves(setting("header.links"), ("header", "links", 0), with_link)
    form = SettingsForm(with_link, leaves, {})
    made = form.result({**form.present, "header__links__0__to": "handbook", "header__links__0__title": "X"}, {})
    assert made["header"]["links"] == [{"title": "X", "to": {"kind": "space", "space": "handbook"}, "links": []}]
    with pytest.raises(InvalidArgument, match="must be a web address"):
        form.result({**form.present, "header__links__0__to": "no space"}, {})
    wrong = with_value(LOOKS, ("themes", "default"), "pink")
    assert problems_of(wrong, LOOKS) == {"themes.default": "must be one of light, dark, system"}
    assert problems_of(wrong, wrong) == {}, "what the site has already is not judged"


def test_links_are_rows_of_a_tree() -> None:
    links = [{"title": "A", "links": [LINK, {**LINK, "title": "Other"}]}, {**LINK, "links": []}]
    document = with_value(LOOKS, ("header", "links"), links)
    items = [row for row in rows_of(document, "Header") if row.is_item]
    assert [(row.depth, value_at(document, row.path)["title"]) for row in items] == [
        (1, "A"),
        (2, "Docs"),
        (2, "Other"),
        (1, "Docs"),
    ]
    changed = moved(document, items[1], 1)
    assert changed and changed[1] == ("header", "links", 0, "links", 1)
    assert [one["title"] for one in value_at(changed[0], ("header", "links", 0, "links"))] == ["Other", "Docs"]
    assert moved(document, items[2], 1) is None


def test_contrast_follows_wcag() -> None:
    assert (contrast("#ffffff", "#000000").text, contrast("#ffffff", "#000000").level) == ("21.0", "AAA")
    assert contrast("#777777", "#ffffff").level == "fails", "4.48: the best known gray that is not enough"
    assert contrast("#767676", "#ffffff").level == "AA"
    assert contrast("#595959", "#ffffff").level == "AAA"
    assert contrast("#777777", "#ffffff").text == "4.4", "rounded down"
    assert normalized("#AbC") == "#aabbcc"
    assert normalized("red") is None
    told = [contrast_of(LOOKS, setting("styling.primaryColor"), mode) for mode in ("light", "dark")]
    assert [one.level for one in told if one] == ["AA", "AAA"]
    custom = with_value(LOOKS, ("header", "preset"), "custom")
    custom = with_value(custom, ("header", "backgroundColor"), {"light": "#ffff00", "dark": "#000080"})
    assert palette(custom, "light").header_text == "#000000", "black is easier to read on yellow"
    assert palette(custom, "dark").header_text == "#ffffff"
    custom = with_value(custom, ("header", "linkColor"), {"light": "#ffffff", "dark": "#ffffff"})
    links = contrast_of(custom, setting("header.linkColor"), "light")
    assert links and links.level == "fails", "white links on yellow"


def test_typed_color_is_compared_with_its_background_or_text() -> None:
    def words(color: str, *place: str) -> str:
        return contrast_words(color, LOOKS, place)

    assert words("#777777", "styling", "primaryColor", "light") == "contrast 4.4 : 1 with the light page: fails"
    assert words("#ffff00", "header", "backgroundColor", "light") == "contrast 19.5 : 1 with the text on it: AAA"
    assert words("#ffff00", "header", "linkColor", "dark").endswith("with the dark page: AAA")
    assert words("#ffff00", "styling", "tint", "color", "light").endswith("of text with the light page: AAA")
    custom = with_value(LOOKS, ("header", "linkColor"), {"light": "#ffffff", "dark": "#ffffff"})
    place = ("header", "backgroundColor", "light")
    assert contrast_words("#ffff00", custom, place) == "contrast 1.0 : 1 with the links in it: fails"
    assert words("yellow", *place) == ""


def test_concurrent_edits_are_merged_field_by_field() -> None:
    base = {"a": {"x": 1, "y": 1, "z": 1}, "links": [1], "gone": True}
    mine = {"a": {"x": 2, "y": 2, "z": 1}, "links": [1, 2]}
    now = {"a": {"x": 1, "y": 3, "z": 3}, "links": [1], "gone": True, "new": 1}
    merged = merge(base, mine, now)
    assert merged.document == {"a": {"x": 2, "y": 2, "z": 3}, "links": [1, 2], "new": 1}
    assert [(one.name, one.before, one.now, one.mine) for one in merged.conflicts] == [("a.y", 1, 3, 2)]
    assert merged.with_theirs(merged.conflicts[0]).document["a"]["y"] == 3
    assert merge(base, base, now) == (now, ())
    removed = merge({"a": 1}, {}, {"a": 2})
    assert [(one.now, one.mine) for one in removed.conflicts] == [(2, None)]

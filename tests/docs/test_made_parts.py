"""The generated parts of the manual are current, and the manual names every filter, event, color and variable."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests import manual
from tests.manual import DOCS, TABLES, escaped, stale, with_commands, with_limits, with_tables
from tests.needs import require
from tests.root import ROOT

from presscheck.engine.inbox.events import EVENT_TEXTS
from presscheck.engine.inbox.query_language import FIELDS, ORDERS, UNITS
from presscheck.engine.inbox.views import VIEWS
from presscheck.tui.theme import COLORS

NOT_FOR_USERS = {"PRESSCHECK_COMPLETE"}
"""Variables that the completion scripts of the program set."""


def text_of(page: str) -> str:
    return (DOCS / page).read_text("utf-8")


def test_generated_parts_are_current() -> None:
    assert [page.relative_to(ROOT).as_posix() for page in stale()] == [], "run `make reference`"


def test_each_table_is_on_one_page() -> None:
    text = "\n".join(page.read_text("utf-8") for page in DOCS.rglob("*.md"))
    for name in TABLES:
        assert len(re.findall(rf"<!-- {name}: begin ", text)) == len(re.findall(rf"<!-- {name}: end -->", text)) == 1


@pytest.mark.slow
def test_stale_pages_are_found_and_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for page in DOCS.rglob("*.md"):
        copy = tmp_path / page.relative_to(DOCS)
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(page.read_text("utf-8"), "utf-8")
    monkeypatch.setattr(manual, "ROOT", tmp_path)
    monkeypatch.setattr(manual, "DOCS", tmp_path)
    monkeypatch.setattr(manual, "SUMMARY", tmp_path / "SUMMARY.md")
    shutil.copytree(ROOT / "share", tmp_path / "share")
    monkeypatch.setattr(manual, "SHARE", tmp_path / "share")
    (tmp_path / "cli" / "gone.md").write_text("# presscheck gone\n")
    (tmp_path / "cli" / "cr.md").unlink()
    keys = tmp_path / "keys.md"
    keys.write_text(keys.read_text("utf-8").replace("half a page down", "half a page up"), "utf-8")
    summary = tmp_path / "SUMMARY.md"
    summary.write_text(summary.read_text("utf-8").replace("    * [presscheck cr](cli/cr.md)\n", ""), "utf-8")
    expected = ["cli/cr.md", "cli/gone.md", "keys.md", "SUMMARY.md"]
    assert sorted(page.relative_to(tmp_path).as_posix() for page in stale()) == sorted(expected)
    manual.main()
    assert not (tmp_path / "cli" / "gone.md").exists()
    assert keys.read_text("utf-8") == text_of("keys.md")


def test_an_unknown_table_is_an_error() -> None:
    with pytest.raises(KeyError, match="nothing"):
        with_tables("<!-- nothing: begin (made from here) -->\n\n<!-- nothing: end -->")


def test_rows_of_commands_are_replaced_and_others_kept() -> None:
    text = with_commands("* [Home](README.md)\n    * [presscheck old](cli/old.md)\n* [End](end.md)\n")
    lines = text.splitlines()
    assert lines[0] == "* [Home](README.md)" and lines[-1] == "* [End](end.md)"
    assert "    * [presscheck api](cli/api.md)" in lines and len(lines) > 20


def test_help_text_is_escaped_for_markdown() -> None:
    assert escaped("run `a_b*` or [x]_y") == "run `a_b*` or \\[x\\]\\_y"
    assert with_limits("Number of lines.  [default: 50; x>=1]") == "Number of lines. (default: 50, `x>=1`)"
    assert with_limits("Profile: [profiles.NAME].") == "Profile: \\[profiles.NAME\\]."


def test_every_filter_and_order_is_in_the_manual() -> None:
    text = text_of("guide/views.md")
    assert not [name for name in FIELDS if f"`{name}:" not in text]
    assert not [name for name in (*ORDERS, *UNITS) if f"`{name}`" not in text]


def test_every_tab_of_the_inbox_is_in_the_manual() -> None:
    text = text_of("guide/inbox.md")
    assert not [view.title for view in VIEWS if view.title not in text]
    assert not [event for event in EVENT_TEXTS if f"`{event}`" not in text]


def test_every_color_of_a_theme_is_in_the_manual() -> None:
    text = text_of("configuration.md")
    assert not [color for color in COLORS if f"`{color}`" not in text]


def test_every_environment_variable_is_in_the_manual() -> None:
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    variables = set(re.findall(r"PRESSCHECK_[A-Z_]+", source)) - NOT_FOR_USERS
    text = "\n".join(page.read_text("utf-8") for page in DOCS.rglob("*.md"))
    assert len(variables) > 6
    assert not [name for name in variables if f"`{name}`" not in text]


def test_every_built_in_theme_is_in_the_manual() -> None:
    text = text_of("configuration.md")
    assert not [path.stem for path in (ROOT / "themes").glob("*.toml") if f"`{path.stem}`" not in text]


@pytest.mark.needs("groff")
def test_the_man_page_has_no_warnings_and_names_every_command() -> None:
    page = ROOT / "share" / "man" / "man1" / "presscheck.1"
    drawn = subprocess.run(
        [require("groff"), "-man", "-ww", "-Tutf8", "-rLL=100n", "-P-c", page], capture_output=True, text=True
    )
    assert drawn.stderr == ""
    shown = re.sub(r".\x08", "", drawn.stdout)
    for context in manual.top_commands():
        assert re.search(rf"^ +{context.info_name}\b", shown, re.MULTILINE), context.info_name
    for words in ("cr merge", "PRESSCHECK_TOKEN", "~/.config/presscheck/", "conflict, changed by others"):
        assert words in shown

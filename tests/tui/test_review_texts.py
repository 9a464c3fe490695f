"""The conversion of a page to the text for the editor and back."""

import pytest

from presscheck.tui.screens.page.markdown import from_editor, to_editor


def test_the_title_is_in_the_editor_once_and_is_restored() -> None:
    page = to_editor("Tokens", "# Tokens\n\nOne.\n\nTwo.\n")
    assert page.text == "# Tokens\n\nOne.\n\nTwo.\n"
    back = from_editor(page, "# Tokens\n\nOne.\n\nThree.\n")
    assert back is not None
    assert (back.markdown, back.title, back.changed, back.new_tags) == ("# Tokens\n\nOne.\n\nThree.", None, 1, ())


def test_an_unchanged_text_is_no_edit() -> None:
    page = to_editor("Tokens", "One.")
    assert from_editor(page, page.text) is None
    assert from_editor(page, page.text + "\n\n") is None
    assert from_editor(page, page.text.replace("\n", "\r\n")) is None


def test_a_changed_heading_changes_the_title() -> None:
    back = from_editor(to_editor("Tokens", "One."), "# Keys\n\nOne.\n")
    assert back is not None
    assert (back.title, back.markdown, back.changed) == ("Keys", "One.", 0)


def test_a_changed_title_replaces_the_repeated_title() -> None:
    back = from_editor(to_editor("Tokens", "# Tokens\n\nOne."), "# Keys\n\nOne.\n")
    assert back is not None
    assert (back.title, back.markdown) == ("Keys", "# Keys\n\nOne.")


def test_a_heading_that_is_not_the_title_stays() -> None:
    page = to_editor("Tokens", "# Other\n\nOne.")
    assert page.text == "# Tokens\n\n# Other\n\nOne.\n"
    back = from_editor(page, page.text + "\nTwo.\n")
    assert back is not None
    assert back.markdown == "# Other\n\nOne.\n\nTwo."


def test_a_removed_heading_leaves_the_title_alone() -> None:
    back = from_editor(to_editor("Tokens", "One."), "Two.\n")
    assert back is not None
    assert (back.title, back.markdown) == (None, "Two.")


def test_an_escaped_title_is_still_the_title() -> None:
    assert to_editor("a_b [c]", "# a\\_b \\[c]\n\nOne.").text == "# a_b [c]\n\nOne.\n"


def test_front_matter_stays_first() -> None:
    page = to_editor("Tokens", "---\nhidden: true\n---\n\n# Tokens\n\nOne.")
    assert page.text == "---\nhidden: true\n---\n\n# Tokens\n\nOne.\n"
    back = from_editor(page, page.text.replace("One", "Two"))
    assert back is not None
    assert back.markdown == "---\nhidden: true\n---\n\n# Tokens\n\nTwo."
    assert (back.changed, back.new_tags) == (1, ())


def test_escaped_tags_are_plain_in_the_editor_and_sent_as_they_were() -> None:
    wire = '# T\n\n\\{% hint style="info"\nx="y" %\\}\nHi.\n\\{% endhint %\\}\n\n```\n\\{% raw %\\}\n```'
    page = to_editor("T", wire)
    assert "{% hint" in page.text
    assert "\\{% hint" not in page.text
    assert "\\{% raw" in page.text
    back = from_editor(page, page.text.replace("Hi.", "Ho."))
    assert back is not None
    assert back.markdown == wire.replace("Hi.", "Ho.")
    assert (back.changed, back.new_tags) == (1, ())


def test_an_edited_line_whose_text_becomes_a_tag_is_named() -> None:
    page = to_editor("T", "Write {\\% if x %} here.\n\nOr {\\% endif %} there.\n\nEnd.")
    assert page.text == "# T\n\nWrite {% if x %} here.\n\nOr {% endif %} there.\n\nEnd.\n"
    back = from_editor(page, page.text.replace("Write", "Never write").replace("End", "The end"))
    assert back is not None
    assert back.markdown == "Never write {% if x %} here.\n\nOr {\\% endif %} there.\n\nThe end."
    assert back.new_tags == ("Never write {% if x %} here.",)


@pytest.mark.parametrize("body", ["", "\n\n", "---", "---\nopen", "#", "# "])
def test_unusual_pages_come_back_unchanged(body: str) -> None:
    page = to_editor("T", body)
    back = from_editor(page, page.text + "\nmore\n")
    assert back is not None
    assert back.markdown.endswith("more")
    assert back.new_tags == ()

"""Confirmation dialogs, composers and pickers: their questions, results and drafts."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hostile_strings import HOSTILE
from tests.private_names import strips
from tests.terminal import Terminal
from tests.tui.dialogs import PEOPLE, answers, asked, sheet
from tests.tui.widget_harness import alone, shown
from textual.widgets import TextArea

from presscheck.config.tokens import child_environment
from presscheck.store.drafts import DraftSlot
from presscheck.store.outbox import Outbox
from presscheck.text.sanitize import JOINER, NON_JOINER
from presscheck.text.styled_text import Span
from presscheck.tui.external_programs import editor, is_remote
from presscheck.tui.widgets import completion
from presscheck.tui.widgets.composer import Composer
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.empty_state import EmptyState, Message
from presscheck.tui.widgets.picker import Choice, Picker, matching
from presscheck.tui.widgets.prompt_dialog import PromptDialog
from presscheck.tui.widgets.status_bar import StatusLine


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    outbox = Outbox(tmp_path / "outbox")
    yield outbox
    outbox.close()


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["enter"], False),
        (["escape"], False),
        (["n"], False),
        (["q"], False),
        (["y"], True),
        (["tab", "enter"], True),
        (["l", "l", "enter"], False),
        (["right", "enter"], True),
        (["x", "j", "enter"], False),
    ],
)
async def test_a_dialog_returns_no_until_yes_is_selected(keys: list[str], answer: bool) -> None:
    async with asked(sheet()) as pilot:
        assert "8 pages change in main." in "\n".join(shown(pilot.app))
        assert "▌No" in "\n".join(shown(pilot.app))
        await pilot.press(*keys)
        assert answers(pilot) == [answer]


async def test_a_dangerous_action_requires_typing_the_title() -> None:
    async with asked(sheet(type_to_confirm="Auth")) as pilot:
        await pilot.press("y", "tab")
        assert "▌No" in "\n".join(shown(pilot.app))
        await pilot.press("backspace", *"Aut", "enter")
        assert answers(pilot) == [False]
        await pilot.app.push_screen(sheet(type_to_confirm="Auth"), pilot.app.answers.append)  # type: ignore[attr-defined]
        await pilot.press(*"Auth")
        assert "▌Merge" in "\n".join(shown(pilot.app))
        await pilot.press("enter")
        assert answers(pilot) == [False, True]


async def test_a_dialog_that_is_not_ready_cannot_be_confirmed() -> None:
    question = sheet(is_ready=False)
    async with asked(question) as pilot:
        await pilot.press("y", "tab")
        assert "▌No" in "\n".join(shown(pilot.app))
        assert "checking …" in "\n".join(shown(pilot.app))
        question.make_ready([(Span("1 page conflicts."),)], type_to_confirm="42")
        await pilot.pause()
        assert "1 page conflicts." in "\n".join(shown(pilot.app))
        await pilot.press("y", "backspace", *"42", "enter")
        assert answers(pilot) == [True]
    question = sheet(is_ready=False)
    async with asked(question) as pilot:
        await pilot.press("tab", "enter")
        assert answers(pilot) == [False]
        question.make_ready([(Span("1 page conflicts."),)])  # the dialog is closed: a late result is ignored


async def test_a_long_dialog_is_wrapped() -> None:
    words = " ".join(["many words say what will happen"] * 6)
    async with asked(ConfirmDialog("Sure?", [(Span(words),)], "Yes"), size=(40, 20)) as pilot:
        text = " ".join(line.strip() for line in shown(pilot.app))
        assert " ".join(text.split()).count("many words say what will happen") == 6


async def test_a_diff_keeps_its_indentation_and_spaces() -> None:
    long = f"+| {'word ' * 20}|  |"
    lines = ["@@ line 2 @@", "-if x:", "+  if x:", "       y  = 1", "-| bulk |  |", long]
    async with asked(
        ConfirmDialog("Save?", [(Span("2 lines"),)], "Save", details=[(Span(one),) for one in lines])
    ) as pilot:
        await pilot.press("d")
        screen = "\n".join(line.strip("\n")[4:].rstrip() for line in shown(pilot.app))
        assert "\n".join(lines[:-1]) in screen
        assert f"+| {'word ' * 13}word\n{'word ' * 6}|  |" in screen


@pytest.mark.parametrize(
    ("rows", "text"), [(24, "42"), (8, "42"), (24, None), (7, None)], ids=["typed", "typed-low", "asked", "asked-low"]
)
async def test_the_buttons_stay_visible_below_a_text_that_scrolls(rows: int, text: str | None) -> None:
    lines = [(Span(f"consequence {number}."),) for number in range(30)]
    async with asked(ConfirmDialog("Publish?", lines, "Publish", type_to_confirm=text), size=(80, rows)) as pilot:
        screen = [line.strip() for line in shown(pilot.app)]
        assert screen[-2].startswith("▌No       Publish ") and screen[-2].endswith("tab enter")
        assert ("type: 42" in screen) == bool(text)
        assert "consequence 0." in screen and "consequence 29." not in screen
        await pilot.press(*["down"] * 30)
        assert "consequence 29." in "\n".join(shown(pilot.app))


class TestComposer:
    async def test_every_key_press_is_saved(self, outbox: Outbox) -> None:
        async with asked(Composer("Comment on Tokens", DraftSlot(outbox, "reply"))) as pilot:
            await pilot.press(*"hello")
            await pilot.pause()
            assert outbox.draft("reply") == "hello"
            await pilot.press("escape")
            assert answers(pilot) == [None]
            assert outbox.draft("reply") == "hello"

    @pytest.mark.parametrize("key", ["ctrl+s", "alt+enter"])
    async def test_keys_send_the_text(self, outbox: Outbox, key: str) -> None:
        async with asked(Composer("Reply", DraftSlot(outbox, "reply", "quoted\n"))) as pilot:
            await pilot.press(*"yes", "enter", *"no", key)
            assert answers(pilot) == ["quoted\nyes\nno"]

    async def test_a_text_over_the_limit_is_not_sent(self, outbox: Outbox) -> None:
        async with asked(Composer("Reply", DraftSlot(outbox, "reply"), limit=5)) as pilot:
            await pilot.press(*"1234567", "ctrl+s")
            assert answers(pilot) == []
            assert "2 characters too many" in "\n".join(shown(pilot.app))
            await pilot.press("backspace", "backspace")
            assert "5 of 5" in "\n".join(shown(pilot.app))
            await pilot.press("ctrl+s")
            assert answers(pilot) == ["12345"]

    async def test_without_an_editor_the_text_is_kept(self, outbox: Outbox) -> None:
        async with asked(Composer("Reply", DraftSlot(outbox, "reply", "mine"))) as pilot:
            await pilot.press("ctrl+e")
            assert pilot.app.screen.query_one(TextArea).text == "mine"
            assert "cannot be handed to an editor" in "\n".join(shown(pilot.app))
            await pilot.press("ctrl+s")
            assert answers(pilot) == ["mine"]
            assert [*outbox.open_texts.iterdir()] == []


async def test_a_prompt_wraps_an_error_that_does_not_fit_beside_the_title() -> None:
    reason = "unknown filter; " + ", ".join(f"filter{number}" for number in range(12))
    async with asked(PromptDialog("Filter", validate=lambda text: reason if text == "x" else "short")) as pilot:
        await pilot.press("a")
        assert any("Filter" in line and "short" in line for line in shown(pilot.app))
        await pilot.press("backspace", "x")
        await pilot.pause()  # the error is drawn with the frame after the key
        lines = shown(pilot.app)
        assert all(word in " ".join(lines) for word in reason.split())
        assert not any("…" in line for line in lines)


class TestPicker:
    async def test_one_item_is_chosen(self) -> None:
        async with asked(Picker("Who?", PEOPLE)) as pilot:
            await pilot.press(*"bo", "enter")
            assert answers(pilot) == [("bob",)]

    @pytest.mark.parametrize(
        ("keys", "hint", "answer"),
        [
            ("enter", "choose 1 marked", ("bob",)),
            ("b o enter", "choose 1 marked", ("bob",)),
            ("c i enter", "choose cid", ("bob", "cid")),
            ("tab enter", "choose 2 marked", ("ann", "bob")),
        ],
    )
    async def test_enter_without_a_change_keeps_the_marks(self, keys: str, hint: str, answer: tuple[str, ...]) -> None:
        async with asked(Picker("Who?", PEOPLE, multiple=True, chosen={"bob"})) as pilot:
            await pilot.press(*keys.split()[:-1])
            await pilot.pause()
            assert any(hint in line for line in shown(pilot.app))
            await pilot.press("enter")
            assert answers(pilot) == [answer]

    @pytest.mark.parametrize(
        ("keys", "answer"),
        [
            ("r", ("bob",)),
            ("2", ("bob",)),
            ("j j enter", ("cid",)),
            ("j k enter", ("ann",)),
            ("9 0 x 3", ("cid",)),
            ("q", None),
        ],
    )
    async def test_items_with_letters_are_a_menu(self, keys: str, answer: tuple[str, ...] | None) -> None:
        menu = [person._replace(letter=letter) for person, letter in zip(PEOPLE, "ard", strict=True)]
        async with asked(Picker("Who?", menu)) as pilot:
            assert "▌a  ann" in "\n".join(shown(pilot.app))
            await pilot.press(*keys.split())
            assert answers(pilot) == [answer]

    @pytest.mark.parametrize(
        ("keys", "answer"), [("2", ("bob",)), ("c enter", ("cid",)), ("down down enter", ("cid",)), ("b 2", None)]
    )
    async def test_a_few_items_have_digits_until_something_is_typed(
        self, keys: str, answer: tuple[str, ...] | None
    ) -> None:
        async with asked(Picker("Who?", PEOPLE)) as pilot:
            assert "▌1  ann" in "\n".join(shown(pilot.app))
            await pilot.press(*keys.split())
            assert answers(pilot) == ([answer] if answer else [])

    async def test_digits_are_searched_if_a_name_contains_one(self) -> None:
        async with asked(Picker("Which?", [Choice("first", "Guide"), Choice("second", "API v1")])) as pilot:
            assert "▌Guide" in "\n".join(shown(pilot.app))
            await pilot.press("1", "enter")
            assert answers(pilot) == [("second",)]

    async def test_more_than_nine_items_are_searched(self) -> None:
        people = [Choice(f"id{at}", f"name {at}") for at in range(10)]
        async with asked(Picker("Who?", people)) as pilot:
            await pilot.press("7", "enter")
            assert answers(pilot) == [("id7",)]

    async def test_several_items_can_be_marked(self) -> None:
        async with asked(Picker("Who?", PEOPLE, multiple=True, chosen=["bob"])) as pilot:
            await pilot.press("tab", "tab", "enter")
            assert answers(pilot) == [("ann",)]

    async def test_enter_adds_the_row_under_the_cursor_if_no_row_was_marked(self) -> None:
        async with asked(Picker("Who?", PEOPLE, multiple=True, chosen=["ann"])) as pilot:
            await pilot.press(*"ci", "enter")
            assert answers(pilot) == [("ann", "cid")]

    async def test_chosen_items_are_kept_while_searching(self) -> None:
        async with asked(Picker("Who?", PEOPLE, multiple=True)) as pilot:
            await pilot.press(*"cid", "tab", "backspace", "backspace", "backspace", "tab", "enter")
            assert answers(pilot) == [("ann", "cid")]

    async def test_closing_returns_none(self) -> None:
        async with asked(Picker("Who?", PEOPLE)) as pilot:
            await pilot.press("escape")
            assert answers(pilot) == [None]

    async def test_without_a_match_nothing_is_chosen(self) -> None:
        async with asked(Picker("Who?", PEOPLE)) as pilot:
            await pilot.press(*"zzzz", "enter")
            assert answers(pilot) == []
            assert "No match" in "\n".join(shown(pilot.app))

    async def test_keys_move_the_cursor(self) -> None:
        async with asked(Picker("Who?", PEOPLE)) as pilot:
            await pilot.press("down", "ctrl+n", "up", "enter")
            assert answers(pilot) == [("bob",)]

    @pytest.mark.parametrize(
        ("typed", "found"),
        [("", "ann"), ("reviewer", "bob"), ("rev ci", "cid"), ("boob", "bob"), ("CID", "cid"), ("bbrv", "bob")],
    )
    def test_similar_items_are_found(self, typed: str, found: str) -> None:
        assert matching(typed, PEOPLE)[0].key == found

    def test_labels_with_the_letters_closest_together_come_first(self) -> None:
        titles = ("Change the setting", "Checks of this site", "cts", "A chest")
        assert [one.label for one in matching("cts", [Choice(title, title) for title in titles])] == [
            "cts",
            "Change the setting",
            "Checks of this site",
        ]

    @pytest.mark.parametrize(("typed", "found"), [("jon", "Jón Ek"), ("Jón", "Jón Ek"), ("MULLER", "Zoë Müller")])
    def test_names_with_accents_are_found_without_them(self, typed: str, found: str) -> None:
        choices = [Choice(name, name) for name in ("Joan Okt", "Jón Ek", "Zoë Müller")]
        assert matching(typed, choices, fuzzy=False)[0].label == found
        proposals = completion.matching([completion.Proposal(choice.label, "", "") for choice in choices], typed)
        assert [proposal.label for proposal in proposals] == [found]

    def test_unranked_matches_keep_their_order(self) -> None:
        assert [one.key for one in matching("r", PEOPLE, ranked=False)] == ["ann", "bob", "cid"]


@pytest.mark.slow
async def test_hostile_text_never_acts(outbox: Outbox) -> None:
    for start in range(0, len(HOSTILE), 40):
        # a composer gets texts unchanged: the user wrote them, or quotes them
        texts = HOSTILE[start : start + 40]
        async with asked(Composer("Reply", DraftSlot(outbox, "reply", "\n".join(texts))), size=(80, 50)) as pilot:
            await pilot.pause()
            for strip in strips(pilot.app):
                # composers keep joiners, which have no width: Persian needs them
                texts_shown = [one.text.replace(NON_JOINER, "").replace(JOINER, "") for one in strip]
                assert not [text for text in texts_shown if not text.isprintable()]


async def test_status_line_and_empty_state_show_their_text() -> None:
    bar, empty_state = StatusLine(), EmptyState()
    async with alone(bar, empty_state) as pilot:
        bar.show((Span("a long way to go " * 9),), (Span("live", "quiet"),))
        empty_state.show_empty("Nobody waits for you.", "h and l show other views.")
        await pilot.pause()
        text = shown(pilot.app)
        assert text[0].endswith("…  live")
        assert len(text[0]) == 39
        bar.show((Span(" " * 34), Span("age 12")))
        await pilot.pause()
        assert shown(pilot.app)[0].endswith("age 12"), "a line without a right part has the whole width"
        bar.show((Span("a long way to go " * 9),))
        await pilot.pause()
        text = shown(pilot.app)
        assert len(text[0]) == 40 and text[0].endswith("…")
        assert any("Nobody waits" in line for line in text)
        empty_state.show_message(Message("The sites cannot be shown", "403: not yours", "failed"))
        await pilot.pause()
        assert any("✗ The sites cannot be shown" in line for line in shown(pilot.app))
        assert any("ctrl+r  retry" in line for line in shown(pilot.app))
        empty_state.hide()
        await pilot.pause()
        assert not any("403" in line for line in shown(pilot.app))


class TestOutside:
    def test_the_editor_comes_from_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", "code --wait 'a b'")
        assert editor() == ["code", "--wait", "a b"]
        monkeypatch.delenv("EDITOR")
        assert len(editor()) == 1

    def test_no_child_process_gets_the_token(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PRESSCHECK_TOKEN", "marker")
        assert "marker" not in "".join(child_environment().values())

    def test_an_ssh_connection_is_remote(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DISPLAY", ":0")
        monkeypatch.delenv("SSH_TTY", raising=False)
        monkeypatch.setenv("SSH_CONNECTION", "1 2 3 4")
        assert is_remote()
        monkeypatch.delenv("SSH_CONNECTION")
        assert not is_remote()


def test_the_copy_of_an_opened_file_is_removed_when_the_program_ends(tmp_path: Path) -> None:
    directory = tmp_path / "temporary"
    directory.mkdir()
    script = """
from pathlib import Path
from presscheck.tui.external_programs import open_file
open_file("plan.png", b"plan")
print(*(file.name for file in Path(TEMPORARY).rglob("*.png")))
""".replace("TEMPORARY", repr(str(directory)))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env={**os.environ, "TMPDIR": str(directory), "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("plan.png\n", "")
    assert not [*directory.iterdir()]


EDITING = """
import sys
from collections.abc import Iterator
from pathlib import Path
from tests.tui.dialogs import Asking
from presscheck.store.drafts import DraftSlot
from presscheck.store.outbox import Outbox
from presscheck.tui.widgets.composer import Composer

class Editing(Asking):
    def on_mount(self):
        self.call_after_refresh(self.push_screen, self.question, self.exit)

draft = DraftSlot(Outbox(Path(sys.argv[1])), "reply", "words")
print([Editing(Composer("Reply", draft)).run()])
"""


@pytest.mark.slow
def test_text_is_edited_in_an_external_editor(tmp_path: Path) -> None:
    """Run the app in a real terminal: it is suspended, the editor writes, and the draft is saved and sent."""
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\nprintf " and more" >> "$1"\nprintenv PRESSCHECK_TOKEN > "$0.env" || true\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    program = tmp_path / "program.py"
    program.write_text(EDITING)
    env = {"EDITOR": str(script), "PYTHONPATH": os.pathsep.join(sys.path), "PRESSCHECK_TOKEN": "marker"}
    terminal = Terminal([sys.executable, str(program), str(tmp_path / "outbox")], size=(80, 24), env=env)
    try:
        terminal.wait("words")
        terminal.press("ctrl+e")
        terminal.wait("words and more")
        terminal.press("ctrl+s")
        assert terminal.end() == 0
        assert "['words and more']" in terminal.text
        assert (tmp_path / "editor.env").read_text().strip() == ""
        assert terminal.left_on() == []
    finally:
        terminal.close()

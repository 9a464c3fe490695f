"""A screen for a component that an integration renders: the user changes its inputs and presses its buttons.

If its request fits in a URL, the first rendering is a cached read, so the component is available offline. Pressing a
button sends the state to the integration, which renders the component again.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from textual.app import ComposeResult
from textual.containers import Vertical
from typing_extensions import override

from presscheck.api.integrations import LONGEST_RENDER_REQUEST, RenderIntegration, RenderIntegrationWithGet
from presscheck.api.openapi import ListOpenAPISpecs
from presscheck.documents.lz_string import compressed
from presscheck.engine.integrations.settings import absolute, is_of_integration, read_options
from presscheck.errors import PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.sanitize import display_url, is_safe_url, sanitize
from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.commands import key_for
from presscheck.tui.screens.admin.integration.component_rows import (
    ComponentRow,
    Control,
    address_of,
    component_rows,
    initial_values,
    is_secret,
    options_of,
    secret_names,
    value_names,
)
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.ask import choose, choose_several, confirm, prompt
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.composer import Composer
from presscheck.tui.widgets.empty_state import EmptyState, Message
from presscheck.tui.widgets.entry_dialog import EntryDialog, EntryField
from presscheck.tui.widgets.picker import Choice
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from presscheck.api.integrations import Integration, RenderOutput

MANY = 1000
OPEN_MODAL, CLOSE_MODAL, OPEN_URL = "@ui.modal.open", "@ui.modal.close", "@ui.url.open"
UNFURL, UPDATE_PROPS = "@link.unfurl", "@editor.node.updateProps"
"""Actions that the app handles itself."""
LOCAL = frozenset((OPEN_URL, UNFURL, CLOSE_MODAL))
"""Actions that send nothing to the integration."""


class Source(NamedTuple):
    """A component: its integration, organization, id, title as display text, render context, and properties.

    The organization is needed for selects whose options are its OpenAPI specifications.
    """

    integration: Integration
    organization_id: str
    component_id: str
    title: str
    context: Mapping[str, Any]
    props: Mapping[str, Any] = {}


class ComponentScreen(BaseScreen):
    """A rendered component.

    Args:
        source: the component.
        closed: for a modal, called with its return value when it is closed; None if the component is no modal.
    """

    SCOPE = "admin"
    FOOTER = ("open", "refresh", "find_here", "close")

    def __init__(self, source: Source, closed: Callable[[Mapping[str, Any]], None] | None = None) -> None:
        super().__init__()
        self.source, self._closed_with = source, closed
        self._root: Mapping[str, Any] | None = None
        self._values: dict[str, Any] = {}
        """The state of the component, including unsent input."""
        self._props = dict(source.props)
        self._drawn: list[ComponentRow] = []
        self._error: PresscheckError | None = None
        self._is_busy = True
        self._rows = RowList(self._row, key=self._key, has_mark_column=False, id="component")

    @override
    def title_line(self) -> Line:
        title = sanitize(self.source.integration.title)
        return (Span(f" {title} › ", "quiet"), Span(self.source.title, "title"))

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="summary")
        with Vertical():
            yield EmptyState()
            yield self._rows

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self,)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self._draw()
        self._rows.focus()
        self.run(self._first, group="render", exclusive=True)

    @override
    def on_resize(self) -> None:
        super().on_resize()
        self._draw()

    @property
    def _path(self) -> dict[str, Any]:
        return {"integration_name": self.source.integration.name}

    @property
    def _request(self) -> dict[str, Any]:
        return {
            "componentId": self.source.component_id,
            "props": self._props,
            "context": dict(self.source.context),
        }

    @property
    def _draft_key(self) -> str:
        place = " ".join(str(value) for name, value in sorted(self.source.context.items()) if name.endswith("Id"))
        return f"component {self.source.integration.name} {self.source.component_id} {place}"

    async def _first(self) -> None:
        """Render the component from the start, and restore unsent input."""
        self._is_busy, self._error = True, None
        self._draw()
        try:
            packed = compressed(json.dumps(self._request))
            if len(packed) <= LONGEST_RENDER_REQUEST:
                output = await self.engine.read(RenderIntegrationWithGet(**self._path, request=packed))
            else:
                output = await self._posted(None)
        except PresscheckError as error:
            self._error = error
            output = None
        self._is_busy = False
        if output is not None:
            self._take(output)
            self._values |= self._typed_before()
        self._draw()

    async def _posted(self, action: Mapping[str, Any] | None) -> RenderOutput | None:
        """Send the state and an action to the integration. Returns the new rendering, or None if it is pending."""
        given = {"action": dict(action)} if action else {}
        call = RenderIntegration(
            integration_name=self.source.integration.name,
            component_id=self.source.component_id,
            props=self._props,
            state=self._values,
            context=dict(self.source.context),
            **given,  # pyrefly: ignore[bad-argument-type]
        )
        return await send(self, call)

    def _take(self, output: RenderOutput) -> None:
        """Show a new rendering, or close the screen if the component is complete."""
        if output.type == "complete":
            self._finish(output.return_value)
            return
        self._root = output.element or {}
        self._values = {**initial_values(self._root), **(output.state or {})}
        self._props = dict(output.props) if output.props is not None else self._props

    def _finish(self, value: Any) -> None:
        self.engine.outbox.save_draft(self._draft_key, "")
        if not self.is_leaving:
            self.app_context.close_screen()
        if self._closed_with and isinstance(value, Mapping):
            self._closed_with(cast("Mapping[str, Any]", value))
        elif not self._closed_with:
            self.notify(f"{self.source.title}: done")

    def _typed_before(self) -> dict[str, Any]:
        try:
            typed: Any = json.loads(self.engine.outbox.draft(self._draft_key) or "{}")
        except ValueError:
            return {}
        names = set(value_names(self._root))
        given = cast("dict[str, Any]", typed) if isinstance(typed, dict) else {}
        return {name: value for name, value in given.items() if name in names}

    def _set(self, name: str, value: Any) -> None:
        """Change a value, and store the input as a draft until it is sent. Passwords are never stored."""
        self._values[name] = value
        secret = secret_names(self._root)
        kept = {name: value for name, value in self._values.items() if name not in secret and _is_plain(value)}
        self.engine.outbox.save_draft(self._draft_key, json.dumps(kept))
        self._draw()

    def _draw(self) -> None:
        if self.is_mounted and not self.is_leaving:
            self.when_shown("draw", self._draw_now)

    def _draw_now(self) -> None:
        root = self._root
        self._drawn = component_rows(root, self._values, self.size.width - 3) if root is not None else []
        self._rows.show(len(self._drawn))
        self._rows.display = bool(self._drawn)
        empty = self.query_one(EmptyState)
        title = sanitize(self.source.integration.title)
        if self._drawn:
            empty.hide()
            if self.focused is None:
                self._rows.focus()
        elif self._is_busy:
            empty.show_message(Message(f"{title} is rendering …", "", "loading"))
        elif self._error and self.engine.status.online:
            empty.show_message(Message(f"{title} could not render this", self._error.message, "failed"))
        elif self._error:
            empty.show_message(Message("This was not rendered before you were offline.", "", "offline"))
        else:
            empty.show_empty("The component is empty.")
        words = f"{title} is working …" if self._is_busy else f"{key_for('open')} changes a value or presses a button"
        if not self.engine.status.online and not self._is_busy:
            words = "offline: shown as it was; buttons cannot be pressed"
        self.query_one("#summary", StatusLine).show((Span(f" {words}", "quiet"),))
        self.refresh_status_bars()

    def _row(self, index: int, columns: int) -> Line:
        return self._drawn[index].line

    def _key(self, index: int) -> str | None:
        return self._drawn[index].key if index < len(self._drawn) else None

    @property
    def _control(self) -> Control | None:
        at = self._rows.cursor
        return self._drawn[at].control if at < len(self._drawn) else None

    @override
    def command_refresh(self) -> None:
        """Render the component from the start. Unsent input stays."""
        self.run(self._first, group="render", exclusive=True)

    def reason_open(self) -> str | None:
        """Return why nothing can be opened: the line is a text or disabled, or its action cannot be sent now."""
        control = self._control
        if self._is_busy:
            return "the integration is working"
        if control is None:
            return f"this line is a text: {key_for('open')} works on inputs, buttons and links"
        if control.is_disabled:
            return f"the integration disabled {control.label}"
        is_sent = control.action is not None and control.action.get("action") not in LOCAL
        if not is_sent or control.kind == "text":
            return None
        if self.engine.status.read_only:
            return "this profile is read-only: values and buttons that are sent cannot be used"
        return self.engine.write_reason()

    async def command_open(self) -> None:
        """Change the value, press the button, or open the link under the cursor."""
        control = self._control
        if control is None:
            return
        if control.kind == "link":
            open_address(self.app_context, control.url)
            return
        if not await self._is_confirmed(control):
            return
        if control.kind == "press" or await self._change(control):
            await self._dispatch(control.action)

    async def _is_confirmed(self, control: Control) -> bool:
        """Return whether the user confirmed the question of a control; True for a control without a question."""
        question = control.element.get("confirm")
        if not isinstance(question, Mapping):
            return True
        words = {name: sanitize(str(value)) for name, value in cast("Mapping[str, Any]", question).items()}
        return await confirm(
            self,
            words.get("title") or control.label,
            wrap((Span(words.get("text", "")),), 70),
            words.get("confirm") or "OK",
        )

    async def _change(self, control: Control) -> bool:
        """Ask for the new value of a control, or toggle its value. Returns True if the value has changed."""
        present = self._values.get(control.name)
        if control.kind == "text":
            value = await self._ask_text(control, "" if present is None else str(present))
        elif control.kind == "select":
            value = await self._ask_option(control, present)
        else:
            value = self._toggled(control, present)
        if value is None and control.kind in ("text", "select"):
            return False
        self._set(control.name, value)
        return value != present

    def _toggled(self, control: Control, present: Any) -> Any:
        own = control.element.get("value")
        if control.kind == "switch":
            return present is not True
        if control.kind == "radio":
            return own
        is_list = isinstance(present, list) or value_names(self._root).count(control.name) > 1
        if not is_list:
            return None if present == own else own
        chosen = list(cast("list[Any]", present)) if isinstance(present, list) else []
        return [one for one in chosen if one != own] if own in chosen else [*chosen, own]

    async def _ask_text(self, control: Control, present: str) -> str | None:
        if is_secret(control.element):
            note = "It is sent to the integration when you press a button."
            field = EntryField("text", control.label, help=note, is_secret=True)

            async def taken(texts: Mapping[str, str]) -> str:
                return texts["text"]

            dialog = EntryDialog(control.label, (field,), confirm_label="OK", progress="", submit=taken)
            return await self.ask(dialog)
        draft = DraftSlot(self.engine.outbox, f"{self._draft_key} {control.name}", present)
        if control.element.get("multiline"):
            text = await self.ask(Composer(control.label, draft, may_be_empty=True))
        else:
            hint = sanitize(str(control.element.get("placeholder") or ""))
            text = await prompt(self, control.label, draft, min_length=0, max_length=None, hint=hint)
        if text is not None:
            draft.discard()
        return text

    async def _ask_option(self, control: Control, present: Any) -> Any:
        """Choose an option of a select, or several if the select allows that. Without options, ask for a text.

        Returns None if the user canceled.
        """
        given: Any = control.element.get("options")
        options = options_of(control.element)
        if isinstance(given, Mapping) and cast("Mapping[str, Any]", given).get("source") == "openapi":
            listing = ListOpenAPISpecs(organization_id=self.source.organization_id, limit=MANY)
            specs = (await self.engine.read(listing)).items
            options = [(spec.slug, sanitize(spec.slug)) for spec in specs]
        elif isinstance(given, Mapping) and "url" in given:
            options = await self._read_options(cast("Mapping[str, Any]", given))
        if not options:
            return await self._ask_text(control, "" if present is None else str(present))
        choices = [Choice(value, label) for value, label in options]
        if control.element.get("multiple") is not True:
            return await choose(self, control.label, choices, current="" if present is None else str(present))
        marked = [str(one) for one in cast("list[Any]", present if isinstance(present, list) else [])]
        chosen = await choose_several(self, control.label, choices, chosen=marked, ranked=False)
        return None if chosen is None else list(chosen)

    async def _read_options(self, given: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return the options that the integration serves. On errors, notify the reason and return an empty list."""
        endpoint = self.source.integration.urls.public_endpoint or ""
        address = absolute(address_of(given, self._values), endpoint)
        if not address or not is_safe_url(address):
            self.notify("its options have no web address: type the id of one")
            return []
        if not is_of_integration(address, endpoint):
            lines: list[Line] = [
                (Span(display_url(address), "link"),),
                (Span("This is not the host of the integration. No token is sent there.", "waiting"),),
            ]
            if not await confirm(self, "Read the options from there?", lines, "Read"):
                return []
        call = RenderIntegrationWithGet(**self._path, request="")
        try:
            options = await read_options(self.engine, call, address)
        except PresscheckError as error:
            self.notify(f"its options could not be read: {sanitize(error.message)}. Type the id of one")
            return []
        if not options:
            self.notify("the integration offers no options now: type the id of one")
        return options

    async def _dispatch(self, action: Mapping[str, Any] | None) -> None:
        """Run the action of a control in the app, or send it to the integration, which renders the component again."""
        if not action:
            return
        name = action.get("action")
        if name == OPEN_MODAL:
            props = action.get("props")
            given = dict(cast("Mapping[str, Any]", props)) if isinstance(props, Mapping) else {}
            component = str(action.get("componentId") or "")
            source = self.source._replace(component_id=component, title=sanitize(component), props=given)
            self.app_context.push_screen(ComponentScreen(source, self._modal_closed))
        elif name == CLOSE_MODAL:
            self._finish(action.get("returnValue"))
        elif name == OPEN_URL:
            open_address(self.app_context, address_of(action, self._values))
        elif name == UNFURL:
            self.notify("a link becomes a block in the editor of the web app only")
        else:
            if name == UPDATE_PROPS and isinstance(action.get("props"), Mapping):
                self._props |= cast("dict[str, Any]", action["props"])
                self.notify("the block is shown with other properties; no page is changed")
                action = None
            await self._press(action)

    def _modal_closed(self, value: Mapping[str, Any]) -> None:
        self.run(self._press({"action": CLOSE_MODAL, "returnValue": dict(value)}), group="modal")

    async def _press(self, action: Mapping[str, Any] | None) -> None:
        self._is_busy = True
        self._draw()
        try:
            output = await self._posted(action)
        finally:
            self._is_busy = False
            self._draw()
        if output is not None:
            self.engine.outbox.save_draft(self._draft_key, "")
            self._take(output)
            self._draw()

    def reason_copy_text(self) -> str | None:
        """Return why no line can be copied: nothing is shown."""
        return None if self._drawn else "nothing is shown"

    def command_copy_text(self) -> Awaitable[None] | None:
        """Copy the line under the cursor."""
        line = self._drawn[self._rows.cursor].line
        self.app_context.copy_to_clipboard("".join(span.text for span in line).strip())
        self.notify("copied the line")
        return None


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool | list)  # pyrefly: ignore[implicit-any-type-argument]

"""A rendered component as rows of the terminal: texts, cards, inputs, selects, buttons and steps.

Components come from integrations and are not trusted. Unknown elements are shown by name, malformed elements are
skipped, and the nesting and the number of rows are limited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast
from urllib.parse import urlencode

from presscheck.documents.terminal.page_lines import comment_lines
from presscheck.text.sanitize import display_url, sanitize
from presscheck.text.styled_text import Line, Span, cut, wrap

Element = Mapping[str, Any]
Kind = Literal["press", "text", "select", "switch", "checkbox", "radio", "link"]
DEEPEST, MOST_ROWS = 30, 2_000
BUTTONS = {"primary": "accent strong", "danger": "removed strong"}
TEXTS = {"bold": "strong", "italic": "emphasis", "code": "code", "strikethrough": "removed"}
"""Styles of text elements, by their `style` property."""
NO_LABEL = "(no label)"


@dataclass(frozen=True)
class Control:
    """The element of a row that the enter key presses, changes or opens.

    Attributes:
        kind: what the enter key does: press, edit a text, choose an option, toggle, or open a link.
        label: the label of the element, as display text.
        element: the element, such as a button or a select.
        action: the action sent to the integration when the button is pressed or the value changes; None for nothing.
        url: the address of a link.
    """

    kind: Kind
    label: str
    element: Element
    action: Element | None = None
    url: str = ""

    @property
    def name(self) -> str:
        """The name of the control's value in the state of the component; empty for a control without a value."""
        state = self.element.get("state")
        return state if isinstance(state, str) else ""

    @property
    def is_disabled(self) -> bool:
        """True if the integration disabled the element."""
        return self.element.get("disabled") is True


@dataclass(frozen=True)
class ComponentRow:
    """A row of a component.

    Attributes:
        line: the text of the row.
        key: the position of the row in the component, which is stable when the component is rendered again.
        control: the element that the enter key acts on; None for plain text.
    """

    line: Line
    key: str
    control: Control | None = None


def component_rows(root: Element, values: Mapping[str, Any], columns: int) -> list[ComponentRow]:
    """Draw a component as rows.

    Args:
        root: the root element: a block, a modal or a configuration.
        values: the state of the component by name.
        columns: the width in cells.
    """
    drawing = _Drawing(values, columns)
    drawing.element(root, (), "0", 0)
    if len(drawing.rows) > MOST_ROWS:
        rest = Span(f"… {len(drawing.rows) - MOST_ROWS:,} more lines are not shown", "waiting")
        return [*drawing.rows[:MOST_ROWS], ComponentRow((rest,), "rest")]
    return drawing.rows


def initial_values(root: Any, depth: int = 0) -> dict[str, Any]:
    """Return the initial values of all inputs by name."""
    found: dict[str, Any] = {}
    if depth > DEEPEST:
        return found
    for part in _parts(root):
        found |= initial_values(part, depth + 1)
    element = _element(root)
    name = element.get("state")
    if isinstance(name, str) and "initialValue" in element:
        found[name] = element["initialValue"]
    return found


def value_names(root: Any, depth: int = 0) -> list[str]:
    """Return the names of the values of all inputs. A name that several inputs share appears several times."""
    if depth > DEEPEST:
        return []
    name = _element(root).get("state")
    own = [name] if isinstance(name, str) and isinstance(_element(root).get("type"), str) else []
    return [*own, *(inner for part in _parts(root) for inner in value_names(part, depth + 1))]


def is_secret(element: Element) -> bool:
    """Return whether the value of an input is a password."""
    return element.get("inputType") == "password"


def secret_names(root: Any, depth: int = 0) -> set[str]:
    """Return the names of all values that are passwords."""
    if depth > DEEPEST:
        return set()
    element = _element(root)
    own = {str(element.get("state"))} if is_secret(element) else set[str]()
    return own.union(*(secret_names(part, depth + 1) for part in _parts(root)))


def bound(value: Any, values: Mapping[str, Any]) -> Any:
    """Return a value, or the state value that it is bound to."""
    name = _element(value).get("$state")
    return values.get(name) if isinstance(name, str) else value


def address_of(target: Any, values: Mapping[str, Any]) -> str:
    """Return the address of a target, given as text or as host, path and query; empty without an address."""
    url = _element(target).get("url")
    parts = _element(url)
    if parts:
        given = _element(parts.get("query"))
        query = urlencode({name: str(bound(value, values) or "") for name, value in given.items()})
        path = str(parts.get("pathname") or "").lstrip("/")
        return f"https://{parts.get('host') or ''}/{path}{'?' if query else ''}{query}"
    return url if isinstance(url, str) else ""


def _element(value: Any) -> Element:
    return cast("Element", value) if isinstance(value, Mapping) else {}


def _items(value: Any) -> list[Any]:
    return list(cast("Sequence[Any]", value)) if isinstance(value, (list, tuple)) else []


def _parts(value: Any) -> list[Any]:
    return [*_element(value).values()] if isinstance(value, Mapping) else _items(value)


class _Drawing:
    """The rows of a component; each method draws an element below the rows drawn before.

    Args:
        values: the state of the component by name.
        columns: the width in cells.
    """

    def __init__(self, values: Mapping[str, Any], columns: int) -> None:
        self.rows: list[ComponentRow] = []
        self._values, self._columns = values, max(20, columns)
        self._label = ""
        """The label of the input that contains the current element."""
        self._draw: dict[str, Callable[[Element, Line, str, int], None]] = {
            "block": self._block,
            "box": self._children,
            "button": self._button,
            "card": self._card,
            "checkbox": self._checkbox,
            "codeblock": self._code,
            "configuration": self._children,
            "divider": self._divider,
            "hint": self._hint,
            "hstack": self._hstack,
            "image": self._image,
            "input": self._input,
            "link": self._link,
            "markdown": self._markdown,
            "modal": self._modal,
            "radio": self._radio,
            "select": self._select,
            "step": self._children,
            "stepper": self._stepper,
            "switch": self._switch,
            "text": self._text,
            "textinput": self._text_input,
            "vstack": self._children,
            "webframe": self._web_frame,
        }

    def element(self, value: Any, prefix: Line, key: str, depth: int) -> None:
        """Draw an element, with a prefix such as a border before each of its lines."""
        element = _element(value)
        if not element or depth > DEEPEST or len(self.rows) > MOST_ROWS:
            return
        kind = str(element.get("type"))
        draw = self._draw.get(kind)
        if draw is None:
            text = f"(the terminal cannot show the element {sanitize(kind)})"
            self._add((Span(text, "quiet"),), prefix, key)
        else:
            draw(element, prefix, key, depth)

    def _add(self, spans: Sequence[Span], prefix: Line, key: str, control: Control | None = None) -> None:
        room = max(10, self._columns - sum(len(span.text) for span in prefix))
        for number, line in enumerate(wrap(spans, room) or [()]):
            self.rows.append(ComponentRow((*prefix, *line), f"{key}:{number}", control))

    def _add_lines(self, lines: Sequence[Line], prefix: Line, key: str, control: Control | None = None) -> None:
        for number, line in enumerate(lines):
            self.rows.append(ComponentRow(cut((*prefix, *line), self._columns), f"{key}:{number}", control))

    def _all(self, items: Any, prefix: Line, key: str, depth: int) -> None:
        for number, child in enumerate(_items(items)):
            self.element(child, prefix, f"{key}.{number}", depth + 1)

    def _children(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        self._all(element.get("children"), prefix, key, depth)

    def _block(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        self._children(element, prefix, key, depth)
        controls = [inner for item in _items(element.get("controls")) for inner in (_items(item) or [item])]
        for number, control in enumerate(controls):
            self._button(_element(control), prefix, f"{key}.control{number}", depth)

    def _modal(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        if element.get("title"):
            self._add((Span(sanitize(str(element["title"])), "title"),), prefix, f"{key}.title")
        subtitle = [span for item in _items(element.get("subtitle")) for span in self._spans(item)]
        if subtitle:
            self._add(subtitle, prefix, f"{key}.subtitle")
        self._add((), prefix, f"{key}.space")
        self._children(element, prefix, key, depth)
        self.element(element.get("submit"), prefix, f"{key}.submit", depth + 1)

    def _card(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        action = _element(element.get("onPress"))
        title = sanitize(str(element.get("title") or ""))
        control = Control("press", title or "card", element, action) if action else None
        hint = element.get("hint")
        hints = [Span(sanitize(hint))] if isinstance(hint, str) else [s for i in _items(hint) for s in self._spans(i)]
        head: list[Span] = [Span(f"{'▸ ' if action else ''}{title or 'Card'}", "accent strong" if action else "strong")]
        head += [Span("   "), *(span._replace(style="quiet") for span in hints)] if hints else []
        self._add_lines([(Span("┌ ", "quiet"), *head)], prefix, f"{key}.title", control)
        inside: Line = (*prefix, Span("│ ", "quiet"))
        self._children(element, inside, key, depth)
        self._all(element.get("buttons"), inside, f"{key}.button", depth)
        self._add_lines([(Span("└─", "quiet"),)], prefix, f"{key}.end")

    def _hstack(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        children = [_element(child) for child in _items(element.get("children"))]
        if children and all(child.get("type") == "text" for child in children):
            spans = [span for child in children for span in (*self._spans(child), Span(" "))]
            self._add(spans, prefix, key)
        else:
            self._children(element, prefix, key, depth)

    def _stepper(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        steps = [_element(step) for step in _items(element.get("children"))]
        ids = [step.get("id") for step in steps]
        at = ids.index(element.get("activeStep")) if element.get("activeStep") in ids else 0
        if not steps:
            return
        title = sanitize(str(steps[at].get("title") or ""))
        self._add((Span(f"Step {at + 1} of {len(steps)}  ", "accent"), Span(title, "title")), prefix, f"{key}.title")
        self.element({**steps[at], "type": "step"}, prefix, f"{key}.{at}", depth + 1)
        change = _element(element.get("onStepChange"))
        if at:
            self._step("Back", {**change, "step": ids[at - 1]}, element, prefix, f"{key}.back", is_disabled=False)
        is_blocked = not steps[at].get("next", False)
        if at + 1 < len(steps):
            action = {**change, "step": ids[at + 1]}
            self._step("Next", action, element, prefix, f"{key}.next", is_disabled=is_blocked)
        else:
            done = _element(element.get("onComplete"))
            self._step("Finish", done, element, prefix, f"{key}.next", is_disabled=is_blocked)

    def _step(
        self, label: str, action: Element, element: Element, prefix: Line, key: str, *, is_disabled: bool
    ) -> None:
        button = {"type": "button", "label": label, "onPress": action, "disabled": is_disabled, "style": "primary"}
        self._button(button, prefix, key, 0)

    def _button(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        label = sanitize(str(element.get("label") or element.get("icon") or element.get("tooltip") or NO_LABEL))
        control = Control("press", label, element, _element(element.get("onPress")))
        style = "quiet" if control.is_disabled else BUTTONS.get(str(element.get("style")), "accent")
        note = " (disabled)" if control.is_disabled else ""
        tooltip = sanitize(str(element.get("tooltip") or ""))
        tooltip = f"  {tooltip}" if tooltip and tooltip != label else ""
        line = (Span(f"[ {label} ]", style), Span(f"{note}{tooltip}", "quiet"))
        self._add_lines([line], prefix, key, control)

    def _input(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        label = sanitize(str(element.get("label") or NO_LABEL))
        self._add((Span(label, "strong"),), prefix, f"{key}.label")
        before, self._label = self._label, label
        self.element(element.get("element"), (*prefix, Span("  ")), f"{key}.element", depth + 1)
        self._label = before
        hint = element.get("hint")
        spans = [Span(sanitize(hint))] if isinstance(hint, str) else list(self._spans(hint))
        if spans:
            self._add([span._replace(style="quiet") for span in spans], (*prefix, Span("  ")), f"{key}.hint")

    def _value(self, element: Element) -> Any:
        return self._values.get(str(element.get("state")))

    def _control(self, kind: Kind, element: Element, fallback: str, action: str = "onValueChange") -> Control:
        label = self._label or sanitize(str(element.get("state") or fallback))
        return Control(kind, label, element, _element(element.get(action)) or None)

    def _text_input(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        value = self._value(element)
        control = self._control("text", element, "text")
        if value in (None, ""):
            text = Span(sanitize(str(element.get("placeholder") or "empty")), "quiet")
        elif is_secret(element):
            text = Span("********")
        else:
            text = Span(sanitize(str(value)))
        self._add_lines([(Span("▁ ", "accent"), text)], prefix, key, control)

    def _select(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        value = self._value(element)
        chosen = [str(one) for one in _items(value)] or ([str(value)] if value not in (None, "", []) else [])
        labels = dict(options_of(element))
        words = ", ".join(labels.get(one, sanitize(one)) for one in chosen)
        placeholder = sanitize(str(element.get("placeholder") or "choose"))
        text = Span(words) if words else Span(placeholder, "quiet")
        self._add_lines([(text, Span("  ▾", "accent"))], prefix, key, self._control("select", element, "choice"))

    def _switch(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        is_on = self._value(element) is True
        line = (Span("[x] " if is_on else "[ ] ", "accent"), Span("on" if is_on else "off"))
        self._add_lines([line], prefix, key, self._control("switch", element, "switch"))

    def _checkbox(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        value, own = self._value(element), element.get("value")
        is_on = own in _items(value) or (value is not None and value == own)
        line = (Span("[x] " if is_on else "[ ] ", "accent"), Span(sanitize(str(own))))
        self._add_lines([line], prefix, key, self._control("checkbox", element, "checkbox"))

    def _radio(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        own = element.get("value")
        is_on = self._value(element) == own
        line = (Span("(o) " if is_on else "( ) ", "accent"), Span(sanitize(str(own))))
        self._add_lines([line], prefix, key, self._control("radio", element, "radio"))

    def _code(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        self._all(element.get("header"), prefix, f"{key}.header", depth)
        content = bound(element.get("content"), self._values)
        is_edited = isinstance(element.get("state"), str)
        if is_edited and self._value(element) is not None:
            content = self._value(element)
        control = (
            self._control("text", {**element, "multiline": True}, "code", "onContentChange") if is_edited else None
        )
        lines: list[Line] = [
            (Span("│ ", "quiet"), Span(sanitize(line), "code")) for line in str(content or "").split("\n")
        ]
        self._add_lines(lines, prefix, key, control)
        self._all(element.get("buttons"), prefix, f"{key}.button", depth)
        self._all(element.get("footer"), prefix, f"{key}.footer", depth)

    def _markdown(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        room = max(20, self._columns - sum(len(span.text) for span in prefix))
        text = str(bound(element.get("content"), self._values) or "")
        self._add_lines(comment_lines(text, room) if text.strip() else [], prefix, key)

    def _text(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        self._add(list(self._spans(element)), prefix, key)

    def _hint(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        spans = [span for child in _items(element.get("children")) for span in self._spans(child)]
        self._add(spans, (*prefix, Span("┃ ", "waiting")), key)

    def _divider(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        self._add_lines([(Span("─" * max(3, self._columns - 2 * len(prefix)), "quiet"),)], prefix, key)

    def _image(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        self._address("image", address_of(element.get("source"), self._values), element, prefix, key)

    def _web_frame(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        url = address_of(element.get("source"), self._values)
        self._address("a web page, which opens in the browser", url, element, prefix, key)
        self._all(element.get("buttons"), prefix, f"{key}.button", depth)

    def _link(self, element: Element, prefix: Line, key: str, depth: int) -> None:
        words = "".join(span.text for span in self._spans(element))
        self._address(words or "link", address_of(element.get("target"), self._values), element, prefix, key)

    def _address(self, words: str, url: str, element: Element, prefix: Line, key: str) -> None:
        line = (Span(words, "link"), Span(f"  {display_url(url)}", "quiet"))
        self._add_lines([line], prefix, key, Control("link", words, element, url=url) if url else None)

    def _spans(self, value: Any, style: str = "", depth: int = 0) -> Iterator[Span]:
        if isinstance(value, str):
            yield Span(sanitize(value), style)
            return
        element = _element(value)
        children = element.get("children")
        own = TEXTS.get(str(element.get("style")), "link" if element.get("type") == "link" else style)
        if element.get("type") == "image":
            yield Span("image", "quiet")
        for child in [children] if isinstance(children, str) else _items(children):
            if depth < DEEPEST:
                yield from self._spans(child, own, depth + 1)


def options_of(element: Element) -> list[tuple[str, str]]:
    """Return the options that a select itself lists, as pairs of a value and a label. Labels are display text."""
    options = [_element(option) for option in _items(element.get("options"))]
    return [
        (str(option["id"]), sanitize(str(option.get("label") or option["id"]))) for option in options if "id" in option
    ]

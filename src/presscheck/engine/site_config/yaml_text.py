"""Writes documents as YAML with only visible characters. Comments of an existing file are lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import yaml
from typing_extensions import override

from presscheck.engine.site_config.document import Place
from presscheck.engine.site_config.toml_text import is_visible

WIDTH = 110
"""The column after which long texts are wrapped."""


class _Writer(yaml.SafeDumper):
    """A dumper that puts texts with invisible characters in double quotes, where escapes are possible."""

    @override
    def ignore_aliases(self, data: Any) -> bool:
        return True

    def text(self, value: str) -> Any:
        """Represent a text, as a block if it has several lines."""
        lines = value.split("\n")
        is_visible_text = all(is_visible(character) for line in lines for character in line)
        style = '"' if not is_visible_text else "|" if len(lines) > 1 else None
        return cast("Any", self).represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Writer.add_representer(str, _Writer.text)


def write_yaml(plain: Mapping[str, Any]) -> str:
    """Write a document as YAML, with escapes for invisible characters."""
    text = yaml.dump(dict(plain), Dumper=_Writer, sort_keys=False, allow_unicode=True, width=WIDTH)
    # the library does not escape some format characters; texts with such characters are in double quotes by now
    return "".join(
        character if is_visible(character) or character == "\n" else _escape(character) for character in text
    )


def yaml_lines(text: str) -> dict[Place, int]:
    """Return the line of each key and list item in a valid YAML file, counted from 1."""
    found: dict[Place, int] = {}
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    waiting: list[tuple[Place, Any]] = [((), cast("Any", yaml).compose(text, Loader=loader))]
    seen = set[int]()
    while waiting:
        place, node = waiting.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                found[(*place, str(key.value))] = key.start_mark.line + 1
                waiting.append(((*place, str(key.value)), value))
        elif isinstance(node, yaml.SequenceNode):
            for number, value in enumerate(node.value):
                found[(*place, number)] = value.start_mark.line + 1
                waiting.append(((*place, number), value))
    return found


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"

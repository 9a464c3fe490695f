"""Reads the optional ``.gitbook.yaml`` of a repository; errors in it are reported and skipped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

from presscheck.documents.git_format.findings import Finding, Fix
from presscheck.documents.markdown.links import page_path
from presscheck.documents.yaml_mapping import InvalidYaml, load_yaml

CONFIG_FILE = ".gitbook.yaml"

_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")


class WrittenRedirect(NamedTuple):
    """A redirect from a former page path. `target` is a source path, or a link from the root of the content."""

    former: str
    target: str
    line: int


@dataclass(frozen=True)
class RepositoryConfig:
    """The location of the content, and redirects from former paths."""

    root: str = ""
    readme: str = "README.md"
    summary: str = "SUMMARY.md"
    redirects: tuple[WrittenRedirect, ...] = ()


def read_config(text: str) -> tuple[RepositoryConfig, list[Finding]]:
    """Read the configuration. Return it with the findings; invalid parts get their defaults."""
    message = "has invisible characters, which are ignored"
    findings = [
        Finding(CONFIG_FILE, number, message, "invisible-characters", fix=Fix(line, _INVISIBLE.sub("", line)))
        for number, line in enumerate(text.splitlines(), 1)
        if _INVISIBLE.search(line)
    ]
    try:
        values = load_yaml(_INVISIBLE.sub("", text))
    except InvalidYaml as error:
        return RepositoryConfig(), [*findings, Finding(CONFIG_FILE, error.line, f"is not YAML: {error}", "config")]
    structure = values.get("structure")
    inner = cast("dict[str, Any]", structure) if isinstance(structure, dict) else {}
    written_paths = {"root": values.get("root"), "readme": inner.get("readme"), "summary": inner.get("summary")}
    paths: dict[str, str] = {}
    lines = _lines_of_keys(text)
    for name, value in written_paths.items():
        path = normalize_path(value) if isinstance(value, str) else None
        if path is not None:
            paths[name] = path
        elif value is not None:
            findings.append(
                Finding(CONFIG_FILE, lines.get(name, 1), f"{name}: {value!r} is not a path in the repository", "config")
            )
    return RepositoryConfig(**paths, redirects=tuple(_redirects(values.get("redirects"), lines, findings))), findings


def normalize_path(path: str) -> str | None:
    """Normalize a path to a source path; the root is an empty string. Return None if the path leaves the root."""
    parts: list[str] = []
    for part in path.replace("\\", "/").split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _redirects(written: object, lines: Mapping[str, int], findings: list[Finding]) -> Iterator[WrittenRedirect]:
    if written is not None and not isinstance(written, dict):
        findings.append(
            Finding(
                CONFIG_FILE,
                lines.get("redirects", 1),
                "redirects: must be a mapping of former paths to pages",
                "config",
            )
        )
        return
    sources: set[str] = set()
    for key, value in cast("dict[Any, Any]", written or {}).items():
        former = _former_path(str(key))
        target = normalize_path(value) if isinstance(value, str) and not _URL.match(value) else None
        if not former:
            reason = "must start at a path such as old/page"
        elif former in sources:
            reason = "is there twice"
        elif not isinstance(value, str):
            reason = "must lead to a path such as new/page.md"
        elif target is None:
            reason = f"leads outside the repository: {value}"
        else:
            sources.add(former)
            yield WrittenRedirect(former, target, lines.get(str(key), 1))
            continue
        findings.append(Finding(CONFIG_FILE, lines.get(str(key), 1), f"the redirect of {key} {reason}", "redirect"))


def _former_path(key: str) -> str | None:
    if _URL.match(key) or "?" in key or "#" in key:
        return None
    return page_path(normalize_path(unquote(key)) or "")


def _lines_of_keys(text: str) -> dict[str, int]:
    """Return the first line of each key in block style."""
    lines: dict[str, int] = {}
    for number, line in enumerate(_INVISIBLE.sub("", text).splitlines(), 1):
        key, separator, _ = f"{line} ".partition(": ")
        if separator:
            lines.setdefault(key.strip().strip("'\""), number)
    return lines

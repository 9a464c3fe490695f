"""Reads the optional ``.gitbook.yaml`` of a repository; errors in it are reported and skipped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from presscheck.documents.git_format.models import Problem
from presscheck.documents.yaml_mapping import InvalidYaml, load_yaml

CONFIG_FILE = ".gitbook.yaml"

_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")


@dataclass(frozen=True)
class RepositoryConfig:
    """The location of the content, and redirects from former paths."""

    root: str = ""
    readme: str = "README.md"
    summary: str = "SUMMARY.md"
    redirects: Mapping[str, str] = field(default_factory=dict[str, str])


def read_config(text: str) -> tuple[RepositoryConfig, list[Problem]]:
    """Returns the configuration and its problems."""
    problems = [
        Problem(CONFIG_FILE, number, "has invisible characters, which are ignored", "information")
        for number, line in enumerate(text.splitlines(), 1)
        if _INVISIBLE.search(line)
    ]
    try:
        found = load_yaml(_INVISIBLE.sub("", text))
    except InvalidYaml as error:
        return RepositoryConfig(), [*problems, Problem(CONFIG_FILE, error.line, f"is not YAML: {error}")]
    structure = found.get("structure")
    inner = cast("dict[str, Any]", structure) if isinstance(structure, dict) else {}
    given = {"root": found.get("root"), "readme": inner.get("readme"), "summary": inner.get("summary")}
    paths: dict[str, str] = {}
    for name, value in given.items():
        path = normalize_path(value) if isinstance(value, str) else None
        if path is not None:
            paths[name] = path
        elif value is not None:
            problems.append(
                Problem(CONFIG_FILE, _line_of(text, name), f"{name}: {value!r} is not a path in the repository")
            )
    return RepositoryConfig(**paths, redirects=_redirects(found.get("redirects"), text, problems)), problems


def normalize_path(path: str) -> str | None:
    """Normalizes a path to a source path; None if it leaves the root. The root itself is empty."""
    parts: list[str] = []
    for part in path.replace("\\", "/").split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _redirects(found: object, text: str, problems: list[Problem]) -> dict[str, str]:
    if not isinstance(found, dict):
        return {}
    redirects: dict[str, str] = {}
    for former, present in cast("dict[Any, Any]", found).items():
        target = normalize_path(present) if isinstance(present, str) else None
        if target is None:
            line = _line_of(text, str(former))
            problems.append(Problem(CONFIG_FILE, line, f"the redirect of {former} is not a path in the repository"))
        else:
            redirects[str(former).strip("/")] = target
    return redirects


def _line_of(text: str, key: str) -> int:
    lines = text.splitlines()
    return next((number for number, line in enumerate(lines, 1) if key in line.partition(":")[0]), 1)

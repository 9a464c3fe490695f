"""Findings in a documentation folder. A finding has a place and breaks one of the rules in `RULES`."""

from __future__ import annotations

from typing import Literal, NamedTuple

from presscheck.text.sanitize import sanitize

Severity = Literal["error", "warning", "info"]


class Rule(NamedTuple):
    """A rule: its stable name, a title for a list of its findings, and their severity."""

    name: str
    title: str
    severity: Severity


_RULES = (
    Rule("broken-link", "links to pages that do not exist", "error"),
    Rule("broken-anchor", "links to headings that do not exist", "error"),
    Rule("missing-file", "images and files that do not exist", "error"),
    Rule("missing-snippet", "included texts that do not exist", "error"),
    Rule("missing-page", "entries of the table of contents without a file", "error"),
    Rule("unclosed-block", "blocks and code that are not closed", "error"),
    Rule("unopened-block", "end tags without a block", "warning"),
    Rule("conflict-markers", "conflict markers", "error"),
    Rule("unreadable-condition", "conditions that hide text from everybody", "error"),
    Rule("front-matter", "front matter that is not read", "error"),
    Rule("config", "settings in .gitbook.yaml that are not read", "error"),
    Rule("redirect", "redirects to missing pages, and redirects that are not served", "error"),
    Rule("too-large", "pages and files above the limits", "error"),
    Rule("unreadable", "files and folders that cannot be read", "error"),
    Rule("not-utf-8", "texts and names that are not UTF-8", "error"),
    Rule("symbolic-link", "symbolic links, which are not followed", "warning"),
    Rule("too-deep", "folders that are nested too deep", "warning"),
    Rule("unnamed-image", "images without alternative text", "warning"),
    Rule("unlisted-page", "pages that the table of contents does not list", "info"),
    Rule("repeated-page", "pages that the table of contents lists again", "info"),
    Rule("subpages-of-link", "subpages of links", "info"),
    Rule("no-summary", "folders without a table of contents", "info"),
    Rule("invisible-characters", "invisible characters in .gitbook.yaml", "info"),
)

RULES = {rule.name: rule for rule in _RULES}
"""All rules by name."""


class Fix(NamedTuple):
    """The fix of a finding: the text `old` at the line and column of the finding is replaced by `new`."""

    old: str
    new: str


class Finding(NamedTuple):
    """A problem in a file.

    Attributes:
        path: the source path of the file.
        line: the line, counted from 1.
        message: a description of the problem.
        rule: the name of the rule.
        column: the column in characters, counted from 1.
        target: the source path that a link or an entry leads to; empty if there is none.
        fix: the fix, if there is only one; for a finding of another program, its first suggestion.
        own_severity: the severity of a finding of another program; None for the severity of the rule in `RULES`.
    """

    path: str
    line: int
    message: str
    rule: str
    column: int = 1
    target: str = ""
    fix: Fix | None = None
    own_severity: Severity | None = None

    @property
    def severity(self) -> Severity:
        """The severity of the finding."""
        return self.own_severity or RULES[self.rule].severity

    @property
    def place(self) -> tuple[str, int, int, str, str]:
        """A key that sorts findings by their place."""
        return self.path, self.line, self.column, self.rule, self.message

    def __str__(self) -> str:
        return sanitize(f"{self.path}:{self.line}: {self.message}")
